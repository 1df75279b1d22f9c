package dataset

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
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
			err = c.Problem(fault.Cell(-1, strconv.Itoa(j), "feature %d has no name: want one", j),
				"name the column, or remove it")
		case twice:
			err = c.Problem(fault.Cell(-1, name, "features %d and %d have the same name: want different ones",
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
	return c.Problem(fault.Cell(-1, column, "it cannot be the labels or ids: want texts or whole numbers"),
		"choose another column")
}

// NoText reports a column that options make one of text and that cannot be one.
func (c *Columns) NoText(column string) error {
	return c.Problem(fault.Cell(-1, column, "it cannot be read as text: want texts, numbers or dates"),
		"read it as numbers, or drop it")
}

// NoNumbers reports a column of other values than numbers.
func (c *Columns) NoNumbers(column, what, fix string) error {
	return c.Problem(fault.Cell(-1, column, "it contains %s: want numbers", what), fix)
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
	return c.Problem(fault.Cell(row, feature, "%s", what), fix)
}

// Text says what the texts of a column are.
type Text uint8

// The texts of features may be missing, as may those of labels, and then the row has no label.
const (
	FeatureText Text = iota
	LabelText
	IDText
)

// CheckText reports a cell of a feature that is not text, or an empty one of ids.
func (c *Columns) CheckText(column string, kind Text, s string, row int) error {
	switch {
	case s == "" && kind == IDText:
		return c.Problem(fault.Cell(row, column, "the cell is empty: want a %s", column),
			"fill in the cell, or remove the row")
	case kind == FeatureText && !utf8.ValidString(s):
		return c.Problem(fault.Cell(row, column, "the cell is not UTF-8: want text"),
			"remove the column, if it holds other bytes than text")
	}
	return nil
}

// OtherLength returns the error of a list of another length than the first one.
func OtherLength(column string, row, width int) *fault.DataError {
	return fault.Cell(row, column,
		"the list has another length than %d, that of the first row: want the same length in every row",
		width)
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

// WrittenColumn is a column of a file that is written, with its values in some rows: ids or labels,
// which are texts, or numbers.
type WrittenColumn struct {
	Name    string
	Texts   []string  // one a row, nil for numbers
	numbers []float64 // every stride-th
	stride  int
}

// Number returns the number in row i.
func (c *WrittenColumn) Number(i int) float64 { return c.numbers[i*c.stride] }

// written returns the columns of rows with numbers of these names, in the order of files.
func (r Rows) written(names []string) (list []WrittenColumn) {
	if r.IDs != nil {
		list = append(list, WrittenColumn{Name: idColumn, Texts: r.IDs})
	}
	for j, name := range names {
		list = append(list, WrittenColumn{Name: name, numbers: r.Data[min(j, len(r.Data)):],
			stride: len(names)})
	}
	if r.Labels != nil {
		list = append(list, WrittenColumn{Name: labelColumn, Texts: r.Labels})
	}
	return list
}

// Collect gathers the rows that next returns until their numbers take about [PartBytes], or their
// texts as many bytes as given, and passes them to flush, n rows at a time. Before that it calls
// begin once, also if there are no rows; the first rows determine whether there are ids and labels.
// It is for writers of formats whose files have parts of many rows.
func Collect(names []string, texts int, next func() (Rows, error), begin func(columns []WrittenColumn) error,
	flush func(columns []WrittenColumn, n int) error) error {
	const fewest = 1 << 10 // rows, so that their metadata are small compared with the values
	limit := max(fewest, PartBytes/8/max(1, len(names)))
	var all Rows
	n, letters, begun := 0, 0, false
	for end := false; !end; {
		rows, err := next()
		if end = err == io.EOF; err != nil && !end {
			return err
		}
		if !end {
			all.Data = append(all.Data, rows.Data...)
			all.IDs, all.Labels = append(all.IDs, rows.IDs...), append(all.Labels, rows.Labels...)
			n += len(rows.Data) / len(names)
			for _, text := range slices.Concat(rows.IDs, rows.Labels) {
				letters += len(text)
			}
			if n < limit && letters < texts {
				continue
			}
		}
		columns := all.written(names)
		if err = nil; !begun {
			begun, err = true, begin(columns)
		}
		if n > 0 && err == nil {
			err = flush(columns, n)
		}
		if err != nil {
			return err
		}
		all, n, letters = Rows{Data: all.Data[:0], IDs: all.IDs[:0], Labels: all.Labels[:0]}, 0, 0
	}
	return nil
}

// File is an open file of columns, and the memory that its reader has in use.
type File struct {
	In   io.ReaderAt
	Size int64
	Held Budget
}

// DiskError is a failure of the disk, not an error of the content.
type DiskError struct{ err error }

func (e *DiskError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *DiskError) Unwrap() error { return e.err }

// Fill fills b with the bytes at offset at of the file. The error is a *fault.DataError if the file
// ends before, or a *[DiskError].
func (f *File) Fill(b []byte, at int64) error {
	n, err := f.In.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fault.Data("", "it ends at byte %d, the file is cut off: %w", at+int64(n), io.ErrUnexpectedEOF)
	}
	return &DiskError{err}
}

// Bytes returns n bytes of the file, in memory that the caller gives back.
func (f *File) Bytes(at, n int64) ([]byte, error) {
	if err := f.Held.Take(n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, f.Fill(b, at)
}

// Footer returns the metadata at the end of a file, in memory that the caller gives back. The file
// begins with a magic word in some bytes, and ends in the length of the metadata, in 4 bytes, and
// the word. what is the format, as in "an Arrow file", and other the error of a file that begins
// and ends in another way, nil if there is nothing to say.
func (f *File) Footer(what, magic string, headBytes int64,
	other func(begin, end string) error) ([]byte, error) {
	tailBytes := int64(4 + len(magic))
	most := f.Size - headBytes - tailBytes
	if most < 0 {
		return nil, fault.Data("", "it has %d bytes: want %s file", f.Size, what)
	}
	head, tail := make([]byte, headBytes), make([]byte, tailBytes)
	if err := f.Fill(head, 0); err != nil {
		return nil, err
	}
	if err := f.Fill(tail, f.Size-tailBytes); err != nil {
		return nil, err
	}
	begin, end := string(head), string(tail[4:])
	if err := other(begin, end); err != nil {
		return nil, err
	}
	_, name, _ := strings.Cut(what, " ")
	switch n := int64(binary.LittleEndian.Uint32(tail)); {
	case !strings.HasPrefix(begin, magic):
		return nil, fault.Data("", "the content is not %s: want a file that begins with %s", name, magic)
	case end != magic:
		return nil, fault.Data("", "it does not end in %s, the file is cut off: %w", magic,
			io.ErrUnexpectedEOF)
	case n > most:
		return nil, fault.Data("", "its footer claims %d bytes: want at most %d", n, most)
	default:
		return f.Bytes(f.Size-tailBytes-n, n)
	}
}
