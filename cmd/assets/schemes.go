package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// schemeStyles makes a style sheet of each colour scheme, by name, so that the first paint has the colours: pages link
// those that their person chose.
func schemeStyles(root string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "schemes.json"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var schemes []struct {
		ID     string
		Dark   bool
		Tokens map[string]string
	}
	if err := json.Unmarshal(text, &schemes); err != nil {
		return nil, fmt.Errorf("read schemes.json: %w", err)
	}
	styles := make(map[string]string)
	for _, s := range schemes {
		kind := "light"
		if s.Dark {
			kind = "dark"
		}
		var b strings.Builder
		fmt.Fprintf(&b, ":root{color-scheme:%s", kind)
		for _, name := range slices.Sorted(maps.Keys(s.Tokens)) {
			fmt.Fprintf(&b, ";--%s:%s", name, s.Tokens[name])
		}
		styles["scheme-"+s.ID+".css"] = b.String() + "}\n"
	}
	return styles, nil
}
