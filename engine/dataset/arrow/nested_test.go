package arrow_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
)

// everyType has a column of every type that has buffers of its own number, in two batches, and a
// column of numbers behind each.
func everyType(t testing.TB, o ...ipc.Option) ([]byte, int) {
	text, real := apache.BinaryTypes.String, apache.PrimitiveTypes.Float64
	long := strings.Repeat("long ", 8) + "long"
	var fields []field
	for _, of := range []struct {
		of   apache.DataType
		json string
	}{
		{text, `"a"`}, {apache.BinaryTypes.LargeString, `"a"`},
		{apache.BinaryTypes.StringView, `"` + long + `"`}, {apache.BinaryTypes.BinaryView, `"AQ=="`},
		{apache.BinaryTypes.Binary, `"AQ=="`}, {apache.BinaryTypes.LargeBinary, `"AQ=="`},
		{&apache.FixedSizeBinaryType{ByteWidth: 1}, `"AQ=="`},
		{apache.ListOf(text), `["a", "b"]`}, {apache.LargeListOf(real), `[1]`},
		{apache.FixedSizeListOf(2, text), `["a", "b"]`},
		{apache.MapOf(text, real), `[{"key": "x", "value": 1}]`},
		{apache.ListViewOf(real), `[1, 2]`}, {apache.LargeListViewOf(text), `["a"]`},
		{apache.ListOf(apache.ListOf(real)), `[[1]]`},
		{apache.StructOf(apache.Field{Name: "in", Type: apache.BinaryTypes.StringView, Nullable: true},
			apache.Field{Name: "list", Type: apache.ListOf(text), Nullable: true}),
			`{"in": "` + long + `", "list": ["a"]}`},
		{apache.RunEndEncodedOf(apache.PrimitiveTypes.Int32, real), `2.5`}, {apache.Null, `null`},
		{apache.FixedWidthTypes.Boolean, `true`},
		{apache.FixedWidthTypes.MonthInterval, `{"months": 1}`},
		{apache.FixedWidthTypes.DayTimeInterval, `{"days": 1, "milliseconds": 2}`},
		{apache.FixedWidthTypes.Duration_ms, `"7ms"`}, {apache.FixedWidthTypes.Time64ns, `"07:30:00"`},
		{&apache.Decimal256Type{Precision: 40, Scale: 2}, `"1.25"`},
		{&apache.DictionaryType{IndexType: apache.PrimitiveTypes.Uint16, ValueType: text}, `"a"`},
	} {
		name := "x" + of.of.String()
		fields = append(fields,
			field{name, of.of, []string{"[" + of.json + ", " + of.json + "]", "[" + of.json + "]"}},
			field{"last_" + name, real, []string{"[1, 2]", "[3]"}})
	}
	return file(t, o, fields...), len(fields) / 2
}

// Columns that are left out, of any type, do not move those that are read.
func TestOtherColumns(t *testing.T) {
	for name, o := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}} {
		b, n := everyType(t, o...)
		for _, mixed := range []bool{false, true} {
			o := options(mixed)
			o.Keep = []string{"last_*"}
			d, err := read(b, o)
			if err != nil {
				t.Fatal(err)
			}
			x, ok := d.Points.(*points.Dense)
			if !ok || x.D != n || x.N != 3 {
				t.Fatalf("%s: %T: want 3 x %d", name, d.Points, n)
			}
			for i, v := range x.Data {
				if v != float64(1+i/n) {
					t.Errorf("%s, row %d, column %s: %g", name, i/n, d.Features[i%n], v)
				}
			}
		}
	}
}

