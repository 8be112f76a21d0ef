package web

import "github.com/labstack/echo/v4"

func (s *Server) root(c echo.Context) error          { return echo.ErrNotFound }
func (s *Server) loginPage(c echo.Context) error     { return echo.ErrNotFound }
func (s *Server) login(c echo.Context) error         { return echo.ErrNotFound }
func (s *Server) logout(c echo.Context) error        { return echo.ErrNotFound }
func (s *Server) tabPage(c echo.Context) error       { return echo.ErrNotFound }
func (s *Server) devicesPage(c echo.Context) error   { return echo.ErrNotFound }
func (s *Server) listDevices(c echo.Context) error   { return echo.ErrNotFound }
func (s *Server) addDevice(c echo.Context) error     { return echo.ErrNotFound }
func (s *Server) renameDevice(c echo.Context) error  { return echo.ErrNotFound }
func (s *Server) removeDevice(c echo.Context) error  { return echo.ErrNotFound }
func (s *Server) removeDevices(c echo.Context) error { return echo.ErrNotFound }
func (s *Server) watchSocket(c echo.Context) error   { return echo.ErrNotFound }
func (s *Server) tabSocket(c echo.Context) error     { return echo.ErrNotFound }
func (s *Server) asset(c echo.Context) error         { return echo.ErrNotFound }
func (s *Server) health(c echo.Context) error        { return echo.ErrNotFound }
func (s *Server) metrics(c echo.Context) error       { return echo.ErrNotFound }
