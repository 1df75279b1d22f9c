// Package parquet (engine room: may change) reads and writes Apache Parquet files for package
// dataset.
//
//	o := dataset.ReadOptions{Extensions: []dataset.Extension{parquet.Format()}}
//	d, err := dataset.Read("data.parquet", o)
//
// The columns id and label have the same meaning as in CSV; every other column is a feature:
// booleans, whole numbers up to 2^53 in size, float16, float and double. A column of lists, all of
// one length k, is k features. A null, NaN or infinity is an error that names row and column, and
// so is a column of another type.
//
// With ReadOptions.Mixed, nulls and NaN are missing cells, decimals are numbers too, and columns of
// UTF-8 text, booleans, dates, times and time stamps are texts, the latter in ISO form: 2006-01-02,
// 15:04:05 and 2006-01-02T15:04:05Z, also for times without a zone.
//
// Pages may be plain, dictionary-encoded, delta-encoded or split
// into streams of bytes, of version 1 or 2, uncompressed or compressed with snappy, gzip,
// zstd or lz4_raw.
//
// A file is read a block of rows at a time. Memory contains the block and the current page and
// dictionary of every column, which the memory limit counts (4 GiB for pages and dictionaries if
// there is no limit). Every size that a file claims is compared with its actual bytes, or with the
// limit, before memory is allocated. [github.com/parquet-go/parquet-go] does neither, and its page
// readers need assembly, so only its description of the metadata is used here; the tests compare
// with the whole library.
//
// Written files have columns of doubles, and of text for ids and labels, in plain pages with
// checksums, in row groups of about 16 MiB.
package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// reader reads the rows of a file. It implements dataset.RowReader.
type reader struct {
	f           *file
	o           dataset.ReadOptions
	rows, done  int
	names       []string // names of the features
	numbers     []string // names of those that are numbers
	features    []*chunks[uint64]
	words       []*textColumn // features of a mixed table
	wordsAt     []int         // their indices in names
	mixed       bool          // texts and missing cells are accepted
	ids, labels *textColumn   // nil for none
	buffer      [1 << 12]uint64
}

// open starts to read a file; see [dataset.Extension].
func open(in io.ReaderAt, size int64, o dataset.ReadOptions, problem func(*fault.DataError, string) error) (dataset.RowReader, error) {
	f, err := openFile(in, size, o)
	if err != nil {
		return nil, err
	}
	f.problem = problem
	columns, err := readSchema(f.meta.Schema)
	if err != nil {
		return nil, err
	}
	r := &reader{f: f, o: o, mixed: o.Mixed && !o.Gram}
	if r.rows, err = f.check(len(columns)); err != nil {
		return nil, err
	}
	features, err := r.sort(columns)
	if err != nil {
		return nil, err
	}
	if r.rows > 0 {
		for _, c := range r.features {
			if err := r.measure(c); err != nil {
				return nil, err
			}
		}
	}
	r.nameAll(features)
	return r, r.checkNames()
}

