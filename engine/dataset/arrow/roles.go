package arrow

import (
	"strconv"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// parts are the columns that are used.
type parts struct {
	features   []*column
	id, labels *column  // nil for none
	names      []string // of the features
	numbers    []string // of those that are numbers
}

// divide divides the columns into features, ids and labels, and reports those that cannot be read.
func (r *reader) divide() error {
	names := make([]string, len(r.f.columns))
	for i, c := range r.f.columns {
		names[i] = c.name
	}
	roles, err := r.o.Roles(names)
	if err != nil {
		return err
	}
	if r.labels, err = r.named(roles.Label); err != nil {
		return err
	}
	if r.id, err = r.named(roles.ID); err != nil {
		return err
	}
	if r.o.IgnoreLabels {
		r.labels = nil
	}
	for _, i := range roles.Features {
		c := r.f.columns[i]
		fit, err := r.feature(c, roles.Text[i], roles.Numbers[i])
		if err != nil {
			return err
		}
		if fit {
			r.features = append(r.features, c)
		}
	}
	if len(r.features) == 0 {
		return fault.Data("", "it has no feature columns: want columns of numbers in addition to id and label")
	}
	return nil
}

// named returns the column of ids or labels, nil for none.
func (r *reader) named(i int) (*column, error) {
	if i < 0 {
		return nil, nil
	}
	c := r.f.columns[i]
	if !c.isName() {
		return nil, r.problem(columnError(c.name, "it cannot be the labels or ids: want texts or whole numbers"), "choose another column")
	}
	c.readAsText()
	return c, nil
}

// isText reports whether a mixed table has the column as text: booleans too, as CSV has them, since
// their kind is not that of numbers.
func (c *column) isText() bool {
	of := c
	if c.dictionary != nil {
		of = c.dictionary
	}
	return of.kind >= text || of.storage == bits
}

// readAsText makes the values of the column texts.
func (c *column) readAsText() {
	c.asText = true
	if c.dictionary != nil {
		c.dictionary.asText = true
	}
}

// feature reports whether a column can be a feature, and a problem if it cannot.
func (r *reader) feature(c *column, asText, asNumbers bool) (bool, error) {
	mixed := r.mixed && c.kind != unreadable
	switch {
	case mixed && asText && c.item != nil:
		return false, r.problem(columnError(c.name, "it cannot be read as text: want texts, numbers or dates"), "read it as numbers, or drop it")
	case mixed && (asText || c.isText() && !asNumbers):
		c.readAsText()
	case c.kind == number, mixed && c.kind == decimal:
	case c.kind == text:
		return false, r.problem(columnError(c.name, "it contains text: want numbers"),
			"encode the categories as numbers, remove the column, or call it label or id if it contains labels or ids")
	default:
		return false, r.problem(columnError(c.name, "it contains %s: want numbers", c.what), "write it as double, or remove it")
	}
	return true, nil
}

// nameAll sets the names of the features.
func (r *reader) nameAll() error {
	const each = 64 // approximate bytes of a name
	for _, c := range r.features {
		if err := r.f.held.take(each * int64(c.width)); err != nil {
			return err
		}
		r.names = c.names(r.names)
		if !c.asText {
			r.numbers = c.names(r.numbers)
		}
	}
	return r.checkNames()
}

// names appends the names of the features of a column.
func (c *column) names(dst []string) []string {
	if c.item == nil {
		return append(dst, c.name)
	}
	for k := range c.width {
		dst = append(dst, c.name+"."+strconv.Itoa(k))
	}
	return dst
}

// checkNames reports features without a name or with the same name.
func (r *reader) checkNames() error {
	seen := make(map[string]int, len(r.names))
	for j, name := range r.names {
		first, twice := seen[name]
		var err error
		switch {
		case name == "":
			err = r.problem(columnError(strconv.Itoa(j), "feature %d has no name: want one", j), "name the column, or remove it")
		case twice:
			err = r.problem(columnError(name, "features %d and %d have the same name: want different ones", first, j), "rename one of them")
		default:
			seen[name] = j
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func columnError(name, format string, args ...any) *fault.DataError {
	e := fault.Data("", format, args...)
	e.Column = name
	return e
}

var _ dataset.RowReader = (*reader)(nil)
