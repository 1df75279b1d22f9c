package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// format is one entry of the table of file formats. Functions that a format does not support are
// nil.
type format struct {
	name string
	// endings are those of file names, without .gz; the first is the usual one.
	endings []string
	decode  func(src *source, o ReadOptions, rep *report) (*table, error)
	rows    func(src *source, o ReadOptions, rep *report) (rowReader, error) // reads one block at a time
	labels  func(src *source, o ReadOptions, rep *report) (LabelRows, error)
	encode  func(w *matrixWriter) error
	named   bool // its columns have names
}

func (f format) readable() bool { return f.decode != nil }
func (f format) writable() bool { return f.encode != nil }

const (
	npyName = "npy"
	tsvName = "tsv"
)

// formats returns the table, with the formats of other packages at the end. A new format is a new
// entry here.
func formats(extra []Extension) []format {
	table := []format{
		{"csv", []string{".csv"}, decodeCSV, openCSVStream, decodeLabels, encodeCSV, true},
		{tsvName, []string{".tsv"}, decodeCSV, openCSVStream, decodeLabels, encodeTSV, true},
		{"jsonl", []string{".jsonl", ".ndjson"}, withJSON(decodeCSV), withJSON(openCSVStream), nil, nil,
			true},
		{npyName, []string{".npy"}, decodeNPY, openNPYRows, nil, encodeNPY, false},
		{"svm", []string{".svm", ".svmlight", ".libsvm"}, decodeSVM, nil, labelsSVM, nil, false},
		{"idx", []string{".idx", "-ubyte"}, decodeIDX, nil, labelsIDX, nil, false},
		{"fasta", []string{".fasta", ".fa", ".faa", ".fna"}, decodeFASTA, nil, labelsFASTA, nil, false},
	}
	for _, x := range extra {
		table = append(table, x.format())
	}
	return table
}

// Formats returns the names of the input formats; each may be followed by ".gz".
func Formats(extra ...Extension) []string { return formatNames(extra, format.readable) }

// OutputFormats returns the names of the formats for matrices that are written.
func OutputFormats(extra ...Extension) []string { return formatNames(extra, format.writable) }

func formatNames(extra []Extension, usable func(format) bool) []string {
	var names []string
	for _, f := range formats(extra) {
		if usable(f) {
			names = append(names, f.name)
		}
	}
	return names
}

// FormatOf returns the name of the format that a file's name implies, "" for none.
func FormatOf(path string, extra ...Extension) string { return formatNamed(path, extra).name }

// formatNamed returns the format that a file's name implies, or the zero format.
func formatNamed(path string, extra []Extension) format {
	base, _ := cutGzip(filepath.Base(path))
	for _, f := range formats(extra) {
		for _, e := range f.endings {
			if strings.HasSuffix(base, e) {
				return f
			}
		}
	}
	return format{}
}

// cutGzip returns a name in lower case without .gz, and whether it had that ending.
func cutGzip(name string) (string, bool) { return strings.CutSuffix(strings.ToLower(name), ".gz") }

// input returns the format to read a file in, and whether it is compressed; name is the default of
// o.Format.
func (o ReadOptions) input(path, name string) (format, bool, error) {
	name = cmp.Or(o.Format, name)
	f, gz, err := lookupFormat(path, name, o.Extensions, format.readable)
	if err != nil && name == "" && IsFolder(path) {
		return lookupFormat("-", "", o.Extensions, format.readable) // its list is CSV text
	}
	return f, gz, err
}

