// Package arrow (internal: may change) reads and writes Apache Arrow IPC files, which are also
// called Feather files of version 2, for package dataset.
//
//	o := dataset.ReadOptions{Extensions: []dataset.Extension{arrow.Format()}}
//	d, err := dataset.Read("data.arrow", o)
//
// The columns id and label have the same meaning as in CSV; every other column is a feature:
// booleans, whole numbers up to 2^53 in size, and floating-point numbers of any width. A column of
// lists, all of one length k, is k features; the fields of a struct are columns. A null, NaN or
// infinity is an error that names row and column, and so is a column of another type.
//
// With ReadOptions.Mixed, nulls and NaN are missing cells, decimals are numbers too, and columns of
// UTF-8 text, booleans, dates, times and time stamps are texts, the latter in ISO form: 2006-01-02,
// 15:04:05 and 2006-01-02T15:04:05Z, also for times without a zone. A dictionary (pandas calls it a
// column of categories) is read as its values.
//
// A file is read a block of rows at a time: of the columns that are used, the bytes of these rows.
// A compressed column (lz4 or zstd) is decompressed a record batch at a time. The memory limit
// counts both, and the dictionaries (4 GiB if there is no limit). Every place and size that a file
// claims is compared with its actual bytes, or with the limit, before memory is allocated.
// [github.com/apache/arrow-go] does not, it needs assembly, and it makes a program 8 MB larger, so
// only the tests use it, to compare.
//
// Written files have columns of doubles, and of text for ids and labels, in record batches of about
// 16 MiB, uncompressed.
package arrow

