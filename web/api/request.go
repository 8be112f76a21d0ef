package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/sandbox"
)

func invalid(field, format string, args ...any) error {
	return &sandbox.Error{Code: sandbox.CodeInvalidRequest, Field: field, Message: fmt.Sprintf(format, args...)}
}

// readBody decodes a JSON object into the struct that into points to. It is strict: a field the struct does not have, in
// exactly this spelling, or has with another type, is refused by name. An empty body is an empty object. The returned
// set tells which fields were there, and were null.
func readBody(c echo.Context, into any) (fields, error) {
	b, err := io.ReadAll(c.Request().Body)
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			return nil, err
		}
		return nil, &sandbox.Error{Code: sandbox.CodeInvalidRequest, Message: "the body was cut off", Err: err}
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return fields{}, nil
	}
	var f fields
	if err := json.Unmarshal(b, &f); err != nil || f == nil {
		return nil, &sandbox.Error{Code: sandbox.CodeInvalidRequest, Message: "the body is not a JSON object" + where(err), Err: err}
	}
	known := fieldNames(reflect.TypeOf(into).Elem())
	for name := range f {
		if !known[name] {
			return nil, &sandbox.Error{Code: sandbox.CodeUnknownField, Field: name,
				Message: fmt.Sprintf("unknown field %.80q; known are %s", name, strings.Join(sortedKeys(known), ", "))}
		}
	}
	if err := json.Unmarshal(b, into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			field, _, _ := strings.Cut(wrong.Field, ".")
			return nil, invalid(field, "%s must be %s, not %s", wrong.Field, article(wrong.Type), wrong.Value)
		}
		return nil, &sandbox.Error{Code: sandbox.CodeInvalidRequest, Message: "the body is not as it should be", Err: err}
	}
	return f, nil
}

// fields are the fields of a request as they came.
type fields map[string]json.RawMessage

func (f fields) null(name string) bool { return string(f[name]) == "null" }

// where says at which byte a body stops being JSON.
func where(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf(": %s at byte %d", syntax, syntax.Offset)
	}
	return ""
}

func fieldNames(t reflect.Type) map[string]bool {
	names := make(map[string]bool, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}

// article names a Go type in JSON's words.
func article(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int64, reflect.Uint16:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
