package tmuxctl

import (
	"bytes"
	"io"
)

const (
	readBytes = 64 << 10
	// keepBytes is the most that is kept of a buffer that grew for one long reply.
	keepBytes = 256 << 10
	// shownBytes is how much is kept of a line that is too long, to say which.
	shownBytes = 100
)

// lineReader cuts a stream into lines. It holds the only copy of a line, so the line may be changed in place.
type lineReader struct {
	r          io.Reader
	buf        []byte
	start, end int
	err        error
}

// next returns the next line without its newline, valid until the call after. Of a line longer than maxBlockBytes
// only the beginning is returned, with tooLong. A last line without a newline is dropped: it is not whole.
func (l *lineReader) next() (line []byte, tooLong bool, err error) {
	searched := l.start
	for {
		if i := bytes.IndexByte(l.buf[searched:l.end], '\n'); i >= 0 {
			line = l.buf[l.start : searched+i]
			l.start = searched + i + 1
			if tooLong {
				line = line[:min(len(line), shownBytes)]
			}
			return line, tooLong, nil
		}
		if l.end-l.start > maxBlockBytes {
			l.end, tooLong = l.start+shownBytes, true
		}
		searched = l.end
		if l.err != nil {
			return nil, false, l.err
		}
		moved := l.makeRoom()
		searched -= moved
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
	}
}

// makeRoom makes room for a read and returns by how much it moved what is unread.
func (l *lineReader) makeRoom() (moved int) {
	moved = l.start
	unread := l.end - l.start
	switch {
	case unread == 0 && (cap(l.buf) == 0 || cap(l.buf) > keepBytes):
		l.buf = make([]byte, readBytes)
	case unread > len(l.buf)/2:
		grown := make([]byte, 2*len(l.buf))
		copy(grown, l.buf[l.start:l.end])
		l.buf = grown
	case l.start > 0:
		copy(l.buf, l.buf[l.start:l.end])
	}
	l.start, l.end = 0, unread
	return moved
}

// block gathers the lines of a reply.
type block struct {
	guard
	open    bool
	tooLong bool
	data    []byte
	ends    []int // of each line in data
}

func (b *block) begin(g guard) { b.guard, b.open, b.tooLong = g, true, false }

func (b *block) add(line []byte, tooLong bool) {
	if b.tooLong = b.tooLong || tooLong || len(b.data)+len(line) > maxBlockBytes; b.tooLong {
		b.data, b.ends = b.data[:0], b.ends[:0]
		return
	}
	b.data = append(b.data, line...)
	b.ends = append(b.ends, len(b.data))
}

// lines returns the lines. borrow says that they are used before the next block begins; else they are a copy.
func (b *block) lines(borrow bool) [][]byte {
	if b.tooLong {
		return nil
	}
	data := b.data
	if !borrow {
		data = bytes.Clone(data)
	}
	lines := make([][]byte, len(b.ends))
	from := 0
	for i, end := range b.ends {
		lines[i] = data[from:end:end]
		from = end
	}
	return lines
}

// text returns the lines as the message of an error.
func (b *block) text() string {
	text := string(bytes.Join(b.lines(true), []byte("; ")))
	if text == "" {
		return "tmux command failed"
	}
	return text
}

func (b *block) end() {
	b.open = false
	b.data, b.ends = b.data[:0], b.ends[:0]
	if cap(b.data) > keepBytes {
		b.data = nil
	}
	if cap(b.ends) > keepBytes/8 {
		b.ends = nil
	}
}
