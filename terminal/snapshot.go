package terminal

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CaptureVars are the tmux format variables a Source puts into Capture.Vars.
var CaptureVars = []string{
	"pane_width", "pane_height", "history_size", "cursor_x", "cursor_y", "cursor_flag",
	"alternate_on", "alternate_saved_x", "alternate_saved_y", "scroll_region_upper", "scroll_region_lower",
	"pane_tabs", "insert_flag", "keypad_cursor_flag", "keypad_flag", "origin_flag", "wrap_flag",
	"mouse_all_flag", "mouse_button_flag", "mouse_standard_flag", "mouse_sgr_flag", "mouse_utf8_flag",
}

// vars are CaptureVars, read.
type vars struct {
	size        Size
	history     int
	x, y        int
	mainX       int
	mainY       int
	top, bottom int
	tabs        string
	insert      bool
	keypad      bool
	set         modeSet // of modesTold
}

func readVars(m map[string]string) *vars {
	n := func(name string) int { v, _ := strconv.Atoi(m[name]); return max(v, 0) }
	v := &vars{
		size:    Size{n("pane_width"), n("pane_height")},
		history: n("history_size"),
		x:       n("cursor_x"), y: n("cursor_y"),
		mainX: n("alternate_saved_x"), mainY: n("alternate_saved_y"),
		top: n("scroll_region_upper"), bottom: n("scroll_region_lower"),
		tabs:   m["pane_tabs"],
		insert: n("insert_flag") != 0, keypad: n("keypad_flag") != 0,
	}
	for name, mode := range map[string]int{
		"keypad_cursor_flag": 1, "origin_flag": 6, "wrap_flag": 7, "cursor_flag": 25, "alternate_on": 47,
		"mouse_standard_flag": 1000, "mouse_button_flag": 1002, "mouse_all_flag": 1003,
		"mouse_utf8_flag": 1005, "mouse_sgr_flag": 1006,
	} {
		if n(name) != 0 {
			v.set |= modeBit(mode)
		}
	}
	if v.size.Cols == 0 || v.size.Rows == 0 {
		v.size = Size{}
		return v
	}
	v.x, v.y = min(v.x, v.size.Cols), min(v.y, v.size.Rows-1)
	if v.bottom <= v.top || v.bottom >= v.size.Rows {
		v.top, v.bottom = 0, v.size.Rows-1
	}
	return v
}

// renderer writes what a pane shows as bytes that make a terminal show the same.
type renderer struct {
	b    []byte
	v    *vars
	m    *modes // as of the capture's place in the stream
	half []byte // bytes of a character cut by that place

	history int // rows of history that the capture has before the screen
}

// render appends the bytes for a terminal of v.size, freshly reset or, in place, one that showed an earlier state of the
// pane and keeps its scrollback.
func (r *renderer) render(c Capture, inPlace bool) []byte {
	if c.Replay != nil || r.v.size.Cols == 0 {
		return append(r.b, c.Replay...)
	}
	if inPlace {
		// Ends any sequence the cut came in, any link and any mode that would bend what follows.
		r.str("\x18\x1b\\\x1b]8;;\x1b\\\x1b[!p\x1b[?6l\x1b[?7h\x1b[4l\x1b[?47l\x1b[m\x1b[H\x1b[2J")
	}
	r.str("\x1b)0") // capture-pane marks line drawing with SO and SI
	rows := r.restoreBlank(splitLines(c.Screen))
	alternate := r.v.set&bitAlternate != 0
	if alternate {
		history, screen := r.splitScreen(rows)
		if len(history) > 0 && !inPlace {
			r.lines(history)
			r.str("\r\n")
		}
		saved, over := r.fitSaved(splitLines(c.Saved))
		r.lines(saved)
		r.cursor(min(r.v.mainX, r.v.size.Cols-1), max(r.v.mainY-over, 0))
		r.b = r.m.main.pen.append(r.b)
		if !inPlace {
			r.kitty(r.m.kitty[0])
		}
		r.str("\x1b[?1049h\x1b[m\x1b[H")
		rows = screen
	}
	r.lines(rows)
	r.savedCursor()
	r.tabStops()
	if r.v.top != 0 || r.v.bottom != r.v.size.Rows-1 {
		r.csi('r', r.v.top+1, r.v.bottom+1)
	}
	r.place(rows)
	r.modes(inPlace)
	r.b = r.m.pen.append(r.b)
	r.charsets(r.m.sets)
	if len(r.m.link) > 0 {
		r.str("\x1b]8;")
		r.b = append(r.b, r.m.link...)
		r.str("\x1b\\")
	}
	if r.v.set&bitWrap == 0 {
		r.str("\x1b[?7l")
	}
	if r.m.insert {
		r.str("\x1b[4h")
	}
	if r.m.set&bitSync != 0 {
		r.str("\x1b[?2026h")
	}
	r.b = append(r.b, c.Pending...)
	if len(c.Pending) == 0 {
		r.b = append(r.b, r.half...)
	}
	return r.b
}

