// Package oracle holds the differential oracle and nothing else: real programs in a real tmux, watched by xterm.js
// through our own server, and compared with what tmux's capture-pane says. It must stay a package of tests.
package oracle
