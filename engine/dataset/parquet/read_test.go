package parquet

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// kind is a type of column: its node, its values, and the encodings that it allows.
type kind struct {
	name      string
	node      pq.Node
	draw      func(t *rapid.T) (pq.Value, float64)
	encodings []encoding.Encoding
}

func kinds() []kind {
	dictionary := []encoding.Encoding{&pq.Plain, &pq.RLEDictionary}
	whole := append(slices.Clone(dictionary), &pq.DeltaBinaryPacked, &pq.ByteStreamSplit)
	broken := append(slices.Clone(dictionary), &pq.ByteStreamSplit)
	number := func(name string, node pq.Node, value func(v int64) (pq.Value, float64), low, high int64) kind {
		return kind{name, node, func(t *rapid.T) (pq.Value, float64) {
			return value(rapid.Int64Range(low, high).Draw(t, name))
		}, whole}
	}
	int32s := func(v int64) (pq.Value, float64) { return pq.Int32Value(int32(v)), float64(v) }
	int64s := func(v int64) (pq.Value, float64) { return pq.Int64Value(v), float64(v) }
	finite := rapid.Float64().Filter(func(v float64) bool { return v-v == 0 })
	return []kind{
		{"double", pq.Leaf(pq.DoubleType), func(t *rapid.T) (pq.Value, float64) {
			v := finite.Draw(t, "double")
			return pq.DoubleValue(v), v
		}, broken},
		{"float", pq.Leaf(pq.FloatType), func(t *rapid.T) (pq.Value, float64) {
			v := rapid.Float32().Filter(func(v float32) bool { return v-v == 0 }).Draw(t, "float")
			return pq.FloatValue(v), float64(v)
		}, broken},
		{"few", pq.Leaf(pq.DoubleType), func(t *rapid.T) (pq.Value, float64) {
			v := float64(rapid.IntRange(0, 3).Draw(t, "few"))
			return pq.DoubleValue(v), v
		}, dictionary},
		{"boolean", pq.Leaf(pq.BooleanType), func(t *rapid.T) (pq.Value, float64) {
			v := rapid.Bool().Draw(t, "boolean")
			if v {
				return pq.BooleanValue(v), 1
			}
			return pq.BooleanValue(v), 0
		}, []encoding.Encoding{&pq.Plain, &pq.RLE}},
		number("int32", pq.Leaf(pq.Int32Type), int32s, math.MinInt32, math.MaxInt32),
		number("int8", pq.Int(8), int32s, math.MinInt8, math.MaxInt8),
		number("uint16", pq.Uint(16), int32s, 0, math.MaxUint16),
		number("uint32", pq.Uint(32), int32s, 0, math.MaxUint32),
		number("int64", pq.Leaf(pq.Int64Type), int64s, -1<<53, 1<<53),
		number("uint64", pq.Uint(64), int64s, 0, 1<<53),
	}
}

