package agent

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// maxMessageBytes is a little more than the kernel's own bound on the arguments of a program.
const maxMessageBytes = 3 << 20

// maxFDs is the most that a message carries: the three ends of an Exec.
const maxFDs = 3

// Config is what PID 1 is told when it starts, as JSON in its environment.
type Config struct {
	Hostname string
	Resolv   string // content of /etc/resolv.conf; "": as it is
	Env      []string
}

// ConfigEnv is the variable that holds Config.
const ConfigEnv = "TABS_INIT"

// ListenFD is where PID 1 finds the socket that it serves. The socket's name lies outside of the sandbox.
const ListenFD = 3

// Each connection carries one request. Its end ends what the request started.
type request struct {
	Exec       *Exec
	RuntimeDir *string // of this user
	Dial       int     // a port
	Stop       *int    // milliseconds until what is left is killed
}

// Exec is a program to start. Its standard streams follow as three descriptors, unless it has a TTY.
type Exec struct {
	Argv [][]byte // any bytes, which a string of JSON would not keep; empty: the user's login shell
	Env  [][]byte
	Dir  string
	User string
	TTY  bool
	Cols uint16
	Rows uint16
}

// control is what may follow the request of an Exec.
type control struct{ Signal syscall.Signal }

// answer is the first thing that comes back. With a TTY, and for Dial, a descriptor comes with it.
type answer struct {
	Kind  string `json:",omitempty"` // of a failure
	Error string `json:",omitempty"`
	Dir   string `json:",omitempty"`
}

// exit follows when a program has ended.
type exit struct{ Code int }

// Kinds of failure.
const (
	kindNoUser     = "no user"
	kindBadDir     = "bad directory"
	kindNotFound   = "not found"
	kindPermission = "permission"
	kindOther      = "other"
)

// send writes a message: its length, JSON, and descriptors, which travel with the first byte.
func send(c *net.UnixConn, v any, fds ...int) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if len(body) > maxMessageBytes {
		return fmt.Errorf("message of %d bytes is too long: at most %d", len(body), maxMessageBytes)
	}
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	var oob []byte
	if len(fds) > 0 {
		oob = syscall.UnixRights(fds...)
	}
	n, _, err := c.WriteMsgUnix(b, oob, nil)
	if err == nil && n < len(b) {
		_, err = c.Write(b[n:])
	}
	return err
}

// receive reads a message, and the descriptors that came with it. The caller closes them.
func receive(c *net.UnixConn, v any) (fds []*os.File, err error) {
	defer func() {
		if err != nil {
			closeAll(fds)
			fds = nil
		}
	}()
	var head [4]byte
	oob := make([]byte, syscall.CmsgSpace(4*maxFDs))
	n, oobn, _, _, err := c.ReadMsgUnix(head[:], oob)
	if err != nil {
		return nil, err
	}
	fds = parseRights(oob[:oobn])
	if n == 0 {
		return fds, io.EOF
	}
	if _, err := io.ReadFull(c, head[n:]); err != nil {
		return fds, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxMessageBytes {
		return fds, fmt.Errorf("message of %d bytes is too long", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(c, body); err != nil {
		return fds, err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fds, fmt.Errorf("decode message: %w", err)
	}
	return fds, nil
}

func parseRights(oob []byte) []*os.File {
	var files []*os.File
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		fds, err := syscall.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
