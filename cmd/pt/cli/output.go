package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

var formats = []string{"table", "json", "yaml", "ids"}

// column is a column of a table of T.
type column[T any] struct {
	name string
	cell func(T) string
}

// printList writes a list: a table, or one top-level array, or one id a line.
func printList[T any](a *app, items []T, id func(T) string, columns []column[T]) error {
	var b strings.Builder
	switch a.format() {
	case "ids":
		for _, it := range items {
			b.WriteString(id(it) + "\n")
		}
	case "table":
		rows := make([][]string, 0, len(items)+1)
		var head []string
		for _, c := range columns {
			head = append(head, c.name)
		}
		rows = append(rows, head)
		for _, it := range items {
			var row []string
			for _, c := range columns {
				row = append(row, c.cell(it))
			}
			rows = append(rows, row)
		}
		writeTable(&b, rows)
	default:
		return a.printValue(items)
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// printOne writes one object: a table of its fields, or the object, or its id.
func printOne[T any](a *app, item T, id string, columns []column[T]) error {
	var b strings.Builder
	switch a.format() {
	case "ids":
		b.WriteString(id + "\n")
	case "table":
		var rows [][]string
		for _, c := range columns {
			rows = append(rows, []string{c.name, c.cell(item)})
		}
		writeTable(&b, rows)
	default:
		return a.printValue(item)
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// printID writes what a command made: its id alone unless a whole object was asked for.
func printID(a *app, item any, id string) error {
	if f := a.format(); f == "json" || f == "yaml" {
		return a.printValue(item)
	}
	_, err := fmt.Fprintln(a.Out, id)
	return err
}

// format is -o, with -q in its place where that asks for ids.
func (a *app) format() string {
	if a.quiet && a.output == "table" {
		return "ids"
	}
	return a.output
}

// printValue writes v as JSON or YAML.
func (a *app) printValue(v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	out := buf.Bytes()
	if a.format() == "yaml" {
		var err error
		if out, err = jsonToYAML(out); err != nil {
			return err
		}
	}
	_, err := a.Out.Write(out)
	return err
}

// writeTable aligns columns by the cells a terminal gives each text, so that CJK and emoji line up. What a program put
// into a title cannot move the cursor.
func writeTable(b *strings.Builder, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			row[i] = oneLine(cell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(row[i]))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell)+2))
			}
		}
		b.WriteByte('\n')
	}
}
