package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
)

// maxSettingsBytes bounds a change of settings; every setting there is fits into it.
const maxSettingsBytes = 32 << 10

func (s *Server) getSettings(c echo.Context) error {
	all, err := s.d.Sandboxes.Settings(c.Request().Context(), Actor(c))
	if err != nil {
		return err
	}
	return s.answerSettings(c, all)
}

// changeSettings takes the settings that change; null is the default.
func (s *Server) changeSettings(c echo.Context) error {
	b, err := io.ReadAll(io.LimitReader(c.Request().Body, maxSettingsBytes+1))
	if err != nil {
		return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Message: "the body was cut off", Err: err}
	}
	if len(b) > maxSettingsBytes {
		return &sandbox.Error{Code: codeTooLarge, Message: fmt.Sprintf("settings have at most %d bytes", maxSettingsBytes)}
	}
	var changes sandbox.Settings
	if err := json.Unmarshal(b, &changes); err != nil || changes == nil {
		return errInvalid(`the body must be a JSON object of settings, such as {"fontSize": 14}`, "")
	}
	all, err := s.d.Sandboxes.ChangeSettings(c.Request().Context(), Actor(c), changes)
	if err != nil {
		return err
	}
	s.settings.tell(Actor(c))
	return s.answerSettings(c, all)
}

func (s *Server) answerSettings(c echo.Context, all sandbox.Settings) error {
	noStore(c)
	return c.JSON(http.StatusOK, frame{"settings": all})
}

// settingsWatch tells open pages that the settings of their user changed. The zero value is ready.
type settingsWatch struct {
	mu   sync.Mutex // protects following
	open map[chan struct{}]sandbox.Actor
}

// join returns a channel that holds a word when the settings of the actor's user may have changed.
func (w *settingsWatch) join(a sandbox.Actor) (changed <-chan struct{}, leave func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = make(map[chan struct{}]sandbox.Actor)
	}
	w.open[ch] = a
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, ch)
	}
}

// tell tells every page of the actor's user. Many changes that a page has not read yet are one to it.
func (w *settingsWatch) tell(a sandbox.Actor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch, watcher := range w.open {
		if watcher.OrgID != a.OrgID || watcher.User != a.User {
			continue
		}
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