// fitSaved fits a main screen into the pane and says how many of its rows are above. It has the size that the pane had
// when the alternate screen came; with that gone, tmux takes blank rows below the cursor away before it moves rows up.
func (r *renderer) fitSaved(saved [][]byte) (lines [][]byte, above int) {
	rows := r.rowsOf(saved)
	for rows > r.v.size.Rows && rows-1 > r.v.mainY && lineEnd(saved[len(saved)-1], r.v.size.Cols) == 0 {
		saved = saved[:len(saved)-1]
		rows--
	}
	for ; rows < r.v.size.Rows; rows++ { // so that all the history has scrolled off
		saved = append(saved, nil)
	}
	return saved, rows - r.v.size.Rows
}

func (r *renderer) str(s string) { r.b = append(r.b, s...) }

func (r *renderer) csi(final byte, ns ...int) {
	r.str("\x1b[")
	for i, n := range ns {
		if i > 0 {
			r.b = append(r.b, ';')
		}
		r.b = strconv.AppendInt(r.b, int64(n), 10)
	}
	r.b = append(r.b, final)
}

func (r *renderer) cursor(x, y int) { r.csi('H', y+1, x+1) }

// lines writes captured lines. Their SGR goes on from line to line, but a terminal would fill the line it scrolls in
// with the background, so the pen is put down around every line end.
func (r *renderer) lines(lines [][]byte) {
	var s style
	for i, l := range lines {
		if i > 0 {
			if s.pen == (pen{}) {
				r.str("\r\n")
			} else {
				r.str("\x1b[m\r\n")
				r.b = s.pen.append(r.b)
			}
		}
		r.b = append(r.b, l...)
		s = s.after(l)
	}
	r.str("\x1b[m\x0f")
}

// style is what a captured line takes over from the one before.
type style struct {
	pen  pen
	line bool // line drawing is shifted in
}

// after returns the style after a captured line that begins with s.
func (s style) after(line []byte) style {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case 0x0e, 0x0f:
			s.line = line[i] == 0x0e
		case 0x1b:
			n := sequenceLen(line[i:])
			if n > 2 && line[i+1] == '[' {
				s.pen.sgr(params{rest: line[i+2 : i+n-1], more: true})
			}
			i += n - 1
		}
	}
	return s
}

// before returns line so that it can be written alone.
func (s style) before(line []byte) []byte {
	if s == (style{}) {
		return line
	}
	b := s.pen.append(make([]byte, 0, len(line)+32))
	if s.line {
		b = append(b, 0x0e)
	}
	return append(b, line...)
}

// sequenceLen is how long the SGR or OSC 8 is that b, of a captured line, begins with.
func sequenceLen(b []byte) int {
	if len(b) > 1 && b[1] == ']' {
		if n := bytes.Index(b, []byte("\x1b\\")); n >= 0 {
			return n + 2
		}
		return len(b)
	}
	if n := bytes.IndexByte(b, 'm'); n >= 0 {
		return n + 1
	}
	return len(b)
}

// splitLines cuts a capture into its lines; tmux leaves out the last line end.
func splitLines(b []byte) [][]byte {
	if b == nil {
		return nil
	}
	lines := bytes.Split(b, []byte("\n"))
	for i, l := range lines {
		if bytes.Contains(l, zwj) || bytes.Contains(l, []byte("5:3")) {
			lines[i] = repairLine(l)
		}
	}
	return lines
}

// maxCellBytes is the most bytes tmux keeps of a cell; what joins it and does not fit is dropped.
const maxCellBytes = 21

