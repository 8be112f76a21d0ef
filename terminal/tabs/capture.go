package tabs

import (
	"context"
	"strconv"
	"strings"

	"github.com/browsertabs/tabs/terminal"
	"github.com/browsertabs/tabs/tmuxctl"
)

// maxCopiedBytes is how much of a text that copy mode copied is passed on.
const maxCopiedBytes = 8 << 20

// Capture implements terminal.Source.
func (s *source) Capture(pane terminal.PaneID, o terminal.CaptureOptions, at func(), done func(terminal.Capture, error)) {
	c := tmuxctl.Capture(tmuxctl.PaneID(pane), terminal.CaptureVars, o.History, o.Resume)
	c.Begin = at
	c.Done = func(rs []tmuxctl.Reply) {
		if err := replyError(rs); err != nil {
			done(terminal.Capture{}, err)
			return
		}
		if o.Resume {
			rs = rs[1:]
		}
		vars, err := tmuxctl.ParseVariables(rs[0], terminal.CaptureVars)
		if err != nil {
			done(terminal.Capture{}, err)
			return
		}
		capture := terminal.Capture{
			Vars: vars, Screen: joinLines(rs[1].Lines), Pending: tmuxctl.Unescape(joinLines(rs[3].Lines)),
		}
		if vars["alternate_on"] == "1" {
			capture.Saved = joinLines(rs[2].Lines)
		}
		done(capture, nil)
	}
	s.send(c)
}

// lookAtBuffers finds what copy mode copied, when a pane enters or leaves it: no notification of tmux 3.3a tells. What
// is new when it leaves was copied there. Buffers that tmux named itself are people's; those with names are programs'.
func (s *source) lookAtBuffers(pane terminal.PaneID) {
	c := tmuxctl.Lines(
		"list-buffers -f '#{m/r:^buffer[0-9]+$,#{buffer_name}}' -F '#{buffer_created} #{buffer_size} #{buffer_name}'",
		"display-message -p -t "+tmuxctl.PaneID(pane).String()+" '#{pane_in_mode}'",
	)
	c.Done = func(rs []tmuxctl.Reply) {
		if rs[0].Err != nil || !s.attached {
			return
		}
		newest := ""
		if len(rs[0].Lines) > 0 {
			newest = string(rs[0].Lines[0])
		}
		left := rs[1].Err == nil && len(rs[1].Lines) == 1 && string(rs[1].Lines[0]) == "0"
		f := strings.Fields(newest)
		news := newest != s.state.buffer && left && s.state.buffersKnown && len(f) == 3
		s.state.buffer, s.state.buffersKnown = newest, true
		if !news {
			return
		}
		if size, _ := strconv.Atoi(f[1]); size > 0 && size <= maxCopiedBytes {
			s.copied(pane, f[2])
		}
	}
	s.send(c)
}

// copied reads a buffer in a process of its own: a reply of control mode does not keep every byte.
func (s *source) copied(pane terminal.PaneID, buffer string) {
	s.background(func(ctx context.Context) {
		text, err := s.server.Run(ctx, "save-buffer", "-b", buffer, "-")
		if err != nil {
			s.log.Warn("read copied text", "err", err)
			return
		}
		// The answer of a command brings it onto the reader's goroutine.
		c := tmuxctl.Lines("refresh-client")
		c.Done = func(rs []tmuxctl.Reply) {
			if replyError(rs) == nil && s.attached {
				s.h.Copied(pane, text)
			}
		}
		s.send(c)
	})
}