import (
	"errors"
	"io"
	"math"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// Format returns the format for [dataset.ReadOptions] and [dataset.WriteOptions]: files that end in
// .arrow, .feather or .ipc, and the name arrow.
func Format() dataset.Extension {
	return dataset.Extension{Name: "arrow", Endings: []string{".arrow", ".feather", ".ipc"}, Open: open,
		Write: write}
}

const (
	magic     = "ARROW1"           // at the begin and at the end of a file
	oldMagic  = "FEA1"             // at the begin of a Feather file of version 1
	headBytes = 8                  // the magic, padded
	marker    = "\xff\xff\xff\xff" // before every message of today's streams and files
)

// otherFile is the error of a file that looks like one but is none, nil for any other.
func otherFile(begin, _ string) error {
	switch {
	case strings.HasPrefix(begin, oldMagic):
		return fault.Data("",
			"it is a Feather file of version 1: want version 2, as pandas and pyarrow write")
	case strings.HasPrefix(begin, marker):
		return fault.Data("", "it is an Arrow stream: want an Arrow file, which has an index at its end")
	}
	return nil
}

// errDamaged is the cause of errors of metadata that contradict themselves.
var errDamaged = errors.New("the file is damaged")

func damaged(format string, args ...any) error {
	return fault.Data("", format+": %w", append(args, errDamaged)...)
}

var _ dataset.RowReader = (*reader)(nil)

// reader reads the rows of a file.
type reader struct {
	dataset.Columns
	f          *file
	o          dataset.ReadOptions
	features   []*column // those that are used
	id, labels *column   // nil for none
	next       int       // the batch after the current one
	at         int       // rows of the current batch that were read
	current    *batch    // nil while its metadata are not read
}

// open starts to read a file; see [dataset.Extension].
func open(in io.ReaderAt, size int64, o dataset.ReadOptions,
	problem func(*fault.DataError, string) error) (dataset.RowReader, error) {
	f := &file{File: dataset.File{In: in, Size: size, Held: dataset.NewBudget(o.MemoryLimit,
		"a block of rows with its columns and dictionaries",
		"write the file with smaller record batches or fewer columns, or raise the limit")}}
	if err := f.open(); err != nil {
		return nil, err
	}
	r := &reader{Columns: dataset.NewColumns(o, problem), f: f, o: o}
	for _, n := range f.rows {
		r.Total += n
	}
	for _, step := range []func() error{r.divide, r.readDictionaries, r.measure, r.nameAll} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r, nil
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
		return r.NoFeatures()
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
		return nil, r.NoName(c.name)
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
	mixed := r.Mixed && c.kind != unreadable
	switch {
	case mixed && asText && c.item != nil:
		return false, r.NoText(c.name)
	case mixed && (asText || c.isText() && !asNumbers):
		c.readAsText()
	case c.kind == number, mixed && c.kind == decimal:
	case c.kind == text:
		return false, r.NoNumbers(c.name, c.what, dataset.HintOfText)
	default:
		return false, r.NoNumbers(c.name, c.what, "write it as double, or remove it")
	}
	return true, nil
}

// nameAll sets the names of the features.
func (r *reader) nameAll() error {
	const each = 64 // approximate bytes of a name
	for _, c := range r.features {
		if err := r.f.Held.Take(each * int64(c.width)); err != nil {
			return err
		}
		r.Add(c.name, c.item != nil, c.width, c.asText)
	}
	return r.CheckNames()
}

// used returns the columns that are used, those in lists instead of the lists.
func (r *reader) used() []*column {
	var list []*column
	for _, c := range append(r.features[:len(r.features):len(r.features)], r.id, r.labels) {
		switch {
		case c == nil:
		case c.item != nil:
			list = append(list, c.item)
		default:
			list = append(list, c)
		}
	}
	return list
}

// measure determines the length of the lists of every column.
func (r *reader) measure() error {
	for _, c := range r.features {
		if c.item == nil {
			continue
		}
		if c.storage == fixedLists {
			c.width = int(c.size)
		} else if err := r.firstLength(c); err != nil {
			return err
		}
		if c.width < 1 {
			return fault.Cell(-1, c.name,
				"its lists have no values: want the same number of values, at least 1, in every row")
		}
	}
	return nil
}

// firstLength sets the width of a column to the length of its first list.
func (r *reader) firstLength(c *column) error {
	for k, n := range r.f.rows {
		if n == 0 {
			continue
		}
		b, err := r.f.batch(r.f.batches[k], recordBatch, k)
		if err != nil {
			return err
		}
		defer b.close()
		offsets, err := b.offsets(c, 0, 1)
		if err == nil && offsets[1]-offsets[0] > math.MaxInt32 {
			err = b.short(c)
		}
		if err == nil {
			c.width = int(offsets[1] - offsets[0])
		}
		return err
	}
	return nil
}

// Skip skips the next n rows.
func (r *reader) Skip(n int) error {
	for n > 0 {
		if err := r.advance(); err != nil {
			return err
		}
		k := min(n, r.left())
		r.at, r.Done, n = r.at+k, r.Done+k, n-k
	}
	return nil
}

// left returns the number of rows of the current batch that were not read.
func (r *reader) left() int {
	if r.next == 0 {
		return 0
	}
	return r.f.rows[r.next-1] - r.at
}

// advance goes to the next batch with rows if the current one has ended. It does not read it.
func (r *reader) advance() error {
	for r.left() == 0 {
		if r.current != nil {
			r.current.close()
			r.current = nil
		}
		if r.next == len(r.f.rows) {
			return io.EOF
		}
		r.next, r.at = r.next+1, 0
	}
	return nil
}

// Budget implements [dataset.RowReader].
func (r *reader) Budget() *dataset.Budget { return &r.f.Held }

// Next returns the next rows, at most limit of them.
func (r *reader) Next(limit int) (dataset.Rows, error) {
	rows, n, err := r.Begin(limit, &r.f.Held)
	if err != nil {
		return dataset.Rows{}, err
	}
	defer r.End(n, &r.f.Held)
	if len(r.Numbers) < len(r.Names) {
		rows.Texts = make([][]string, len(r.Names))
	}
	for read := 0; read < n; {
		k, err := r.load(n - read)
		if err == nil {
			err = r.take(&rows, rows.Data[read*len(r.Numbers):], k)
		}
		if err != nil {
			return dataset.Rows{}, err
		}
		r.at, r.Done, read = r.at+k, r.Done+k, read+k
	}
	return rows, nil
}

// load reads the metadata of the batch that has the next row. It returns how many of the next n
// rows are there.
func (r *reader) load(n int) (int, error) {
	if err := r.advance(); err != nil {
		return 0, err
	}
	if r.current == nil {
		k := r.next - 1
		b, err := r.f.batch(r.f.batches[k], recordBatch, k)
		if err != nil {
			return 0, err
		}
		if int(b.rows) != r.f.rows[k] {
			return 0, damaged("batch %d has changed", k)
		}
		r.current = b
	}
	return min(n, r.left()), nil
}

// take reads the next k rows of the batch: the numbers to data, and texts, ids and labels to the
// ends of those in rows.
func (r *reader) take(rows *dataset.Rows, data []float64, k int) error {
	at, place := 0, 0 // among the numbers, and among the features
	for _, c := range r.features {
		v, err := r.current.values(c, int64(r.at), int64(r.at+k))
		if err != nil {
			return err
		}
		if c.asText {
			if err := r.checkTexts(c, dataset.FeatureText, v.texts); err != nil {
				return err
			}
			rows.Texts[place] = append(rows.Texts[place], v.texts...)
		} else {
			if err := r.takeNumbers(data[at:], c, v); err != nil {
				return err
			}
			at += c.width
		}
		place += c.width
		r.current.giveBack()
	}
	var err error
	if rows.IDs, err = r.takeNames(rows.IDs, r.id, dataset.IDText, k); err == nil {
		rows.Labels, err = r.takeNames(rows.Labels, r.labels, dataset.LabelText, k)
	}
	return err
}

// checkTexts reports cells that are not text.
func (r *reader) checkTexts(c *column, kind dataset.Text, texts []string) error {
	for i, s := range texts {
		if err := r.CheckText(c.name, kind, s, r.Done+i); err != nil {
			return err
		}
	}
	return nil
}

// takeNames appends the next k ids or labels.
func (r *reader) takeNames(to []string, c *column, kind dataset.Text, k int) ([]string, error) {
	if c == nil {
		return nil, nil
	}
	v, err := r.current.values(c, int64(r.at), int64(r.at+k))
	if err != nil {
		return nil, err
	}
	defer r.current.giveBack()
	if err := r.checkTexts(c, kind, v.texts); err != nil {
		return nil, err
	}
	return append(to, v.texts...), nil
}

// takeNumbers writes the values of a column, or of its lists, to the rows.
func (r *reader) takeNumbers(data []float64, c *column, v cells) error {
	for _, i := range v.odd {
		e := dataset.OtherLength(c.name, r.Done+i, c.width)
		if err := r.Problem(e, "fill in or cut the list, or remove the row"); err != nil {
			return err
		}
	}
	cols := len(r.Numbers)
	for k, x := range v.numbers {
		i, j := k/c.width, k%c.width
		data[i*cols+j] = x
		if x-x == 0 || r.Mixed && x != x {
			continue
		}
		if err := r.notFinite(c, r.Done+i, j, x, v.null(k)); err != nil {
			return err
		}
	}
	return nil
}

// notFinite reports a value that is not finite: the j-th of a list, or 0.
func (r *reader) notFinite(c *column, row, j int, v float64, isNull bool) error {
	of := c
	if c.item != nil {
		of = c.item
	}
	if of.dictionary != nil {
		of = of.dictionary
	}
	feature := c.name
	if c.item != nil {
		feature = dataset.ItemNames(c.name, j+1)[j]
	}
	return r.NotFinite(feature, row, v, isNull, of.what == wholeNumbers)
}