// For all types, encodings, codecs, versions and sizes of pages and row groups that another library
// writes, the values are bit-identical, at once and in blocks of any size.
func TestReadsWhatOthersWrite(t *testing.T) {
	dir, all := t.TempDir(), kinds()
	seen := map[string]int{}
	propertytest.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(1, 60).Draw(rt, "n"), rapid.IntRange(1, 4).Draw(rt, "d")
		codec := rapid.SampledFrom([]pq.WriterOption{pq.Compression(&pq.Uncompressed),
			pq.Compression(&pq.Snappy), pq.Compression(&pq.Gzip), pq.Compression(&pq.Zstd),
			pq.Compression(&pq.Brotli), pq.Compression(&pq.Lz4Raw)}).Draw(rt, "codec")
		m := made{group: rapid.IntRange(0, 25).Draw(rt, "group"), rows: make([]pq.Row, n),
			options: []pq.WriterOption{codec,
				pq.DataPageVersion(rapid.IntRange(1, 2).Draw(rt, "version")),
				pq.PageBufferSize(rapid.SampledFrom([]int{16, 100, 1 << 20}).Draw(rt, "page"))}}
		want, features := make([]float64, n*d), []string(nil)
		add := func(name string, node pq.Node, value func(i int) pq.Value) {
			j, level := len(m.names), 0
			if rapid.Bool().Draw(rt, "optional") {
				node, level = pq.Optional(node), 1
			}
			m.names, m.nodes = append(m.names, name), append(m.nodes, node)
			for i := range m.rows {
				m.rows[i] = append(m.rows[i], value(i).Level(0, level, j))
			}
		}
		for j := range d {
			k := rapid.SampledFrom(all).Draw(rt, "kind")
			e := rapid.SampledFrom(k.encodings).Draw(rt, "encoding")
			features = append(features, fmt.Sprintf("c%d", j))
			seen[k.name+" "+e.String()]++
			add(features[j], pq.Encoded(k.node, e), func(i int) (v pq.Value) {
				v, want[i*d+j] = k.draw(rt)
				return v
			})
		}
		data := &dataset.Data{}
		text := []encoding.Encoding{&pq.Plain, &pq.RLEDictionary, &pq.DeltaLengthByteArray,
			&pq.DeltaByteArray}
		if rapid.Bool().Draw(rt, "named") {
			for i := range n {
				data.IDs = append(data.IDs, fmt.Sprintf("point %d", i*i))
				data.Labels = append(data.Labels, fmt.Sprint("class ", i%3))
			}
			add("id", pq.Encoded(pq.String(), rapid.SampledFrom(text).Draw(rt, "encoding of ids")),
				func(i int) pq.Value {
					return pq.ValueOf(data.IDs[i])
				})
			add("label", pq.Encoded(pq.String(), rapid.SampledFrom(text).Draw(rt, "encoding of labels")),
				func(i int) pq.Value {
					return pq.ValueOf(data.Labels[i])
				})
		}
		path := filepath.Join(dir, "data.parquet")
		write1(rt, path, m.bytes(rt))
		whole, err := dataset.Read(path, reading())
		if err != nil {
			rt.Fatal(err)
		}
		parts, err := streamed(path, reading(), func() int { return rapid.IntRange(1, 30).Draw(rt, "limit") })
		if err != nil {
			rt.Fatal(err)
		}
		for name, got := range map[string]*dataset.Data{"at once": whole, "in blocks": parts} {
			if diff := sameBits(got.Points, n, d, want); diff != "" {
				rt.Errorf("%s: %s", name, diff)
			}
			if !slices.Equal(got.Features, features) || !slices.Equal(got.IDs, data.IDs) ||
				!slices.Equal(got.Labels, data.Labels) {
				rt.Errorf("%s: features %q, ids %q, labels %q", name, got.Features, got.IDs, got.Labels)
			}
		}
	})
	t.Logf("columns of each type and encoding: %v", seen)
}

// A column of lists of length k is k features; a list may begin in one page and end in the next.
func TestLists(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		n, k := rapid.IntRange(1, 40).Draw(rt, "n"), rapid.IntRange(1, 5).Draw(rt, "k")
		leaf := pq.Node(pq.Leaf(pq.FloatType))
		element := rapid.Bool().Draw(rt, "optional element")
		if element {
			leaf = pq.Optional(leaf)
		}
		list, level := pq.List(leaf), 1
		if rapid.Bool().Draw(rt, "repeated") {
			list, element = pq.Repeated(pq.Leaf(pq.FloatType)), false
		} else if rapid.Bool().Draw(rt, "optional") {
			list, level = pq.Optional(list), 2
		}
		if element {
			level++
		}
		m := made{names: []string{"a", "v", "z"},
			nodes: []pq.Node{pq.Leaf(pq.DoubleType), list, pq.Leaf(pq.DoubleType)},
			group: rapid.IntRange(0, 15).Draw(rt, "group"),
			options: []pq.WriterOption{pq.DataPageVersion(rapid.IntRange(1, 2).Draw(rt, "version")),
				pq.PageBufferSize(rapid.SampledFrom([]int{16, 1 << 20}).Draw(rt, "page"))}}
		want, features := []float64(nil), []string{"a"}
		for j := range k {
			features = append(features, fmt.Sprint("v.", j))
		}
		features = append(features, "z")
		for i := range n {
			row := pq.Row{pq.DoubleValue(float64(i)).Level(0, 0, 0)}
			want = append(want, float64(i))
			for j := range k {
				v := float32(i) + float32(j)/8
				row = append(row, pq.FloatValue(v).Level(min(j, 1), level, 1))
				want = append(want, float64(v))
			}
			m.rows = append(m.rows, append(row, pq.DoubleValue(-1).Level(0, 0, 2)))
			want = append(want, -1)
		}
		path := filepath.Join(dir, "data.parquet")
		write1(rt, path, m.bytes(rt))
		whole, err := dataset.Read(path, reading())
		if err != nil {
			rt.Fatal(err)
		}
		parts, err := streamed(path, reading(), func() int { return rapid.IntRange(1, 9).Draw(rt, "limit") })
		if err != nil {
			rt.Fatal(err)
		}
		if diff := difftest.Diff(whole.Features, features); diff != "" {
			rt.Error(diff)
		}
		for _, got := range []*dataset.Data{whole, parts} {
			if diff := sameBits(got.Points, n, k+2, want); diff != "" {
				rt.Error(diff)
			}
		}
	})
}

