package e2e

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// proxy is a network between browser and server that can be made bad.
type proxy struct {
	addr string // where browsers connect
	url  string

	target string
	wg     sync.WaitGroup

	mu       sync.Mutex // protects following
	ln       net.Listener
	closed   bool
	swallow  bool // what is connected is dead for good: bytes go nowhere, and nobody is told
	rate     int  // bytes a second to the browser; 0: no limit
	conns    map[*proxyConn]bool
	received int64 // bytes that went to browsers
}

type proxyConn struct {
	down, up net.Conn
	dead     bool // guarded by proxy.mu
}

func newProxy(t testing.TB, s *server) *proxy {
	t.Helper()
	p := &proxy{target: s.addr, conns: make(map[*proxyConn]bool)}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = ln.Addr().String()
	p.url = strings.Replace(s.url, p.target, p.addr, 1)
	p.serve(ln)
	t.Cleanup(func() {
		p.refuse()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) serve(ln net.Listener) {
	p.mu.Lock()
	p.ln, p.closed = ln, false
	p.mu.Unlock()
	p.wg.Go(func() {
		for {
			down, err := ln.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", p.target)
			if err != nil {
				down.Close()
				continue
			}
			c := &proxyConn{down: down, up: up}
			p.mu.Lock()
			c.dead = p.swallow
			p.conns[c] = true
			closed := p.closed
			p.mu.Unlock()
			if closed {
				p.close(c)
			}
			p.wg.Go(func() { p.copy(c, up, down, false) })
			p.wg.Go(func() { p.copy(c, down, up, true) })
		}
	})
}

func (p *proxy) copy(c *proxyConn, to, from net.Conn, toBrowser bool) {
	defer p.close(c)
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		dead, rate := c.dead, p.rate
		if toBrowser && !dead {
			p.received += int64(n)
		}
		p.mu.Unlock()
		if dead {
			if err != nil {
				return
			}
			continue
		}
		if _, werr := to.Write(buf[:n]); werr != nil || err != nil {
			return
		}
		if toBrowser && rate > 0 {
			time.Sleep(time.Duration(n) * time.Second / time.Duration(rate))
		}
	}
}

func (p *proxy) close(c *proxyConn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	c.down.Close()
	c.up.Close()
}

// drop cuts every connection; new ones are let through.
func (p *proxy) drop() {
	p.mu.Lock()
	var all []*proxyConn
	for c := range p.conns {
		all = append(all, c)
	}
	p.mu.Unlock()
	for _, c := range all {
		p.close(c)
	}
}

// refuse cuts every connection and lets none in until accept.
func (p *proxy) refuse() {
	p.mu.Lock()
	p.closed = true
	p.ln.Close()
	p.mu.Unlock()
	p.drop()
}

func (p *proxy) accept(t testing.TB) {
	t.Helper()
	ln, err := net.Listen("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	p.serve(ln)
}

// stall makes the network swallow everything without a word, as after a laptop's sleep; connections that were open then
// stay dead after flow.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallow = true
	for c := range p.conns {
		c.dead = true
	}
}

func (p *proxy) flow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallow = false
}

// limit slows what goes to the browser, in bytes a second.
func (p *proxy) limit(rate int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rate = rate
}

func (p *proxy) bytesToBrowser() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.received
}

func TestProxy(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() { // an echo server
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	p := newProxy(t, &server{t: t, addr: ln.Addr().String(), url: "http://" + ln.Addr().String()})
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	echo := func(c net.Conn) error {
		if _, err := c.Write([]byte("hi")); err != nil {
			return err
		}
		c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		_, err := io.ReadFull(c, make([]byte, 2))
		return err
	}
	isTimeout := func(err error) bool {
		var ne net.Error
		return errors.As(err, &ne) && ne.Timeout()
	}

	first := dial()
	if err := echo(first); err != nil {
		t.Fatalf("echo: %v", err)
	}
	p.stall()
	if err := echo(first); !isTimeout(err) {
		t.Errorf("stalled connection answered, or noticed: %v", err)
	}
	if err := echo(dial()); !isTimeout(err) {
		t.Errorf("connection made while stalled answered, or noticed: %v", err)
	}
	p.flow()
	if err := echo(first); !isTimeout(err) {
		t.Errorf("connection came back from the dead: %v", err)
	}
	second := dial()
	if err := echo(second); err != nil {
		t.Errorf("echo after flow: %v", err)
	}
	p.drop()
	if err := echo(second); err == nil || isTimeout(err) {
		t.Errorf("dropped connection: %v", err)
	}
	p.refuse()
	if c, err := net.Dial("tcp", p.addr); err == nil {
		c.Close()
		t.Error("connected while refused")
	}
	p.accept(t)
	if err := echo(dial()); err != nil {
		t.Errorf("echo after accept: %v", err)
	}
}