// Parts of structs, lists of one length, dictionaries of any values and texts of every form are
// read as plain columns.
func TestNested(t *testing.T) {
	text, real := apache.BinaryTypes.String, apache.PrimitiveTypes.Float64
	dictionary := func(of apache.DataType) apache.DataType {
		return &apache.DictionaryType{IndexType: apache.PrimitiveTypes.Int8, ValueType: of}
	}
	long := strings.Repeat("long ", 8) + "long"
	b := file(t, nil,
		field{"p", apache.StructOf(apache.Field{Name: "x", Type: real, Nullable: true},
			apache.Field{Name: "q",
				Type: apache.StructOf(apache.Field{Name: "y", Type: text, Nullable: true}), Nullable: true}),
			[]string{`[{"x": 1, "q": {"y": "u"}}, null]`, `[{"x": null, "q": null}]`}},
		field{"list", apache.ListOf(apache.PrimitiveTypes.Int16), []string{"[[1, 2], null]", "[[null, 6]]"}},
		field{"large", apache.LargeListOf(&apache.Decimal64Type{Precision: 9, Scale: 1}),
			[]string{`[["0.5"], ["-1.5"]]`, `[["2"]]`}},
		field{"year", dictionary(apache.PrimitiveTypes.Int32), []string{"[2024, null]", "[2023]"}},
		field{"day", dictionary(apache.FixedWidthTypes.Date32),
			[]string{`["2024-02-29", null]`, `["2024-02-29"]`}},
		field{"view", apache.BinaryTypes.StringView, []string{`["short", null]`, `["` + long + `"]`}},
		field{"wide", apache.BinaryTypes.LargeString, []string{`["u", ""]`, `["v"]`}},
		field{"wait", apache.FixedWidthTypes.Duration_s, []string{`[7, null]`, `[-1]`}},
		field{"zone", &apache.TimestampType{Unit: apache.Nanosecond, TimeZone: "America/New_York"},
			[]string{`["2024-02-29T12:30:00.000000001Z", null]`, `["1969-12-31T23:59:59Z"]`}},
	)
	want := &points.Mixed{N: 3, Columns: []points.Column{
		{Name: "p.x", Numbers: []float64{1, nan, nan}},
		{Name: "p.q.y", Codes: []int32{0, -1, -1}, Levels: []string{"u"}},
		{Name: "list.0", Numbers: []float64{1, nan, nan}}, {Name: "list.1", Numbers: []float64{2, nan, 6}},
		{Name: "large.0", Numbers: []float64{0.5, -1.5, 2}},
		{Name: "year", Numbers: []float64{2024, nan, 2023}},
		{Name: "day", Codes: []int32{0, -1, 0}, Levels: []string{"2024-02-29"}},
		{Name: "view", Codes: []int32{0, -1, 1}, Levels: []string{"short", long}},
		{Name: "wide", Codes: []int32{0, -1, 1}, Levels: []string{"u", "v"}},
		{Name: "wait", Numbers: []float64{7, nan, -1}},
		{Name: "zone", Codes: []int32{0, -1, 1},
			Levels: []string{"2024-02-29T12:30:00.000000001Z", "1969-12-31T23:59:59Z"}},
	}}
	d, err := read(b, options(true))
	if err != nil {
		t.Fatal(err)
	}
	if diff := difftest.Diff(want, d.Points); diff != "" {
		t.Error(diff)
	}
}

// A long text whose place is not in the file is refused, and not read as an empty one.
func TestTextsOutsideTheFile(t *testing.T) {
	const long = "a text that is too long for its place"
	b := file(t, nil, field{"a", apache.BinaryTypes.StringView, []string{`["` + long + `"]`}})
	view := append([]byte{byte(len(long)), 0, 0, 0}, long[:4]...)
	at := bytes.Index(b, view)
	if at < 0 {
		t.Fatal("the file has no view of its text")
	}
	for what, change := range map[string]func(b []byte){
		"a buffer that there is not": func(b []byte) { b[8] = 1 },
		"the end of its buffer":      func(b []byte) { b[13] = 1 },
		"a length below 0":           func(b []byte) { b[3] = 0x80 },
	} {
		bad := bytes.Clone(b)
		change(bad[at:])
		if d, err := read(bad, options(true)); !fault.IsInput(err) || d != nil {
			t.Errorf("%s: error %v: want one of input", what, err)
		}
	}
}

