package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// plainKey is a mapping key that YAML reads as a string without quotes, whatever its version.
var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// jsonToYAML rewrites JSON in YAML's block style, keeping the order of keys. Scalars stay as JSON has them, which YAML
// 1.2 reads alike: no string can turn into a number, a date or a boolean.
func jsonToYAML(b []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	y := yamlWriter{dec: dec}
	if err := y.value(0, ""); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return bytes.TrimLeft(y.out.Bytes(), " \n"), nil
}

type yamlWriter struct {
	dec *json.Decoder
	out bytes.Buffer
}

// value writes the next value after "key:" or "-". An indented block begins with lead: a line break in a mapping, a
// space within a sequence, where the first key stands on the dash's line.
func (y *yamlWriter) value(indent int, lead string) error {
	tok, err := y.dec.Token()
	if err != nil {
		return err
	}
	delim, nested := tok.(json.Delim)
	if !nested {
		return y.scalar(tok)
	}
	empty := !y.dec.More()
	switch {
	case empty && delim == '{':
		y.out.WriteString(" {}\n")
	case empty:
		y.out.WriteString(" []\n")
	case delim == '{':
		y.out.WriteString(lead)
		err = y.mapping(indent, lead == " ")
	default:
		y.out.WriteString("\n")
		err = y.sequence(indent)
	}
	if err == nil {
		_, err = y.dec.Token()
	}
	return err
}

func (y *yamlWriter) mapping(indent int, firstInLine bool) error {
	for y.dec.More() {
		tok, err := y.dec.Token()
		if err != nil {
			return err
		}
		if !firstInLine {
			y.pad(indent)
		}
		firstInLine = false
		key := tok.(string)
		if plainKey.MatchString(key) && !yamlWord[key] {
			y.out.WriteString(key)
		} else if err := y.quoted(key); err != nil {
			return err
		}
		y.out.WriteString(":")
		if err := y.value(indent+2, "\n"); err != nil {
			return err
		}
	}
	return nil
}

func (y *yamlWriter) sequence(indent int) error {
	for y.dec.More() {
		y.pad(indent)
		y.out.WriteString("-")
		if err := y.value(indent+2, " "); err != nil {
			return err
		}
	}
	return nil
}

func (y *yamlWriter) scalar(tok json.Token) error {
	y.out.WriteByte(' ')
	if s, ok := tok.(string); ok {
		if err := y.quoted(s); err != nil {
			return err
		}
	} else if tok == nil {
		y.out.WriteString("null")
	} else {
		fmt.Fprint(&y.out, tok)
	}
	y.out.WriteByte('\n')
	return nil
}

func (y *yamlWriter) quoted(s string) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	y.out.Write(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
	return nil
}

func (y *yamlWriter) pad(indent int) {
	for range indent {
		y.out.WriteByte(' ')
	}
}

// yamlWord are the words that YAML 1.1 reads as booleans or null.
var yamlWord = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "n": true, "N": true, "no": true, "No": true, "NO": true,
	"true": true, "True": true, "TRUE": true, "false": true, "False": true, "FALSE": true,
	"on": true, "On": true, "ON": true, "off": true, "Off": true, "OFF": true, "null": true, "Null": true, "NULL": true,
}
