// Package tmuxctl drives tmux: one-shot commands through Server, and a session's bytes and notifications through a
// ControlClient, which is one `tmux -C attach-session`. It must not know what a tab, a browser or a sandbox is; where
// tmux runs is behind Start.
//
// Facts of control mode that it rests on:
//
//   - Nothing may be sent before %session-changed: such a command races the attach.
//   - A reply is a %begin/%end or %begin/%error block. Flag 1 marks replies to our own commands, which come in the order
//     sent; blocks with flag 0 (the attach's own, hooks) are not ours. Notifications never come inside a block.
//   - After an error tmux drops the rest of the line, so replies that will never come are known.
//   - %output escapes bytes below 32 and the backslash as \ooo; all others are raw, and a UTF-8 character can be split
//     between two lines.
//     One exception: %pause and %continue come inside the block of the refresh-client that caused them.
//   - if-shell, source-file and command aliases make more replies than there are commands: our lines do without.
//   - Output before the first %begin of a line is from before tmux ran it, output after its last %end from after.
//   - A client that does not read freezes the pane's program. So Run only ever waits for tmux, its handlers must not
//     block, and what is written goes through a queue bounded in bytes.
//   - tmux up to 3.6 dies of a global "window-size manual" at the next new window; ConfigText has the guards.
//   - A dead pane's exit status can come a moment after pane_dead.
//
// tmux is hostile input: lines and replies are bounded, and a stream that is not control mode ends the client.
//
// Tested with tmux 3.3a; notifications are known for 3.2 to 3.6.
package tmuxctl