// Numbers are texts where the options say so; ids and labels may be numbers and dictionaries.
func TestAsText(t *testing.T) {
	types := apache.PrimitiveTypes
	b := file(t, nil,
		field{"flag", apache.FixedWidthTypes.Boolean, []string{"[true, false, null]"}},
		field{"zip", types.Int64, []string{"[9007199254740993, -1, null]"}},
		field{"big", types.Uint64, []string{"[18446744073709551615, 0, null]"}},
		field{"small", types.Uint8, []string{"[255, 0, null]"}},
		field{"price", &apache.Decimal32Type{Precision: 5, Scale: 2}, []string{`["12.50", "-0.01", null]`}},
		field{"id", types.Uint64, []string{"[18446744073709551615, 2, 3]"}},
		field{"label", &apache.DictionaryType{IndexType: types.Int16, ValueType: apache.BinaryTypes.String},
			[]string{`["x", "y", "x"]`}},
	)
	o := options(true)
	o.Text = []string{"*"}
	d, err := read(b, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range d.Points.(*points.Mixed).Columns {
		for _, code := range c.Codes {
			if code < 0 {
				got = append(got, "-")
			} else {
				got = append(got, c.Levels[code])
			}
		}
	}
	want := "true false - 9007199254740993 -1 - 18446744073709551615 0 - 255 0 - 12.5 -0.01 -"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("texts %s: want %s", s, want)
	}
	if !slices.Equal(d.IDs, []string{"18446744073709551615", "2", "3"}) ||
		strings.Join(d.Labels, "") != "xyx" {
		t.Errorf("ids %q, labels %q", d.IDs, d.Labels)
	}
}

// Every number of 16 bits, and the ends of other types, are read exactly.
func TestValues(t *testing.T) {
	half := array.NewFloat16Builder(memory.DefaultAllocator)
	var want []float64
	for bits := range 1 << 16 {
		sign, exponent, fraction := 1-2*float64(bits>>15), bits>>10&31, float64(bits&1023)
		switch exponent { // arrow-go is wrong where it is 0
		case 31:
			continue
		case 0:
			want = append(want, sign*math.Ldexp(fraction, -24))
		default:
			want = append(want, sign*math.Ldexp(1024+fraction, exponent-25))
		}
		half.Append(float16.FromBits(uint16(bits)))
	}
	d, err := read(fileOf(t, nil, "a", half.NewArray()), options(false))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Points.(*points.Dense).Data; !slices.EqualFunc(got, want, sameBits) {
		t.Errorf("%d halves are not the %d of their definition", len(got), len(want))
	}
	for name, c := range map[string]struct {
		of   apache.DataType
		json string
		want []float64
	}{
		"int8":   {apache.PrimitiveTypes.Int8, "[-128, 127]", []float64{-128, 127}},
		"uint32": {apache.PrimitiveTypes.Uint32, "[4294967295, 0]", []float64{1<<32 - 1, 0}},
		"int64": {apache.PrimitiveTypes.Int64, "[-9007199254740992, 9007199254740992]",
			[]float64{-1 << 53, 1 << 53}},
		"duration": {apache.FixedWidthTypes.Duration_ns, "[17280000000000000, -9223372036854775807]",
			[]float64{200 * 24 * 3600 * 1e9, -1 << 63}},
		"decimal128": {&apache.Decimal128Type{Precision: 38, Scale: 10},
			`["-1234567890123456789.0123456789", "0.1"]`, []float64{-1234567890123456789.0123456789, 0.1}},
		"decimal256": {&apache.Decimal256Type{Precision: 76, Scale: 60}, `["0.1", "-3"]`, []float64{0.1, -3}},
		"negative": {&apache.Decimal128Type{Precision: 10, Scale: -3}, `["12000", "-5000"]`,
			[]float64{12000, -5000}},
	} {
		d, err := read(file(t, nil, field{"a", c.of, []string{c.json}}), options(true))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := d.Points.(*points.Dense).Data; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v: want %v", name, got, c.want)
		}
	}
}

