package dataset

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Roles are the parts that the columns of a table play.
type Roles struct {
	Label, ID int    // indices of columns, -1 for none
	Features  []int  // indices of the columns of features
	Text      []bool // of every column: whether it must be read as text
	Numbers   []bool // of every column: whether it must be read as numbers
}

// Roles returns the parts of columns with these names, as the options Label, ID, Drop, Keep, Text
// and Numbers say. A column that they name and that is not there, or that has two parts, is a
// *fault.DataError without a file; a pattern that is none is a *fault.ParamError.
func (o ReadOptions) Roles(columns []string) (Roles, error) {
	r := Roles{Label: slices.Index(columns, labelColumn), ID: slices.Index(columns, idColumn)}
	var drop, keep []bool
	err := firstError(
		func() error { return named(&r.Label, o.Label, columns) },
		func() error { return named(&r.ID, o.ID, columns) },
		func() (err error) { drop, err = matching(o.Drop, columns, "drop"); return err },
		func() (err error) { keep, err = matching(o.Keep, columns, "keep"); return err },
		func() (err error) { r.Text, err = matching(o.Text, columns, "text"); return err },
		func() (err error) { r.Numbers, err = matching(o.Numbers, columns, "numbers"); return err },
	)
	if err != nil {
		return r, err
	}
	if r.ID == r.Label && r.ID >= 0 {
		return r, twoParts(columns[r.ID], "the label", "the id")
	}
	for _, part := range []struct {
		at           *int
		option, name string
	}{{&r.Label, o.Label, "the label"}, {&r.ID, o.ID, "the id"}} {
		switch {
		case *part.at < 0 || !drop[*part.at]:
		case part.option == "":
			*part.at = -1
		case slices.Contains(o.Drop, part.option): // a pattern leaves it
			return r, twoParts(part.option, part.name, "dropped")
		}
	}
	for i, name := range columns {
		if r.Text[i] && r.Numbers[i] {
			return r, twoParts(name, "text", "numbers")
		}
		if i != r.Label && i != r.ID && !drop[i] && (len(o.Keep) == 0 || keep[i]) {
			r.Features = append(r.Features, i)
		}
	}
	return r, nil
}

func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func twoParts(column, a, b string) error {
	return &fault.DataError{Row: -1, Column: column, Err: fmt.Errorf("the column is %s and %s: want one of the two", a, b)}
}

// named sets at to the index of a column, if name is not "".
func named(at *int, name string, columns []string) error {
	if name == "" {
		return nil
	}
	if *at = slices.Index(columns, name); *at < 0 {
		return noColumn(name, columns)
	}
	return nil
}

func noColumn(name string, columns []string) error {
	const most = 20 // columns that a message lists
	want := fmt.Sprintf("one of the %d columns", len(columns))
	if len(columns) <= most {
		want = "one of " + quote(strings.Join(columns, ","))
	}
	return fault.Data("", "there is no column %s: want %s%s", quote(name), want, fault.DidYouMean("", name, columns))
}

// matching reports of every column whether it is in the list of names and patterns. A name that a
// column has is not a pattern.
func matching(list, columns []string, option string) ([]bool, error) {
	is := make([]bool, len(columns))
	for _, name := range list {
		if i := slices.Index(columns, name); i >= 0 {
			is[i] = true
			continue
		}
		if !strings.ContainsAny(name, `*?[\`) {
			return nil, noColumn(name, columns)
		}
		found := false
		for i, column := range columns {
			ok, err := path.Match(flat(name), flat(column))
			if err != nil {
				return nil, &fault.ParamError{Param: option, Value: name, Want: "the name of a column, or a pattern such as total_*"}
			}
			is[i], found = is[i] || ok, found || ok
		}
		if !found {
			return nil, noColumn(name, columns)
		}
	}
	return is, nil
}

// flat replaces slashes, which would end what a star of a pattern matches.
func flat(name string) string { return strings.ReplaceAll(name, "/", "\x00") }

// needColumns refuses the options that name columns, for a format without such names.
func (o ReadOptions) needColumns(file, format string) error {
	for _, given := range []struct {
		option string
		is     bool
	}{
		{"column of labels", o.Label != ""}, {"column of ids", o.ID != ""}, {"columns to drop", len(o.Drop) > 0}, {"columns to keep", len(o.Keep) > 0},
		{"columns of text", len(o.Text) > 0}, {"columns of numbers", len(o.Numbers) > 0},
	} {
		if given.is {
			return fault.Data(file, "columns of %s data have no names: want no %s, or a table such as .csv", format, given.option)
		}
	}
	return nil
}