var zwj = []byte("\u200d")

// repairLine returns a captured line without what would be read as something else than what the pane shows. A
// zero-width joiner whose next character did not fit into the cell is the last of its cell: the next cell's character
// must not join it. And tmux 3.3a writes overline as 5:3, which is blinking.
func repairLine(line []byte) []byte {
	out := make([]byte, 0, len(line))
	cell := 0 // bytes of the cell that the last character is in
	for i := 0; i < len(line); {
		if line[i] == 0x1b {
			n := sequenceLen(line[i:])
			sequence := line[i : i+n]
			if n > 2 && sequence[1] == '[' {
				sequence = overlineFault.ReplaceAll(sequence, []byte("${1}53$2"))
			}
			out = append(out, sequence...)
			i += n
			continue
		}
		c, size := utf8.DecodeRune(line[i:])
		i += size
		switch joined := bytes.HasSuffix(out, zwj); {
		case c == 0x200d:
			if next, n := utf8.DecodeRune(line[i:]); n == 0 || next < 0x80 || cell+size+n > maxCellBytes {
				continue
			}
			cell += size
		case joined || runeWidth(c) == 0:
			cell += size
		default:
			cell = size
		}
		out = append(out, line[i-size:i]...)
	}
	return out
}

var overlineFault = regexp.MustCompile(`([\[;])5:3([;m])`)

// splitScreen divides lines of history and screen where the screen begins. A line that goes over the border, as when an
// alternate screen follows a wrapped line of history, is cut.
func (r *renderer) splitScreen(lines [][]byte) (history, screen [][]byte) {
	rows, first := 0, len(lines)
	for first > 0 && rows < r.v.size.Rows {
		first--
		rows += lineRows(lines[first], r.v.size.Cols)
	}
	var s style
	for _, l := range lines[:first] {
		s = s.after(l)
	}
	history, screen = lines[:first:first], append([][]byte(nil), lines[first:]...)
	if len(screen) == 0 {
		return history, screen
	}
	screen[0] = s.before(screen[0])
	if over := rows - r.v.size.Rows; over > 0 {
		head, tail := cutRows(lines[first], r.v.size.Cols, over)
		history = append(history, head)
		screen[0] = s.after(head).before(tail)
	}
	return history, screen
}

// restoreBlank puts back the row that a capture swallows: a wrapped line of history is joined with the first row of the
// screen, and when that is blank, as an alternate screen's may be, nothing shows that it was there.
func (r *renderer) restoreBlank(lines [][]byte) [][]byte {
	if r.rowsOf(lines) != r.history+r.v.size.Rows-1 {
		return lines
	}
	rows := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if rows == r.v.size.Rows-1 {
			if lineEnd(lines[i], r.v.size.Cols) == r.v.size.Cols {
				return slices.Insert(lines, i+1, nil)
			}
			break
		}
		rows += lineRows(lines[i], r.v.size.Cols)
	}
	return lines
}

func (r *renderer) rowsOf(lines [][]byte) int {
	n := 0
	for _, l := range lines {
		n += lineRows(l, r.v.size.Cols)
	}
	return n
}

// lineRows is how many rows a captured line takes.
func lineRows(line []byte, cols int) int {
	n := 1
	walkRows(line, cols, func(int) bool { n++; return true })
	return n
}

// cutRows cuts a captured line after n of its rows.
func cutRows(line []byte, cols, n int) (head, tail []byte) {
	at := len(line)
	walkRows(line, cols, func(i int) bool {
		if n--; n == 0 {
			at = i
		}
		return n > 0
	})
	return line[:at], line[at:]
}

// lineEnd is the column after a captured line's last character.
func lineEnd(line []byte, cols int) int {
	return walkRows(line, cols, func(int) bool { return true })
}

// walkRows calls wrap with the place in line of each character that begins a further row, and returns the column after the
// last one.
func walkRows(line []byte, cols int, wrap func(i int) bool) (x int) {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == 0x1b:
			i += sequenceLen(line[i:])
			continue
		case c < 0x20:
			i++
			continue
		}
		c, size := utf8.DecodeRune(line[i:])
		w := runeWidth(c)
		if i >= 3 && bytes.Equal(line[i-3:i], zwj) {
			w = 0
		}
		if x+w > cols {
			if !wrap(i) {
				return x
			}
			x = 0
		}
		x += w
		i += size
	}
	return x
}

