package tmuxctl

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

func TestParseEvent(t *testing.T) {
	layout := func(s string) Layout {
		l, err := ParseLayout(s)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	one := withChecksum("80x24,0,0,0")
	two := withChecksum("80x24,0,0{40x24,0,0,0,39x24,41,0,1}")
	tests := []struct {
		line string
		want Event
	}{
		{`%output %3 a\015\012`, &Output{Pane: 3, Data: []byte("a\r\n")}},
		{`%output %3 `, &Output{Pane: 3, Data: []byte{}}},
		{`%output %4294967295  x : y`, &Output{Pane: 1<<32 - 1, Data: []byte(" x : y")}},
		{`%extended-output %3 1500 : a : b`, &Output{Pane: 3, Age: 1500 * time.Millisecond, Data: []byte("a : b")}},
		{`%extended-output %3 0 later use : \033`, &Output{Pane: 3, Data: []byte("\x1b")}},
		{`%session-changed $1 a name`, SessionChanged{Session: 1, Name: "a name"}},
		{`%session-renamed $1 a name`, SessionRenamed{Session: 1, Name: "a name"}},
		{`%sessions-changed`, SessionsChanged{}},
		{`%session-window-changed $1 @2`, SessionWindowChanged{Session: 1, Window: 2}},
		{`%window-add @2`, WindowAdd{Window: 2}},
		{`%unlinked-window-add @2`, WindowAdd{Window: 2, Unlinked: true}},
		{`%window-close @2`, WindowClose{Window: 2}},
		{`%unlinked-window-close @2`, WindowClose{Window: 2, Unlinked: true}},
		{`%window-renamed @2 a name`, WindowRenamed{Window: 2, Name: "a name"}},
		{`%window-renamed @2 `, WindowRenamed{Window: 2}},
		{`%unlinked-window-renamed @2 x`, WindowRenamed{Window: 2, Name: "x", Unlinked: true}},
		{`%window-pane-changed @2 %3`, WindowPaneChanged{Window: 2, Pane: 3}},
		{`%layout-change @2 ` + two + ` ` + one + ` *Z`, LayoutChange{Window: 2, Layout: layout(two), Visible: layout(one), Flags: "*Z"}},
		{`%layout-change @2 ` + two + ` ` + two + ` `, LayoutChange{Window: 2, Layout: layout(two), Visible: layout(two)}},
		{`%pane-mode-changed %3`, PaneModeChanged{Pane: 3}},
		{`%pause %3`, Pause{Pane: 3}},
		{`%continue %3`, Continue{Pane: 3}},
		{`%client-session-changed /dev/pts/1 $1 a name`, ClientSessionChanged{Client: "/dev/pts/1", Session: 1, Name: "a name"}},
		{`%client-detached client-7`, ClientDetached{Client: "client-7"}},
		{`%subscription-changed sub $1 @2 0 %3 : v : w`, SubscriptionChanged{Name: "sub", Session: 1, Window: 2, HasWindow: true, Pane: 3, HasPane: true, Value: "v : w"}},
		{`%subscription-changed sub $1 @2 5 - : v`, SubscriptionChanged{Name: "sub", Session: 1, Window: 2, HasWindow: true, WindowIndex: 5, Value: "v"}},
		{`%subscription-changed sub $1 - - - : `, SubscriptionChanged{Name: "sub", Session: 1}},
		{`%subscription-changed sub $1 - - - :`, SubscriptionChanged{Name: "sub", Session: 1}},
		{`%paste-buffer-changed buffer0`, PasteBufferChanged{Name: "buffer0"}},
		{`%paste-buffer-deleted buffer0`, PasteBufferDeleted{Name: "buffer0"}},
		{`%message some text`, Message{Text: "some text"}},
		{`%config-error file:1: bad`, ConfigError{Text: "file:1: bad"}},
		{`%exit`, Exit{}},
		{`%exit server exited`, Exit{Reason: "server exited"}},
	}
	for _, test := range tests {
		var p Parser
		if got := p.Event([]byte(test.line)); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.line, got, test.want)
		}
	}
}

func TestParseUnknown(t *testing.T) {
	for _, line := range []string{
		"", "%", "text", "%new-thing @1 x", "%output", "%output ", "%output 3 x", "%output %x y", "%output %3", "%output %4294967296 x",
		"%extended-output %3 x : y", "%extended-output %3 12", "%extended-output %3 -1 : x", "%window-add 2", "%window-add @", "%window-add @-1",
		"%window-add", "%session-changed", "%layout-change @1 b25d,80x24,0,0,0", "%layout-change @1 junk junk *", "%pause %", "%subscription-changed a $1",
		"%subscription-changed a $1 @x 0 %1 : v", "%session-window-changed $1",
	} {
		var p Parser
		if got := p.Event([]byte(line)); !reflect.DeepEqual(got, Unknown{Line: line}) {
			t.Errorf("%q: %#v, want Unknown", line, got)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`%output %3 \033[1m`))
	f.Add([]byte(`%extended-output %3 12 : x`))
	f.Add([]byte(`%layout-change @2 b25d,80x24,0,0,0 b25d,80x24,0,0,0 *`))
	f.Add([]byte(`%subscription-changed a $1 @2 0 %3 : v`))
	f.Add([]byte(`%client-session-changed c $1 n`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var p Parser
		switch e := p.Event(bytes.Clone(line)).(type) {
		case nil:
			t.Errorf("%q: no event", line)
		case Unknown:
			if e.Line != string(line) && !bytes.HasPrefix(line, []byte("%extended-output ")) {
				t.Errorf("%q: kept as %q", line, e.Line)
			}
		case *Output:
			if len(e.Data) > len(line) {
				t.Errorf("%q: more data than there was", line)
			}
		}
	})
}

