package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/coder/websocket"

	"github.com/browsertabs/tabs/client"
)

// serveSocket serves one websocket with fn.
func serveSocket(t *testing.T, fn func(r *http.Request, ws *websocket.Conn)) *client.Client {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Errorf("accept: %v", err)
			return
		}
		defer ws.CloseNow()
		fn(r, ws)
	})
}

func read(t *testing.T, ws *websocket.Conn) []byte {
	t.Helper()
	_, b, err := ws.Read(context.Background())
	if err != nil {
		t.Errorf("server reads: %v", err)
	}
	return b
}

func TestTabSocket(t *testing.T) {
	served := make(chan struct{})
	c := serveSocket(t, func(r *http.Request, ws *websocket.Conn) {
		defer close(served)
		if r.URL.Path != "/v1/sandboxes/local/tabs/tab_1/socket" || r.Header.Get("Authorization") != "Bearer pt_live_k" {
			t.Errorf("asked %s with %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		if r.Header.Get("Origin") != "" {
			t.Error("a key's socket sends an Origin")
		}
		var hello map[string]any
		if err := json.Unmarshal(read(t, ws), &hello); err != nil {
			t.Error(err)
		}
		if hello["type"] != "hello" || hello["protocol"] != 1.0 || hello["token"] != "" || hello["input"] != "abcdefgh" {
			t.Errorf("hello is %v", hello)
		}
		for _, m := range []struct {
			kind websocket.MessageType
			b    []byte
		}{
			{websocket.MessageText, []byte(`{"type":"welcome","stream":"s1"}`)},
			{websocket.MessageBinary, []byte("\x02\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x01\x00\x00\x50\x00\x18\x03hi")},
			{websocket.MessageBinary, []byte("\x01\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x01\x02out")},
			{websocket.MessageBinary, []byte("\x03\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x01\x05\x00\x84\x00\x28")},
			{websocket.MessageBinary, []byte("\x04\x00\x00\x00\x00\x00\x00\x00\x09")},
		} {
			if err := ws.Write(context.Background(), m.kind, m.b); err != nil {
				t.Error(err)
			}
		}
		for _, want := range []string{
			"\x11\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x09keys",
			"\x12\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x0d\x01text",
			"\x13\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x01\x05",
			`{"type":"takeSize"}`,
		} {
			if got := read(t, ws); string(got) != want {
				t.Errorf("got frame %q, want %q", got, want)
			}
		}
		ws.Close(4004, "tab gone")
	})
	ctx := t.Context()
	s, err := c.DialTab(ctx, "local", "tab_1", client.Hello{Size: &client.Size{Cols: 80, Rows: 24}, Input: "abcdefgh"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.CloseNow()
	for i, want := range []client.Frame{
		{Type: client.FrameText, Name: "welcome"},
		{Type: client.FrameSnapshot, Pane: 7, Offset: 256, Size: client.Size{Cols: 80, Rows: 24}, Flags: 3, Data: []byte("hi")},
		{Type: client.FrameOutput, Pane: 7, Offset: 258, Data: []byte("out")},
		{Type: client.FrameResize, Pane: 7, Offset: 261, Size: client.Size{Cols: 132, Rows: 40}},
		{Type: client.FrameInputAck, Offset: 9},
	} {
		f, err := s.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if f.Type != want.Type || f.Pane != want.Pane || f.Offset != want.Offset || f.Size != want.Size ||
			f.Flags != want.Flags || f.Name != want.Name || !bytes.Equal(f.Data, want.Data) {
			t.Errorf("frame %d is %+v, want %+v", i, f, want)
		}
	}
	err = errors.Join(
		s.Input(ctx, 7, 9, []byte("keys")), s.Paste(ctx, 7, 13, true, []byte("text")), s.Ack(ctx, 7, 261),
		s.Send(ctx, struct {
			Type string `json:"type"`
		}{"takeSize"}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Read(ctx)
	if code, reason, ok := client.IsClosed(err); !ok || code != 4004 || reason != "tab gone" {
		t.Fatalf("the end is %v", err)
	}
	<-served
}

func TestBadFrames(t *testing.T) {
	for name, b := range map[string]string{
		"empty": "", "unknown": "\x77abc", "cut output": "\x01\x00\x00", "cut snapshot": "\x02" + string(make([]byte, 16)),
	} {
		t.Run(name, func(t *testing.T) {
			c := serveSocket(t, func(_ *http.Request, ws *websocket.Conn) {
				read(t, ws)
				if err := ws.Write(context.Background(), websocket.MessageBinary, []byte(b)); err != nil {
					t.Error(err)
				}
				ws.CloseRead(context.Background())
			})
			s, err := c.DialTab(t.Context(), "local", "tab_1", client.Hello{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.CloseNow()
			if f, err := s.Read(t.Context()); err == nil {
				t.Fatalf("taken as %+v", f)
			}
		})
	}
}

func TestSocketRefused(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":"tab not found","code":"not_found"}`)
	})
	_, err := c.DialTab(t.Context(), "local", "tab_1", client.Hello{})
	var e *client.Error
	if !errors.As(err, &e) || e.Code != "not_found" || e.Status != 404 {
		t.Fatalf("got %v", err)
	}
}

func TestAttachment(t *testing.T) {
	c := serveSocket(t, func(r *http.Request, ws *websocket.Conn) {
		if r.URL.RequestURI() != "/v1/sandboxes/local/tabs/tab_1/attach?cols=80&rows=24&term=xterm" {
			t.Errorf("asked %s", r.URL.RequestURI())
		}
		if got := read(t, ws); string(got) != `{"type":"resize","cols":90,"rows":30}` {
			t.Errorf("got %s", got)
		}
		if got := read(t, ws); string(got) != "ls\r" {
			t.Errorf("got %q", got)
		}
		for _, m := range []struct {
			kind websocket.MessageType
			text string
		}{
			{websocket.MessageBinary, "screen"}, {websocket.MessageText, `{"type":"later"}`}, {websocket.MessageText, `{"type":"exit","exitCode":2}`},
		} {
			if err := ws.Write(context.Background(), m.kind, []byte(m.text)); err != nil {
				t.Error(err)
			}
		}
		ws.Close(websocket.StatusNormalClosure, "")
	})
	ctx := t.Context()
	a, err := c.AttachTab(ctx, "local", "tab_1", client.Size{Cols: 80, Rows: 24}, "xterm")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := errors.Join(a.Resize(ctx, client.Size{Cols: 90, Rows: 30}), a.Write(ctx, []byte("ls\r"))); err != nil {
		t.Fatal(err)
	}
	if b, err := a.Read(ctx); string(b) != "screen" {
		t.Fatalf("got %q, %v", b, err)
	}
	var exited *client.Exited
	if _, err := a.Read(ctx); !errors.As(err, &exited) || exited.Code != 2 {
		t.Fatalf("the end is %v", err)
	}
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x01\x00\x00\x50\x00\x18\x03hi"))
	f.Fuzz(func(t *testing.T, b []byte) {
		fr, err := client.DecodeFrame(b)
		if err == nil && (fr.Type != b[0] || !bytes.HasSuffix(b, fr.Data)) {
			t.Fatalf("%q gives %+v", b, fr)
		}
	})
}