// sort divides the columns into features, ids and labels, and reports columns of other types.
func (r *reader) sort(columns []*column) (features []*column, err error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	roles, err := r.o.Roles(names)
	if err != nil {
		return nil, err
	}
	isFeature := make([]bool, len(columns))
	for _, i := range roles.Features {
		isFeature[i] = true
	}
	is := func(c *column, i, at int) bool { return at >= 0 && c.name == names[at] && (c.isName() || i == at) }
	for i, c := range columns {
		c.asText = r.mixed && (roles.Text[i] || c.isText() && !roles.Numbers[i])
		if r.mixed && (c.asText || c.mixed == decimals || c.mixed == nothing) && !(c.list && c.asText) {
			c.what = ""
		}
		switch {
		case is(c, i, roles.ID) && c.isName():
			r.ids, err = r.named(r.ids, c)
		case is(c, i, roles.Label) && c.isName():
			r.labels, err = r.named(r.labels, c)
		case is(c, i, roles.ID) && r.o.ID != "", is(c, i, roles.Label) && r.o.Label != "":
			err = r.f.problem(columnError(c.name, "it cannot be the labels or ids: want texts or whole numbers"), "choose another column")
		case !isFeature[i] && i != roles.ID && i != roles.Label:
		case c.what != "":
			err = r.f.problem(columnError(c.name, "it contains %s: want numbers", c.what), c.fix)
		case c.asText && (c.list || c.kind == format.FixedLenByteArray && c.mixed != uuids || c.mixed == decimals && c.kind == format.ByteArray):
			err = r.f.problem(columnError(c.name, "it cannot be read as text: want texts, numbers or dates"), "read it as numbers, or drop it")
		case c.asText:
			features, r.words = append(features, c), append(r.words, r.textsOf(c, true))
		default:
			features = append(features, c)
			n := &chunks[uint64]{f: r.f, c: c, begin: c.numbers}
			r.features = append(r.features, n)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.o.IgnoreLabels {
		r.labels = nil
	}
	if len(features) == 0 {
		return nil, fault.Data("", "it has no feature columns: want columns of numbers in addition to id and label")
	}
	return features, nil
}

// named returns the reader of a column of ids or labels; a second such column is reported.
func (r *reader) named(before *textColumn, c *column) (*textColumn, error) {
	if before != nil {
		return before, r.f.problem(columnError(c.name, "columns %d and %d have the same name: want different ones", before.c.at, c.at), "rename one of them")
	}
	return r.textsOf(c, false), nil
}

// measure determines the length of the lists of a column.
func (r *reader) measure(c *chunks[uint64]) (err error) {
	if !c.c.list {
		return nil
	}
	first := chunks[uint64]{f: c.f, c: c.c, begin: c.begin}
	for first.group < len(r.f.meta.RowGroups) && r.f.meta.RowGroups[first.group].NumRows == 0 {
		first.group++
	}
	if c.c.width, err = first.firstLength(); err != nil {
		return err
	}
	const name = 64 // approximate bytes of a feature's name
	return r.f.held.take(name * int64(c.c.width))
}

// checkNames reports features without a name or with the same name.
func (r *reader) checkNames() error {
	seen := make(map[string]int, len(r.names))
	for j, name := range r.names {
		first, twice := seen[name]
		var err error
		switch {
		case name == "":
			err = r.f.problem(columnError(strconv.Itoa(j), "feature %d has no name: want one", j), "name the column, or remove it")
		case twice:
			err = r.f.problem(columnError(name, "features %d and %d have the same name: want different ones", first, j), "rename one of them")
		default:
			seen[name] = j
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Count returns the number of rows.
func (r *reader) Count() int { return r.rows }

// Features returns the names of the features.
func (r *reader) Features() []string { return r.names }

// Next returns the next rows, at most limit of them.
func (r *reader) Next(limit int) (dataset.Rows, error) {
	n := min(limit, r.rows-r.done)
	if n == 0 {
		return dataset.Rows{}, io.EOF
	}
	if err := r.checkMemory(n); err != nil {
		return dataset.Rows{}, err
	}
	if r.o.MemoryLimit > 0 { // the block and the pages share the limit
		block := 8 * int64(n) * int64(len(r.numbers))
		r.f.held.used += block
		defer r.f.held.give(block)
	}
	rows := dataset.Rows{Data: make([]float64, n*len(r.numbers))}
	at := 0
	for _, c := range r.features {
		if err := r.readFeature(rows.Data, c, at, n); err != nil {
			return dataset.Rows{}, err
		}
		at += c.c.width
	}
	var err error
	if rows.Texts, err = r.readTexts(n); err == nil {
		rows.IDs, err = r.ids.read(n)
	}
	if err == nil {
		rows.Labels, err = r.labels.read(n)
	}
	r.done += n
	if r.done == r.rows {
		for _, c := range r.features {
			if err := c.atEnd(); err != nil {
				return dataset.Rows{}, err
			}
		}
	}
	return rows, err
}

// Skip skips the next n rows.
func (r *reader) Skip(n int) error {
	for _, c := range r.features {
		if err := c.skip(n, make([]uint64, min(len(r.buffer), n*c.c.width))); err != nil {
			return err
		}
	}
	for _, t := range append([]*textColumn{r.ids, r.labels}, r.words...) {
		if err := t.skip(n); err != nil {
			return err
		}
	}
	r.done += n
	return nil
}

// checkMemory compares n rows with the limit.
func (r *reader) checkMemory(n int) error {
	const value = 8
	cols := len(r.names)
	if cols > math.MaxInt/value/n {
		return fault.Data("", "it claims %d x %d values: more than memory can hold", n, cols)
	}
	need := int64(n)*int64(cols)*value + r.f.held.used
	if limit := r.o.MemoryLimit; limit > 0 && need > limit {
		return &fault.MemoryError{What: "a block of " + strconv.Itoa(n) + " rows", Need: need, Limit: limit, Hint: "use fewer rows or columns, or raise the limit"}
	}
	return nil
}

// readFeature reads n values or lists of a column into the features from number at on.
func (r *reader) readFeature(data []float64, c *chunks[uint64], at, n int) error {
	cols, width := len(r.numbers), c.c.width
	var gaps []int // missing numbers of a mixed table, as indices in data
	missing := func(row, place int) error {
		if r.mixed {
			gaps = append(gaps, (row-r.done)*cols+at+place)
			return nil
		}
		return r.bad(row, at+place, "the cell is empty: want a finite number", "fill in a number, or remove the row")
	}
	next, place := at, 0 // index of the next value in data, and in its list
	for i := 0; i < n*width; {
		part := r.buffer[:min(len(r.buffer), n*width-i)]
		if err := c.read(part, missing); err != nil {
			return err
		}
		for _, bits := range part {
			v := c.c.number(bits)
			if v-v != 0 && !(r.mixed && v != v) {
				if err := r.notFinite(c.c, i/width, at+place, v); err != nil {
					return err
				}
			}
			data[next] = v
			i++
			if place++; place < width {
				next++
			} else {
				next, place = next+cols-width+1, 0
			}
		}
	}
	for _, k := range gaps {
		data[k] = math.NaN()
	}
	return nil
}

// notFinite reports a value that is not finite; row is a row of the block.
func (r *reader) notFinite(c *column, row, feature int, v float64) error {
	if c.kind == format.Int64 {
		return r.bad(r.done+row, feature, "the whole number has no exact float64: want at most 2^53 in size", "write the column as double")
	}
	return r.bad(r.done+row, feature, "the value is "+strconv.FormatFloat(v, 'g', -1, 64)+": want a finite number", "fill in a number, or remove the row")
}

func (r *reader) bad(row, feature int, what, fix string) error {
	e := columnError(r.numbers[feature], "%s", what)
	e.Row = row
	return r.f.problem(e, fix)
}

// Format returns the format for [dataset.ReadOptions] and [dataset.WriteOptions]: files that end in
// .parquet, and the name parquet.
func Format() dataset.Extension {
	return dataset.Extension{Name: "parquet", Endings: []string{".parquet"}, Open: open, Write: write}
}

// fixedTexts reads strings of a fixed number of bytes.
type fixedTexts struct {
	b    []byte
	size int
}

func (p *fixedTexts) read(dst []string) error {
	if len(p.b)/p.size < len(dst) {
		return errShort
	}
	for i := range dst {
		dst[i], p.b = string(p.b[:p.size]), p.b[p.size:]
	}
	return nil
}

// formedTexts reads strings of bytes as the texts that CSV would have.
type formedTexts struct {
	texts values[string]
	form  func(b string) string
}

func (t *formedTexts) read(dst []string) error {
	err := t.texts.read(dst)
	for i, b := range dst {
		if err == nil {
			dst[i] = t.form(b)
		}
	}
	return err
}

// form returns what makes a text of a value.
func (c *column) form() func(b string) string {
	if c.mixed == uuids {
		return func(b string) string { return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]) }
	}
	return func(b string) string {
		const of1970 = 2440588 // the Julian day that begins at noon of 1970-01-01
		nanos, day := int64(binary.LittleEndian.Uint64([]byte(b[:8]))), int64(binary.LittleEndian.Uint32([]byte(b[8:])))
		return time.Unix((day-of1970)*24*3600, nanos).UTC().Format(time.RFC3339Nano)
	}
}

// decimalTexts reads decimals that are stored as strings of bytes, as the bits of their float64.
type decimalTexts struct {
	texts  values[string]
	scale  int
	buffer [64]string
}

func (d *decimalTexts) read(dst []uint64) error {
	for len(dst) > 0 {
		part := d.buffer[:min(len(dst), len(d.buffer))]
		if err := d.texts.read(part); err != nil {
			return err
		}
		for i, s := range part {
			dst[i] = math.Float64bits(decimalOf([]byte(s), d.scale))
		}
		dst = dst[len(part):]
	}
	return nil
}

// decimalOf returns a decimal in two's complement, the highest byte first.
func decimalOf(b []byte, scale int) float64 {
	whole := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		whole.Sub(whole, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return scaled(whole.String(), scale)
}

// scaled returns digits/10^scale, correctly rounded, or an infinity.
func scaled(digits string, scale int) float64 {
	v, _ := strconv.ParseFloat(digits+"e-"+strconv.Itoa(scale), 64)
	return v
}

// decimal returns the decimal with these bits.
func (c *column) decimal(bits uint64) float64 {
	whole := int64(bits)
	switch c.kind {
	case format.Int32:
		whole = int64(int32(bits))
	case format.Int64:
	default: // decimalTexts has converted it
		return math.Float64frombits(bits)
	}
	const exact, power = 1 << 53, 22 // numbers and powers of ten that float64 has exactly
	if whole < exact && whole > -exact && c.scale <= power {
		return float64(whole) / math.Pow10(c.scale)
	}
	return scaled(strconv.FormatInt(whole, 10), c.scale)
}

// instant returns a point in time in units since 1970. Times without a zone look like those of UTC.
func instant(units int64, unit time.Duration) time.Time {
	perSecond := int64(time.Second / unit)
	whole, rest := units/perSecond, units%perSecond
	return time.Unix(whole, rest*int64(unit)).UTC()
}

// clock is the form of a time of day.
const clock = "15:04:05.999999999"

// readTexts returns the columns of text of the next n rows: one for each feature, nil for numbers.
func (r *reader) readTexts(n int) ([][]string, error) {
	if len(r.words) == 0 {
		return nil, nil
	}
	texts := make([][]string, len(r.names))
	for k, t := range r.words {
		var err error
		if texts[r.wordsAt[k]], err = t.read(n); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// nameAll sets the names of the features, among which are columns of text.
func (r *reader) nameAll(features []*column) {
	r.names = featureNames(features)
	r.numbers = r.names
	if len(r.words) == 0 {
		return
	}
	r.numbers = featureNames(slices.DeleteFunc(slices.Clone(features), (*column).inWords))
	at := 0
	for _, c := range features {
		if c.asText {
			r.wordsAt = append(r.wordsAt, at)
		}
		at += c.width
	}
}

func (c *column) inWords() bool { return c.asText }
