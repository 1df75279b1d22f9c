package dataset

import (
	"encoding/hex"
	"io"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Data is a set of points with what is known about them.
type Data struct {
	Points   points.Points
	Features []string // one name per column, nil when the format has none
	IDs      []string // one per row and all different, nil when there are none
	Labels   []string // one per row, nil when there are none
	Name     string   // the path as given, "-" for a stream, or the generator's name
	// Warnings are remarks of the reader on what it passed over, without the file's name:
	// "3 letters outside the alphabet …".
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

// ReadOptions says how a data file is to be understood. The zero value is right for most.
type ReadOptions struct {
	// Format is a name of [Formats], "" to take it from the file's name.
	Format string
	// Labels is the path of a labels file with one line per row, in the same order; it
	// goes before a column of labels in the data. "" for none.
	Labels string
	// IgnoreLabels leaves out the labels that the data carry.
	IgnoreLabels bool
	// HeaderLabels takes the second word of each header of a FASTA file as the label. A
	// header without one is an error.
	HeaderLabels bool
	// Alphabet holds the letters of sequences: "protein" (also ""), "dna", "rna", or the
	// letters themselves, all different, in upper or lower case.
	Alphabet string
	// Features is the number of features of an svmlight file, 0 for the largest number
	// that it holds. Rows for a model need the model's, as the last features may not occur.
	Features int
	// Gram says that the values are inner products: the points become a *points.Gram.
	// Without GramDiagonal the matrix must be square, and is a training matrix, in which
	// row i is object i of the columns. With it the rows are new objects, unless the
	// matrix is square and symmetric with that very diagonal.
	Gram bool
	// GramDiagonal is the path of a file with k(x,x) for every row of a Gram matrix: one
	// numeric column, or a .npy vector.
	GramDiagonal string
	// Extensions are formats of other packages, beside those of [Formats].
	Extensions []Extension
	// PassOver, if not nil, has a [Stream] leave out rows that are wrong, where it would end with an
	// error. It is called once for each such row, with the first thing found in it, before Next
	// returns the rows around it. What is wrong with the file as a whole still ends the stream.
	// Other readers take no notice.
	PassOver func(e *fault.DataError)
	// MaxLine is the limit on the bytes of a line of text, 0 for DefaultMaxLine. A longer
	// line is an error before it is held in memory.
	MaxLine int
	// MemoryLimit is the limit on the bytes of the values, 0 for none: going beyond it is
	// a *fault.MemoryError.
	MemoryLimit int64
}

// Read reads the data file at path. Errors of the content, and a path that cannot be
// opened, are *fault.DataError; a format that is not known is a *fault.ParamError. For a
// stream use [Decode].
//
// Cost: about one pass over the text; memory is that of the values (8 bytes each) and at
// most as much again while they grow.
func Read(path string, o ReadOptions) (*Data, error) {
	rep := &report{max: 1}
	return first(readData(path, o, rep))(rep)
}

// Decode reads a data file from r. Messages call it name; the format is o.Format if set,
// else format, else that of name's extension, and CSV for the name "-".
// Errors are those of [Read].
func Decode(r io.Reader, name, format string, o ReadOptions) (*Data, error) {
	f, gz, err := o.input(name, format)
	if err != nil {
		return nil, err
	}
	rep := &report{max: 1}
	return first(decodeData(newSource(name, r, -1, gz), f, o, rep))(rep)
}

// first turns the outcome of a decoder into that of a reader: the first problem found.
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

// table is what a format's decoder delivers: n rows of d numbers, or other points, with
// their names.
type table struct {
	rows, cols int
	data       []float64     // rows*cols, row-major
	points     points.Points // in place of data, for points that are not dense
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
	// The decoders have looked at every value: there is no need to do it again.
	return &points.Dense{N: t.rows, D: t.cols, Data: t.data}, nil
}

// kindOf names a kind of points that is not dense.
func kindOf(p points.Points) string {
	switch p.(type) {
	case *points.Sequences:
		return "a file of sequences"
	case *points.CSR:
		return "a file of sparse rows"
	}
	return "a Gram matrix"
}

// decodeData decodes one source and adds what the options ask for.
func decodeData(src *source, f format, o ReadOptions, rep *report) (*Data, error) {
	rep.file = src.name
	t, err := f.decode(src, o, rep)
	if err != nil {
		return nil, err
	}
	return t.complete(src, o, rep)
}

// complete makes data of a table that was decoded.
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

// leaveOut removes the rows that are wrong from a table whose first row is that of the file.
func (t *table) leaveOut(wrong map[int]bool, first int) {
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
