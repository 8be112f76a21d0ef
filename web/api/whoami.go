package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/web"
)

func (a *API) whoami(c echo.Context) error {
	actor := web.Actor(c)
	org, err := a.c.Sandboxes.Org(c.Request().Context(), actor)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, client.Whoami{
		OrgID: org.ID, OrgName: org.Name, KeyID: orNil(actor.KeyID), Device: orNil(actor.Device), Version: a.c.Version,
		Limits: client.Limits{
			ListItems: maxListItems, TitleChars: maxTitleChars,
			MaxCols: maxSize.Cols, MaxRows: maxSize.Rows,
		},
	})
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// answer writes JSON that no cache keeps.
func answer(c echo.Context, status int, v any) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(status, v)
}
