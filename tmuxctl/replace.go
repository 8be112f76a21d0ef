package tmuxctl

import (
	"context"
	"fmt"
)

// holderScript kills whoever listens on the socket $1 and removes the socket. It needs a Linux /proc; ls is the one
// program it runs, once a round. A zombie has no files open, so it is not found. The rounds are a bound, not a wait:
// the kernel closes a killed process's sockets at once, unless it is stuck in the kernel itself.
const holderScript = `
holders() {
	inodes=
	while read -r _ _ _ flags _ _ inode path; do
		[ "$flags" = 00010000 ] && [ "$path" = "$1" ] && inodes="$inodes $inode"
	done < /proc/net/unix
	[ -n "$inodes" ] || return 0
	LC_ALL=C ls -l /proc/[0-9]*/fd 2>/dev/null | while read -r line; do
		case $line in
		/proc/*:) pid=${line#/proc/} pid=${pid%%/*} ;;
		*" -> socket:["*)
			for inode in $inodes; do
				[ "${line##* -> }" = "socket:[$inode]" ] && echo "$pid"
			done ;;
		esac
	done
}
n=0
while pids=$(holders "$1"); [ -n "$pids" ]; do
	[ $n -lt 20 ] || { echo "still held by" $pids >&2; exit 1; }
	kill -9 $pids 2>/dev/null
	n=$((n + 1))
	sleep 0.1 2>/dev/null || sleep 1
done
rm -f -- "$1"
`

// Replace makes room for a new server where Probe said ErrWedged: it kills the process that holds the socket, with the
// programs in its panes, and removes the socket. The next NewSession starts a new server.
func (s *Server) Replace(ctx context.Context) error {
	if _, err := run(ctx, s.Start, []string{"sh", "-c", holderScript, "sh", s.Socket}); err != nil {
		return fmt.Errorf("replace tmux server on %s: %w", s.Socket, err)
	}
	return nil
}
