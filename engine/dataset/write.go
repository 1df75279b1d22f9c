package dataset

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/internal/atomicfile"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Atomic calls f with a buffered writer and makes its output the content of path: it writes a
// temporary file in the same folder, flushes it to disk and renames it. If f returns an error, such
// as that of a canceled context, the temporary file is removed and an older file stays. A folder
// that is missing or read-only is a *fault.DataError that names path.
func Atomic(path string, f func(w io.Writer) error) error { return atomicfile.Write(path, f) }

// WriteOptions configures how an output file is written. With the zero value the path decides.
type WriteOptions struct {
	// Format is a name of [Formats], "" to take it from the path. "csv.gz" compresses.
	Format string
	// Stdout receives the output when the path is "-"; without it that path is an error.
	Stdout io.Writer
	// Columns are the names of a matrix's columns in CSV, nil for 0, 1, 2 ...
	Columns []string
	// Single means that the values of a matrix are in single precision: .npy stores them as
	// float32, in half the bytes, and CSV has the fewest digits that restore them.
	Single bool
	// Extensions are formats of other packages, in addition to [OutputFormats].
	Extensions []Extension
	comment    string // lines before the header
	// Check, if not nil, is called when a whole file is written and before it gets its name: after
	// an error the earlier file stays. [Mappings.Unchanged] is one.
	Check func() error
}

// output writes to path, or for "-" to Stdout, compressed if gz.
func (o WriteOptions) output(path string, gz bool, f func(w io.Writer) error) error {
	write := f
	if gz {
		write = func(w io.Writer) error {
			z := gzip.NewWriter(w)
			if err := f(z); err != nil {
				return err
			}
			return z.Close()
		}
	}
	if path != "-" {
		return Atomic(path, func(w io.Writer) error {
			if err := write(w); err != nil || o.Check == nil {
				return err
			}
			return o.Check()
		})
	}
	if o.Stdout == nil {
		return fault.Param("output path", path, "a file name")
	}
	return write(o.Stdout)
}

