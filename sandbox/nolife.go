package sandbox

import (
	"context"
	"io"
	"net"
	"time"
)

// NoLife is the part of a Provider that machines have in common which were there before us and stay when we go: it says
// why each of its methods is not supported. A provider embeds it.
type NoLife struct{ Why string }

// Capabilities implements Provider.
func (n NoLife) Capabilities() Capabilities {
	c := Capabilities{Isolation: "none", Missing: make(map[Capability]string)}
	for _, what := range []Capability{CanLive, CanBuild, CanLimitDisk, CanGrowDisk, CanForkLive, CanExport, CanDial} {
		c.Missing[what] = n.Why
	}
	return c
}

func (n NoLife) need(c Capability) error { return n.Capabilities().Need(c) }

func (n NoLife) BuildTemplate(context.Context, string, Build, io.Writer) error {
	return n.need(CanBuild)
}
func (n NoLife) DeleteTemplate(context.Context, string) error        { return n.need(CanBuild) }
func (n NoLife) Create(context.Context, string, Spec) error          { return n.need(CanLive) }
func (n NoLife) Start(context.Context, string) error                 { return n.need(CanLive) }
func (n NoLife) Stop(context.Context, string, time.Duration) error   { return n.need(CanLive) }
func (n NoLife) GrowDisk(context.Context, string, int64) error       { return n.need(CanGrowDisk) }
func (n NoLife) SetLimits(context.Context, string, Limits) error     { return n.need(CanLive) }
func (n NoLife) Delete(context.Context, string) error                { return n.need(CanLive) }
func (n NoLife) Export(context.Context, string, io.Writer) error     { return n.need(CanExport) }
func (n NoLife) Dial(context.Context, string, int) (net.Conn, error) { return nil, n.need(CanDial) }
