package tmuxctl

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// Parser turns notification lines into events. It does not allocate for %output. The zero value is ready.
type Parser struct{ out Output }

// Event parses one line, without its newline, that is outside a block. It overwrites line: the Data of an *Output lies
// in it. A line it does not understand is Unknown, such as an error in a configuration file, which tmux up to 3.3
// prints as it is.
func (p *Parser) Event(line []byte) Event {
	if rest, ok := bytes.CutPrefix(line, []byte("%output ")); ok {
		if id, data, ok := cutPane(rest); ok {
			p.out = Output{Pane: id, Data: Unescape(data)}
			return &p.out
		}
	} else if rest, ok := bytes.CutPrefix(line, []byte("%extended-output ")); ok {
		if e := p.extendedOutput(rest); e != nil {
			return e
		}
	} else if e := parseEvent(string(line)); e != nil {
		return e
	}
	return Unknown{Line: string(line)}
}

// extendedOutput parses "%1 age ... : data".
func (p *Parser) extendedOutput(b []byte) Event {
	id, rest, ok := cutPane(b)
	if !ok {
		return nil
	}
	head, data, ok := bytes.Cut(rest, []byte(" : "))
	if !ok {
		return nil
	}
	age, _, _ := bytes.Cut(head, []byte(" "))
	ms, ok := number(age, 1<<40)
	if !ok {
		return nil
	}
	p.out = Output{Pane: id, Data: Unescape(data), Age: time.Duration(ms) * time.Millisecond}
	return &p.out
}

// cutPane cuts "%3 " off b.
func cutPane(b []byte) (PaneID, []byte, bool) {
	id, rest, ok := bytes.Cut(b, []byte(" "))
	if !ok || len(id) == 0 || id[0] != '%' {
		return 0, nil, false
	}
	n, ok := number(id[1:], 1<<32-1)
	return PaneID(n), rest, ok
}

// number parses decimal digits without allocating.
func number(b []byte, most uint64) (uint64, bool) {
	var n uint64
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
		if n > most {
			return 0, false
		}
	}
	return n, len(b) > 0
}

// parseEvent parses every notification but output; nil when it does not understand the line.
func parseEvent(line string) Event {
	name, args, _ := strings.Cut(line, " ")
	f := fields{rest: args}
	var e Event
	switch name {
	case "%session-changed":
		e = SessionChanged{Session: f.session(), Name: f.tail()}
	case "%session-renamed":
		e = SessionRenamed{Session: f.session(), Name: f.tail()}
	case "%sessions-changed":
		e = SessionsChanged{}
	case "%session-window-changed":
		e = SessionWindowChanged{Session: f.session(), Window: f.window()}
	case "%window-add", "%unlinked-window-add":
		e = WindowAdd{Window: f.window(), Unlinked: name[1] == 'u'}
	case "%window-close", "%unlinked-window-close":
		e = WindowClose{Window: f.window(), Unlinked: name[1] == 'u'}
	case "%window-renamed", "%unlinked-window-renamed":
		e = WindowRenamed{Window: f.window(), Name: f.tail(), Unlinked: name[1] == 'u'}
	case "%window-pane-changed":
		e = WindowPaneChanged{Window: f.window(), Pane: f.pane()}
	case "%layout-change":
		e = LayoutChange{Window: f.window(), Layout: f.layout(), Visible: f.layout(), Flags: f.tail()}
	case "%pane-mode-changed":
		e = PaneModeChanged{Pane: f.pane()}
	case "%pause":
		e = Pause{Pane: f.pane()}
	case "%continue":
		e = Continue{Pane: f.pane()}
	case "%client-session-changed":
		// A client's name is the path of its tty, or client-<pid>: no spaces.
		e = ClientSessionChanged{Client: f.word(), Session: f.session(), Name: f.tail()}
	case "%client-detached":
		e = ClientDetached{Client: f.tail()}
	case "%subscription-changed":
		e = f.subscription()
	case "%paste-buffer-changed":
		e = PasteBufferChanged{Name: f.tail()}
	case "%paste-buffer-deleted":
		e = PasteBufferDeleted{Name: f.tail()}
	case "%message":
		e = Message{Text: f.tail()}
	case "%config-error":
		e = ConfigError{Text: f.tail()}
	case "%exit":
		e = Exit{Reason: f.tail()}
	}
	if f.bad {
		return nil
	}
	return e
}

// fields takes a notification's arguments one by one; bad is set by the first that is not as it should be.
type fields struct {
	rest string
	bad  bool
}

func (f *fields) word() string {
	var w string
	w, f.rest, _ = strings.Cut(f.rest, " ")
	if w == "" {
		f.bad = true
	}
	return w
}

// tail takes all that is left: names and values hold spaces.
func (f *fields) tail() string {
	s := f.rest
	f.rest = ""
	return s
}

func (f *fields) session() SessionID { id, err := ParseSessionID(f.word()); return check(f, id, err) }
func (f *fields) window() WindowID   { id, err := ParseWindowID(f.word()); return check(f, id, err) }
func (f *fields) pane() PaneID       { id, err := ParsePaneID(f.word()); return check(f, id, err) }
func (f *fields) layout() Layout     { l, err := ParseLayout(f.word()); return check(f, l, err) }

func check[T any](f *fields, v T, err error) T {
	if err != nil {
		f.bad = true
	}
	return v
}

// subscription parses "name $1 @2 0 %3 ... : value", with "-" for what it does not belong to.
func (f *fields) subscription() Event {
	head, value, ok := strings.Cut(f.rest, " : ")
	if !ok {
		// An empty value.
		if head, ok = strings.CutSuffix(f.rest, " :"); !ok {
			f.bad = true
			return nil
		}
	}
	h := fields{rest: head}
	e := SubscriptionChanged{Name: h.word(), Session: h.session(), Value: value}
	if w := h.word(); w != "-" {
		id, err := ParseWindowID(w)
		e.Window, e.HasWindow = check(&h, id, err), true
	}
	if i := h.word(); i != "-" {
		n, err := strconv.Atoi(i)
		e.WindowIndex = check(&h, n, err)
	}
	if p := h.word(); p != "-" {
		id, err := ParsePaneID(p)
		e.Pane, e.HasPane = check(&h, id, err), true
	}
	f.bad = f.bad || h.bad
	return e
}

// guard is a %begin, %end or %error line: the marks around a reply.
type guard struct {
	time, number uint64
	own          bool // it answers a command of ours
}

// parseGuard parses "%begin 1700000000 123 1"; name says which guard.
func parseGuard(line []byte, name string) (guard, bool) {
	if len(line) <= len(name) || string(line[:len(name)]) != name || line[len(name)] != ' ' {
		return guard{}, false
	}
	t, rest, ok1 := bytes.Cut(line[len(name)+1:], []byte(" "))
	n, flags, ok2 := bytes.Cut(rest, []byte(" "))
	time, ok3 := number(t, 1<<62)
	num, ok4 := number(n, 1<<62)
	fl, ok5 := number(flags, 1<<31)
	return guard{time: time, number: num, own: fl&1 != 0}, ok1 && ok2 && ok3 && ok4 && ok5
}
