// Package dataset (internal: may change) reads and writes files of points, labels, links and
// pairs, splits data, and generates synthetic sets.
//
// # Files
//
// The format follows from the file's name, which may also end in .gz:
//
//	.csv   text with a header. The column `label`, if there, is the label; `id`, if there,
//	       names the rows; every other column is a numeric feature.
//	.npy   NumPy's array file, float64, float32, int32 or int64, of one or two dimensions.
//	.tsv   the same as .csv with tabs.
//	.jsonl JSON Lines: an object or an array in each, whose cells are read as those of .csv; also
//	       .ndjson.
//	.svm   sparse rows as LIBSVM has them; also .svmlight and .libsvm.
//	.idx   arrays of bytes or numbers, as MNIST is distributed; also names that end in -ubyte.
//	.fasta sequences of letters; also .fa, .faa and .fna.
//
// Other formats are an [Extension] each: packages arrow (.arrow, .feather, .ipc) and parquet. What
// formats that store columns have in common is in [Columns].
//
// Missing values, NaN and infinities are errors, as is anything else that a format does not allow.
// Readers return a *fault.DataError that names the file, the line, the 0-based data row and the
// column, and states what was expected; [Check] and [CheckLinks] continue after the first error and
// return all of them, each with a suggested fix. Readers stream: only the values of a file are in
// memory, and a line may have at most ReadOptions.MaxLine bytes.
//
// The other files are CSV: labels have the column `label` (and may have `id`); links have
// `i,j,link` and may have `bound` and `weight`; chunklets have `i,chunklet`; pairs have `i,j`. Rows
// are given by 0-based numbers, or by ids.
//
// Output files appear complete or not at all; see [Atomic].
//
// # Text
//
// CSV is RFC 4180 in UTF-8: fields may be quoted, a quoted field may hold commas and line ends,
// lines end in LF or CRLF, a byte order mark is skipped. Spaces before an unquoted field are not
// part of it. Blank lines are allowed only at the end.
package dataset