// Numbers as ids and labels become the text that CSV would have.
func TestNumbersAsNames(t *testing.T) {
	x := pq.Leaf(pq.DoubleType)
	for _, c := range []struct {
		node  pq.Node
		value any
		want  string
	}{
		{pq.Leaf(pq.Int64Type), int64(math.MinInt64), "-9223372036854775808"},
		{pq.Uint(64), uint64(math.MaxUint64), "18446744073709551615"},
		{pq.Leaf(pq.Int32Type), int32(-7), "-7"}, {pq.Uint(32), uint32(math.MaxUint32), "4294967295"},
		{pq.Leaf(pq.BooleanType), true, "true"}, {pq.Leaf(pq.DoubleType), 1.5, "1.5"},
		{pq.Leaf(pq.FloatType), float32(2), "2"}, {pq.String(), "a b", "a b"},
	} {
		d, err := decode(table(t, []string{"label", "x"}, []pq.Node{c.node, x}, []any{c.value, 1.0}),
			reading())
		if err != nil || d.Labels[0] != c.want {
			t.Errorf("%v: %v, %v: want %q", c.value, d, err, c.want)
		}
		d, err = decode(table(t, []string{"id", "x"}, []pq.Node{c.node, x}, []any{c.value, 1.0}), reading())
		if err != nil || d.IDs[0] != c.want {
			t.Errorf("%v: %v, %v: want %q", c.value, d, err, c.want)
		}
	}
	o := reading()
	o.IgnoreLabels = true
	d, err := decode(table(t, []string{"label", "x"}, []pq.Node{pq.String(), x}, []any{"a", 1.0}), o)
	if err != nil || d.Labels != nil {
		t.Errorf("ignored labels: %v, %v", d, err)
	}
}

// Differences may be whole numbers of any size in labels, which need not be exact in float64. Pages
// of old writers may name an encoding of levels that they do not have.
func TestWideDifferences(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		m := made{names: []string{"label", "x"},
			nodes: []pq.Node{pq.Encoded(pq.Leaf(pq.Int64Type), &pq.DeltaBinaryPacked),
				pq.Leaf(pq.DoubleType)}}
		var want []string
		for _, v := range rapid.SliceOfN(rapid.Int64(), 1, 300).Draw(rt, "labels") {
			want = append(want, fmt.Sprint(v))
			m.rows = append(m.rows, pq.Row{pq.Int64Value(v).Level(0, 0, 0), pq.DoubleValue(1).Level(0, 0, 1)})
		}
		d, err := decode(m.bytes(rt), reading())
		if err != nil || !slices.Equal(d.Labels, want) {
			rt.Fatalf("%v: labels %v, want %v", err, d, want)
		}
	})
	old := encoded(&format.PageHeader{Type: format.DataPage, UncompressedPageSize: 8, CompressedPageSize: 8,
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: 1, Encoding: format.Plain, DefinitionLevelEncoding: format.BitPacked,
			RepetitionLevelEncoding: format.BitPacked})})
	d, err := decode(crafted(format.Uncompressed, 1, append(old, make([]byte, 8)...)), reading())
	if err != nil || sameBits(d.Points, 1, 1, []float64{0}) != "" {
		t.Errorf("a page of an old writer: %v", err)
	}
}