// WriteTable writes a CSV file of texts with any extension. Its fields are quoted where needed.
// rows may use the same memory for every row. An error of rows, such as that of a canceled context,
// ends the writing and leaves no file at path.
func WriteTable(path string, header []string, rows iter.Seq2[[]string, error], o WriteOptions) error {
	gz := isGzip(path)
	switch o.Format {
	case "", "csv":
	case "csv.gz":
		gz = true
	default:
		return fault.Unknown("format", o.Format, []string{"csv", "csv.gz"})
	}
	return o.output(path, gz, func(w io.Writer) error {
		if _, err := io.WriteString(w, o.comment); err != nil {
			return err
		}
		c := csv.NewWriter(w)
		if err := c.Write(header); err != nil {
			return err
		}
		for row, err := range rows {
			switch {
			case err != nil:
			case len(row) == 1 && row[0] == "": // not a blank line
				c.Flush()
				_, err = io.WriteString(w, "\"\"\n")
			default:
				err = c.Write(row)
			}
			if err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	})
}

// Rows are some rows of a matrix.
type Rows struct {
	Data   []float64 // row-major, without gaps
	IDs    []string  // one a row, or nil
	Labels []string  // the same
	// Texts has the columns of text that a reader of a mixed table returns, "" for a missing cell:
	// one entry for each feature, nil for one of numbers. Data then has only the numbers, NaN for a
	// missing one. Texts is nil if there are only numbers.
	Texts [][]string
}

// matrixWriter is a matrix that a format writes: a block of rows, and the source of more.
type matrixWriter struct {
	out        io.Writer
	path       string
	rows, cols int // rows is -1 if the number is not known before the end
	data       []float64
	stride     int
	ids        []string
	columns    []string
	labels     []string
	single     bool // the values are in single precision
	delimiter  byte // between the fields of CSV, 0 for a comma
	// next, if not nil, returns the next rows; data, ids and labels then contain the rows [from,
	// to).
	next     func() (Rows, error)
	from, to int
}

// advance gets the next rows; the error is io.EOF if there are none.
func (w *matrixWriter) advance() error {
	if w.to == w.rows || w.next == nil {
		return io.EOF
	}
	block, err := w.next()
	if err == io.EOF && w.rows < 0 {
		return err
	}
	if err == io.EOF {
		err = &fault.ShapeError{What: "number of rows", Got: w.to, Want: strconv.Itoa(w.rows)}
	}
	if err != nil {
		return err
	}
	n := len(block.Data) / w.cols
	if n == 0 || len(block.Data)%w.cols != 0 || w.rows >= 0 && w.to+n > w.rows {
		want := fmt.Sprintf("a multiple of %d columns, at least 1", w.cols)
		if w.rows >= 0 {
			want += fmt.Sprintf(" and at most %d rows", w.rows-w.to)
		}
		return &fault.ShapeError{What: "length of a block of rows", Got: len(block.Data), Want: want}
	}
	for _, s := range []struct {
		what        string
		before, got []string
	}{{"number of ids", w.ids, block.IDs}, {"number of labels", w.labels, block.Labels}} {
		if w.to > 0 && (s.got == nil) != (s.before == nil) || s.got != nil && len(s.got) != n {
			return fault.Shape(s.what, len(s.got), "one for each row of all blocks, or none")
		}
	}
	w.from, w.to, w.data, w.ids, w.labels = w.to, w.to+n, block.Data, block.IDs, block.Labels
	return nil
}

// row returns row i, which must be finite: a file that cannot be read again is worse than an error.
// i must ascend from call to call; after the last row the error is io.EOF.
func (w *matrixWriter) row(i int) ([]float64, error) {
	if i == w.to {
		if err := w.advance(); err != nil {
			return nil, err
		}
	}
	at := (i - w.from) * w.stride
	row := w.data[at : at+w.cols]
	for j, v := range row {
		if v-v != 0 {
			return nil, errorAt(w.path, 0, i, strconv.Itoa(j), "cannot write: the value is %v"+wantFinite, v)
		}
	}
	return row, nil
}

// each calls f for every row.
func (w *matrixWriter) each(f func(i int, row []float64) error) error {
	for i := 0; ; i++ {
		row, err := w.row(i)
		if err == io.EOF {
			w.rows = i
			return nil
		}
		if err == nil {
			err = f(i, row)
		}
		if err != nil {
			return err
		}
	}
}

// WriteMatrix writes a rows x cols matrix, row-major with the given stride, in the format of path
// or of o.Format. CSV gets 17 significant digits, which restore every float64 exactly, and the
// column id first if ids is not nil; .npy is float64 and has no ids. A NaN or an infinity is a
// *fault.DataError. After an error there is no file at path.
func WriteMatrix(path string, rows, cols int, data []float64, stride int, ids []string,
	o WriteOptions) error {
	return writeMatrix(&matrixWriter{path: path, rows: rows, to: rows, cols: cols, data: data, stride: stride,
		ids: ids, columns: o.Columns}, o)
}

// WriteRows is [WriteMatrix] for a matrix of at least one column in blocks: next returns the next
// rows, one or more, and io.EOF after the last ones. It is called again after they are written, and
// may use the same memory. The first call comes before the file is created. Any other error of
// next, such as that of a canceled context, ends the writing and leaves no file at path.
//
// rows is the total number of rows, or -1 if it is unknown. The header of a .npy file contains this
// number and is then rewritten at the end, so the file must be neither compressed nor a stream:
// otherwise the error is a *fault.ParamError.
func WriteRows(path string, rows, cols int, next func() (Rows, error), o WriteOptions) error {
	if cols < 1 {
		return fault.Shape("number of columns", cols, "at least 1")
	}
	if rows < -1 {
		return fault.Shape("number of rows", rows, "a number >= 0, or -1 if it is unknown")
	}
	return writeMatrix(&matrixWriter{path: path, rows: rows, cols: cols, next: next, stride: cols,
		columns: o.Columns}, o)
}

// WriteData writes dense points as a data file with their ids, features and labels. A .npy file
// gets only the values. Points of another kind are a *fault.ParamError.
func WriteData(path string, d *Data, o WriteOptions) error {
	x, ok := d.Points.(*points.Dense)
	if !ok {
		return fault.Param("points", fmt.Sprintf("%T", d.Points), "dense points")
	}
	if o.Columns == nil {
		o.Columns = d.Features
	}
	return writeMatrix(&matrixWriter{path: path, rows: x.N, to: x.N, cols: x.D, data: x.Data, stride: x.D,
		ids: d.IDs, columns: o.Columns, labels: d.Labels}, o)
}

func writeMatrix(w *matrixWriter, o WriteOptions) error {
	w.single = o.Single
	f, gz, err := lookupFormat(w.path, o.Format, o.Extensions, format.writable)
	if err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return err
	}
	if w.rows < 0 && countsFirst(f, gz, w.path) {
		return fault.Param("output path", w.path, "a .npy file that is not compressed, or .csv: the number "+
			"of rows, which the header of .npy contains, is not known before the end")
	}
	if w.next != nil { // before the file is created
		if err := w.advance(); err != nil && err != io.EOF {
			return err
		}
	}
	return o.output(w.path, gz, func(out io.Writer) error {
		w.out = out
		return f.encode(w)
	})
}

