package terminal

import "time"

// rate measures how fast a page parses and how long an ack takes when nothing is queued, one frame at a time, to know
// how much may be in flight: what the page parses within windowDelay beyond the bare way there and back. So Ctrl-C
// shows soon however slow the page, and a far page is not slowed by the distance.
type rate struct {
	delivered uint64 // bytes acked
	probe     struct {
		on        bool
		w         *view
		offset    uint64
		sent      time.Time
		delivered uint64
	}
	best time.Duration // shortest ack seen
	rate float64       // bytes per second
}

// sentLocked is called when a frame of w up to w.cursor goes out.
func (v *viewer) sentLocked(w *view) {
	if p := &v.rate.probe; !p.on {
		p.on, p.w, p.offset, p.sent, p.delivered = true, w, w.cursor, time.Now(), v.rate.delivered
	}
}

// ackedLocked is called when the page acked w up to offset.
func (v *viewer) ackedLocked(w *view, offset uint64) {
	r := &v.rate
	r.delivered += offset - w.acked
	p := &r.probe
	if !p.on || p.w == w && offset < p.offset {
		return
	}
	if p.w != w {
		if time.Since(p.sent) > time.Second { // its pane is not shown any more
			p.on = false
		}
		return
	}
	p.on = false
	took := max(time.Since(p.sent), 50*time.Microsecond)
	if r.best == 0 || took < r.best {
		r.best = took
	}
	r.best += r.best >> 7 // a way that has become longer is learned in time
	now := float64(r.delivered-p.delivered) / took.Seconds()
	if now > r.rate {
		r.rate = now
	} else {
		r.rate += (now - r.rate) / 8
	}
}

// roomLocked is how many more bytes may go out to v now.
func (v *viewer) roomLocked() int {
	inFlight := 0
	for _, w := range v.views {
		if w.live {
			inFlight += int(w.cursor - w.acked)
		}
	}
	return v.windowLocked() - inFlight
}

func (v *viewer) windowLocked() int {
	w := v.rate.rate * (windowDelay + v.rate.best).Seconds()
	return int(min(max(w, minWindowBytes), maxWindowBytes))
}
