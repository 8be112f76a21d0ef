package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/static"
)

const assetPath = "/static/*"

func (s *Server) asset(c echo.Context) error {
	http.StripPrefix(s.d.BasePath, static.Handler()).ServeHTTP(c.Response(), c.Request())
	return nil
}
