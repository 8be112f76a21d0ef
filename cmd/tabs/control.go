package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/browsertabs/tabs/client"
	"github.com/browsertabs/tabs/sandbox"
)

// loginAnswer and orgAnswer are what a running server answers on its control socket, which only its own user can open.
type loginAnswer struct {
	Address   string    `json:"address"`
	ExpiresAt time.Time `json:"expiresAt"`
}

type orgAnswer struct {
	ID  string `json:"id"`
	Key string `json:"key"`
}

// controlHandler serves the control socket. newLogin makes a login address.
func controlHandler(newLogin func(context.Context) (loginAnswer, error), orgs *sandbox.Service) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		a, err := newLogin(r.Context())
		answer(w, a, err)
	})
	mux.HandleFunc("POST /orgs", func(w http.ResponseWriter, r *http.Request) {
		a, err := createOrg(r.Context(), orgs, r.FormValue("name"))
		answer(w, a, err)
	})
	return mux
}

func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		v = client.Error{Message: err.Error()}
	}
	json.NewEncoder(w).Encode(v)
}

func createOrg(ctx context.Context, s *sandbox.Service, name string) (orgAnswer, error) {
	o, err := s.CreateOrg(ctx, name)
	if err != nil {
		return orgAnswer{}, err
	}
	_, secret, err := s.CreateKey(ctx, sandbox.Actor{OrgID: o.ID}, "first")
	return orgAnswer{ID: o.ID, Key: secret}, err
}

// callServer asks the server that runs on the data directory.
func callServer(ctx context.Context, dir, path, form string, result any) error {
	c := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return dialUnix(dir, controlSocket) },
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://tabs"+path, bytes.NewReader([]byte(form)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.Do(req)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no server runs on data directory %s; start it with tabs serve, or name its directory with --data-dir", dir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the server on data directory %s belongs to another user", dir)
	case err != nil:
		return fmt.Errorf("ask server: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("ask server: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(client.DecodeError(resp, body).Message)
	}
	return json.Unmarshal(body, result)
}

// dataDirFlag adds --data-dir, with the default that serve has.
func dataDirFlag(cmd *cobra.Command, env environment) *string {
	def := env.dataDir()
	if v, ok := env.get(envName("data-dir")); ok {
		def = v
	}
	return cmd.Flags().String("data-dir", def, "`directory` of the server")
}

func loginCommand(env environment, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "login", Short: "Print a new login address of the running server: it works once, for 10 minutes", Args: cobra.NoArgs,
	}
	dir := dataDirFlag(cmd, env)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var a loginAnswer
		if err := callServer(cmd.Context(), *dir, "/login", "", &a); err != nil {
			return err
		}
		fmt.Fprintln(stdout, a.Address)
		return nil
	}
	return cmd
}
