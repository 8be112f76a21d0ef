package terminal

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

// DecodeHello parses and bounds a viewer's first frame.
func DecodeHello(data []byte) (Hello, error) { panic("todo") }
