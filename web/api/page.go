package api

import (
	"encoding/base64"
	"maps"
	"slices"
	"sort"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/browsertabs/tabs/client"
)

// maxListItems bounds a page of a list; it is the default too.
const maxListItems = 200

// page cuts a list to what ?limit= and ?cursor= ask for. key must sort as the items do and be unique, so that a page
// goes on where the last one ended even when items have come or gone meanwhile.
func page[T any](c echo.Context, items []T, key func(T) string) (client.List[T], error) {
	limit, after, err := pageQuery(c)
	if err != nil {
		return client.List[T]{}, err
	}
	start := sort.Search(len(items), func(i int) bool { return key(items[i]) > after })
	list := client.List[T]{Items: append([]T{}, items[start:min(start+limit, len(items))]...)}
	if start+limit < len(items) {
		next := base64.RawURLEncoding.EncodeToString([]byte(key(items[start+limit-1])))
		list.NextCursor = &next
	}
	return list, nil
}

func pageQuery(c echo.Context) (limit int, after string, err error) {
	limit = maxListItems
	if s := c.QueryParam("limit"); s != "" {
		if limit, err = strconv.Atoi(s); err != nil || limit < 1 || limit > maxListItems {
			return 0, "", invalid("limit", "limit must be a number from 1 to %d", maxListItems)
		}
	}
	b, err := base64.RawURLEncoding.DecodeString(c.QueryParam("cursor"))
	if err != nil {
		return 0, "", invalid("cursor", "cursor must be the nextCursor of the page before")
	}
	return limit, string(b), nil
}

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
