// Package docpage replaces the measured parts of a page and keeps the written ones.
package docpage

import (
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Fill returns the text of the page at path with the part of that name replaced. A part is between
// the lines "<!-- NAME -->" and "<!-- end of NAME -->". If the page does not have exactly one such
// part, Fill returns a *fault.DataError.
func Fill(path, text, name, part string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	if strings.Count(text, begin) != 1 || strings.Count(text, end) != 1 ||
		strings.Index(text, begin) > strings.Index(text, end) {
		return "", fault.Data(path,
			"no part to replace: want the line %q once and, after it, the line %q once",
			strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	before, rest, _ := strings.Cut(text, begin)
	_, after, _ := strings.Cut(rest, end)
	return before + begin + strings.TrimRight(part, "\n") + "\n" + end + after, nil
}
