package web

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
)

// Deps is what New needs.
type Deps struct {
	// API are the routes of /v1 that web does not have itself: package api makes them.
	API []Route
}

// Server answers HTTP. It listens nowhere itself: give its Handler to an http.Server.
type Server struct {
	echo *echo.Echo
}

// New returns a Server.
func New(d Deps) (*Server, error) { return &Server{echo: echo.New()}, nil }

// Handler answers every request, under the base path.
func (s *Server) Handler() http.Handler { return s.echo }

// Close sends every socket away with a code that says "reconnect soon" and waits for them.
func (s *Server) Close(ctx context.Context) error { return nil }
