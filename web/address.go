package web

import "github.com/labstack/echo/v4"

const addressKey = "address"

// Address is how whoever asks reaches the server: scheme, host and base path, without a trailing slash.
func Address(c echo.Context) string {
	a, _ := c.Get(addressKey).(string)
	return a
}

// address makes Address known. It comes after the host has been checked.
func (s *Server) address(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Set(addressKey, s.origin(c.Request())+s.d.BasePath)
		return next(c)
	}
}
