package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
)

func mixed() dataset.ReadOptions {
	o := reading()
	o.Mixed = true
	return o
}

// customers is a table of all kinds of columns, with a missing cell in each.
func customers(t fatal) []byte {
	return table(t, []string{"a_text", "b_day", "c_time", "d_price", "e_wide", "f_flag", "g_number",
		"h_clock", "i_clock", "label"},
		[]pq.Node{
			pq.Optional(pq.Encoded(pq.String(), &pq.RLEDictionary)), pq.Optional(pq.Date()),
			pq.Optional(pq.Timestamp(pq.Millisecond)),
			pq.Optional(pq.Decimal(2, 12, pq.Int64Type)),
			pq.Optional(pq.Decimal(3, 20, pq.FixedLenByteArrayType(9))),
			pq.Optional(pq.Leaf(pq.BooleanType)),
			pq.Optional(pq.Leaf(pq.DoubleType)), pq.Optional(pq.Time(pq.Millisecond)),
			pq.Optional(pq.Time(pq.Microsecond)), pq.String(),
		},
		[]any{"PT", int32(19723), int64(1704412800000), int64(-1205), [9]byte{8: 7}, true, 1.5,
			int32(27000500), int64(27000000001), "x"},
		[]any{nil, int32(-1), int64(1500), int64(1), [9]byte{255, 255, 255, 255, 255, 255, 255, 255, 255},
			false, math.NaN(), int32(0), int64(0), "y"},
		[]any{"Smith, John", nil, nil, nil, nil, nil, nil, nil, nil, "x"},
		[]any{"PT", int32(19723), int64(-1), int64(0), [9]byte{6: 1}, true, -2.0, int32(86399000),
			int64(86399999999), "y"},
	)
}

