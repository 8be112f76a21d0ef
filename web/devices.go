package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
	"github.com/browsertabs/tabs/web/view"
)

func (s *Server) devicesPage(c echo.Context) error {
	w := current(c)
	all, err := s.d.Store.WebSessions(c.Request().Context(), w.OrgID)
	if err != nil {
		return fmt.Errorf("list web sessions: %w", err)
	}
	p := view.DevicesPage{Layout: s.layout(c, "devices"), Expires: "10 minutes"}
	p.Title = "Devices"
	for _, d := range all {
		p.Devices = append(p.Devices, view.Device{
			ID: d.ID, Name: d.Device, Current: d.ID == w.ID, Address: d.Address,
			LastSeen: d.LastSeen.Format(time.RFC3339), Created: d.CreatedAt.Format(time.RFC3339),
		})
	}
	return s.render(c, http.StatusOK, view.Devices(p))
}

// device is a web session in /v1/devices.
type device struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Current   bool      `json:"current"`
	Address   string    `json:"address"`
	CreatedAt time.Time `json:"createdAt"`
	LastSeen  time.Time `json:"lastSeenAt"`
}

type deviceList struct {
	Items      []device `json:"items"`
	NextCursor *string  `json:"nextCursor"`
}

func (s *Server) listDevices(c echo.Context) error {
	all, err := s.d.Store.WebSessions(c.Request().Context(), Actor(c).OrgID)
	if err != nil {
		return fmt.Errorf("list web sessions: %w", err)
	}
	l := deviceList{Items: make([]device, 0, len(all))}
	w := current(c)
	for _, d := range all {
		l.Items = append(l.Items, device{ID: d.ID, Name: d.Device, Current: w != nil && w.ID == d.ID,
			Address: d.Address, CreatedAt: d.CreatedAt, LastSeen: d.LastSeen})
	}
	noStore(c)
	return c.JSON(http.StatusOK, l)
}

// loginAddress is the answer to POST /v1/devices/address.
type loginAddress struct {
	Address   string    `json:"address"`
	QR        string    `json:"qr"` // SVG
	ExpiresAt time.Time `json:"expiresAt"`
	// LocalOnly says that only this machine can open the address, since the server listens nowhere else.
	LocalOnly bool `json:"localOnly"`
}

func (s *Server) addDevice(c echo.Context) error {
	r := c.Request()
	token, expires, err := s.logins.create(r.Context(), Actor(c).OrgID)
	if err != nil {
		return err
	}
	host := s.host(r)
	if isLoopbackHost(host) && s.d.DeviceHost != "" {
		host = s.d.DeviceHost // a phone has another localhost
	}
	a := loginAddress{
		Address:   s.scheme(r) + "://" + host + s.url("/login?token="+token),
		ExpiresAt: expires.UTC(), LocalOnly: isLoopbackHost(host),
	}
	if a.QR, err = qrSVG(a.Address); err != nil {
		return err
	}
	noStore(c)
	return c.JSON(http.StatusCreated, a)
}

func (s *Server) renameDevice(c echo.Context) error {
	var body struct {
		Name string `json:"name"`
	}
	d := json.NewDecoder(c.Request().Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return errInvalid(`the body must be {"name": "..."}`, "")
	}
	name, err := checkDevice(body.Name)
	if err != nil {
		return err
	}
	err = s.d.Store.RenameWebSession(c.Request().Context(), Actor(c).OrgID, c.Param("device"), name)
	if errors.Is(err, sandbox.ErrNoRow) {
		return &sandbox.Error{Code: sandbox.CodeNotFound, Message: "no such device"}
	}
	if err != nil {
		return fmt.Errorf("rename web session: %w", err)
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) removeDevice(c echo.Context) error {
	id := c.Param("device")
	if err := s.endWebSession(c, Actor(c).OrgID, id); err != nil {
		return err
	}
	if w := current(c); w != nil && w.ID == id {
		s.sessions.forget(c.Response(), s.scheme(c.Request()) == "https")
	}
	return c.NoContent(http.StatusNoContent)
}

// removeDevices logs all devices out; ?others=true spares the one that asks.
func (s *Server) removeDevices(c echo.Context) error {
	a, w := Actor(c), current(c)
	all, err := s.d.Store.WebSessions(c.Request().Context(), a.OrgID)
	if err != nil {
		return fmt.Errorf("list web sessions: %w", err)
	}
	others := c.QueryParam("others") == "true"
	for _, d := range all {
		if w != nil && d.ID == w.ID {
			if others {
				continue
			}
			s.sessions.forget(c.Response(), s.scheme(c.Request()) == "https")
		}
		if err := s.endWebSession(c, a.OrgID, d.ID); err != nil && !isNotFound(err) {
			return err
		}
	}
	return c.NoContent(http.StatusNoContent)
}

func isNotFound(err error) bool {
	var e *sandbox.Error
	return errors.As(err, &e) && e.Code == sandbox.CodeNotFound
}
