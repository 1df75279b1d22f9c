package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// The ways to name rows in files of links and pairs.
const (
	ByRow = "row" // 0-based numbers
	ByID  = "id"
	// ByAuto is ByID if there are ids, and one of the first names in the file is no whole number.
	ByAuto = "auto"
)

// LinkContext describes the rows that a file of links or pairs refers to.
type LinkContext struct {
	N   int      // number of rows
	IDs []string // the rows' ids when By is ByID
	By  string   // ByRow, ByID or ByAuto; "" is ByRow
	// Found, if not nil, is called with what ByAuto has found, and with a doubt about it, "" for none:
	// numbers of rows that are also ids of others.
	Found func(by, doubt string)
	// MaxLine and MemoryLimit are as in ReadOptions.
	MaxLine     int
	MemoryLimit int64
	// MayBeEmpty accepts a file of links that is empty, or has a header and no links yet.
	MayBeEmpty bool
}

// begin reads the header of a file of links or pairs.
func (c *LinkContext) begin(src *source, rep *report) (*records, finder, error) {
	src.limit, src.comments = c.MemoryLimit, true
	r, err := openRecords(src, c.MaxLine, rep)
	if err != nil {
		return nil, nil, err
	}
	if c.By == ByAuto {
		var doubt string
		if c.By, doubt = c.shownBy(r); c.Found != nil {
			c.Found(c.By, doubt)
		}
		r.first = nil
	}
	find, err := c.finder()
	if err != nil {
		return nil, nil, err
	}
	r.pairs = true
	return r, find, nil
}

// shownBy returns how the first records of a file name rows, and a doubt.
func (c *LinkContext) shownBy(r *records) (by, doubt string) {
	if c.IDs == nil {
		return ByRow, ""
	}
	var names []string
	for _, fields := range r.sample() {
		for _, column := range []string{"i", "j"} {
			if at := r.column(column); at >= 0 {
				names = append(names, fields[at])
			}
		}
	}
	if !Numbered(names) {
		return ByID, ""
	}
	rows := c.rowsByID()
	for _, name := range names {
		i, is := rows[name]
		if !is {
			return ByRow, ""
		}
		if strconv.Itoa(i) != name {
			doubt = quote(name) + " is taken as the number of a row, and is also the id of another row: want " +
				"the option links-by, id or row"
		}
	}
	return ByRow, doubt
}

// rowsByID returns the row of each id, which has no white space around it, as names in files have
// none.
func (c LinkContext) rowsByID() map[string]int {
	rows := make(map[string]int, len(c.IDs))
	for i, id := range c.IDs {
		rows[strings.TrimSpace(id)] = i
	}
	return rows
}

// NamesRows returns how the file of links at path names rows: By, or what its first records show if
// that is ByAuto. Errors are those of its header. It reads no more of the file than these.
func (c LinkContext) NamesRows(path string) (by string, err error) {
	return readInput(Input{Name: path}, func(src *source, rep *report) (string, error) {
		_, _, err := c.begin(src, rep)
		return c.By, err
	})
}

// Numbered reports whether all names may be numbers of rows.
func Numbered(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, err := strconv.Atoi(strings.TrimSpace(name))
		return err != nil
	})
}

// rowColumns returns the indices of the columns that name rows.
func (r *records) rowColumns(names []string) ([]int, error) {
	at := make([]int, len(names))
	for k, name := range names {
		if at[k] = r.column(name); at[k] < 0 {
			return nil, r.rep.fatal("correct the header", "the header is %s: want the columns %s", r.header(),
				strings.Join(names, ", "))
		}
	}
	return at, nil
}

// rowNamed returns the number of the row that a field names.
func (r *records) rowNamed(find finder, name string, column, line int) (int, error) {
	i, what, fix := find(name)
	if what != "" {
		return 0, r.problem(line, r.columns[column], fix, "%s", what)
	}
	return i, nil
}

// finder returns the number of the row with a name, or states the problem with the name and a fix.
type finder func(name string) (row int, what, fix string)

func (c LinkContext) finder() (finder, error) {
	switch c.By {
	case "", ByRow:
		return c.findNumber, nil
	case ByID:
		if c.IDs == nil {
			return nil, fault.Param("naming of rows", c.By, "row, as the data has no column id")
		}
		rows := c.rowsByID()
		return func(name string) (int, string, string) { return c.findID(rows, name) }, nil
	}
	return nil, fault.Unknown("naming of rows", c.By, []string{ByRow, ByID, ByAuto})
}

func (c LinkContext) findNumber(name string) (int, string, string) {
	i, err := strconv.Atoi(strings.TrimSpace(name))
	switch {
	case c.N <= 0:
		return 0, "the data have no rows: want at least two to link", ""
	case err != nil && slices.Contains(c.IDs, name):
		return 0, quote(name) + " is an id: want a row number", "name rows by id"
	case err != nil:
		return 0, fmt.Sprintf("%s is not a row number: want 0 to %d", quote(name), c.N-1),
			"write the 0-based number of a data row"
	case i < 0 || i >= c.N:
		fix := "correct or remove the line"
		if i == c.N {
			fix = "row numbers begin with 0; subtract 1 if these begin with 1"
		}
		return 0, fmt.Sprintf("row %d does not exist: want 0 to %d", i, c.N-1), fix
	}
	return i, "", ""
}

func (c LinkContext) findID(rows map[string]int, name string) (int, string, string) {
	if i, ok := rows[name]; ok {
		return i, "", ""
	}
	fix := "correct or remove the line"
	if len(c.IDs) <= 10000 { // the search for a similar id compares all of them
		if near := fault.Nearest(name, c.IDs); near != "" {
			fix = "did you mean " + quote(near) + "?"
		}
	}
	return 0, fmt.Sprintf("there is no row with id %s: want an id of the data", quote(name)), fix
}
