package terminal

import (
	"strconv"
)

// color is a colour of SGR: 0 the default, colorPalette|n, or colorRGB|0xrrggbb.
type color uint32

const (
	colorPalette color = 1 << 24
	colorRGB     color = 2 << 24
)

const (
	penBold = 1 << iota
	penDim
	penItalic
	penBlink
	penInverse
	penHidden
	penStrike
	penOverline
)

// pen is what SGR sets.
type pen struct {
	attrs     uint8
	underline uint8 // 0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed
	fg, bg    color
	ul        color
}

var penCodes = [...]byte{1, 2, 3, 5, 7, 8, 9, 53} // SGR of each attribute, in bit order

// sgr applies the parameters of a CSI m.
func (p *pen) sgr(ps params) {
	for {
		n, colon, ok := ps.next()
		if !ok {
			return
		}
		switch {
		case n <= 0:
			*p = pen{}
		case n == 1:
			p.attrs |= penBold
		case n == 2:
			p.attrs |= penDim
		case n == 3:
			p.attrs |= penItalic
		case n == 4:
			p.underline = 1
			if colon {
				var style int
				style, colon, _ = ps.next()
				if style >= 0 && style <= 5 {
					p.underline = uint8(style)
				}
			}
		case n == 5 || n == 6:
			p.attrs |= penBlink
		case n == 7:
			p.attrs |= penInverse
		case n == 8:
			p.attrs |= penHidden
		case n == 9:
			p.attrs |= penStrike
		case n == 21:
			p.underline = 2
		case n == 22:
			p.attrs &^= penBold | penDim
		case n == 23:
			p.attrs &^= penItalic
		case n == 24:
			p.underline = 0
		case n == 25:
			p.attrs &^= penBlink
		case n == 27:
			p.attrs &^= penInverse
		case n == 28:
			p.attrs &^= penHidden
		case n == 29:
			p.attrs &^= penStrike
		case n >= 30 && n <= 37:
			p.fg = colorPalette | color(n-30)
		case n == 39:
			p.fg = 0
		case n >= 40 && n <= 47:
			p.bg = colorPalette | color(n-40)
		case n == 49:
			p.bg = 0
		case n == 53:
			p.attrs |= penOverline
		case n == 55:
			p.attrs &^= penOverline
		case n == 59:
			p.ul = 0
		case n >= 90 && n <= 97:
			p.fg = colorPalette | color(n-90+8)
		case n >= 100 && n <= 107:
			p.bg = colorPalette | color(n-100+8)
		case n == 38 || n == 48 || n == 58:
			var c color
			var good bool
			c, good, colon = sgrColor(&ps, colon)
			if good {
				switch n {
				case 38:
					p.fg = c
				case 48:
					p.bg = c
				case 58:
					p.ul = c
				}
			}
		}
		for colon { // sub-parameters nobody asked for
			_, colon, _ = ps.next()
		}
	}
}

// sgrColor reads what follows 38, 48 or 58: 5;n, 2;r;g;b, 5:n, 2:r:g:b or 2:space:r:g:b.
func sgrColor(ps *params, colon bool) (c color, ok, more bool) {
	kind, more, _ := ps.next()
	if colon {
		var v [6]int
		n := 0
		for more {
			var x int
			x, more, _ = ps.next()
			if n < len(v) {
				v[n] = x
				n++
			}
		}
		switch {
		case kind == 5 && n >= 1:
			c, ok = paletteColor(v[0])
		case kind == 2 && n == 3:
			c, ok = rgbColor(v[0], v[1], v[2])
		case kind == 2 && n > 3:
			c, ok = rgbColor(v[1], v[2], v[3])
		}
		return c, ok, false
	}
	switch kind {
	case 5:
		var n int
		n, more, _ = ps.next()
		c, ok = paletteColor(n)
	case 2:
		r, _, _ := ps.next()
		g, _, _ := ps.next()
		var b int
		b, more, _ = ps.next()
		c, ok = rgbColor(r, g, b)
	}
	return c, ok, more
}

func paletteColor(n int) (color, bool) {
	n = max(n, 0)
	return colorPalette | color(n&0xff), n < 256
}

func rgbColor(r, g, b int) (color, bool) {
	r, g, b = max(r, 0), max(g, 0), max(b, 0)
	return colorRGB | color(r&0xff)<<16 | color(g&0xff)<<8 | color(b&0xff), r < 256 && g < 256 && b < 256
}

// append adds the SGR that makes a terminal's pen p, whatever it was.
func (p pen) append(b []byte) []byte { return append(p.appendParams(append(b, "\x1b["...)), 'm') }

// appendParams adds the parameters of that SGR, beginning with the reset.
func (p pen) appendParams(b []byte) []byte {
	b = append(b, '0')
	for i, code := range penCodes {
		if p.attrs&(1<<i) != 0 {
			b = strconv.AppendInt(append(b, ';'), int64(code), 10)
		}
	}
	switch {
	case p.underline == 1:
		b = append(b, ";4"...)
	case p.underline > 1:
		b = append(b, ";4:"...)
		b = append(b, '0'+p.underline)
	}
	b = p.fg.append(b, 30)
	b = p.bg.append(b, 40)
	return p.ul.append(b, 50)
}

func (c color) append(b []byte, base int64) []byte {
	n := int64(c & 0xff)
	switch c &^ 0xffffff {
	case colorPalette:
		switch {
		case n < 8 && base < 50:
			return strconv.AppendInt(append(b, ';'), base+n, 10)
		case n < 16 && base < 50:
			return strconv.AppendInt(append(b, ';'), base+60+n-8, 10)
		}
		b = strconv.AppendInt(append(b, ';'), base+8, 10)
		if base == 50 {
			return strconv.AppendInt(append(b, ":5:"...), n, 10)
		}
		return strconv.AppendInt(append(b, ";5;"...), n, 10)
	case colorRGB:
		b = strconv.AppendInt(append(b, ';'), base+8, 10)
		sep, space := byte(';'), ";2"
		if base == 50 { // xterm.js takes an underline colour with colons alone
			sep, space = ':', ":2:"
		}
		b = append(b, space...)
		for _, shift := range []uint{16, 8, 0} {
			b = strconv.AppendInt(append(b, sep), int64(c>>shift&0xff), 10)
		}
	}
	return b
}