// Problems of a value or a column name its row and column, and a fix.
func TestNamesThePlace(t *testing.T) {
	double, text := pq.Leaf(pq.DoubleType), pq.String()
	lists := func(lengths ...int) []byte {
		m := made{names: []string{"v"}, nodes: []pq.Node{pq.List(double)}}
		for _, n := range lengths {
			row := pq.Row{pq.Value{}.Level(0, 0, 0)}
			for j := range n {
				row = append(row[:j], pq.DoubleValue(1).Level(min(j, 1), 1, 0))
			}
			m.rows = append(m.rows, row)
		}
		return m.bytes(t)
	}
	for _, c := range []struct {
		name   string
		file   []byte
		row    int
		column string
		words  []string
	}{
		{"NaN", table(t, []string{"x", "y"}, []pq.Node{double, double}, []any{1.0, 2.0},
			[]any{1.0, math.NaN()}), 1, "y", []string{"NaN", "finite"}},
		{"infinity", table(t, []string{"x"}, []pq.Node{pq.Leaf(pq.FloatType)}, []any{float32(math.Inf(-1))}),
			0, "x", []string{"-Inf"}},
		{"null", table(t, []string{"x", "y"}, []pq.Node{double, pq.Optional(double)}, []any{1.0, 2.0},
			[]any{1.0, 2.0}, []any{1.0, nil}), 2, "y", []string{"empty"}},
		{"text", table(t, []string{"color", "x"}, []pq.Node{text, double}, []any{"red", 2.0}), -1, "color",
			[]string{"text", "numbers"}},
		{"date", table(t, []string{"day", "x"}, []pq.Node{pq.Date(), double}, []any{int32(3), 2.0}), -1,
			"day", []string{"DATE", "numbers"}},
		{"decimal", table(t, []string{"price", "x"}, []pq.Node{pq.Decimal(2, 9, pq.Int32Type), double},
			[]any{int32(3), 2.0}), -1, "price", []string{"numbers"}},
		{"time", table(t, []string{"at", "x"}, []pq.Node{pq.Leaf(pq.Int96Type), double},
			[]any{deprecated.Int96{1}, 2.0}), -1, "at", []string{"INT96"}},
		{"large", table(t, []string{"n"}, []pq.Node{pq.Leaf(pq.Int64Type)}, []any{int64(1 << 53)},
			[]any{int64(1<<53 + 1)}), 1, "n", []string{"2^53"}},
		{"large and negative",
			table(t, []string{"n"}, []pq.Node{pq.Leaf(pq.Int64Type)}, []any{int64(-1<<53 - 1)}), 0, "n",
			[]string{"2^53"}},
		{"large without a sign",
			table(t, []string{"n"}, []pq.Node{pq.Uint(64)}, []any{uint64(math.MaxUint64)}), 0, "n",
			[]string{"2^53"}},
		{"id is null", table(t, []string{"id", "x"}, []pq.Node{pq.Optional(pq.Leaf(pq.Int32Type)), double},
			[]any{nil, 1.0}), 0, "id", []string{"empty", "want a id"}},
		{"same ids", table(t, []string{"id", "x"}, []pq.Node{text, double}, []any{"a", 1.0}, []any{"b", 1.0},
			[]any{"a", 1.0}), 2, "id", []string{`"a"`, "row 0"}},
		{"no features", table(t, []string{"label"}, []pq.Node{text}, []any{"a"}), -1, "",
			[]string{"no feature columns"}},
		{"no rows", table(t, []string{"x"}, []pq.Node{double}), -1, "", []string{"no rows"}},
		{"longer list", lists(2, 2, 3, 2), 2, "v", []string{"another length than 2"}},
		{"shorter list", lists(2, 2, 1, 2), 2, "v", []string{"another length than 2"}},
		{"last list is longer", lists(2, 2, 3), 2, "v", []string{"another length than 2"}},
		{"last list is shorter", lists(2, 2, 1), 2, "v", []string{"another length than 2"}},
		{"empty list", lists(2, 0, 2), 1, "v.0", []string{"empty"}},
		{"first list is empty", lists(0, 2), 0, "v.0", []string{"empty"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode(c.file, reading())
			wantData(t, err, c.row, c.column, c.words...)
		})
	}
	nested := pq.Group{"v": pq.List(pq.List(double))}
	m := made{names: []string{"n"}, nodes: []pq.Node{nested}}
	_, err := decode(m.bytes(t), reading())
	wantData(t, err, -1, "n.v.list.element.list", "lists of lists")
	lzo := crafted(format.LZO, 1, paged(format.DataPage, 1, format.Plain, 8, 8, make([]byte, 8)))
	_, err = decode(lzo, reading())
	wantData(t, err, -1, "x", "LZO", "snappy, gzip, zstd, brotli or lz4_raw")
}