func (r *renderer) savedCursor() {
	s := r.m.saved
	if !s.ok {
		return
	}
	if s.origin {
		r.str("\x1b[?6h")
	}
	r.cursor(min(s.x, r.v.size.Cols-1), min(s.y, r.v.size.Rows-1)) // no region is set yet
	r.b = s.pen.append(r.b)
	r.charsets(s.sets)
	r.str("\x1b7\x1b[m\x0f")
	if s.origin {
		r.str("\x1b[?6l")
	}
}

func (r *renderer) tabStops() {
	var stops []string
	for n := 8; n < r.v.size.Cols; n += 8 {
		stops = append(stops, strconv.Itoa(n))
	}
	if r.v.tabs == strings.Join(stops, ",") {
		return
	}
	r.str("\x1b[3g")
	for s := range strings.SplitSeq(r.v.tabs, ",") {
		if n, err := strconv.Atoi(s); err == nil && n < r.v.size.Cols {
			r.csi('G', n+1)
			r.str("\x1bH")
		}
	}
}

// place puts the cursor where it is, with the wrap pending if it is.
func (r *renderer) place(screen [][]byte) {
	y := r.v.y
	if r.v.set&bitOrigin != 0 {
		r.str("\x1b[?6h")
		y = max(y-r.v.top, 0)
	}
	if r.v.x < r.v.size.Cols {
		r.cursor(r.v.x, y)
		return
	}
	// Only writing the last cell leaves a terminal with the wrap pending.
	if row := r.row(screen, r.v.y); row != nil {
		r.cursor(0, y)
		r.b = append(r.b, row...)
		r.str("\x1b[m\x0f")
		return
	}
	r.cursor(r.v.size.Cols-1, y)
}

// row returns the y-th row of the screen, with the pen it begins with.
func (r *renderer) row(screen [][]byte, y int) []byte {
	_, screen = r.splitScreen(screen)
	var s style
	for _, l := range screen {
		n := lineRows(l, r.v.size.Cols)
		if y >= n {
			y -= n
			s = s.after(l)
			continue
		}
		if y > 0 {
			var head []byte
			head, l = cutRows(l, r.v.size.Cols, y)
			s = s.after(head)
		}
		l, _ = cutRows(l, r.v.size.Cols, 1)
		return s.before(l)
	}
	return nil
}

func (r *renderer) modes(inPlace bool) {
	set := r.m.set
	for i, mode := range privateModes {
		bit := modeSet(1) << i
		switch bit {
		case bitOrigin, bitWrap, bitAlternate, bitSync:
			continue
		}
		if on := set&bit != 0; on != (defaultModes&bit != 0) {
			r.private(mode, on)
		} else if inPlace && bit&mouseTracking == 0 {
			r.private(mode, on)
		}
	}
	if inPlace && set&mouseTracking == 0 {
		r.private(1003, false)
	}
	if r.m.keypad {
		r.str("\x1b=")
	}
	if r.m.newline {
		r.str("\x1b[20h")
	}
	if r.m.shape != 0 {
		r.csi(' ', int(r.m.shape))
		r.str("q")
	}
	if r.m.otherKeys != 0 {
		r.str("\x1b[>4;" + strconv.Itoa(int(r.m.otherKeys)) + "m")
	}
	if !inPlace { // else the page has them, and pushing again would add to them
		r.kitty(*r.m.screen())
	}
}

func (r *renderer) kitty(k kitty) {
	flags := append(k.stack[:len(k.stack):len(k.stack)], k.flags)
	if flags[0] != 0 {
		r.str("\x1b[=" + strconv.Itoa(int(flags[0])) + ";1u")
	}
	for _, f := range flags[1:] {
		r.str("\x1b[>" + strconv.Itoa(int(f)) + "u")
	}
}

func (r *renderer) private(mode int, on bool) {
	r.str("\x1b[?" + strconv.Itoa(mode))
	if on {
		r.str("h")
	} else {
		r.str("l")
	}
}

func (r *renderer) charsets(s charsets) {
	r.b = append(r.b, "\x1b("...)
	r.b = append(r.b, s.g[0], 0x1b, ')', s.g[1], 0x0f-s.shift)
}
