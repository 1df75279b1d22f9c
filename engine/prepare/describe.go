package prepare

import (
	"fmt"
	"strings"
)

// Describe returns a line for each column: its name, its kind, and what becomes of it.
func (p *Preparation) Describe() []string {
	lines := make([]string, len(p.columns))
	for j := range p.columns {
		c := &p.columns[j]
		lines[j] = c.name + ": " + c.describe(p)
	}
	return lines
}

func (c *column) describe(p *Preparation) string {
	switch c.kind {
	case Category:
		return "category, one-hot: " + firstOf(c.category.names(nil, ""), 8)
	case Text:
		return fmt.Sprintf("text, tf-idf of %s (%s)", count(len(c.terms.list), "term"), p.text)
	case Drop:
		return "left out"
	}
	text := string(c.kind)
	switch s := c.number.source; c.kind {
	case Date:
		text += " such as " + example(s.layout) + ", in days"
	case Boolean:
		text += fmt.Sprintf(", 0 for %s, 1 for %s", s.pair[0], s.pair[1])
	}
	if c.number.mean != 0 || c.number.scale != 1 {
		text += fmt.Sprintf(", less %s, divided by %s", numberText(c.number.mean), numberText(c.number.scale))
	}
	text += "; a gap becomes " + numberText(c.number.fill)
	if c.number.sides {
		text += ", and in a second column " + numberText(c.number.above)
	}
	if c.indicator {
		text += " and a 1 of its own"
	}
	return text
}

// firstOf lists the first few names of the columns of a category without their "=".
func firstOf(names []string, most int) string {
	for k := range names {
		names[k] = strings.TrimPrefix(names[k], "=")
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