// A check finds all problems.
func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.parquet")
	double := pq.Optional(pq.Leaf(pq.DoubleType))
	nan, inf := math.NaN(), math.Inf(1)
	write1(t, path, table(t, []string{"id", "x", "y"}, []pq.Node{pq.String(), double, double},
		[]any{"a", 1.0, nil}, []any{"b", nan, nil}, []any{"a", 2.0, inf}, []any{"", 3.0, 4.0}))
	problems, err := dataset.Check(path, reading(), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range problems {
		got[fmt.Sprint(p.Err.Row, " ", p.Err.Column)] = p.Fix
	}
	want := []string{"0 y", "1 x", "1 y", "2 id", "2 y", "3 id"}
	if len(problems) != len(want) {
		t.Errorf("%d problems: %v", len(problems), problems)
	}
	for _, at := range want {
		if got[at] == "" {
			t.Errorf("no fix for %s, only %v", at, got)
		}
	}
	if few, err := dataset.Check(path, reading(), 2); err != nil || len(few) != 2 {
		t.Errorf("at most two: %v, %v", few, err)
	}
}

// A structure without lists is read like its parts.
func TestStructures(t *testing.T) {
	m := made{names: []string{"p"},
		nodes: []pq.Node{pq.Optional(pq.Group{"x": pq.Optional(pq.Leaf(pq.DoubleType)),
			"y": pq.Leaf(pq.DoubleType)})},
		rows: []pq.Row{{pq.DoubleValue(1).Level(0, 2, 0), pq.DoubleValue(2).Level(0, 1, 1)}}}
	d, err := decode(m.bytes(t), reading())
	if err != nil {
		t.Fatal(err)
	}
	if diff := sameBits(d.Points, 1, 2, []float64{1, 2}); diff != "" ||
		!slices.Equal(d.Features, []string{"p.x", "p.y"}) {
		t.Error(diff, d.Features)
	}
	if !fault.IsInput(fault.Cell(-1, "x", "bad")) {
		t.Error("an error of a column is not an input error")
	}
}

// A label that is null, blank or not a number is that of a row without one.
func TestUnlabeledRows(t *testing.T) {
	text, double := pq.String(), pq.Leaf(pq.DoubleType)
	for name, file := range map[string][]byte{
		"null": table(t, []string{"label", "x"}, []pq.Node{pq.Optional(text), double}, []any{"1", 1.0},
			[]any{nil, 2.0}),
		"blank": table(t, []string{"label", "x"}, []pq.Node{text, double}, []any{"1", 1.0}, []any{" ", 2.0}),
		"number": table(t, []string{"label", "x"}, []pq.Node{double, double}, []any{1.0, 1.0},
			[]any{math.NaN(), 2.0}),
	} {
		d, err := dataset.Decode(bytes.NewReader(file), name, "parquet", reading())
		if err != nil || !slices.Equal(d.Labels, []string{"1", ""}) || d.Labeled() != 1 {
			t.Errorf("%s: %+v, error %v: want labels 1 and none", name, d, err)
		}
	}
}
