// Package web serves everything a browser or an API client asks for: pages, sockets, the /v1 routes it is given, assets,
// health and metrics. Server is its main type. It decides who asks (a key or a web session) and turns failures into
// answers; it must not decide what an actor may do (sandbox does), start processes, or hold a terminal's bytes.
package web