// CountsFirst reports whether a matrix can be written to path with the options o only if the number
// of its rows is known: the header of .npy contains it, and in a stream or a compressed file the
// header cannot be rewritten.
func CountsFirst(path string, o WriteOptions) bool {
	f, gz, err := lookupFormat(path, o.Format, o.Extensions, format.writable)
	return err == nil && countsFirst(f, gz, path)
}

func countsFirst(f format, gz bool, path string) bool {
	return f.name == npyName && (gz || path == "-")
}

func (w *matrixWriter) check() error {
	if w.next != nil {
		return nil
	}
	if w.rows < 0 || w.cols < 0 || w.stride < w.cols || w.rows > 0 &&
		len(w.data) < (w.rows-1)*w.stride+w.cols {
		return fault.Shape("length of the matrix's data", len(w.data), "%d x %d with a stride of %d", w.rows,
			w.cols, w.stride)
	}
	for _, s := range []struct {
		what string
		got  []string
		want int
	}{{"number of ids", w.ids, w.rows}, {"number of labels", w.labels, w.rows},
		{"number of column names", w.columns, w.cols}} {
		if s.got != nil && len(s.got) != s.want {
			return &fault.ShapeError{What: s.what, Got: len(s.got), Want: strconv.Itoa(s.want)}
		}
	}
	return nil
}

// encodeCSV writes header and rows. Numbers do not go through encoding/csv, which would allocate a
// string for each.
func encodeCSV(w *matrixWriter) error {
	w.delimiter = cmp.Or(w.delimiter, ',')
	out := bufio.NewWriterSize(w.out, bufferSize)
	if err := w.writeHeader(out); err != nil {
		return err
	}
	var line []byte
	err := w.each(func(i int, row []float64) error {
		line = line[:0]
		if w.ids != nil {
			line = append(appendField(line, w.ids[i-w.from]), w.delimiter)
		}
		for _, v := range row {
			line = append(w.number(line, v), w.delimiter)
		}
		if w.labels != nil {
			line = append(appendField(line, w.labels[i-w.from]), w.delimiter)
		}
		if len(line) > 0 {
			line[len(line)-1] = '\n' // instead of the last delimiter
		}
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// encodeTSV is encodeCSV with tabs between the fields.
func encodeTSV(w *matrixWriter) error {
	w.delimiter = '\t'
	return encodeCSV(w)
}

// number appends digits that restore v exactly.
func (w *matrixWriter) number(line []byte, v float64) []byte {
	if w.single {
		return strconv.AppendFloat(line, v, 'g', -1, 32)
	}
	return strconv.AppendFloat(line, v, 'g', 17, 64)
}

// names returns the names of the columns of numbers.
func (w *matrixWriter) names() []string {
	names := w.columns
	for j := range w.cols {
		if w.columns == nil {
			names = append(names, strconv.Itoa(j))
		}
	}
	return names
}

func (w *matrixWriter) writeHeader(out io.Writer) error {
	var line []byte
	for _, c := range (Rows{IDs: w.ids, Labels: w.labels}).written(w.names()[:w.cols]) {
		line = append(appendField(line, c.Name), w.delimiter)
	}
	if len(line) > 0 {
		line = line[:len(line)-1]
	}
	_, err := out.Write(append(line, '\n'))
	return err
}

// appendField appends one text field, quoted where CSV needs it.
func appendField(line []byte, s string) []byte {
	quoted := s == ""
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || strings.IndexByte(delimiters, c) >= 0 || c == '\n' || c == '\r':
			quoted = true
		case i == 0 && (c <= ' ' || c >= 0x80): // may be a space, which readers trim
			quoted = true
		}
	}
	if !quoted {
		return append(line, s...)
	}
	line = append(line, '"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			line = append(line, '"')
		}
		line = append(line, s[i])
	}
	return append(line, '"')
}