// Texts, days, times, decimals and nulls are read as they are.
func TestMixed(t *testing.T) {
	nan := math.NaN()
	want := &points.Mixed{N: 4, Columns: []points.Column{
		{Name: "a_text", Codes: []int32{0, -1, 1, 0}, Levels: []string{"PT", "Smith, John"}},
		{Name: "b_day", Codes: []int32{0, 1, -1, 0}, Levels: []string{"2024-01-01", "1969-12-31"}},
		{Name: "c_time", Codes: []int32{0, 1, -1, 2},
			Levels: []string{"2024-01-05T00:00:00Z", "1970-01-01T00:00:01.5Z", "1969-12-31T23:59:59.999Z"}},
		{Name: "d_price", Numbers: []float64{-12.05, 0.01, nan, 0}},
		{Name: "e_wide", Numbers: []float64{0.007, -0.001, nan, 65.536}},
		{Name: "f_flag", Codes: []int32{0, 1, -1, 0}, Levels: []string{"true", "false"}},
		{Name: "g_number", Numbers: []float64{1.5, nan, nan, -2}},
		{Name: "h_clock", Codes: []int32{0, 1, -1, 2},
			Levels: []string{"07:30:00.5", "00:00:00", "23:59:59"}},
		{Name: "i_clock", Codes: []int32{0, 1, -1, 2},
			Levels: []string{"07:30:00.000001", "00:00:00", "23:59:59.999999"}},
	}}
	file := customers(t)
	d, err := decode(file, mixed())
	if err != nil {
		t.Fatal(err)
	}
	if diff := difftest.Diff(want, d.Points); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(d.Labels, ""); got != "xyxy" {
		t.Errorf("labels %q", got)
	}
	// In blocks, the texts and numbers are the same.
	path := filepath.Join(t.TempDir(), "data.parquet")
	write1(t, path, file)
	for skip := range 4 {
		s, err := dataset.OpenStream(path, mixed())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Skip(skip); err != nil {
			t.Fatal(err)
		}
		for i := skip; i < 4; i++ {
			d, err := s.Next(1)
			if err != nil {
				t.Fatal(err)
			}
			for j, c := range d.Points.(*points.Mixed).Columns {
				if got, want := cellOf(&c, 0), cellOf(&want.Columns[j], i); got != want {
					t.Errorf("after %d: row %d, column %d is %v: want %v", skip, i, j, got, want)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	// Without texts and gaps, the points are dense.
	o := mixed()
	o.Drop = []string{"[abcefg]_*"}
	full := table(t, []string{"d_price", "g_text"}, []pq.Node{pq.Decimal(2, 12, pq.Int64Type), pq.String()},
		[]any{int64(5), "u"}, []any{int64(-5), ""})
	d, err = decode(full, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := sameBits(d.Points, 2, 1, []float64{0.05, -0.05}); diff != "" {
		t.Error(diff)
	}
}

// cellOf returns a cell as a value that compares.
func cellOf(c *points.Column, i int) any {
	switch {
	case c.IsText() && c.Codes[i] >= 0:
		return c.Levels[c.Codes[i]]
	case !c.IsText() && c.Numbers[i] == c.Numbers[i]:
		return c.Numbers[i]
	}
	return nil
}

// The options choose columns by name, in a table of numbers too.
func TestColumnsByName(t *testing.T) {
	file := customers(t)
	o := reading()
	o.Label, o.ID, o.Keep = "a_text", "label", []string{"g_*"}
	_, err := decode(file, o)
	wantData(t, err, 2, "g_number", "empty") // labels with gaps are read after it
	o = mixed()
	o.Label, o.Keep, o.Text = "label", []string{"f_flag", "b_day"}, []string{"f_flag"}
	d, err := decode(file, o)
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Points.(*points.Mixed).Columns; len(c) != 2 || c[0].Name != "b_day" ||
		cellOf(&c[1], 0) != "true" {
		t.Errorf("%+v", c)
	}
	for name, c := range map[string]struct {
		change func(o *dataset.ReadOptions)
		text   string
	}{
		"no such label":   {func(o *dataset.ReadOptions) { o.Label = "a_txt" }, `did you mean "a_text"?`},
		"no such id":      {func(o *dataset.ReadOptions) { o.ID = "labels" }, `did you mean "label"?`},
		"nothing to drop": {func(o *dataset.ReadOptions) { o.Drop = []string{"z*"} }, `"z*"`},
		"label twice": {func(o *dataset.ReadOptions) {
			o.Label, o.ID = "a_text", "a_text"
		}, "the label and the id"},
		"text as numbers": {func(o *dataset.ReadOptions) {
			o.Numbers = []string{"a_text"}
		}, "contains text: want numbers"},
		"both": {func(o *dataset.ReadOptions) {
			o.Numbers, o.Text = []string{"*"}, []string{"g_number"}
		}, "text and numbers"},
		"no features":   {func(o *dataset.ReadOptions) { o.Drop = []string{"?_*"} }, "no feature columns"},
		"decimal label": {func(o *dataset.ReadOptions) { o.Label = "d_price" }, "cannot be the labels"},
		"no text": {func(o *dataset.ReadOptions) {
			o.Text = []string{"e_wide"}
		}, "cannot be read as text"},
	} {
		o := mixed()
		c.change(&o)
		_, err := decode(file, o)
		if _, ok := errors.AsType[*fault.DataError](err); !ok || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want %q", name, err, c.text)
		}
	}
	bad := table(t, []string{"x"}, []pq.Node{pq.Leaf(pq.ByteArrayType)}, []any{"a"}, []any{"\xff"})
	_, err = decode(bad, mixed())
	wantData(t, err, 1, "x", "not UTF-8")
}

// Words such as NA are texts where the format has missing cells of its own, and white space around
// texts never counts.
func TestWordsAreTexts(t *testing.T) {
	optional := pq.Optional(pq.Encoded(pq.String(), &pq.RLEDictionary))
	d, err := decode(table(t, []string{"country", "id", "label"},
		[]pq.Node{optional, pq.String(), pq.String()},
		[]any{"NA", "u1", "x"}, []any{nil, "u2 ", " x"}, []any{" NA ", "u3", "x"}, []any{"null", "u4", "x"},
		[]any{" \t", "u5", "x"}), mixed())
	if err != nil {
		t.Fatal(err)
	}
	want := &points.Mixed{N: 5,
		Columns: []points.Column{{Name: "country", Codes: []int32{0, -1, 0, 1, -1},
			Levels: []string{"NA", "null"}}}}
	if diff := difftest.Diff(want, d.Points); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(append(d.IDs, d.Labels...), ","); got != "u1,u2,u3,u4,u5,x,x,x,x,x" {
		t.Errorf("ids and labels %q", got)
	}
	if _, err := decode(table(t, []string{"country", "id"}, []pq.Node{optional, pq.String()}, []any{"a", "u"},
		[]any{"b", " "}), mixed()); err == nil || !strings.Contains(err.Error(), "the cell is empty") {
		t.Errorf("error %v of an id of white space: want a refusal", err)
	}
}

// Time stamps of Spark, identifiers of 16 bytes, and columns without a type are read as other
// programs mean them, also with a dictionary and compressed by lz4.
func TestTypesOfOtherPrograms(t *testing.T) {
	at := []time.Time{time.Date(2024, 2, 29, 13, 14, 15, 123456789, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 1, time.UTC), time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)}
	id := [][16]byte{{0: 0x81, 1: 0x01, 15: 0xff}, {0: 0x12, 6: 0x4c, 8: 0xbe}, {}}
	texts := []string{"81010000-0000-0000-0000-0000000000ff", "12000000-0000-4c00-be00-000000000000",
		"00000000-0000-0000-0000-000000000000"}
	for name, wrap := range map[string]func(pq.Node) pq.Node{
		"plain":      func(n pq.Node) pq.Node { return n },
		"dictionary": func(n pq.Node) pq.Node { return pq.Encoded(n, &pq.RLEDictionary) },
		"lz4":        func(n pq.Node) pq.Node { return pq.Compressed(n, &pq.Lz4Raw) },
		"snappy":     func(n pq.Node) pq.Node { return pq.Compressed(n, &pq.Snappy) },
	} {
		m := made{names: []string{"id", "u", "when", "x"},
			nodes: []pq.Node{wrap(pq.UUID()), wrap(pq.UUID()), wrap(pq.Leaf(pq.Int96Type)),
				wrap(pq.Leaf(pq.DoubleType))}}
		for i := range at {
			m.rows = append(m.rows,
				pq.Row{pq.FixedLenByteArrayValue(id[i][:]).Level(0, 0, 0),
					pq.FixedLenByteArrayValue(id[2-i][:]).Level(0, 0, 1),
					pq.Int96Value(spark(at[i])).Level(0, 0, 2), pq.DoubleValue(float64(i)).Level(0, 0, 3)})
		}
		d, err := decode(m.bytes(t), mixed())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, text := range texts {
			columns := d.Points.(*points.Mixed).Columns
			if when := cellOf(&columns[1], i); d.IDs[i] != text || cellOf(&columns[0], 2-i) != text ||
				when != at[i].Format(time.RFC3339Nano) || columns[2].Numbers[i] != float64(i) {
				t.Errorf("%s: row %d is %v, %v, %v", name, i, d.IDs[i], cellOf(&columns[0], i), when)
			}
		}
		if _, err := decode(m.bytes(t), reading()); err == nil ||
			!strings.Contains(err.Error(), `"u": it contains strings of 16 bytes: want numbers`) {
			t.Errorf("%s: without texts the error is %v", name, err)
		}
	}
}

// spark returns a time as INT96: nanoseconds of the day, and the Julian day.
func spark(at time.Time) deprecated.Int96 {
	day := at.Unix() / 86400
	if at.Unix() < 0 && at.Unix()%86400 != 0 {
		day--
	}
	nanos := uint64(at.Sub(time.Unix(day*86400, 0)))
	return deprecated.Int96{uint32(nanos), uint32(nanos >> 32), uint32(day + 2440588)}
}

// A column of the type null has no values: all its cells are missing.
func TestNullType(t *testing.T) {
	const rows = 3
	none := column{}
	none.typed(&format.SchemaElement{Type: thrift.New(format.Int32),
		LogicalType: format.LogicalType{Value: &format.NullType{}}})
	if none.mixed != nothing || none.isText() {
		t.Errorf("%+v", none)
	}
	file := table(t, []string{"nul", "x"},
		[]pq.Node{pq.Optional(pq.Leaf(pq.Int32Type)), pq.Leaf(pq.DoubleType)}, []any{nil, 1.0},
		[]any{nil, 2.0}, []any{nil, 3.0})
	f, err := openFile(bytes.NewReader(file), int64(len(file)), mixed())
	if err != nil {
		t.Fatal(err)
	}
	f.meta.Schema[1].LogicalType = format.LogicalType{Value: &format.NullType{}}
	columns, err := readSchema(f.meta.Schema)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{Columns: dataset.NewColumns(mixed(), nil), f: f, o: mixed()}
	r.Total, f.columns = rows, &r.Columns
	features, err := r.sort(columns)
	if err != nil || len(features) != 2 {
		t.Fatalf("%v, %v", features, err)
	}
	r.nameAll(features)
	got, err := r.Next(rows)
	if err != nil || !math.IsNaN(got.Data[0]) || !math.IsNaN(got.Data[4]) || got.Data[5] != 3 {
		t.Errorf("%v, %v", got.Data, err)
	}
}

// Pairs of keys and values in the metadata, which are not read, may lack their value.
func TestKeysWithoutValues(t *testing.T) {
	file := table(t, []string{"x"}, []pq.Node{pq.Leaf(pq.DoubleType)}, []any{1.0}, []any{2.0})
	length := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	var whole format.FileMetaData
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, file[len(file)-8-length:len(file)-8],
		&whole); err != nil {
		t.Fatal(err)
	}
	type key struct {
		Key string `thrift:"1,required"`
	}
	type meta struct {
		Version   int32                              `thrift:"1,required"`
		Schema    thrift.Slice[format.SchemaElement] `thrift:"2,required"`
		NumRows   int64                              `thrift:"3,required"`
		RowGroups thrift.Slice[format.RowGroup]      `thrift:"4,required"`
		Keys      thrift.Slice[key]                  `thrift:"5,optional"`
	}
	footer, err := thrift.Marshal(&thrift.CompactProtocol{},
		&meta{1, whole.Schema, whole.NumRows, whole.RowGroups, []key{{"alone"}}})
	if err != nil {
		t.Fatal(err)
	}
	odd := append(slices.Clone(file[:len(file)-8-length]), footer...)
	odd = append(binary.LittleEndian.AppendUint32(odd, uint32(len(footer))), magic...)
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, footer, &format.FileMetaData{}); err == nil {
		t.Error("the pair has a value")
	}
	d, err := decode(odd, reading())
	if err != nil || d.Points.Len() != 2 {
		t.Errorf("%+v, %v", d, err)
	}
}
