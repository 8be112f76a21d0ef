package tmuxctl

import (
	"errors"
	"fmt"
	"strconv"
)

// Bounds of a layout string, which tmux itself keeps below 8 KiB.
const (
	maxLayoutBytes = 64 << 10
	maxLayoutDepth = 256
	maxLayoutCells = 100_000
)

// Split says how the children of a Cell lie.
type Split uint8

const (
	NoSplit   Split = iota // a pane
	LeftRight              // children side by side, divided by one column
	TopBottom              // children one above the other, divided by one row
)

// Box is a rectangle of a window, in character cells.
type Box struct {
	Left, Top, Cols, Rows int
}

// Cell is a node of a Layout: a pane, or a split into further cells.
type Cell struct {
	Box
	Split    Split
	Pane     PaneID // when Split is NoSplit
	Children []Cell // when it is not
}

// Layout is how a window is divided into panes, as tmux's layout strings say it.
type Layout struct{ Root Cell }

// PaneBox is the place of one pane.
type PaneBox struct {
	Box
	Pane PaneID
}

// Panes returns the place of every pane, in tmux's order.
func (l Layout) Panes() []PaneBox { return l.Root.appendPanes(nil) }

func (c *Cell) appendPanes(to []PaneBox) []PaneBox {
	if c.Split == NoSplit {
		return append(to, PaneBox{Box: c.Box, Pane: c.Pane})
	}
	for i := range c.Children {
		to = c.Children[i].appendPanes(to)
	}
	return to
}

// ParseLayout parses a layout string such as "bb62,159x48,0,0{79x48,0,0,1,79x48,80,0,2}", checksum included.
func ParseLayout(s string) (Layout, error) {
	if len(s) > maxLayoutBytes {
		return Layout{}, fmt.Errorf("parse layout: %d bytes long, at most %d", len(s), maxLayoutBytes)
	}
	if len(s) < 5 || s[4] != ',' {
		return Layout{}, fmt.Errorf("parse layout %.40q: no checksum", s)
	}
	sum, err := strconv.ParseUint(s[:4], 16, 16)
	if err != nil || uint16(sum) != layoutChecksum(s[5:]) {
		return Layout{}, fmt.Errorf("parse layout %.40q: wrong checksum", s)
	}
	p := layoutParser{s: s, at: 5}
	root, err := p.cell(0)
	if err == nil && p.at != len(s) {
		err = errors.New("more than one root")
	}
	if err != nil {
		return Layout{}, fmt.Errorf("parse layout %.40q: at byte %d: %w", s, p.at, err)
	}
	return Layout{Root: root}, nil
}

func layoutChecksum(s string) uint16 {
	var sum uint16
	for i := 0; i < len(s); i++ {
		sum = sum>>1 + sum<<15
		sum += uint16(s[i])
	}
	return sum
}

type layoutParser struct {
	s  string
	at int
}

func (p *layoutParser) cell(depth int) (Cell, error) {
	var c Cell
	if depth > maxLayoutDepth {
		return c, fmt.Errorf("nested deeper than %d", maxLayoutDepth)
	}
	for _, field := range []struct {
		n    *int
		next byte
	}{{&c.Cols, 'x'}, {&c.Rows, ','}, {&c.Left, ','}, {&c.Top, 0}} {
		n, err := p.number(maxLayoutCells)
		if err != nil {
			return c, err
		}
		*field.n = n
		if field.next != 0 && !p.take(field.next) {
			return c, fmt.Errorf("no %q", field.next)
		}
	}
	switch {
	case p.take(','):
		n, err := p.number(1<<32 - 1)
		c.Pane = PaneID(n)
		return c, err
	case p.take('{'):
		c.Split = LeftRight
		return c, p.children(&c, '}', depth)
	case p.take('['):
		c.Split = TopBottom
		return c, p.children(&c, ']', depth)
	}
	return c, errors.New("neither a pane nor a split")
}

func (p *layoutParser) children(c *Cell, end byte, depth int) error {
	for {
		child, err := p.cell(depth + 1)
		if err != nil {
			return err
		}
		c.Children = append(c.Children, child)
		if p.take(end) {
			return nil
		}
		if !p.take(',') {
			return fmt.Errorf("no %q", end)
		}
	}
}

func (p *layoutParser) take(b byte) bool {
	if p.at < len(p.s) && p.s[p.at] == b {
		p.at++
		return true
	}
	return false
}

func (p *layoutParser) number(most int) (int, error) {
	n, from := 0, p.at
	for p.at < len(p.s) && p.s[p.at]-'0' < 10 {
		n = n*10 + int(p.s[p.at]-'0')
		if n > most {
			return 0, errors.New("number too large")
		}
		p.at++
	}
	if p.at == from {
		return 0, errors.New("no number")
	}
	return n, nil
}