// Dates that nanoseconds of 64 bits cannot hold, before 1677 and after 2262, are read in all units.
func TestFarDates(t *testing.T) {
	want := []string{"0001-01-01", "1500-02-28", "1677-09-20", "2262-04-12", "9999-12-31"}
	for of, second := range map[apache.DataType]float64{ // in units of the type
		apache.FixedWidthTypes.Date32: 1. / 86400, apache.FixedWidthTypes.Date64: 1e3,
		&apache.TimestampType{Unit: apache.Second}:                       1,
		&apache.TimestampType{Unit: apache.Millisecond}:                  1e3,
		&apache.TimestampType{Unit: apache.Microsecond, TimeZone: "UTC"}: 1e6,
	} {
		var units []string
		for _, day := range want {
			at, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			units = append(units, strconv.FormatFloat(math.Round(float64(at.Unix())*second), 'f', 0, 64))
		}
		d, err := read(file(t, nil, field{"a", of, []string{"[" + strings.Join(units, ", ") + "]"}}),
			options(true))
		if err != nil {
			t.Errorf("%s: %v", of, err)
			continue
		}
		for k, got := range d.Points.(*points.Mixed).Columns[0].Levels {
			if day, clock, _ := strings.Cut(got, "T"); day != want[k] || strings.Trim(clock, "0:Z") != "" {
				t.Errorf("%s: %s is read as %s", of, want[k], got)
			}
		}
	}
}

// Few bytes that stand for many values are refused within any limit, and without one.
func TestHostileSizes(t *testing.T) {
	nulls := fileOf(t, nil, "a", array.NewNull(1<<40))
	view := strings.Repeat("x", 1<<20)
	texts := array.NewStringViewBuilder(memory.DefaultAllocator)
	texts.Append(view)
	one := texts.NewArray()
	views := array.NewDictionaryArray(&apache.DictionaryType{IndexType: apache.PrimitiveTypes.Int8,
		ValueType: apache.BinaryTypes.StringView},
		int8s(make([]int8, 5)), one)
	for name, c := range map[string]struct {
		content []byte
		limit   int64
	}{
		"nulls": {nulls, 0}, "nulls within a limit": {nulls, 1 << 20},
		"a dictionary": {fileOf(t, nil, "a", views), 1 << 20},
	} {
		o := options(true)
		o.MemoryLimit = c.limit
		_, err := read(c.content, o)
		if _, ok := errors.AsType[*fault.MemoryError](err); !ok {
			t.Errorf("%s: %d bytes: %v: want a memory error", name, len(c.content), err)
		}
	}
}

// A stream holds the rows of a block, not a batch.
func TestStreamMemory(t *testing.T) {
	const n = 200_000
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	for i := range n {
		b.Append(float64(i))
	}
	content := fileOf(t, nil, "a", b.NewArray())
	o := options(false)
	o.MemoryLimit = 100 << 10
	s, err := dataset.OpenStream(onDisk(t, content).Name(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := 0; i < n; {
		part, err := s.Next(1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range part.Points.(*points.Dense).Data {
			if v != float64(i) {
				t.Fatalf("row %d is %g", i, v)
			}
			i++
		}
	}
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// Words such as NA are texts where the format has missing cells of its own, and white space around
// texts never counts.
func TestWordsAreTexts(t *testing.T) {
	codes := &apache.DictionaryType{IndexType: apache.PrimitiveTypes.Int8,
		ValueType: apache.BinaryTypes.String}
	d, err := read(file(t, nil,
		field{"code", codes, []string{`["NA", null, " NA", "null", "\t"]`}},
		field{"country", apache.BinaryTypes.StringView, []string{`["NA", null, " NA  ", "null", " "]`}},
		field{"id", apache.BinaryTypes.String, []string{`["u1", " u2", "u3", "u4 ", "u5"]`}}), options(true))
	if err != nil {
		t.Fatal(err)
	}
	want := &points.Mixed{N: 5, Columns: []points.Column{
		{Name: "code", Codes: []int32{0, -1, 0, 1, -1}, Levels: []string{"NA", "null"}},
		{Name: "country", Codes: []int32{0, -1, 0, 1, -1}, Levels: []string{"NA", "null"}},
	}}
	if diff := difftest.Diff(want, d.Points); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(d.IDs, ","); got != "u1,u2,u3,u4,u5" {
		t.Errorf("ids %q", got)
	}
}
