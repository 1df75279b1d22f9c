package mustlink

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Table is a set of rows to learn from, or to apply a model to: vectors, sparse vectors, sequences,
// or inner products with reference rows. Rows may have labels and ids, columns may have names. A
// Table is immutable and safe for concurrent use.
type Table struct {
	raw       *dataset.Data     // as it was read
	data      *dataset.Data     // as a fit sees it
	transform dataset.Transform // from raw to data, nil for none
	remarks   []string          // of the transform
	columns   []Column          // what the transform does with each
}

// newTable returns the table of data without a transform.
func newTable(d *dataset.Data) *Table { return &Table{raw: d, data: d} }

// ReadOption changes how [ReadTable] reads a file.
type ReadOption func(*dataset.ReadOptions)

// Columns changes which columns of a table [ReadTable] reads, and how.
type Columns struct {
	Label, ID string   // names of the columns of labels and of names of rows; "" for label and id, if there
	Drop      []string // names of columns, or patterns such as total_*, that are left out
	Keep      []string // the only features, if not empty
	Text      []string // columns that are texts, also where they look like numbers
	Numbers   []string // columns that are numbers, also where their first cells do not look so
	Thousands bool     // numbers may be written as 1,234,567
	// Marks are "us" (1,234.5) or "eu" (1.234,5) for the numbers of columns, by name. Those of other
	// columns are found from the cells.
	Marks map[string]NumberMarks
	// Header is "none" if the first line of CSV text is a row, and then columns are called 0, 1, ...;
	// "first" if it has their names, whatever it looks like; "" is "first" with a warning, or an error,
	// if it looks like a row.
	Header string
	// Pictures names a column with the paths of pictures, whose pixels are features; Pixels is their
	// size, as "32x32", also for a folder of pictures, or "32x32x3" in color.
	Pictures, Pixels string
	Strict           bool // texts and missing values are errors
}

// NumberMarks are how a column writes its numbers: "us" or "eu".
type NumberMarks = dataset.Marks

// ReadColumns chooses columns.
func ReadColumns(c Columns) ReadOption {
	return func(o *dataset.ReadOptions) {
		o.Label, o.ID, o.Drop, o.Keep = c.Label, c.ID, c.Drop, c.Keep
		o.Text, o.Numbers, o.Thousands, o.Mixed = c.Text, c.Numbers, c.Thousands, !c.Strict
		o.Header, o.Marks = c.Header, c.Marks
		if c.Pictures != "" || c.Pixels != "" {
			o.Pictures = &dataset.Pictures{Column: c.Pictures, Pixels: c.Pixels}
		}
	}
}

// FileFormat names the format of a file without a known extension: "csv", "npy", "svm", "idx" or
// "fasta".
func FileFormat(name string) ReadOption { return func(o *dataset.ReadOptions) { o.Format = name } }

// LabelsFile reads the labels from a file with one line for each row, instead of from a column of
// the table.
func LabelsFile(path string) ReadOption { return func(o *dataset.ReadOptions) { o.Labels = path } }

// HeaderLabels uses the second word of each header of a FASTA file as the label of the row.
func HeaderLabels() ReadOption { return func(o *dataset.ReadOptions) { o.HeaderLabels = true } }

// Alphabet names the letters of sequences: "protein" (the default), "dna", "rna", or the letters
// themselves.
func Alphabet(letters string) ReadOption {
	return func(o *dataset.ReadOptions) { o.Alphabet = letters }
}

// GramFile reads the values of the file as inner products. diagonal is the path of a file with the
// inner product of each row with itself; "" means the diagonal of a square matrix.
func GramFile(diagonal string) ReadOption {
	return func(o *dataset.ReadOptions) { o.Gram, o.GramDiagonal = true, diagonal }
}

// ReadLimit refuses a file that takes more than this number of bytes in memory, by a
// *fault.MemoryError.
func ReadLimit(bytes int64) ReadOption {
	return func(o *dataset.ReadOptions) { o.MemoryLimit = bytes }
}

// ReadTable reads a file. The extension selects the format: .csv, .tsv, .jsonl, .npy, .svm, .idx or
// .fasta, each also with .gz; a folder is a table of the pictures in it. In a table with a header,
// the column "label" contains labels and the column "id" names of rows; all other columns are
// features, numbers or texts. [ReadColumns] changes that.
//
// Errors: a file that cannot be read; a bad value is a *fault.DataError with file, line and column.
func ReadTable(path string, options ...ReadOption) (*Table, error) {
	d, err := dataset.Read(path, readOptions(options))
	if err != nil {
		return nil, err
	}
	return newTable(d), nil
}

// readOptions returns what the options change.
func readOptions(options []ReadOption) dataset.ReadOptions {
	o := dataset.ReadOptions{Mixed: true}
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	return o
}