// WriteLabels writes a labels file: the column label, after the column id if ids is not nil. A
// number of ids other than that of labels is a *fault.ShapeError; other errors are those of
// writing.
func WriteLabels(path string, labels, ids []string, o WriteOptions) error {
	if ids != nil && len(ids) != len(labels) {
		return fault.Shape("number of ids", len(ids), "%d, one for each label", len(labels))
	}
	done := false
	return WriteLabelRows(path, func() (LabelRows, error) {
		if done {
			return LabelRows{}, io.EOF
		}
		done = true
		return LabelRows{Labels: labels, IDs: ids}, nil
	}, o)
}

// rowName returns the name of row i in a file of pairs: its id if there are ids.
func rowName(i int, ids []string) string {
	if ids != nil {
		return ids[i]
	}
	return strconv.Itoa(i)
}

// WriteLinks writes a links file: first the must-links, then the cannot-links. The columns bound
// and weight are written if some link has one. Rows are named by ids if ids is not nil; it has one
// for each row of s. Chunklets of a single row have no links and are lost. If s has a label, a
// comment before the header names it. Errors are those of writing.
func WriteLinks(path string, s *links.Set, ids []string, o WriteOptions) error {
	lists := [][]links.Link{s.Must(), s.Cannot()}
	bounds, weights := false, false
	for _, list := range lists {
		for _, l := range list {
			bounds = bounds || !math.IsNaN(l.Bound)
			weights = weights || l.Weight != 0 && l.Weight != 1
		}
	}
	o.comment = commentOf(s.Label())
	header := []string{"i", "j", "link"}
	if bounds {
		header = append(header, "bound")
	}
	if weights {
		header = append(header, "weight")
	}
	return WriteTable(path, header, func(yield func([]string, error) bool) {
		for _, list := range lists {
			for _, l := range list {
				record := []string{rowName(l.I, ids), rowName(l.J, ids), l.Sign.String()}
				if bounds {
					record = append(record, optional(l.Bound, !math.IsNaN(l.Bound)))
				}
				if weights {
					record = append(record, optional(l.Weight, l.Weight != 0))
				}
				if !yield(record, nil) {
					return
				}
			}
		}
	}, o)
}

func optional(v float64, given bool) string {
	if !given {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 17, 64)
}

// WritePairs writes a pairs file, with rows named by ids if ids is not nil. ids has one for each
// row in pairs. Errors are those of writing.
func WritePairs(path string, pairs [][2]int, ids []string, o WriteOptions) error {
	return WriteMeasuredPairs(path, len(pairs), nil, func(k int) (int, int, []float64, error) {
		return pairs[k][0], pairs[k][1], nil, nil
	}, ids, o)
}

// WriteMeasuredPairs is [WritePairs] for pairs with numbers in columns of these names: pair returns
// the rows of pair k and its numbers, perhaps in the same memory for every pair. An error of pair,
// such as that of a canceled context, ends the writing and leaves no file at path.
func WriteMeasuredPairs(path string, count int, columns []string,
	pair func(k int) (i, j int, numbers []float64, err error), ids []string, o WriteOptions) error {
	header := append([]string{"i", "j"}, columns...)
	record := make([]string, len(header))
	return WriteTable(path, header, func(yield func([]string, error) bool) {
		for k := range count {
			i, j, numbers, err := pair(k)
			if err != nil {
				yield(nil, err)
				return
			}
			record[0], record[1] = rowName(i, ids), rowName(j, ids)
			for c, v := range numbers {
				record[2+c] = strconv.FormatFloat(v, 'g', 17, 64)
			}
			if !yield(record, nil) {
				return
			}
		}
	}, o)
}
