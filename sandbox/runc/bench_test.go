package runc

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/sandbox/image"
)

// BenchmarkLife measures what docs/adr/0006-engine.md quotes.
func BenchmarkLife(b *testing.B) {
	ctx := context.Background()
	e, err := New(ctx, Config{Dir: b.TempDir(), Init: initBinary, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Skip(err)
	}
	defer e.Remove(ctx)
	err = e.ImportImage(ctx, debian, bareRoot, func(dir string) error { return image.Unpack(bareRoot, dir, 1<<30) })
	if err == nil {
		err = e.BuildTemplate(ctx, "tpl_bare", build(), b.Output())
	}
	if err != nil {
		b.Skip(err)
	}
	s := spec("tpl_bare")
	s.DiskBytes = 20 << 30
	took := make(map[string]time.Duration)
	measure := func(what string, f func() error) {
		begin := time.Now()
		if err := f(); err != nil {
			b.Fatal(what, err)
		}
		took[what] += time.Since(begin)
	}
	for b.Loop() {
		id := sandbox.NewID("sbx")
		execTrue := func() error {
			p, err := e.Exec(ctx, id, sandbox.Exec{Argv: []string{"true"}})
			if err != nil {
				return err
			}
			defer p.Close()
			_, err = p.Wait()
			return err
		}
		measure("create", func() error { return e.Create(ctx, id, s) })
		measure("start", func() error { return e.Start(ctx, id) })
		measure("exec", execTrue)
		measure("stop", func() error { return e.Stop(ctx, id, time.Second) })
		measure("grow", func() error { return e.GrowDisk(ctx, id, 35<<30) })
		measure("start", func() error { return e.Start(ctx, id) })
		measure("delete", func() error { return e.Delete(ctx, id) })
	}
	took["start"] /= 2
	for what, d := range took {
		b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), "ms/"+what)
	}
}