import (
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Data is a set of points with their names, labels and source.
type Data struct {
	Points   points.Points
	Features []string // one name per column, nil when the format has none
	IDs      []string // one per row and all different, nil for none
	Labels   []string // one per row, nil for none; "" is a row without a label
	Name     string   // the path as given, "-" for a stream, or the generator's name
	// Marks are those of numbers in columns of text files, by name, where numbers have a decimal
	// comma or marks of thousands. A model keeps them, so that later rows are read in the same way.
	Marks map[string]Marks
	// Pictures are those whose pixels are features, nil for none.
	Pictures *Pictures
	// Warnings are remarks of the reader on parts of the file that it ignored, without the file's
	// name: "3 letters outside the alphabet …".
	Warnings []string

	pages []byte // of the file that holds the points, nil if they are in memory
}

// AtLeast returns a *fault.DataError unless there are n points or more. Reading accepts a
// single point, which is enough to embed; learning and clustering need two.
func (d *Data) AtLeast(n int) error {
	if got := d.Points.Len(); got < n {
		return fault.Data(d.Name, "it has %s: want at least %d", fault.Count(got, "data row"), n)
	}
	return nil
}

// Labeled returns the number of rows that have a label.
func (d *Data) Labeled() (n int) {
	for _, label := range d.Labels {
		if label != "" {
			n++
		}
	}
	return n
}

// NeedLabels returns a *fault.DataError that says how to give labels, as want, unless a row has
// one.
func (d *Data) NeedLabels(want string) error {
	switch {
	case d.Labels == nil:
		return fault.Data(d.Name, "it has no labels: want %s", want)
	case d.Labeled() == 0:
		return fault.Data(d.Name, "the label of each of its %s is empty: want labels for some of them",
			fault.Count(len(d.Labels), "row"))
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
	// Label and ID name the columns of labels and of ids; "" stands for `label` and `id`, which
	// need not be there. A column that is named must be there, unless LabelOptional says of that of
	// labels that the rows may have none. A row whose cell in it is empty has no label.
	Label, ID     string
	LabelOptional bool
	// Drop has names of columns that are not read, Keep, if not empty, those of the only features.
	// A name may be a pattern, such as total_*.
	Drop, Keep []string
	// Mixed accepts texts and missing cells in the columns of a table: the points become a
	// *points.Mixed, unless every cell is a number.
	Mixed bool
	// Text and Numbers have names, or patterns, of columns that are texts, and of those that are
	// numbers, whatever their first cells look like. Only for Mixed.
	Text, Numbers []string
	// Header says what the first line of CSV text is: HeaderFirst the names of the columns, HeaderNone
	// a row, and then columns are called 0, 1, ... Without it the line is taken as names; if it looks
	// like a row there is a warning, or an error if it holds nothing but numbers with a fraction.
	Header string
	// Thousands accepts groups of three digits in numbers, as in 1,234,567.
	Thousands bool
	// Marks are those of the numbers of columns, by name. FitMarks are those of the fit of a model:
	// they count where the cells may have them. Those of other columns are found from the cells.
	Marks, FitMarks map[string]Marks
	// Pictures has the paths of pictures, nil for none; a folder in the place of a file is a table of
	// the pictures in it.
	Pictures *Pictures
	// HeaderLabels takes the second word of each header of a FASTA file as the label.
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

// The values of ReadOptions.Header.
const (
	HeaderFirst = "first"
	HeaderNone  = "none"
)

// head tells a source what its first line is.
func (o ReadOptions) head(src *source) error {
	if o.Header != "" && o.Header != HeaderFirst && o.Header != HeaderNone {
		return fault.Unknown("header", o.Header, []string{HeaderFirst, HeaderNone})
	}
	src.headless, src.named = o.Header == HeaderNone, o.Header == HeaderFirst
	return nil
}

// Read reads the data file at path. Errors of the content, and a path that cannot be opened, are
// *fault.DataError; an unknown format is a *fault.ParamError. For a stream use [Decode].
//
// Cost: it reads the text about once; memory for the values (8 bytes each) and at most as much
// again while they grow.
func Read(path string, o ReadOptions) (*Data, error) { return read(Input{Name: path}, "", o) }

// Decode reads a data file from r. Messages refer to it as name. The format is o.Format if set,
// else format, else that of name's extension, and CSV for the name "-". Errors are those of [Read].
func Decode(r io.Reader, name, format string, o ReadOptions) (*Data, error) {
	return read(Input{Name: name, Stream: r}, format, o)
}

func read(in Input, format string, o ReadOptions) (*Data, error) {
	rep := &report{max: 1}
	d, err := readData(in, format, o, rep)
	if err = rep.outcome(err); err != nil {
		return nil, err
	}
	return d, nil
}

func readData(in Input, format string, o ReadOptions, rep *report) (*Data, error) {
	f, gz, err := o.input(in.Name, format)
	if err != nil {
		return nil, err
	}
	in.Gzip = gz
	return decodeInput(in, rep, func(src *source, rep *report) (*Data, error) {
		return decodeData(src, f, o, rep)
	})
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
	marks      map[string]Marks
}

// makePoints returns the table's points.
func (t *table) makePoints(name string, o ReadOptions) (points.Points, error) {
	switch {
	case o.Gram && t.points != nil:
		return nil, fault.Data(name,
			"%s cannot hold a Gram matrix: want a file of dense numbers (.csv, .npy or .idx)",
			KindOf(t.points))
	case o.Gram:
		return gramPoints(t, name, o)
	case t.points != nil:
		return t.points, nil
	}
	// The decoders have checked every value, so NewDense need not check again.
	return &points.Dense{N: t.rows, D: t.cols, Data: t.data}, nil
}

// Transform maps points, row by row, to the points that a fit sees. Package engine/prepare makes
// them of tables, package engine/kernel of Gram matrices.
type Transform interface {
	// Apply returns changed copies of points. A wrong number of features is a *fault.ShapeError.
	Apply(p points.Points) (points.Points, error)
	// Features returns the number of features of its input.
	Features() int
	// Name says what it does in a word or two.
	Name() string
	// Encode stores it in a model file.
	Encode(f *model.File)
}

// KindOf describes points that are not dense, for messages.
func KindOf(p points.Points) string {
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
	if err := o.needColumns(src.name, f); err != nil {
		return nil, err
	}
	o, err := o.forPictures(src)
	if err != nil {
		return nil, err
	}
	src.tabs = src.tabs || f.name == tsvName
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
	d := &Data{Features: t.features, IDs: t.ids, Labels: t.labels, Name: src.name, Marks: t.marks,
		Warnings: t.warnings}
	if o.IgnoreLabels {
		d.Labels = nil
	}
	var err error
	if o.Pictures != nil {
		if err = t.readPictures(src, o); err != nil {
			return nil, err
		}
		d.Features, d.Pictures = t.features, o.Pictures
	}
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
	rows := slices.DeleteFunc(points.UpTo(t.rows), func(i int) bool { return wrong[first+i] })
	for k, i := range rows {
		copy(t.data[k*t.cols:(k+1)*t.cols], t.data[i*t.cols:(i+1)*t.cols])
	}
	t.rows, t.data = len(rows), t.data[:len(rows)*t.cols]
	t.ids, t.labels = points.Keep(t.ids, rows), points.Keep(t.labels, rows)
}

// Fingerprint returns [points.Digest] of p in hexadecimal.
func Fingerprint(p points.Points) string {
	sum := points.Digest(p)
	return hex.EncodeToString(sum[:])
}

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
	for _, part := range []struct {
		at       *int
		name     string
		optional bool
	}{{&r.Label, o.Label, o.LabelOptional}, {&r.ID, o.ID, false}} {
		if part.name != "" {
			*part.at = slices.Index(columns, part.name)
		}
		if part.name != "" && *part.at < 0 && !part.optional {
			return r, noColumn(part.name, columns)
		}
	}
	var drop, keep []bool
	for _, list := range []struct {
		is     *[]bool
		names  []string
		option string
	}{{&drop, o.Drop, "drop"}, {&keep, o.Keep, "keep"}, {&r.Text, o.Text, "text"},
		{&r.Numbers, o.Numbers, "numbers"}} {
		var err error
		if *list.is, err = matching(list.names, columns, list.option); err != nil {
			return r, err
		}
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

func twoParts(column, a, b string) error {
	return fault.Cell(-1, column, "the column is %s and %s: want one of the two", a, b)
}

func noColumn(name string, columns []string) error {
	const most = 20 // columns that a message lists
	want := fmt.Sprintf("one of the %d columns", len(columns))
	if len(columns) <= most {
		want = "one of " + quote(strings.Join(columns, ","))
	}
	return fault.Data("", "there is no column %s: want %s%s", quote(name), want,
		fault.DidYouMean("", name, columns))
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
				return nil, fault.Param(option, name, "the name of a column, or a pattern such as total_*")
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
func (o ReadOptions) needColumns(file string, f format) error {
	for _, given := range []struct {
		option string
		is     bool
	}{
		{"column of labels", o.Label != "" && !o.LabelOptional}, {"column of ids", o.ID != ""},
		{"columns to drop", len(o.Drop) > 0}, {"columns to keep", len(o.Keep) > 0},
		{"columns of text", len(o.Text) > 0}, {"columns of numbers", len(o.Numbers) > 0},
	} {
		if given.is && !f.named {
			return fault.Data(file, "columns of %s data have no names: want no %s, or a table such as .csv",
				f.name, given.option)
		}
	}
	return nil
}