// lookupFormat finds a format by name ("csv", "npy.gz", also by another of its extensions)
// or else by the name of path; a stream "-" without a name is CSV. A path that ends in .gz
// is compressed whatever the name says.
func lookupFormat(path, name string, extra []Extension, usable func(format) bool) (format, bool, error) {
	if path == "-" && name == "" {
		name = "csv"
	}
	given, gzName := cutGzip(name)
	for _, f := range formats(extra) {
		if usable(f) && name != "" && (f.name == given || slices.Contains(f.endings, "."+given)) {
			return f, gzName || isGzip(path), nil
		}
	}
	if name != "" {
		return format{}, false, fault.Unknown("format", name, formatNames(extra, usable))
	}
	if f := formatNamed(path, extra); f.name != "" && usable(f) {
		return f, isGzip(path), nil
	}
	base, _ := cutGzip(filepath.Base(path))
	return format{}, false, fault.Param("format of "+path, filepath.Ext(base),
		"one of .%s (each also .gz), or the name of a format", strings.Join(formatNames(extra, usable), ", ."))
}

// Extension is a file format in a package of its own, because it needs a library that this package
// does not import. A program lists its extensions in [ReadOptions] and [WriteOptions]; labels from
// another file, Gram matrices, gzip and limits then work as for the formats of this package.
type Extension struct {
	Name    string   // "parquet"
	Endings []string // endings of file names, in lower case, without .gz; the first is the usual one
	// Open begins to read a file of size bytes. The reader passes a problem with a single value to
	// problem and continues, unless problem returns an error, which the reader returns unchanged.
	// The *fault.DataError need not name the file.
	Open func(in io.ReaderAt, size int64, o ReadOptions,
		problem func(e *fault.DataError, fix string) error) (RowReader, error)
	// Write writes the rows that next returns in blocks until io.EOF. Values are finite, one for
	// each column.
	Write func(out io.Writer, columns []string, next func() (Rows, error)) error
}

// RowReader reads the rows of a file one after the other.
type RowReader interface {
	Count() int         // the total number of rows
	Features() []string // the name of each column of features
	// Next returns the next rows, 1 to limit of them, in new memory; after the last one the error
	// is io.EOF. If ReadOptions.Mixed is set and Gram is not, they may have texts and missing
	// cells.
	Next(limit int) (Rows, error)
	// Skip skips the next n rows, which must exist.
	Skip(n int) error
	// Budget counts the bytes that the reader holds against the memory limit.
	Budget() *Budget
}

// format returns the entry for the table of formats.
func (x Extension) format() format {
	return format{name: x.Name, endings: x.Endings, decode: x.decode, rows: x.rows, encode: x.encode,
		named: true}
}

// extendedRows reads the rows of an extension.
type extendedRows struct {
	in       RowReader
	reserved int64 // bytes of the rows of a mixed table
	size     int64 // of the file
	src      *source
	rep      *report
	done     int // rows
	o        ReadOptions
	mix      mixture
}

func (x Extension) rows(src *source, o ReadOptions, rep *report) (rowReader, error) {
	in, size, err := src.whole(&o)
	if err != nil {
		return nil, err
	}
	r, err := x.Open(in, size, o, rep.add)
	if err != nil {
		return nil, src.extensionError(err)
	}
	return &extendedRows{in: r, size: size, src: src, rep: rep, o: o, mix: mixture{on: o.Mixed && !o.Gram}},
		nil
}

func (r *extendedRows) count() int { return r.in.Count() }

func (r *extendedRows) next(limit int) (*table, error) {
	if err := r.checkClaim(min(limit, r.in.Count()-r.done)); err != nil {
		return nil, r.src.extensionError(err)
	}
	if r.mix.on {
		return r.nextMixed(limit)
	}
	rows, err := r.in.Next(limit)
	if err != nil {
		return nil, r.src.extensionError(err)
	}
	t := &table{cols: len(r.in.Features()), features: r.in.Features(), data: rows.Data, ids: rows.IDs,
		labels: rows.Labels}
	t.rows = len(t.data) / t.cols
	r.done += t.rows
	t.removeRows(r.rep.takeBad(), r.done-t.rows)
	return t, nil
}

