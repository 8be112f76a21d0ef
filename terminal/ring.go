package terminal

// maxRingBytes bounds a ring; a viewer further behind gets a snapshot.
const maxRingBytes = 512 << 10

const (
	minRingBytes  = 4 << 10
	keptRingBytes = 64 << 10 // what a ring keeps for viewers that come back
)

// ring holds the latest bytes of a pane's stream by absolute offset. It grows as bytes come, to maxRingBytes, and is
// nothing but two numbers after trim.
type ring struct {
	buf   []byte // len is a power of two, or 0
	start uint64 // offset of the oldest byte held
	end   uint64 // offset after the newest
}

func (r *ring) len() int { return int(r.end - r.start) }

// append adds data at end. What is before keep nobody needs any more: rather than grow beyond keptRingBytes for it, the
// ring drops it; a full ring drops the oldest bytes whoever needs them.
func (r *ring) append(data []byte, keep uint64) {
	if len(data) == 0 {
		return
	}
	if n := len(data) - maxRingBytes; n > 0 {
		r.end += uint64(n)
		r.start = r.end
		data = data[n:]
	}
	if need := r.len() + len(data); need > len(r.buf) {
		if spare := need - max(len(r.buf), keptRingBytes); spare > 0 && keep > r.start {
			r.start = min(r.start+uint64(spare), keep, r.end)
		}
		r.grow(r.len() + len(data))
	}
	at := int(r.end) & (len(r.buf) - 1)
	n := copy(r.buf[at:], data)
	copy(r.buf, data[n:])
	r.end += uint64(len(data))
	if r.len() > len(r.buf) {
		r.start = r.end - uint64(len(r.buf))
	}
}

func (r *ring) grow(need int) {
	size := max(len(r.buf), minRingBytes)
	for size < need && size < maxRingBytes {
		size *= 2
	}
	if size == len(r.buf) {
		return
	}
	old := *r
	r.buf = make([]byte, size)
	for o := old.start; o < old.end; {
		p := old.peek(o, size)
		copy(r.buf[int(o)&(size-1):], p) // never wraps: a piece of the smaller buffer is aligned in the larger
		o += uint64(len(p))
	}
}

// peek returns up to n bytes at offset without copying; fewer where the buffer wraps. offset lies in [start, end].
func (r *ring) peek(offset uint64, n int) []byte {
	n = min(n, int(r.end-offset))
	if n == 0 {
		return nil
	}
	at := int(offset) & (len(r.buf) - 1)
	return r.buf[at:min(at+n, len(r.buf))]
}

// read appends up to n bytes at offset to b.
func (r *ring) read(b []byte, offset uint64, n int) []byte {
	n = min(n, int(r.end-offset))
	for n > 0 {
		p := r.peek(offset, n)
		b = append(b, p...)
		offset += uint64(len(p))
		n -= len(p)
	}
	return b
}

// has says whether the stream can go on from offset.
func (r *ring) has(offset uint64) bool { return offset >= r.start && offset <= r.end }

// gap marks bytes that never came. It counts as one byte nobody holds, so that no offset before it can go on.
func (r *ring) gap() {
	r.end++
	r.start = r.end
	r.buf = nil
}

// trim forgets all bytes; only a cursor at the end can go on.
func (r *ring) trim() {
	r.start = r.end
	r.buf = nil
}
