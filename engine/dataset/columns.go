package dataset

import (
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
)

// Columns is what readers of formats that store columns have in common, whatever the format: the
// names of the features, the rows that were read, and the problems with single cells. A reader
// embeds it, adds its features with [Columns.Add], and has [RowReader.Count] and
// [RowReader.Features] from it.
type Columns struct {
	Names   []string // of the features
	Numbers []string // of those that are numbers
	Total   int      // rows
	Done    int      // rows that were read or skipped
	Mixed   bool     // texts and missing cells are accepted
	Limit   int64    // of memory, 0 for none
	// Problem passes on a problem with a single value, and how to correct it; see [Extension].
	Problem func(e *fault.DataError, fix string) error
}

// NewColumns returns the columns of a file that is read with some options, before it has any.
func NewColumns(o ReadOptions, problem func(e *fault.DataError, fix string) error) Columns {
	return Columns{Mixed: o.Mixed && !o.Gram, Limit: o.MemoryLimit, Problem: problem}
}

// Count returns the number of rows.
func (c *Columns) Count() int { return c.Total }

// Features returns the names of the features.
func (c *Columns) Features() []string { return c.Names }

// Add adds the features of a column: one, or with isList one for each of width items.
func (c *Columns) Add(name string, isList bool, width int, asText bool) {
	names := []string{name}
	if isList {
		names = ItemNames(name, width)
	}
	c.Names = append(c.Names, names...)
	if !asText {
		c.Numbers = append(c.Numbers, names...)
	}
}

// ItemNames returns the names of the features of a column of lists of some length.
func ItemNames(name string, width int) []string {
	names := make([]string, width)
	for k := range names {
		names[k] = name + "." + strconv.Itoa(k)
	}
	return names
}

