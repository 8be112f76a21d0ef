package terminal

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestRingHoldsTheLatestBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var r ring
	var all []byte
	for range 2000 {
		data := make([]byte, rnd.IntN(3000))
		if rnd.IntN(200) == 0 {
			data = make([]byte, rnd.IntN(2*maxRingBytes))
		}
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		r.append(data, 0)
		all = append(all, data...)
		if r.end != uint64(len(all)) {
			t.Fatalf("end %d, want %d", r.end, len(all))
		}
		if len(r.buf) > maxRingBytes {
			t.Fatalf("ring of %d bytes", len(r.buf))
		}
		if want := min(len(all), maxRingBytes); r.len() < want && r.len() < len(r.buf) {
			t.Fatalf("holds %d of %d", r.len(), want)
		}
		at := r.start + uint64(rnd.IntN(r.len()+1))
		n := rnd.IntN(5000)
		got := r.read(nil, at, n)
		if want := all[at:min(int(at)+n, len(all))]; !bytes.Equal(got, want) {
			t.Fatalf("read %d at %d differs", n, at)
		}
	}
}

func TestRingGapAdmitsNoOldCursor(t *testing.T) {
	var r ring
	r.append([]byte("abc"), 0)
	r.gap()
	if r.has(3) || !r.has(4) {
		t.Fatalf("after a gap at 3: has(3)=%v has(4)=%v", r.has(3), r.has(4))
	}
	r.append([]byte("d"), 0)
	if got := string(r.read(nil, 4, 9)); got != "d" {
		t.Fatalf("read %q", got)
	}
	r.trim()
	if r.has(4) || !r.has(5) || r.buf != nil {
		t.Fatal("trim keeps bytes")
	}
	r.append([]byte("ef"), 0)
	if got := string(r.read(nil, 5, 9)); got != "ef" {
		t.Fatalf("read %q", got)
	}
}

func TestRingGrowsOnlyForThoseBehind(t *testing.T) {
	data := make([]byte, 10_000)
	var r ring
	for range 100 {
		r.append(data, r.end)
	}
	if len(r.buf) != keptRingBytes {
		t.Errorf("%d bytes for nobody", len(r.buf))
	}
	behind := r.start
	for range 20 {
		r.append(data, behind)
	}
	if !r.has(behind) {
		t.Error("bytes dropped that a viewer needs")
	}
	for range 100 {
		r.append(data, behind)
	}
	if len(r.buf) != maxRingBytes || r.has(behind) {
		t.Errorf("ring of %d bytes", len(r.buf))
	}
}
