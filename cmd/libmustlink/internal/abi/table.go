package abi

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Column is a mustlink_column, with the same layout.
type Column struct {
	Name       unsafe.Pointer // char, or NULL
	Numbers    unsafe.Pointer // float64
	Codes      unsafe.Pointer // int32
	Levels     unsafe.Pointer // char *
	LevelCount int64
}

// columns reads a table: dense points if every cell is a number, else mixed ones.
func (p *Points) columns(keep bool) (*dataset.Data, error) {
	switch {
	case p.Rows < 0 || p.Cols < 1 || p.Rows > 1<<40 || p.Cols > math.MaxInt32:
		return nil, argument("the table has %d rows and %d columns: want rows >= 0 and columns >= 1", p.Rows, p.Cols)
	case p.Data == nil:
		return nil, argument("the data of the table are NULL: want its columns")
	case uintptr(p.Data)%8 != 0:
		return nil, argument("the columns of the table are not aligned: want a multiple of 8 bytes")
	}
	given := list[Column](p.Data, p.Cols)
	names, err := namesOf(given)
	if err != nil {
		return nil, err
	}
	x := &points.Mixed{N: int(p.Rows), Columns: make([]points.Column, len(given))}
	for j := range given {
		if x.Columns[j], err = given[j].read(p.Rows, keep); err != nil {
			return nil, inColumn(err, nameOf(names, j))
		}
	}
	if err := validate(x, names); err != nil {
		return nil, err
	}
	d := &dataset.Data{Points: x, Features: names}
	if dense, err := x.Dense(); err == nil {
		d.Points = dense
	}
	return d, nil
}

// validate checks the cells of a table, and then names its columns. A column without a name is
// called by its number in errors.
func validate(x *points.Mixed, names []string) error {
	for j := range x.Columns {
		x.Columns[j].Name = nameOf(names, j)
	}
	if err := x.Validate(); err != nil {
		return err
	}
	for j := range x.Columns {
		if names == nil {
			x.Columns[j].Name = ""
		}
	}
	return nil
}

// nameOf returns the name of a column, or its number.
func nameOf(names []string, j int) string {
	if names == nil {
		return strconv.Itoa(j)
	}
	return names[j]
}

// inColumn adds the column to an error about its memory or its texts.
func inColumn(err error, name string) error {
	if e, ok := err.(*Error); ok {
		return &Error{e.Code, fmt.Sprintf("column %q: %s", name, e.Text)}
	}
	return &fault.DataError{Row: -1, Column: name, Err: err}
}

// namesOf returns the names of columns, nil if none has one.
func namesOf(given []Column) ([]string, error) {
	names, known := make([]string, 0, len(given)), make(map[string]bool, len(given))
	for j := range given {
		if given[j].Name == nil {
			continue
		}
		name := textAt(given[j].Name)
		switch {
		case name == "":
			return nil, fault.Data("", "column %d has an empty name: want a name, or NULL for all columns", j)
		case !utf8.ValidString(name):
			return nil, fault.Data("", "the name %q of column %d is not UTF-8: want UTF-8", name, j)
		case known[name]:
			return nil, fault.Data("", "two columns have the name %q: want different names", name)
		}
		names, known[name] = append(names, name), true
	}
	switch len(names) {
	case 0:
		return nil, nil
	case len(given):
		return names, nil
	}
	j := slices.IndexFunc(given, func(c Column) bool { return c.Name == nil })
	return nil, argument("column %d has no name, but others have: want names for all columns, or NULL for all", j)
}

// read returns the column without its name. With keep it shares no memory with the caller.
func (c *Column) read(rows int64, keep bool) (out points.Column, err error) {
	switch {
	case (c.Numbers == nil) == (c.Codes == nil):
		return out, argument("numbers and codes are both given, or both NULL: want one of them")
	case uintptr(c.Numbers)%8 != 0 || uintptr(c.Codes)%4 != 0 || uintptr(c.Levels)%unsafe.Alignof(c.Levels) != 0:
		return out, argument("its memory is not aligned: want a multiple of the size of an element")
	case c.Numbers != nil:
		out.Numbers = orCopy(list[float64](c.Numbers, rows), keep)
		return out, nil
	}
	out.Codes = orCopy(list[int32](c.Codes, rows), keep)
	out.Levels, err = c.levels()
	return out, err
}

// orCopy returns the elements, or a copy of them. The result is not nil.
func orCopy[T any](x []T, keep bool) []T {
	if keep || x == nil {
		return append(make([]T, 0, len(x)), x...)
	}
	return x
}

// levels returns copies of the texts.
func (c *Column) levels() ([]string, error) {
	switch {
	case c.LevelCount < 0 || c.LevelCount > math.MaxInt32:
		return nil, argument("it has %d levels: want a number from 0 to %d", c.LevelCount, math.MaxInt32)
	case c.LevelCount > 0 && c.Levels == nil:
		return nil, argument("its levels are NULL: want %d texts", c.LevelCount)
	}
	out, known := make([]string, c.LevelCount), make(map[string]bool, c.LevelCount)
	for k, at := range list[unsafe.Pointer](c.Levels, c.LevelCount) {
		if at == nil {
			return nil, argument("level %d is NULL: want a text", k)
		}
		text := textAt(at)
		switch {
		case !utf8.ValidString(text):
			return nil, fmt.Errorf("level %d, %q, is not UTF-8: want UTF-8", k, text)
		case known[text]:
			return nil, fmt.Errorf("two levels are %q: want different levels", text)
		}
		out[k], known[text] = text, true
	}
	return out, nil
}

// textAt returns a copy of the text that ends in a zero byte.
func textAt(at unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(at, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(at), n))
}

// withGaps returns dense points as a table, in which NaN is a missing number.
func withGaps(x *points.Dense, names []string) (*points.Mixed, error) {
	out := &points.Mixed{N: x.N, Columns: make([]points.Column, x.D)}
	for j := range out.Columns {
		out.Columns[j].Numbers = make([]float64, x.N)
	}
	squares(x.N, x.D, func(i, lo, hi int) {
		for j := lo; j < hi; j++ {
			out.Columns[j].Numbers[i] = x.Data[i*x.D+j]
		}
	})
	return out, validate(out, names)
}