// CheckNames reports features without a name or with the same name.
func (c *Columns) CheckNames() error {
	seen := make(map[string]int, len(c.Names))
	for j, name := range c.Names {
		first, twice := seen[name]
		var err error
		switch {
		case name == "":
			err = c.Problem(ColumnError(strconv.Itoa(j), "feature %d has no name: want one", j),
				"name the column, or remove it")
		case twice:
			err = c.Problem(ColumnError(name, "features %d and %d have the same name: want different ones",
				first, j),
				"rename one of them")
		default:
			seen[name] = j
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Begin returns memory for the next rows, at most limit of them, and their number. It counts
// against held until the caller gives it back. After the last row the error is io.EOF.
func (c *Columns) Begin(limit int, held *Budget) (rows Rows, n int, err error) {
	if n = min(limit, c.Total-c.Done); n == 0 {
		return Rows{}, 0, io.EOF
	}
	const value = 8
	cols := len(c.Names)
	if cols > math.MaxInt/value/n {
		return Rows{}, 0, fault.Data("", "it claims %d x %d values: more than memory can hold", n, cols)
	}
	need := int64(n)*int64(cols)*value + held.Used
	if c.Limit > 0 && need > c.Limit {
		return Rows{}, 0, &fault.MemoryError{What: "a block of " + strconv.Itoa(n) + " rows", Need: need,
			Limit: c.Limit,
			Hint:  "use fewer rows or columns, or raise the limit"}
	}
	if c.Limit > 0 { // the block and what it is read from share the limit
		held.Used += c.bytes(n)
	}
	return Rows{Data: make([]float64, n*len(c.Numbers))}, n, nil
}

// End gives back what Begin counted for n rows.
func (c *Columns) End(n int, held *Budget) {
	if c.Limit > 0 {
		held.Give(c.bytes(n))
	}
}

func (c *Columns) bytes(n int) int64 { return 8 * int64(n) * int64(len(c.Numbers)) }

// NoFeatures returns the error of a file without features.
func (c *Columns) NoFeatures() error {
	return fault.Data("", "it has no feature columns: want columns of numbers in addition to id and label")
}

// NoName reports a column that options make one of ids or labels and that cannot be one.
func (c *Columns) NoName(column string) error {
	return c.Problem(ColumnError(column, "it cannot be the labels or ids: want texts or whole numbers"),
		"choose another column")
}

// NoText reports a column that options make one of text and that cannot be one.
func (c *Columns) NoText(column string) error {
	return c.Problem(ColumnError(column, "it cannot be read as text: want texts, numbers or dates"),
		"read it as numbers, or drop it")
}

// NoNumbers reports a column of other values than numbers.
func (c *Columns) NoNumbers(column, what, fix string) error {
	return c.Problem(ColumnError(column, "it contains %s: want numbers", what), fix)
}

// HintOfText is what to do with a column of texts where numbers are wanted.
const HintOfText = "encode the categories as numbers, remove the column, or call it label or id " +
	"if it contains labels or ids"

// NotFinite reports a cell of a feature that is no finite number: it is empty, or a whole number
// that float64 does not have exactly, or v.
func (c *Columns) NotFinite(feature string, row int, v float64, empty, whole bool) error {
	what := "the value is " + strconv.FormatFloat(v, 'g', -1, 64) + ": want a finite number"
	fix := "fill in a number, or remove the row"
	switch {
	case empty:
		what = "the cell is empty: want a finite number"
	case whole:
		what, fix = "the whole number has no exact float64: want at most 2^53 in size",
			"write the column as double"
	}
	e := ColumnError(feature, "%s", what)
	e.Row = row
	return c.Problem(e, fix)
}

// CheckText reports a cell of a feature that is not text, or an empty one of ids or labels.
func (c *Columns) CheckText(column string, isFeature bool, s string, row int) error {
	var e *fault.DataError
	fix := "fill in the cell, or remove the row"
	switch {
	case s == "" && !isFeature:
		e = ColumnError(column, "the cell is empty: want a %s", column)
	case isFeature && !utf8.ValidString(s):
		e, fix = ColumnError(column, "the cell is not UTF-8: want text"),
			"remove the column, if it holds other bytes than text"
	default:
		return nil
	}
	e.Row = row
	return c.Problem(e, fix)
}

// ColumnError returns an error that names a column.
func ColumnError(column, format string, args ...any) *fault.DataError {
	e := fault.Data("", format, args...)
	e.Column = column
	return e
}

// Budget counts the memory that a reader has in use in addition to the values of a block.
type Budget struct {
	Used, Limit int64
	What, Hint  string // of the error
}

// DefaultBudget is the limit if the caller has none: a file of a few bytes may claim gigabytes.
const DefaultBudget = 4 << 30

// NewBudget returns a budget with a limit, or with the default.
func NewBudget(limit int64, what, hint string) Budget {
	if limit <= 0 {
		limit = DefaultBudget
	}
	return Budget{Limit: limit, What: what, Hint: hint}
}

// Take reserves n bytes, or returns a *fault.MemoryError.
func (b *Budget) Take(n int64) error {
	if n > b.Limit-b.Used {
		return &fault.MemoryError{What: b.What, Need: b.Used + n, Limit: b.Limit, Hint: b.Hint}
	}
	b.Used += n
	return nil
}

// Give gives n bytes back.
func (b *Budget) Give(n int64) { b.Used -= n }

// PartBytes are the approximate bytes of the numbers of one part of a file that is written.
const PartBytes = 16 << 20

// Collect gathers the rows that next returns until their numbers take about [PartBytes], or their
// texts as many bytes as given, and passes them to flush, n rows at a time. It is for writers of
// formats whose files have parts of many rows.
func Collect(columns int, texts int, next func() (Rows, error), flush func(rows Rows, n int) error) error {
	const fewest = 1 << 10 // rows, so that their metadata are small compared with the values
	limit := max(fewest, PartBytes/8/max(1, columns))
	var all Rows
	n, letters := 0, 0
	for {
		rows, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		all.Data = append(all.Data, rows.Data...)
		all.IDs, all.Labels = append(all.IDs, rows.IDs...), append(all.Labels, rows.Labels...)
		n += len(rows.Data) / columns
		for _, list := range [][]string{rows.IDs, rows.Labels} {
			for _, s := range list {
				letters += len(s)
			}
		}
		if n >= limit || letters >= texts {
			if err := flush(all, n); err != nil {
				return err
			}
			all, n, letters = Rows{Data: all.Data[:0], IDs: all.IDs[:0], Labels: all.Labels[:0]}, 0, 0
		}
	}
	if n == 0 {
		return nil
	}
	return flush(all, n)
}