func TestParseID(t *testing.T) {
	for _, s := range []string{"", "%", "%x", "3", "$3", "%-1", "%+1", "% 1", "%4294967296", "%1 "} {
		if id, err := ParsePaneID(s); err == nil {
			t.Errorf("%q: %v", s, id)
		}
	}
	if id, err := ParsePaneID("%12"); id != 12 || err != nil || id.String() != "%12" {
		t.Errorf("%v, %v", id, err)
	}
	if id, err := ParseWindowID("@0"); id != 0 || err != nil || id.String() != "@0" {
		t.Errorf("%v, %v", id, err)
	}
	if id, err := ParseSessionID("$4294967295"); id != 1<<32-1 || err != nil || id.String() != "$4294967295" {
		t.Errorf("%v, %v", id, err)
	}
}

// TestLineReader: however the bytes come, the lines are the same.
func TestLineReader(t *testing.T) {
	var want []string
	var stream strings.Builder
	for i := range 400 {
		line := strings.Repeat(string(rune('a'+i%26)), i*i%5000)
		if i == 200 {
			line = strings.Repeat("long", 100_000)
		}
		want = append(want, line)
		stream.WriteString(line + "\n")
	}
	for name, r := range map[string]*lineReader{
		"at once":     {r: strings.NewReader(stream.String() + "not whole")},
		"by halves":   {r: iotest.HalfReader(strings.NewReader(stream.String()))},
		"with an EOF": {r: iotest.DataErrReader(strings.NewReader(stream.String()))},
	} {
		for i, w := range want {
			line, tooLong, err := r.next()
			if err != nil || tooLong || string(line) != w {
				t.Fatalf("%s: line %d is %.20q (%d bytes), %v, %v", name, i, line, len(line), tooLong, err)
			}
		}
		if line, _, err := r.next(); err == nil {
			t.Errorf("%s: one more line %q", name, line)
		}
		if cap(r.buf) > 4<<20 {
			t.Errorf("%s: buffer grew to %d bytes", name, cap(r.buf))
		}
	}
}

// zeros is an endless line.
type zeros struct{ n int }

func (z *zeros) Read(b []byte) (int, error) {
	z.n += len(b)
	clear(b)
	if z.n > 5*maxBlockBytes {
		b[len(b)-1] = '\n'
	}
	return len(b), nil
}

// TestEndlessLine: memory is bounded whatever tmux sends.
func TestEndlessLine(t *testing.T) {
	r := lineReader{r: &zeros{}}
	line, tooLong, err := r.next()
	if !tooLong || err != nil || len(line) > shownBytes {
		t.Errorf("%d bytes, %v, %v", len(line), tooLong, err)
	}
	if cap(r.buf) > 4*maxBlockBytes {
		t.Errorf("buffer grew to %d bytes", cap(r.buf))
	}
}

// TestTranscripts parses what real versions of tmux sent. To record one: see testdata/README.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.transcript")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(t, data)
			golden := strings.TrimSuffix(file, ".transcript") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("parsed as\n%s\nwant\n%s", got, want)
			}
			if strings.Contains(got, "Unknown") {
				t.Error("there are unknown notifications")
			}
		})
	}
}

// describe says what a transcript holds, by the same code that reads a live stream.
func describe(t *testing.T, data []byte) string {
	var b strings.Builder
	c := ControlClient{lines: lineReader{r: bytes.NewReader(data)}, wake: make(chan struct{}, 1), stream: nowhere{}}
	replies := 0
	for range bytes.Count(data, []byte("\n%begin ")) {
		c.Send(Command{Line: "x", Replies: 1, Done: func(rs []Reply) {
			replies++
			for _, r := range rs {
				if r.Lines != nil || r.Err != nil {
					fmt.Fprintf(&b, "Reply %q %v\n", r.Lines, r.Err)
				} else {
					fmt.Fprintf(&b, "Reply\n")
				}
			}
		}})
	}
	for {
		e, err := c.next()
		if err != nil {
			fmt.Fprintf(&b, "end: %v\n", err)
			return b.String()
		}
		switch e := e.(type) {
		case nil:
		case *Output:
			fmt.Fprintf(&b, "Output %s %q\n", e.Pane, e.Data)
		default:
			fmt.Fprintf(&b, "%T %+v\n", e, e)
		}
	}
}

// nowhere is the Stream of a client that is not run.
type nowhere struct{ Stream }
