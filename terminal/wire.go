package terminal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// ProtocolVersion is what a viewer's hello must name. docs/PROTOCOL.md describes the frames; static/src/wire.ts is
// the twin of this file.
const ProtocolVersion = 1

// Types of binary frames: their first byte.
const (
	frameOutput   = 0x01
	frameSnapshot = 0x02
	frameResize   = 0x03
	frameInputAck = 0x04
	frameInput    = 0x11
	framePaste    = 0x12
	frameAck      = 0x13
)

// Flags of a snapshot frame, and of a paste frame.
const (
	snapshotFirst   = 1
	snapshotLast    = 2
	snapshotHistory = 4

	pasteLast = 1
)

// Close codes beside those of RFC 6455.
const (
	CloseNormal         = 1000
	CloseGoingAway      = 1001
	CloseTooBig         = 1009
	CloseRestart        = 1012
	CloseBadFrame       = 4000
	CloseLoggedOut      = 4001
	CloseProtocol       = 4002
	CloseTabGone        = 4004
	CloseTooManyViewers = 4006
	CloseHelloLate      = 4008
	CloseServerGone     = 4009
	CloseStalled        = 4010
)

// Bounds of what a viewer may send.
const (
	MaxFrameBytes = 32 << 10 // of any frame; a Conn need not read more

	maxInputBytes = 16 << 10 // in one input or paste frame
	maxPasteBytes = 16 << 20 // in one pasted text
	maxScrollback = 50_000   // lines; each costs tmux and the page memory
	maxHelloPanes = 256
)

const (
	outputHeaderBytes   = 1 + 4 + 8
	snapshotHeaderBytes = 1 + 4 + 8 + 2 + 2 + 1
)

// Hello is the first frame of a viewer: docs/PROTOCOL.md.
type Hello struct {
	Type       string            `json:"type"`
	Protocol   int               `json:"protocol"`
	Token      string            `json:"token"`
	Size       *Size             `json:"size"`
	ReadOnly   bool              `json:"readOnly"`
	Scrollback int               `json:"scrollback"`
	Stream     string            `json:"stream"`
	Panes      map[PaneID]uint64 `json:"panes"`
	Input      string            `json:"input"`
}

// FrameError is a frame that breaks the protocol; Code is the close code for it.
type FrameError struct {
	Code int
	Text string
}

func (e *FrameError) Error() string { return e.Text }

func badFrame(format string, args ...any) error {
	return &FrameError{CloseBadFrame, fmt.Sprintf(format, args...)}
}

// CloseCode returns the close code that tells a viewer of err.
func CloseCode(err error) int {
	if f, ok := errors.AsType[*FrameError](err); ok {
		return f.Code
	}
	return CloseBadFrame
}

var inputID = regexp.MustCompile(`^[a-z0-9]{8,32}$`)

// DecodeHello parses and bounds a viewer's first frame. The error is a *FrameError.
func DecodeHello(data []byte) (Hello, error) {
	var h Hello
	if len(data) > MaxFrameBytes {
		return h, &FrameError{CloseTooBig, "hello too big"}
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return h, badFrame("hello is not JSON as docs/PROTOCOL.md says")
	}
	if h.Type != "hello" {
		return h, badFrame("first frame is not hello")
	}
	if h.Protocol != ProtocolVersion {
		return h, &FrameError{CloseProtocol, fmt.Sprintf("protocol %d wanted, this server speaks %d", h.Protocol, ProtocolVersion)}
	}
	if h.Input != "" && !inputID.MatchString(h.Input) {
		return h, badFrame("input id is not 8 to 32 of [a-z0-9]")
	}
	if len(h.Panes) > maxHelloPanes || len(h.Stream) > 64 {
		return h, badFrame("hello resumes too much")
	}
	if h.Size != nil {
		if h.Size.Cols < 1 || h.Size.Rows < 1 {
			h.Size = nil
		} else {
			s := h.Size.Clamp()
			h.Size = &s
		}
	}
	h.Scrollback = min(max(h.Scrollback, 0), maxScrollback)
	return h, nil
}

func appendOutput(b []byte, pane PaneID, offset uint64) []byte {
	b = append(b, frameOutput)
	b = binary.BigEndian.AppendUint32(b, uint32(pane))
	return binary.BigEndian.AppendUint64(b, offset)
}

func appendSnapshotHeader(b []byte, pane PaneID, offset uint64, size Size, flags byte) []byte {
	b = append(b, frameSnapshot)
	b = binary.BigEndian.AppendUint32(b, uint32(pane))
	b = binary.BigEndian.AppendUint64(b, offset)
	b = binary.BigEndian.AppendUint16(b, uint16(size.Cols))
	b = binary.BigEndian.AppendUint16(b, uint16(size.Rows))
	return append(b, flags)
}

