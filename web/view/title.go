package view

// titleParts cuts a long title in two, so that the strip can shorten it in the middle: the head shrinks, the tail stays.
// As fillTitle in static/src/tabs.ts.
func titleParts(title string) (head, tail string) {
	const longTitle, tailLength = 16, 8
	runes := []rune(title)
	if len(runes) <= longTitle {
		return title, ""
	}
	cut := len(runes) - tailLength
	return string(runes[:cut]), string(runes[cut:])
}

// tabMark is what the strip shows before a title, as far as the server knows. The script adds the rest in the same place.
func tabMark(t Tab, active bool) string {
	switch {
	case t.State != "live":
		return t.State
	case t.Bell && !active:
		return "bell"
	}
	return ""
}