// checkClaim refuses, where there is no limit, n rows of many more values than a small file can
// mean: a few bytes can stand for a billion equal rows.
func (r *extendedRows) checkClaim(n int) error {
	// bytes of a value, that need no check, and for each byte of the file
	const value, enough, perByte = 8, 4 << 30, 10_000
	need := float64(n) * float64(len(r.in.Features())) * value
	if r.o.MemoryLimit > 0 || need <= enough || need/perByte <= float64(r.size) {
		return nil
	}
	return &fault.MemoryError{What: "a block of " + strconv.Itoa(n) + " rows, of a file of " +
		fault.FormatBytes(r.size) + ",",
		Need: int64(min(need, math.MaxInt64/2)), Limit: enough,
		Hint: "set a memory limit that allows it if you trust the file"}
}

func (r *extendedRows) skip(n int) error {
	if n > r.in.Count()-r.done {
		return io.EOF
	}
	r.done += n
	return r.src.extensionError(r.in.Skip(n))
}

// nextMixed is next for a table that may have texts and missing cells. It reads a few rows at a
// time.
func (r *extendedRows) nextMixed(limit int) (*table, error) {
	t := &table{features: r.in.Features()}
	for t.rows < limit {
		rows, err := r.in.Next(min(limit-t.rows, sampleRecords))
		if err == io.EOF && t.rows > 0 {
			break
		}
		if err != nil {
			return nil, r.src.extensionError(err)
		}
		if t.rows == 0 {
			err = r.reserve(t, rows, min(limit, r.in.Count()-r.done))
		}
		if err != nil {
			return nil, err
		}
		r.mixed(t, rows)
		if err := checkBytes(r.o, r.src.name, r.mix.settle(t)); err != nil {
			return nil, err
		}
	}
	r.mix.finish(t, points.UpTo(len(t.features)))
	return t, nil
}

// reserve allocates memory for n rows, of which these are the first.
func (r *extendedRows) reserve(t *table, first Rows, n int) error {
	m := &r.mix
	if m.at == nil {
		r.divide(first)
	}
	t.cols = len(m.above)
	need, each := int64(math.MaxInt64), int64(8*t.cols+4*len(m.texts))
	if int64(n) <= math.MaxInt64/max(each, 1) { // a file may claim more
		need = int64(n) * each
	}
	if r.o.MemoryLimit > 0 { // the rows and what they are read from share the limit
		r.in.Budget().Give(r.reserved)
		if err := r.in.Budget().Take(need); err != nil {
			return r.src.extensionError(err)
		}
		r.reserved = need
	}
	if m.reserve(n); !m.apart() { // the numbers of others move to columns
		t.data = make([]float64, 0, n*t.cols)
	}
	return nil
}

// mixed appends rows to a mixed table.
func (r *extendedRows) mixed(t *table, rows Rows) {
	m := &r.mix
	n := rows.count(t.cols)
	bad := r.rep.takeBad()
	for i := range n {
		if bad[r.done+i] {
			continue
		}
		row := rows.Data[i*t.cols : (i+1)*t.cols]
		m.gap = m.gap || present(row, 1) < len(row)
		t.data = append(t.data, row...)
		for _, x := range m.texts {
			x.push([]byte(rows.Texts[x.at][i]))
		}
		if rows.IDs != nil {
			t.ids = append(t.ids, rows.IDs[i])
		}
		if rows.Labels != nil {
			t.labels = append(t.labels, rows.Labels[i])
		}
		t.rows++
	}
	r.done += n
}

// divide divides the features into texts and numbers, as the first rows are.
func (r *extendedRows) divide(rows Rows) {
	m, names := &r.mix, r.in.Features()
	m.at = make([]*textColumn, len(names))
	for j, texts := range rows.Texts {
		if texts != nil {
			m.at[j] = newTextColumn(j, true) // the format has missing cells of its own
			m.texts = append(m.texts, m.at[j])
		}
	}
	m.above = make([]int, len(names)-len(m.texts))
}

// count returns the number of rows, with cols numbers each.
func (r Rows) count(cols int) int {
	for _, texts := range r.Texts {
		if texts != nil {
			return len(texts)
		}
	}
	return len(r.Data) / cols
}

