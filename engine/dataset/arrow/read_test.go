package arrow_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/dataset/arrow"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

var nan = math.NaN()

// field is a column of a test file: its values as JSON, batch by batch.
type field struct {
	name    string
	of      apache.DataType
	batches []string
}

// file returns a file of columns, whose values arrow-go parses and writes.
func file(t testing.TB, options []ipc.Option, fields ...field) []byte {
	t.Helper()
	var list []apache.Field
	for _, f := range fields {
		list = append(list, apache.Field{Name: f.name, Type: f.of, Nullable: true})
	}
	schema := apache.NewSchema(list, nil)
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, append(options, ipc.WithSchema(schema))...)
	if err != nil {
		t.Fatal(err)
	}
	for k := range fields[0].batches {
		var columns []apache.Array
		for _, f := range fields {
			columns = append(columns, f.batch(t, k))
		}
		if err := w.Write(array.NewRecordBatch(schema, columns, int64(columns[0].Len()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// batch returns the values of a batch. All batches share one dictionary, as the format demands.
func (f field) batch(t testing.TB, k int) apache.Array {
	t.Helper()
	parse := func(json string) apache.Array {
		a, _, err := array.FromJSON(memory.DefaultAllocator, f.of, strings.NewReader(json))
		if err != nil {
			t.Fatalf("column %s: %v", f.name, err)
		}
		return a
	}
	if _, ok := f.of.(*apache.DictionaryType); !ok {
		return parse(f.batches[k])
	}
	var before, all []string
	for i, b := range f.batches {
		if b = strings.Trim(b, "[]"); b != "" {
			all = append(all, b)
		}
		if i < k {
			before = slices.Clone(all)
		}
	}
	from, n := parse("["+strings.Join(before, ",")+"]").Len(), parse(f.batches[k]).Len()
	return array.NewSlice(parse("["+strings.Join(all, ",")+"]"), int64(from), int64(from+n))
}

// fileOf returns a file of one column and one batch.
func fileOf(t testing.TB, o []ipc.Option, name string, a apache.Array) []byte {
	t.Helper()
	schema := apache.NewSchema([]apache.Field{{Name: name, Type: a.DataType(), Nullable: true}}, nil)
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, append(o, ipc.WithSchema(schema))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(array.NewRecordBatch(schema, []apache.Array{a}, int64(a.Len()))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func int8s(values []int8) apache.Array {
	b := array.NewInt8Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}

// onDisk writes a file and opens it.
func onDisk(t *testing.T, b []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.arrow")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func options(mixed bool) dataset.ReadOptions {
	return dataset.ReadOptions{Format: "arrow", Mixed: mixed, Extensions: []dataset.Extension{arrow.Format()}}
}

func read(b []byte, o dataset.ReadOptions) (*dataset.Data, error) {
	return dataset.Decode(bytes.NewReader(b), "t.arrow", "", o)
}

// numbersFile has a column of every type of number, in three batches.
func numbersFile(t testing.TB, o ...ipc.Option) []byte {
	three := []string{"[1, 2]", "[]", "[3]"}
	halves := []string{"[1.5, -2]", "[]", "[0.25]"}
	types := apache.PrimitiveTypes
	return file(t, o,
		field{"id", apache.BinaryTypes.String, []string{`["r0", "r1"]`, "[]", `["r2"]`}},
		field{"i8", types.Int8, three}, field{"i16", types.Int16, three}, field{"i32", types.Int32, three},
		field{"i64", types.Int64, three},
		field{"u8", types.Uint8, three}, field{"u16", types.Uint16, three}, field{"u32", types.Uint32, three},
		field{"u64", types.Uint64, three},
		field{"f16", apache.FixedWidthTypes.Float16, halves}, field{"f32", types.Float32, halves},
		field{"f64", types.Float64, halves},
		field{"flag", apache.FixedWidthTypes.Boolean, []string{"[true, false]", "[]", "[true]"}},
		field{"list", apache.FixedSizeListOf(2, types.Float32),
			[]string{"[[1, 2], [3, 4]]", "[]", "[[5, 6]]"}},
		field{"label", types.Int32, []string{"[7, 8]", "[]", "[9]"}},
	)
}

// Numbers of every type are read exactly, from files of both compressions too, as rows in blocks of
// any size, and after rows that are skipped.
func TestNumbers(t *testing.T) {
	want := [][]float64{
		{1, 1, 1, 1, 1, 1, 1, 1, 1.5, 1.5, 1.5, 1, 1, 2},
		{2, 2, 2, 2, 2, 2, 2, 2, -2, -2, -2, 0, 3, 4},
		{3, 3, 3, 3, 3, 3, 3, 3, 0.25, 0.25, 0.25, 1, 5, 6},
	}
	names := []string{"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "flag",
		"list.0", "list.1"}
	for name, o := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()},
		"zstd": {ipc.WithZstd()}} {
		t.Run(name, func(t *testing.T) {
			b := numbersFile(t, o...)
			d, err := read(b, options(false))
			if err != nil {
				t.Fatal(err)
			}
			x := d.Points.(*points.Dense)
			if !slices.Equal(x.Data, slices.Concat(want...)) || !slices.Equal(d.Features, names) {
				t.Errorf("%v %v", d.Features, x.Data)
			}
			if !slices.Equal(d.IDs, []string{"r0", "r1", "r2"}) ||
				!slices.Equal(d.Labels, []string{"7", "8", "9"}) {
				t.Errorf("ids %q, labels %q", d.IDs, d.Labels)
			}
			for skip := range 4 {
				s, err := dataset.DecodeStream(bytes.NewReader(b), "t.arrow", "arrow", options(false))
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Skip(skip); err != nil {
					t.Fatal(err)
				}
				for i := skip; i < 3; i++ {
					part, err := s.Next(1)
					if err != nil || !slices.Equal(part.Points.(*points.Dense).Data, want[i]) ||
						part.IDs[0] != d.IDs[i] {
						t.Errorf("skip %d, row %d: %+v, %v", skip, i, part, err)
					}
				}
				if _, err := s.Next(1); err != io.EOF {
					t.Errorf("behind the last row: %v", err)
				}
				s.Close()
			}
		})
	}
}

// mixedFile has columns of everything that a mixed table takes.
func mixedFile(t testing.TB) []byte {
	return file(t, nil,
		field{"plan", apache.BinaryTypes.String, []string{`["free", null]`, `["pro"]`}},
		field{"city", &apache.DictionaryType{IndexType: apache.PrimitiveTypes.Int8,
			ValueType: apache.BinaryTypes.String}, []string{`["a", "b"]`, `[null]`}},
		field{"day", apache.FixedWidthTypes.Date32, []string{`["2024-02-29", null]`, `["1969-12-31"]`}},
		field{"at", &apache.TimestampType{Unit: apache.Millisecond},
			[]string{`["2024-02-29T12:30:00", null]`, `["1969-12-31T23:59:59.5"]`}},
		field{"clock", apache.FixedWidthTypes.Time32s, []string{`["07:30:00", null]`, `["23:59:59"]`}},
		field{"price", &apache.Decimal128Type{Precision: 20, Scale: 2},
			[]string{`["12.05", null]`, `["-0.01"]`}},
		field{"pay", apache.PrimitiveTypes.Float64, []string{"[1.5, null]", "[2.5]"}},
		field{"count", apache.PrimitiveTypes.Int64, []string{"[null, 3]", "[4]"}},
		field{"none", apache.Null, []string{"[null, null]", "[null]"}},
		field{"vector", apache.FixedSizeListOf(2, apache.PrimitiveTypes.Float64),
			[]string{"[[1, 2], null]", "[[null, 6]]"}},
	)
}

// Columns of a mixed table have the kinds that the file says; a null is a missing cell.
func TestMixed(t *testing.T) {
	d, err := read(mixedFile(t), options(true))
	if err != nil {
		t.Fatal(err)
	}
	x := d.Points.(*points.Mixed)
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range x.N {
		var cells []string
		for _, c := range x.Columns {
			switch {
			case !c.IsText():
				cells = append(cells, fmt.Sprint(c.Numbers[i]))
			case c.Codes[i] < 0:
				cells = append(cells, "-")
			default:
				cells = append(cells, c.Levels[c.Codes[i]])
			}
		}
		got = append(got, strings.Join(cells, " "))
	}
	want := []string{
		"free a 2024-02-29 2024-02-29T12:30:00Z 07:30:00 12.05 1.5 NaN NaN 1 2",
		"- b - - - NaN NaN 3 NaN NaN NaN",
		"pro - 1969-12-31 1969-12-31T23:59:59.5Z 23:59:59 -0.01 2.5 4 NaN NaN 6",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	names := []string{"plan", "city", "day", "at", "clock", "price", "pay", "count", "none", "vector.0",
		"vector.1"}
	if !slices.Equal(d.Features, names) {
		t.Errorf("columns %q", d.Features)
	}
}

// Errors name the column, and the row if there is one.
func TestRefused(t *testing.T) {
	text, real := apache.BinaryTypes.String, apache.PrimitiveTypes.Float64
	mixed := func(change func(o *dataset.ReadOptions)) dataset.ReadOptions {
		o := options(true)
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		content []byte
		o       dataset.ReadOptions
		want    string
	}{
		"text": {file(t, nil, field{"a", text, []string{`["x"]`}}), options(false),
			`t.arrow, column "a": it contains text: want numbers`},
		"null": {file(t, nil, field{"a", real, []string{"[1]", "[2, null]"}}), options(false),
			`t.arrow, row 2, column "a": the cell is empty: want a finite number`},
		"infinity": {file(t, nil, field{"a", real, []string{`[1, "Inf"]`}}), options(true),
			`t.arrow, row 1, column "a": the value is +Inf: want a finite number`},
		"large": {file(t, nil,
			field{"a", apache.PrimitiveTypes.Int64, []string{"[9007199254740993]"}}), options(true),
			`t.arrow, row 0, column "a": the whole number has no exact float64: want at most 2^53 in size`},
		"ragged": {file(t, nil, field{"a", apache.ListOf(real), []string{"[[1], [2, 3]]"}}),
			options(true), `t.arrow, row 1, column "a": the list has another length than 1, that of the first row`},
		"no values": {file(t, nil, field{"a", apache.ListOf(real), []string{"[[], [2, 3]]"}}),
			options(true), `column "a": its lists have no values`},
		"list of texts": {file(t, nil, field{"a", apache.ListOf(text), []string{`[["x"]]`}}), options(true),
			`column "a": it contains lists of other values than numbers: want numbers`},
		"list as text": {file(t, nil, field{"a", apache.FixedSizeListOf(1, real), []string{"[[1]]"}}),
			mixed(func(o *dataset.ReadOptions) {
				o.Text = []string{"a"}
			}), `column "a": it cannot be read as text`},
		"text as numbers": {file(t, nil, field{"a", text, []string{`["x"]`}}),
			mixed(func(o *dataset.ReadOptions) {
				o.Numbers = []string{"a"}
			}), `column "a": it contains text: want numbers`},
		"dates": {file(t, nil,
			field{"a", apache.FixedWidthTypes.Date32, []string{`["2024-01-31"]`}}), options(false),
			`column "a": it contains dates: want numbers`},
		"map": {file(t, nil,
			field{"a", apache.MapOf(text, real), []string{`[[{"key": "x", "value": 1}]]`}}), options(true),
			`column "a": it contains values of another type: want numbers`},
		"bytes": {file(t, nil, field{"a", apache.BinaryTypes.Binary, []string{`["/w=="]`}}),
			options(true), `t.arrow, row 0, column "a": the cell is not UTF-8: want text`},
		"two names": {file(t, nil, field{"a", real, []string{"[1]"}},
			field{"a", real, []string{"[1]"}}), options(true),
			`column "a": features 0 and 1 have the same name: want different ones`},
		"no name": {file(t, nil, field{"", real, []string{"[1]"}}), options(true),
			`column "0": feature 0 has no name: want one`},
		"no id": {file(t, nil, field{"a", real, []string{"[1]"}},
			field{"id", text, []string{"[null]"}}), options(false),
			`t.arrow, row 0, column "id": the cell is empty: want a id`},
		"label of lists": {file(t, nil, field{"a", real, []string{"[1]"}},
			field{"label", apache.FixedSizeListOf(2, real), []string{"[[1, 2]]"}}), options(false),
			`column "label": it cannot be the labels or ids: want texts or whole numbers`},
		"nothing left": {file(t, nil, field{"a", real, []string{"[1]"}}),
			mixed(func(o *dataset.ReadOptions) {
				o.Drop = []string{"*"}
			}), "it has no feature columns"},
		"no such column": {file(t, nil, field{"pay", real, []string{"[1]"}}),
			mixed(func(o *dataset.ReadOptions) {
				o.Drop = []string{"pya"}
			}), `there is no column "pya": want one of "pay"; did you mean "pay"?`},
		"no rows": {file(t, nil, field{"a", real, []string{"[]"}}), options(true),
			"want at least one"},
		"feather 1": {[]byte("FEA1" + strings.Repeat("\x00", 40) + "FEA1"), options(true),
			"it is a Feather file of version 1: want version 2"},
		"a stream": {[]byte("\xff\xff\xff\xff" + strings.Repeat("\x00", 40)), options(true),
			"it is an Arrow stream: want an Arrow file"},
		"something else": {[]byte(strings.Repeat("a,b\n", 9)), options(true),
			"the content is not Arrow: want a file that begins with ARROW1"},
		"a few bytes": {[]byte("ARROW1"), options(true), "it has 6 bytes: want an Arrow file"},
		"cut off": {numbersFile(t)[:500], options(true),
			"it does not end in ARROW1, the file is cut off"},
		"a small limit": {numbersFile(t), mixed(func(o *dataset.ReadOptions) {
			o.MemoryLimit = 8 << 10
		}), "limit"},
		"a wrong footer": {append(bytes.Clone(numbersFile(t)[:400]), "\xff\xff\xff\x7fARROW1"...),
			options(true), "its footer claims 2147483647 bytes: want at most 392"},
		"a wrong options": {file(t, nil, field{"a", real, []string{"[1]"}}),
			mixed(func(o *dataset.ReadOptions) {
				o.Keep = []string{"["}
			}), `keep is "["`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.content, c.o)
			if err == nil || !fault.IsInput(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v: want one with %q", err, c.want)
			}
		})
	}
}

// A batch that claims more memory than the limit is refused before it is allocated.
func TestMemoryLimit(t *testing.T) {
	zeros := "[" + strings.TrimSuffix(strings.Repeat("0,", 100000), ",") + "]"
	b := file(t, []ipc.Option{ipc.WithZstd()}, field{"a", apache.PrimitiveTypes.Float64, []string{zeros}})
	o := options(false)
	o.MemoryLimit = 500 << 10
	_, err := read(b, o)
	if _, ok := errors.AsType[*fault.MemoryError](err); !ok {
		t.Errorf("%d bytes within a limit of 500 KiB: %v, want a memory error", len(b), err)
	}
	o.MemoryLimit = 50 << 20
	if _, err := read(b, o); err != nil {
		t.Error(err)
	}
}

// Written rows are read back bit for bit, with ids and labels, from a file of their own.
func TestWrite(t *testing.T) {
	x := &points.Dense{N: 3, D: 2,
		Data: []float64{1, -0.1, math.SmallestNonzeroFloat64, math.MaxFloat64, 1e-300, 3}}
	d := &dataset.Data{Points: x, Features: []string{"a", "b"}, IDs: []string{"p", "q", "ü"},
		Labels: []string{"x", "y", "x"}}
	for _, name := range []string{"t.arrow", "t.feather", "t.arrow.gz"} {
		path := filepath.Join(t.TempDir(), name)
		extensions := []dataset.Extension{arrow.Format()}
		if err := dataset.WriteData(path, d, dataset.WriteOptions{Extensions: extensions}); err != nil {
			t.Fatal(err)
		}
		got, err := dataset.Read(path, dataset.ReadOptions{Extensions: extensions})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Points.(*points.Dense).Data, x.Data) ||
			!slices.Equal(got.Features, d.Features) ||
			!slices.Equal(got.IDs, d.IDs) || !slices.Equal(got.Labels, d.Labels) {
			t.Errorf("%s: %+v", name, got)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Any bytes give an error of input, or a table that is valid and can be read in blocks too.
func FuzzArrow(f *testing.F) {
	for _, b := range [][]byte{numbersFile(f), numbersFile(f, ipc.WithLZ4()), mixedFile(f)} {
		f.Add(b, true)
		for at := 9; at < len(b); at += len(b) / 60 { // damaged files: one byte changed, or the middle lost
			changed := bytes.Clone(b)
			changed[at] ^= 0x41
			f.Add(changed, at%2 == 0)
			f.Add(slices.Concat(b[:at], b[min(len(b), at+16):]), true)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, mixed bool) {
		o := options(mixed)
		o.MemoryLimit = 64 << 20
		d, err := read(b, o)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("%T %v: want an error of input", err, err)
			}
			return
		}
		if err := d.Points.Validate(); err != nil {
			t.Fatal(err)
		}
		s, err := dataset.DecodeStream(bytes.NewReader(b), "t.arrow", "arrow", o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		rows := 0
		for {
			part, err := s.Next(2)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			rows += part.Points.Len()
		}
		if rows != d.Points.Len() {
			t.Fatalf("%d rows in blocks, %d at once", rows, d.Points.Len())
		}
	})
}

// TestMostProblems: a check ends after as many problems as were asked for, wherever they are.
func TestMostProblems(t *testing.T) {
	real, path := apache.PrimitiveTypes.Float64, filepath.Join(t.TempDir(), "x.arrow")
	content := file(t, nil, field{"a", real, []string{"[null, 1, null]"}},
		field{"b", apache.ListOf(real), []string{"[[1], [2, 3], [null]]"}},
		field{"c", real, []string{"[1, null, 3]"}})
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for most := 1; most <= 5; most++ {
		some, err := dataset.Check(path, options(false), most)
		if err != nil || len(some) != most {
			t.Errorf("%d problems, want %d; error %v", len(some), most, err)
		}
	}
}