// FromData returns the table of data that package engine/dataset has read. It is for programs that
// work with internal packages.
func FromData(d *dataset.Data) *Table { return newTable(d) }

// FromMatrix returns the table whose rows are those of a matrix. It shares the memory of a
// *mat.Dense without gaps between its rows: do not change it afterwards.
func FromMatrix(m mat.Matrix) (*Table, error) {
	x, err := dense("matrix", m)
	return tableOf(x, err)
}

// FromRows returns the table of rows of equal length, which it copies. A row of another length is a
// *fault.ShapeError.
func FromRows(rows [][]float64) (*Table, error) {
	if len(rows) == 0 {
		return nil, fault.Shape("number of rows", 0, "1 or more")
	}
	width := len(rows[0])
	for i, row := range rows {
		if len(row) != width {
			return nil, fault.Shape(fmt.Sprintf("length of row %d", i), len(row),
				"%d, the length of row 0", width)
		}
	}
	x, err := points.NewDense(len(rows), width, slices.Concat(rows...))
	return tableOf(x, err)
}

// FromSparse returns the table of a sparse matrix in compressed rows: row i has the values
// value[start[i]:start[i+1]] in the columns column[start[i]:start[i+1]], which ascend. It shares
// the slices: do not change them afterwards.
func FromSparse(rows, columns int, start []int, column []int32, value []float64) (*Table, error) {
	x, err := points.NewCSR(rows, columns, start, column, value)
	return tableOf(x, err)
}

// FromSequences returns the table of sequences over an alphabet: "protein", "dna", "rna", or the
// letters themselves. They require kernels of sequences, such as spectrum:k=3.
func FromSequences(alphabet string, sequences []string) (*Table, error) {
	letters, err := dataset.Alphabet(alphabet)
	if err != nil {
		return nil, err
	}
	start, all := make([]int, 1, len(sequences)+1), []byte(nil)
	for _, s := range sequences {
		all = append(all, s...)
		start = append(start, len(all))
	}
	x, err := points.NewSequences(letters, start, all)
	return tableOf(x, err)
}

// FromGram returns the table of rows given by their inner products. With a nil diagonal, k is
// square and symmetric and contains the inner products of all rows with each other; such a table is
// for learning. Otherwise each row of k contains the inner products of a new row with the training
// rows, and diagonal those of the new rows with themselves.
func FromGram(k mat.Matrix, diagonal []float64) (*Table, error) {
	x, err := dense("Gram matrix", k)
	if err != nil {
		return nil, err
	}
	if diagonal == nil && x.N != x.D {
		return nil, fault.Shape("number of columns of the Gram matrix", x.D,
			"%d, as many as rows, or a diagonal", x.N)
	}
	var reference []int
	if diagonal != nil {
		reference = slices.Repeat([]int{-1}, x.N)
	}
	gram, err := points.NewGram(x.N, x.D, x.Data, diagonal, reference)
	return tableOf(gram, err)
}

// tableOf returns the table of points, unless there is an error.
func tableOf(x points.Points, err error) (*Table, error) {
	if err != nil {
		return nil, err
	}
	return newTable(&dataset.Data{Points: x}), nil
}

// dense returns a matrix as rows without gaps. It shares the memory of a *mat.Dense without gaps,
// and copies other matrices.
func dense(what string, m mat.Matrix) (*points.Dense, error) {
	if isNil(m) {
		return nil, fault.Param(what, nil, "a matrix")
	}
	n, d := m.Dims()
	if raw, ok := m.(mat.RawMatrixer); ok {
		if r := raw.RawMatrix(); r.Stride == r.Cols && len(r.Data) >= n*d {
			return points.NewDense(n, d, r.Data[:n*d])
		}
	}
	data := make([]float64, 0, n*d)
	for i := range n {
		for j := range d {
			data = append(data, m.At(i, j))
		}
	}
	return points.NewDense(n, d, data)
}

// Rows returns the number of rows.
func (t *Table) Rows() int { return t.Data().Points.Len() }

// Columns returns the number of features, or of reference rows of inner products.
func (t *Table) Columns() int { return t.Data().Points.Dim() }

// String says what the table has: "150 rows of 4 columns, labels of 3 classes, ids".
func (t *Table) String() string {
	d := t.Data()
	text := fault.Count(d.Points.Len(), "row") + " of " + fault.Count(d.Points.Dim(), "column")
	if d.Labels != nil {
		classes := map[string]bool{}
		for _, label := range d.Labels {
			classes[label] = label != ""
		}
		delete(classes, "")
		text += ", labels of " + fault.Count(len(classes), "class")
	}
	if d.IDs != nil {
		text += ", ids"
	}
	return text
}

