package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/browsertabs/tabs/client"
)

func (a *app) apiCmd() *cobra.Command {
	var data string
	var headers []string
	var include bool
	cmd := &cobra.Command{
		Use:   "api METHOD PATH",
		Short: "Send any request to the API",
		Long: `Send a request to the API and print the body of the answer; JSON is indented. Any status but 2xx makes pt
fail, with the body printed all the same.

  pt api GET /v1/sandboxes
  pt api POST /v1/sandboxes/local/tabs -d '{"title":"build"}'
  pt api POST /v1/sandboxes/local/tabs -d @tab.json
  pt api PATCH /v1/sandboxes/local/tabs/tab_… -d - < change.json`,
		Args: exactArgs("a method, such as GET", "a path, such as /v1/whoami"),
		RunE: func(cmd *cobra.Command, args []string) error {
			method, path, err := checkRequest(args[0], args[1])
			if err != nil {
				return err
			}
			header, err := parseHeaders(headers)
			if err != nil {
				return err
			}
			var body io.Reader
			if cmd.Flags().Changed("data") {
				b, err := a.readData(data)
				if err != nil {
					return err
				}
				body = bytes.NewReader(b)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			resp, err := c.Do(ctx, method, path, header, body)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			return a.printResponse(resp, include)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&data, "data", "d", "", "body: `JSON`, @file, or - for standard input")
	f.StringArrayVarP(&headers, "header", "H", nil, "`name:value` to send, may be repeated")
	f.BoolVarP(&include, "include", "i", false, "print status and headers of the answer first")
	return cmd
}

func checkRequest(method, path string) (string, string, error) {
	method = strings.ToUpper(method)
	if method == "" || strings.ContainsFunc(method, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		return "", "", &usageError{msg: fmt.Sprintf("%q is not a method", method), hint: "pt api GET /v1/whoami"}
	}
	if strings.Contains(path, "://") {
		return "", "", &usageError{msg: "give the path alone; the server comes from --api-url", hint: "pt api GET /v1/whoami"}
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return method, path, nil
}

func parseHeaders(list []string) (http.Header, error) {
	h := http.Header{}
	for _, s := range list {
		name, value, ok := strings.Cut(s, ":")
		if !ok || name == "" {
			return nil, &usageError{msg: fmt.Sprintf("header %q is not of the form name:value", s)}
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h, nil
}

// readData is the body that -d means.
func (a *app) readData(data string) ([]byte, error) {
	if data == "-" {
		b, err := io.ReadAll(a.In)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return b, nil
	}
	if name, ok := strings.CutPrefix(data, "@"); ok {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read body: %w", err)
		}
		return b, nil
	}
	return []byte(data), nil
}

func (a *app) printResponse(resp *http.Response, include bool) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	var out bytes.Buffer
	if include {
		fmt.Fprintf(&out, "%s %s\n", resp.Proto, resp.Status)
		names := make([]string, 0, len(resp.Header))
		for name := range resp.Header {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			for _, value := range resp.Header[name] {
				fmt.Fprintf(&out, "%s: %s\n", name, oneLine(value))
			}
		}
		out.WriteByte('\n')
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	mark := out.Len()
	if kind == "application/json" && json.Indent(&out, bytes.TrimSpace(body), "", "  ") == nil {
		if a.format() == "yaml" {
			y, err := jsonToYAML(out.Bytes()[mark:])
			if err != nil {
				return err
			}
			out.Truncate(mark)
			out.Write(y)
		} else if out.Len() > mark {
			out.WriteByte('\n')
		}
	} else {
		out.Truncate(mark)
		out.Write(body)
	}
	if _, err := a.Out.Write(out.Bytes()); err != nil {
		return err
	}
	if resp.StatusCode/100 == 2 {
		return nil
	}
	return client.DecodeError(resp, body)
}