func appendResize(b []byte, pane PaneID, offset uint64, size Size) []byte {
	b = append(b, frameResize)
	b = binary.BigEndian.AppendUint32(b, uint32(pane))
	b = binary.BigEndian.AppendUint64(b, offset)
	b = binary.BigEndian.AppendUint16(b, uint16(size.Cols))
	return binary.BigEndian.AppendUint16(b, uint16(size.Rows))
}

func appendInputAck(b []byte, offset uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, frameInputAck), offset)
}

// viewerFrame is a binary frame from a viewer.
type viewerFrame struct {
	kind   byte
	pane   PaneID
	offset uint64
	flags  byte
	data   []byte // aliases the frame
}

func decodeFrame(b []byte) (viewerFrame, error) {
	var f viewerFrame
	if len(b) == 0 {
		return f, badFrame("empty frame")
	}
	f.kind = b[0]
	switch f.kind {
	case frameInput, framePaste, frameAck:
	default:
		return f, badFrame("unknown frame type 0x%02x", f.kind)
	}
	if len(b) < outputHeaderBytes {
		return f, badFrame("frame 0x%02x of %d bytes is too short", f.kind, len(b))
	}
	f.pane = PaneID(binary.BigEndian.Uint32(b[1:]))
	f.offset = binary.BigEndian.Uint64(b[5:])
	f.data = b[outputHeaderBytes:]
	switch f.kind {
	case frameAck:
		if len(f.data) != 0 {
			return f, badFrame("ack frame of %d bytes is too long", len(b))
		}
		return f, nil
	case framePaste:
		if len(f.data) == 0 {
			return f, badFrame("paste frame without flags")
		}
		f.flags, f.data = f.data[0], f.data[1:]
		if f.flags&^pasteLast != 0 {
			return f, badFrame("unknown paste flags 0x%02x", f.flags)
		}
	}
	if len(f.data) > maxInputBytes {
		return f, badFrame("%d bytes of input in one frame, at most %d", len(f.data), maxInputBytes)
	}
	if f.offset > 1<<53 { // more than the page's numbers can count
		return f, badFrame("offset %d out of range", f.offset)
	}
	return f, nil
}

// viewerText is a text frame from a viewer, all types in one.
type viewerText struct {
	Type  string          `json:"type"`
	ID    json.RawMessage `json:"id"`
	T     json.RawMessage `json:"t"`
	Lines int             `json:"lines"`
	Op                    // Cols and Rows are those of resize, too
}

// Texts to a viewer.
type (
	welcomeText struct {
		Type        string `json:"type"`
		Protocol    int    `json:"protocol"`
		Version     string `json:"version"`
		Viewer      string `json:"viewer"`
		Stream      string `json:"stream"`
		InputOffset uint64 `json:"inputOffset"`
		Plain       bool   `json:"plain"`
		Widths      Widths `json:"widths"`
	}
	layoutText struct {
		Type    string    `json:"type"`
		Window  WindowID  `json:"window"`
		Windows []Window  `json:"windows"`
		Size    Size      `json:"size"`
		Zoomed  bool      `json:"zoomed"`
		Active  PaneID    `json:"active"`
		Panes   []PaneBox `json:"panes"`
	}
	paneText struct {
		Type string `json:"type"`
		PaneState
	}
	sizeText struct {
		Type      string `json:"type"`
		Owner     string `json:"owner"`
		OwnerName string `json:"ownerName"`
		Mine      bool   `json:"mine"`
		Size      Size   `json:"size"`
	}
	refusedText struct {
		Type   string `json:"type"`
		Offset uint64 `json:"offset"`
		Reason string `json:"reason"`
	}
	doneText struct {
		Type  string          `json:"type"`
		ID    json.RawMessage `json:"id"`
		Error *textError      `json:"error,omitempty"`
	}
	textError struct {
		Code  string `json:"code"`
		Error string `json:"error"`
	}
	noticeText struct {
		Type string `json:"type"`
		Code string `json:"code"`
		Text string `json:"text"`
	}
	pongText struct {
		Type string          `json:"type"`
		T    json.RawMessage `json:"t"`
	}
	clipboardText struct {
		Type string `json:"type"`
		Pane PaneID `json:"pane"`
		Text string `json:"text"`
	}
	endedText struct {
		Type     string `json:"type"`
		Reason   string `json:"reason"`
		ExitCode *int   `json:"exitCode,omitempty"`
	}
)
