// Package docpage fills the parts of a page that a program measures, and leaves what people have
// written.
package docpage

import (
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Fill returns the text of the page at path with the part of that name replaced. A part stands
// between the lines "<!-- NAME -->" and "<!-- end of NAME -->". A page without it, or with two, is
// a *fault.DataError.
func Fill(path, text, name, part string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	if strings.Count(text, begin) != 1 || strings.Count(text, end) != 1 || strings.Index(text, begin) > strings.Index(text, end) {
		return "", fault.Data(path, "want the lines %q and, behind it, %q once each: what is between them is written anew", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	before, rest, _ := strings.Cut(text, begin)
	_, after, _ := strings.Cut(rest, end)
	return before + begin + strings.TrimRight(part, "\n") + "\n" + end + after, nil
}
