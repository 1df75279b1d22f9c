package dataset

import (
	"encoding/hex"
	"io"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Data is a set of points with their names, labels and source.
type Data struct {
	Points   points.Points
	Features []string // one name per column, nil when the format has none
	IDs      []string // one per row and all different, nil for none
	Labels   []string // one per row, nil for none
	Name     string   // the path as given, "-" for a stream, or the generator's name
	// Warnings are remarks of the reader on parts of the file that it ignored, without the file's
	// name: "3 letters outside the alphabet …".
	Warnings []string
}

// AtLeast returns a *fault.DataError unless there are n points or more. Reading accepts a
// single point, which is enough to embed; learning and clustering need two.
func (d *Data) AtLeast(n int) error {
	if got := d.Points.Len(); got < n {
		return fault.Data(d.Name, "it has %s: want at least %d", count(got, "data row"), n)
	}
	return nil
}

// DefaultMaxLine is the limit on the length of a line when ReadOptions.MaxLine is 0. A
// row of 600,000 features fits.
const DefaultMaxLine = 16 << 20

// ReadOptions configures how a data file is read. The zero value is right for most files.
type ReadOptions struct {
	// Format is a name of [Formats], "" to take it from the file's name.
	Format string
	// Labels is the path of a labels file with one line per row, in the same order; it takes
	// precedence over a column of labels in the data. "" for none.
	Labels string
	// IgnoreLabels omits the labels of the data file.
	IgnoreLabels bool
	// Label and ID name the columns of labels and of ids; "" stands for `label` and `id`, which need
	// not be there. A column that is named must be there.
	Label, ID string
	// Drop has names of columns that are not read, Keep, if not empty, those of the only features. A
	// name may be a pattern, such as total_*.
	Drop, Keep []string
	// Mixed accepts texts and missing cells in the columns of a table: the points become a
	// *points.Mixed, unless every cell is a number.
	Mixed bool
	// Text and Numbers have names, or patterns, of columns that are texts, and of those that are
	// numbers, whatever their first cells look like. Only for Mixed.
	Text, Numbers []string
	// NoHeader means that the first line of CSV text is a row: columns are called 0, 1, ...
	NoHeader bool
	// Thousands accepts groups of three digits in numbers, as in 1,234,567.
	Thousands bool
	// HeaderLabels takes the second word of each header of a FASTA file as the label. A
	// header without one is an error.
	HeaderLabels bool
	// Alphabet holds the letters of sequences: "protein" (also ""), "dna", "rna", or the
	// letters themselves, all different, in upper or lower case.
	Alphabet string
	// Features is the number of features of an svmlight file, 0 for the largest feature number in
	// it. Rows for a model need the model's number, as the last features may not occur in them.
	Features int
	// Gram means that the values are inner products: the points become a *points.Gram. Without
	// GramDiagonal the matrix must be square; it is a training matrix, whose row i and column i are
	// the same object. With GramDiagonal the rows are new objects, unless the matrix is square and
	// symmetric with exactly that diagonal.
	Gram bool
	// GramDiagonal is the path of a file with k(x,x) for every row of a Gram matrix: one
	// numeric column, or a .npy vector.
	GramDiagonal string
	// Extensions are formats of other packages, in addition to [Formats].
	Extensions []Extension
	// BadRow, if not nil, makes a [Stream] skip bad rows instead of ending with an error. It is
	// called once for each bad row, with its first problem, before Next returns the rows around it.
	// A problem of the file as a whole still ends the stream. Other readers ignore BadRow.
	BadRow func(e *fault.DataError)
	// MaxLine is the limit on the bytes of a line of text, 0 for DefaultMaxLine. A longer line is
	// an error before it is in memory.
	MaxLine int
	// MemoryLimit is the limit on the bytes of the values, 0 for none: exceeding it is a
	// *fault.MemoryError.
	MemoryLimit int64
}

// Read reads the data file at path. Errors of the content, and a path that cannot be opened, are
// *fault.DataError; an unknown format is a *fault.ParamError. For a stream use [Decode].
//
// Cost: it reads the text about once; memory for the values (8 bytes each) and at most as much
// again while they grow.
func Read(path string, o ReadOptions) (*Data, error) {
	rep := &report{max: 1}
	return first(readData(path, o, rep))(rep)
}

// Decode reads a data file from r. Messages refer to it as name. The format is o.Format if set,
// else format, else that of name's extension, and CSV for the name "-". Errors are those of [Read].
func Decode(r io.Reader, name, format string, o ReadOptions) (*Data, error) {
	f, gz, err := o.input(name, format)
	if err != nil {
		return nil, err
	}
	rep := &report{max: 1}
	return first(decodeData(newSource(name, r, -1, gz), f, o, rep))(rep)
}

// first turns the result of a decoder into that of a reader, whose error is the first problem
// found.
func first[T any](value T, err error) func(rep *report) (T, error) {
	return func(rep *report) (T, error) {
		if err := rep.outcome(err); err != nil {
			var none T
			return none, err
		}
		return value, nil
	}
}

// readData opens path and decodes it.
func readData(path string, o ReadOptions, rep *report) (*Data, error) {
	f, gz, err := o.input(path, "")
	if err != nil {
		return nil, err
	}
	src, err := open(path, gz)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return decodeData(src, f, o, rep)
}

// table is the result of a format's decoder: n rows of d numbers, or other points, with their
// names.
type table struct {
	rows, cols int
	data       []float64     // rows*cols, row-major
	points     points.Points // instead of data, for points that are not dense
	features   []string
	ids        []string
	labels     []string
	warnings   []string
}

// makePoints returns the table's points.
func (t *table) makePoints(name string, o ReadOptions) (points.Points, error) {
	switch {
	case o.Gram && t.points != nil:
		return nil, fault.Data(name, "%s cannot hold a Gram matrix: want a file of dense numbers (.csv, .npy or .idx)", kindOf(t.points))
	case o.Gram:
		return gramPoints(t, name, o)
	case t.points != nil:
		return t.points, nil
	}
	// The decoders have checked every value, so NewDense need not check again.
	return &points.Dense{N: t.rows, D: t.cols, Data: t.data}, nil
}

// kindOf describes points that are not dense, for messages.
func kindOf(p points.Points) string {
	switch p.(type) {
	case *points.Sequences:
		return "a file of sequences"
	case *points.CSR:
		return "a file of sparse rows"
	}
	return "a Gram matrix"
}

// decodeData decodes one source and adds the parts that the options request.
func decodeData(src *source, f format, o ReadOptions, rep *report) (*Data, error) {
	rep.file = src.name
	if !f.named {
		if err := o.needColumns(src.name, f.name); err != nil {
			return nil, err
		}
	}
	t, err := f.decode(src, o, rep)
	if err != nil {
		return nil, err
	}
	return t.complete(src, o, rep)
}

// complete makes Data of a decoded table.
func (t *table) complete(src *source, o ReadOptions, rep *report) (*Data, error) {
	if len(rep.problems) > 0 {
		return nil, errStop
	}
	d := &Data{Features: t.features, IDs: t.ids, Labels: t.labels, Name: src.name, Warnings: t.warnings}
	if o.IgnoreLabels {
		d.Labels = nil
	}
	var err error
	if o.Labels != "" {
		if d.Labels, err = labelsFor(o.Labels, src.name, t.rows, t.ids, o); err != nil {
			return nil, err
		}
	}
	if o.Gram {
		d.Features = nil // the columns are objects
	}
	d.Points, err = t.makePoints(src.name, o)
	return d, err
}

// removeRows removes the bad rows from a table; first is the number of its first row in the file.
func (t *table) removeRows(wrong map[int]bool, first int) {
	if len(wrong) == 0 {
		return
	}
	kept := 0
	for i := range t.rows {
		if wrong[first+i] {
			continue
		}
		copy(t.data[kept*t.cols:(kept+1)*t.cols], t.data[i*t.cols:(i+1)*t.cols])
		if t.ids != nil {
			t.ids[kept] = t.ids[i]
		}
		if t.labels != nil {
			t.labels[kept] = t.labels[i]
		}
		kept++
	}
	t.rows, t.data = kept, t.data[:kept*t.cols]
	if t.ids != nil {
		t.ids = t.ids[:kept]
	}
	if t.labels != nil {
		t.labels = t.labels[:kept]
	}
}

// Fingerprint returns [points.Digest] of p in hexadecimal.
func Fingerprint(p points.Points) string {
	sum := points.Digest(p)
	return hex.EncodeToString(sum[:])
}
