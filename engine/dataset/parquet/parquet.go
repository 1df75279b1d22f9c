// Package parquet (internal: may change) reads and writes Apache Parquet files for package
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
// Pages may be plain, dictionary-encoded, delta-encoded or split into streams of bytes, of version
// 1 or 2, uncompressed or compressed with snappy, gzip, zstd, brotli or lz4_raw.
//
// A file is read a block of rows at a time. Memory contains the block and the current page and
// dictionary of every column, which the memory limit counts (4 GiB for pages and dictionaries if
// there is no limit). Every size that a file claims is compared with its actual bytes, or with the
// limit, before memory is allocated. [github.com/parquet-go/parquet-go] does neither, so only its
// description of the metadata is used here; the tests compare with the whole library.
//
// Written files have columns of doubles, and of text for ids and labels, in plain pages with
// checksums, in row groups of about 16 MiB.
package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

var _ dataset.RowReader = (*reader)(nil)

// reader reads the rows of a file.
type reader struct {
	dataset.Columns
	f           *file
	o           dataset.ReadOptions
	features    []*chunks[uint64]
	words       []*textColumn // features of a mixed table
	ids, labels *textColumn   // nil for none
	buffer      [1 << 12]uint64
}

// open starts to read a file; see [dataset.Extension].
func open(in io.ReaderAt, size int64, o dataset.ReadOptions,
	problem func(*fault.DataError, string) error) (dataset.RowReader, error) {
	f, err := openFile(in, size, o)
	if err != nil {
		return nil, err
	}
	columns, err := readSchema(f.meta.Schema)
	if err != nil {
		return nil, err
	}
	r := &reader{Columns: dataset.NewColumns(o, problem), f: f, o: o}
	f.columns = &r.Columns
	if r.Total, err = f.check(len(columns)); err != nil {
		return nil, err
	}
	features, err := r.sort(columns)
	if err != nil {
		return nil, err
	}
	if r.Total > 0 {
		for _, c := range r.features {
			if err := r.measure(c); err != nil {
				return nil, err
			}
		}
	}
	r.nameAll(features)
	return r, r.CheckNames()
}

// nameAll adds the features, among which are columns of text.
func (r *reader) nameAll(features []*column) {
	for _, c := range features {
		c.place = len(r.Names)
		r.Add(c.name, c.list, c.width, c.asText)
	}
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
		c.asText = r.Mixed && (roles.Text[i] || c.isText() && !roles.Numbers[i])
		if r.Mixed && (c.asText || c.mixed == decimals || c.mixed == nothing) && !(c.list && c.asText) {
			c.what = ""
		}
		switch {
		case is(c, i, roles.ID) && c.isName():
			r.ids, err = r.named(r.ids, c, dataset.IDText)
		case is(c, i, roles.Label) && c.isName():
			r.labels, err = r.named(r.labels, c, dataset.LabelText)
		case is(c, i, roles.ID) && r.o.ID != "", is(c, i, roles.Label) && r.o.Label != "":
			err = r.NoName(c.name)
		case !isFeature[i] && i != roles.ID && i != roles.Label:
		case c.what != "":
			err = r.NoNumbers(c.name, c.what, c.fix)
		case c.asText && (c.list || c.kind == format.FixedLenByteArray && c.mixed != uuids ||
			c.mixed == decimals && c.kind == format.ByteArray):
			err = r.NoText(c.name)
		case c.asText:
			features, r.words = append(features, c), append(r.words, r.textsOf(c, dataset.FeatureText))
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
		return nil, r.NoFeatures()
	}
	return features, nil
}

// named returns the reader of a column of ids or labels; a second such column is reported.
func (r *reader) named(before *textColumn, c *column, kind dataset.Text) (*textColumn, error) {
	if before != nil {
		return before, r.Problem(fault.Cell(-1, c.name,
			"columns %d and %d have the same name: want different ones", before.c.at, c.at),
			"rename one of them")
	}
	return r.textsOf(c, kind), nil
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
	return r.f.Held.Take(name * int64(c.c.width))
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
	at := 0
	for _, c := range r.features {
		if err := r.readFeature(rows.Data, c, at, n); err != nil {
			return dataset.Rows{}, err
		}
		at += c.c.width
	}
	if rows.Texts, err = r.readTexts(n); err == nil {
		rows.IDs, err = r.ids.read(n)
	}
	if err == nil {
		rows.Labels, err = r.labels.read(n)
	}
	r.Done += n
	if r.Done == r.Total {
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
	r.Done += n
	return nil
}

// readFeature reads n values or lists of a column into the features from number at on.
func (r *reader) readFeature(data []float64, c *chunks[uint64], at, n int) error {
	cols, width := len(r.Numbers), c.c.width
	var gaps []int // missing numbers of a mixed table, as indices in data
	missing := func(row, place int) error {
		if r.Mixed {
			gaps = append(gaps, (row-r.Done)*cols+at+place)
			return nil
		}
		return r.NotFinite(r.Numbers[at+place], row, 0, true, false)
	}
	next, place := at, 0 // index of the next value in data, and in its list
	for i := 0; i < n*width; {
		part := r.buffer[:min(len(r.buffer), n*width-i)]
		if err := c.read(part, missing); err != nil {
			return err
		}
		for _, bits := range part {
			v := c.c.value.Number(bits)
			if v-v != 0 && !(r.Mixed && v != v) {
				if err := r.NotFinite(r.Numbers[at+place], r.Done+i/width, v, false,
					c.c.kind == format.Int64); err != nil {
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

// Format returns the format for [dataset.ReadOptions] and [dataset.WriteOptions]: files that end in
// .parquet, and the name parquet.
func Format() dataset.Extension {
	return dataset.Extension{Name: "parquet", Endings: []string{".parquet"}, Open: open, Write: write}
}

// form returns what makes a text of a value.
func (c *column) form() func(b string) string {
	if c.mixed == uuids {
		return func(b string) string {
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}
	}
	return func(b string) string {
		const of1970 = 2440588 // the Julian day that begins at noon of 1970-01-01
		nanos, day := int64(binary.LittleEndian.Uint64([]byte(b[:8]))),
			int64(binary.LittleEndian.Uint32([]byte(b[8:])))
		return time.Unix((day-of1970)*24*3600, nanos).UTC().Format(time.RFC3339Nano)
	}
}

// readTexts returns the columns of text of the next n rows: one for each feature, nil for numbers.
func (r *reader) readTexts(n int) ([][]string, error) {
	if len(r.words) == 0 {
		return nil, nil
	}
	texts := make([][]string, len(r.Names))
	for _, t := range r.words {
		var err error
		if texts[t.c.place], err = t.read(n); err != nil {
			return nil, err
		}
	}
	return texts, nil
}