// Names returns the names of the features, nil if they have none. Do not change them.
func (t *Table) Names() []string { return t.Data().Features }

// IDs returns the names of the rows, nil if they have none. Do not change them.
func (t *Table) IDs() []string { return t.Data().IDs }

// Labels returns a label for each row, "" for a row without one; it is nil if there are no labels.
// Do not change them.
func (t *Table) Labels() []string { return t.Data().Labels }

// WithLabels returns the table with these labels, one for each row. A different number of labels is
// a *fault.ShapeError.
func (t *Table) WithLabels(labels []string) (*Table, error) {
	if err := t.check("table"); err != nil {
		return nil, err
	}
	if len(labels) != t.Rows() {
		return nil, fault.Shape("number of labels", len(labels), "%d, one for each row", t.Rows())
	}
	return t.with(func(d *dataset.Data) { d.Labels = labels }), nil
}

// Select returns the table of some rows, in the given order. A row that does not exist is a
// *fault.ParamError.
func (t *Table) Select(rows []int) (*Table, error) {
	if err := t.check("table"); err != nil {
		return nil, err
	}
	for _, i := range rows {
		if i < 0 || i >= t.Rows() {
			return nil, fault.Param("row", i, "a row from 0 to %d", t.Rows()-1)
		}
	}
	return t.with(func(d *dataset.Data) {
		d.Points = d.Points.Select(rows)
		d.IDs, d.Labels = chosen(d.IDs, rows), chosen(d.Labels, rows)
	}), nil
}

// with returns the table with changed data, both as read and as transformed for a fit.
func (t *Table) with(change func(d *dataset.Data)) *Table {
	out, raw := *t, *t.raw
	change(&raw)
	out.raw, out.data = &raw, &raw
	if t.transform != nil {
		data := *t.data
		change(&data)
		out.data = &data
	}
	return &out
}

// chosen returns the values at rows, nil if values is nil.
func chosen(values []string, rows []int) []string {
	if values == nil {
		return nil
	}
	out := make([]string, len(rows))
	for at, i := range rows {
		out[at] = values[i]
	}
	return out
}

// check refuses an empty table.
func (t *Table) check(what string) error {
	if t == nil || t.data == nil || t.data.Points == nil {
		return fault.Param(what, nil, "a table made by ReadTable, FromMatrix or a similar function")
	}
	return nil
}

// Standardize is [Table.Prepare] that also scales numbers which share a unit to mean 0 and standard
// deviation 1. Sequences and Gram matrices, which have no features to scale, are a
// *fault.ParamError.
func (t *Table) Standardize() (*Table, error) { return t.Prepare(Preparing{Scale: "standardize"}) }

// TFIDF returns the table of counts of terms, a row for each text. A fit sees them weighted by the
// rarity of the terms, as rows of unit length. The model of the fit keeps the weights and applies
// them to the rows of other tables.
func (t *Table) TFIDF() (*Table, error) {
	if err := t.plain(); err != nil {
		return nil, err
	}
	weights, err := prepare.CountTerms(t.raw.Points)
	if err != nil {
		return nil, fault.InFile(err, t.raw.Name)
	}
	return t.transformed(weights, nil)
}

// plain refuses an empty table, and one with a transform.
func (t *Table) plain() error {
	if err := t.check("table"); err != nil {
		return err
	}
	if t.transform != nil {
		return fault.Param("preparation", "a second one", "one of Prepare, Standardize and TFIDF, once")
	}
	return nil
}

func (t *Table) transformed(by dataset.Transform, remarks []string) (*Table, error) {
	data := *t.raw
	var err error
	if some := prepare.ByColumn(by); some != nil {
		data.Points, err = Unlearned(nil, t.raw.Features, by).Prepared(t.raw)
		data.Features = some.Outputs()
	} else {
		data.Points, err = by.Apply(t.raw.Points)
	}
	if err != nil {
		return nil, fault.InFile(err, t.raw.Name)
	}
	return &Table{raw: t.raw, data: &data, transform: by, remarks: remarks}, nil
}

// Warnings returns remarks on what was ignored when the table was read, and on what a fit cannot
// use.
func (t *Table) Warnings() []string {
	if t.check("table") != nil {
		return nil
	}
	return slices.Concat(t.raw.Warnings, t.remarks)
}

// Transform returns the transform from the rows of the file to the rows that a fit sees, nil if
// there is none. It is for programs that work with internal packages.
func (t *Table) Transform() dataset.Transform { return t.transform }

// Data returns the data that a fit sees. It is for programs that work with internal packages.
func (t *Table) Data() *dataset.Data {
	if t.check("table") != nil {
		return &dataset.Data{Points: &points.Dense{}} // an empty table has no rows
	}
	return t.data
}
