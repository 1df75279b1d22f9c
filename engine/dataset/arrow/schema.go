package arrow

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// column is a column of the file.
type column struct {
	name   string
	at     int // in the file
	kind   kind
	width  int // numbers of a list, 1 for other columns
	what   string
	asText bool // a feature that a mixed table has as text
}

// kind is what the values of a column can be.
type kind uint8

const (
	unreadable kind = iota
	number
	decimal // a number in a mixed table
	text
	instant // a date or a time, which a mixed table has as text
)

// newColumn describes a field of the schema.
func newColumn(at int, field arrow.Field) *column {
	c := &column{name: field.Name, at: at, width: 1, what: "values of type " + field.Type.String()}
	of := field.Type
	if list, ok := of.(*arrow.FixedSizeListType); ok {
		c.width, of = int(list.Len()), list.Elem()
	}
	c.kind = kindOf(of)
	switch isList := field.Type != of; {
	case isList && (c.kind != number || c.width < 1):
		c.kind = unreadable
	case c.kind == text:
		c.what = "text"
	}
	return c
}

// kindOf returns what values of a type can be.
func kindOf(of arrow.DataType) kind {
	switch of.ID() {
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64, arrow.NULL:
		return number
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		return decimal
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return text
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP:
		return instant
	case arrow.DICTIONARY:
		if d, ok := of.(*arrow.DictionaryType); ok && kindOf(d.ValueType) == text {
			return text
		}
	}
	return unreadable
}

// names appends the names of the features of a column.
func (c *column) names(dst []string) []string {
	if c.width == 1 {
		return append(dst, c.name)
	}
	for k := range c.width {
		dst = append(dst, c.name+"."+strconv.Itoa(k))
	}
	return dst
}

// isName reports whether the column can contain ids or labels.
func (c *column) isName() bool { return c.width == 1 && (c.kind == number || c.kind == text) }

// parts divides the columns of a file.
type parts struct {
	features   []*column
	id, labels *column // nil for none
}

// divide divides the columns into features, ids and labels, and reports those that cannot be read.
func divide(schema *arrow.Schema, o dataset.ReadOptions, mixed bool, problem func(*fault.DataError, string) error) (p parts, err error) {
	fields := schema.Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	roles, err := o.Roles(names)
	if err != nil {
		return p, err
	}
	for _, at := range []struct {
		i    int
		to   **column
		what string
	}{{roles.Label, &p.labels, "labels"}, {roles.ID, &p.id, "ids"}} {
		if at.i < 0 {
			continue
		}
		if *at.to = newColumn(at.i, fields[at.i]); !(*at.to).isName() {
			if err := problem(columnError(names[at.i], "it cannot be the %s: want texts or numbers", at.what), "choose another column"); err != nil {
				return p, err
			}
			*at.to = nil
		}
	}
	if o.IgnoreLabels {
		p.labels = nil
	}
	for _, i := range roles.Features {
		c := newColumn(i, fields[i])
		fit := c.kind == number
		if mixed && c.kind != unreadable {
			c.asText = c.width == 1 && (roles.Text[i] || c.kind >= text && !roles.Numbers[i])
			fit = fit || c.asText || c.kind == decimal
		}
		if !fit {
			if err := problem(columnError(c.name, "it contains %s: want numbers", c.what), "write it as double, or remove it"); err != nil {
				return p, err
			}
			continue
		}
		p.features = append(p.features, c)
	}
	if len(p.features) == 0 {
		return p, fault.Data("", "it has no feature columns: want columns in addition to id and label")
	}
	return p, nil
}

func columnError(name, format string, args ...any) *fault.DataError {
	e := fault.Data("", format, args...)
	e.Column = name
	return e
}