// extensionError adds the name of the file to an error of an extension.
func (s *source) extensionError(err error) error {
	if err == nil || err == io.EOF || err == errStop {
		return err
	}
	if me, ok := errors.AsType[*fault.MemoryError](err); ok {
		named := *me
		named.What = "reading " + s.name + ": " + me.What
		named.Need, named.Limit = me.Need+s.copied, me.Limit+s.copied
		return &named
	}
	return s.readError(fault.InFile(err, s.name))
}

// decode reads all rows.
func (x Extension) decode(src *source, o ReadOptions, rep *report) (*table, error) {
	r, err := x.rows(src, o, rep)
	if err != nil {
		return nil, err
	}
	var t *table
	for {
		part, err := r.next(max(1, r.count()))
		switch {
		case err == io.EOF && t == nil:
			return nil, rep.fatal("add rows", "it has no rows: want at least one")
		case err == io.EOF:
			return t, t.checkIDs(rep)
		case err != nil:
			return nil, err
		case t == nil:
			t = part
		default:
			t.rows, t.data = t.rows+part.rows, append(t.data, part.data...)
			t.ids, t.labels = append(t.ids, part.ids...), append(t.labels, part.labels...)
		}
	}
}

// checkIDs reports ids that occur twice.
func (t *table) checkIDs(rep *report) error {
	rows := make(map[string]int, len(t.ids))
	for i, id := range t.ids {
		first, twice := rows[id]
		if !twice {
			rows[id] = i
			continue
		}
		e := errorAt(rep.file, 0, i, idColumn, "id %s is already in row %d: want different ids", quote(id),
			first)
		if err := rep.add(e, "rename or remove one of the two rows"); err != nil {
			return err
		}
	}
	return nil
}

// whole returns the content for reading in any order: the file itself, or, for a compressed file or
// a pipe, a copy in memory, whose bytes count against the limit.
func (s *source) whole(o *ReadOptions) (io.ReaderAt, int64, error) {
	if s.file != nil {
		return s.file, s.size, nil
	}
	limit := int64(math.MaxInt64)
	if o.MemoryLimit > 0 {
		limit = o.MemoryLimit
	}
	var b bytes.Buffer
	switch _, err := io.CopyN(&b, s.r, limit); {
	case err == nil:
		return nil, 0, &fault.MemoryError{What: "reading " + s.name +
			" into memory, since it is not an uncompressed file,", Need: limit + 1, Limit: limit,
			Hint: "use an uncompressed file, or raise the limit"}
	case err != io.EOF:
		return nil, 0, s.readError(err)
	}
	if o.MemoryLimit > 0 {
		s.copied = int64(b.Len())
		o.MemoryLimit -= s.copied
	}
	return bytes.NewReader(b.Bytes()), int64(b.Len()), nil
}

// encode writes a matrix with the names of its columns.
func (x Extension) encode(w *matrixWriter) error {
	at := 0
	return x.Write(w.out, w.names(), func() (Rows, error) {
		rows, err := w.block(at)
		at += len(rows.Data) / max(1, w.cols)
		return rows, err
	})
}

// block returns some rows from row i on, without gaps; after the last one the error is io.EOF.
func (w *matrixWriter) block(i int) (Rows, error) {
	const limit = 1 << 16 // values, unless a single row has more
	if _, err := w.row(i); err != nil {
		return Rows{}, err
	}
	end := min(w.to, i+max(1, limit/max(1, w.cols)))
	rows := Rows{Data: make([]float64, 0, (end-i)*w.cols)}
	for k := i; k < end; k++ {
		row, err := w.row(k)
		if err != nil {
			return Rows{}, err
		}
		rows.Data = append(rows.Data, row...)
	}
	if w.ids != nil {
		rows.IDs = slices.Clone(w.ids[i-w.from : end-w.from])
	}
	if w.labels != nil {
		rows.Labels = slices.Clone(w.labels[i-w.from : end-w.from])
	}
	return rows, nil
}
