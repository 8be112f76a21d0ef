package client

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// Types of binary frames: docs/PROTOCOL.md.
const (
	FrameText     byte = 0x00 // not on the wire: Frame.Text holds a text frame
	FrameOutput   byte = 0x01
	FrameSnapshot byte = 0x02
	FrameResize   byte = 0x03
	FrameInputAck byte = 0x04
	FrameInput    byte = 0x11
	FramePaste    byte = 0x12
	FrameAck      byte = 0x13
)

// Flags of a snapshot and of a paste.
const (
	SnapshotFirst   byte = 1
	SnapshotLast    byte = 2
	SnapshotHistory byte = 4
	PasteLast       byte = 1
)

// MaxInputBytes bounds the bytes of one input or paste frame.
const MaxInputBytes = 16 << 10

// Size is the geometry of a terminal in character cells.
type Size struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// Frame is one frame from the server. Which fields count depends on Type.
type Frame struct {
	Type   byte
	Pane   uint32
	Offset uint64
	Size   Size   // of snapshot and resize
	Flags  byte   // of snapshot
	Data   []byte // of output and snapshot
	Name   string // "type" of a text frame
	Text   json.RawMessage
}

// decodeFrame takes a binary frame apart. Data points into b.
func decodeFrame(b []byte) (Frame, error) {
	if len(b) == 0 {
		return Frame{}, fmt.Errorf("empty frame")
	}
	f := Frame{Type: b[0]}
	need := map[byte]int{FrameOutput: 13, FrameSnapshot: 18, FrameResize: 17, FrameInputAck: 9}[f.Type]
	switch {
	case need == 0:
		return Frame{}, fmt.Errorf("unknown frame type %#02x", f.Type)
	case len(b) < need:
		return Frame{}, fmt.Errorf("frame %#02x of %d bytes is cut off", f.Type, len(b))
	}
	if f.Type == FrameInputAck {
		f.Offset = binary.BigEndian.Uint64(b[1:])
		return f, nil
	}
	f.Pane = binary.BigEndian.Uint32(b[1:])
	f.Offset = binary.BigEndian.Uint64(b[5:])
	if f.Type != FrameOutput {
		f.Size = Size{Cols: int(binary.BigEndian.Uint16(b[13:])), Rows: int(binary.BigEndian.Uint16(b[15:]))}
	}
	if f.Type == FrameSnapshot {
		f.Flags = b[17]
	}
	f.Data = b[need:]
	return f, nil
}

// appendHeader begins a frame to the server.
func appendHeader(b []byte, frameType byte, pane uint32, offset uint64) []byte {
	b = append(b, frameType)
	b = binary.BigEndian.AppendUint32(b, pane)
	return binary.BigEndian.AppendUint64(b, offset)
}
