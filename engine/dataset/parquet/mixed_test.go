package parquet

import (
	"errors"
	"math"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/same"
)

func mixed() dataset.ReadOptions {
	o := reading()
	o.Mixed = true
	return o
}

// customers is a table of all kinds of columns, with a missing cell in each.
func customers(t fatal) []byte {
	return table(t, []string{"a_text", "b_day", "c_time", "d_price", "e_wide", "f_flag", "g_number", "h_clock", "i_clock", "label"},
		[]pq.Node{
			pq.Optional(pq.Encoded(pq.String(), &pq.RLEDictionary)), pq.Optional(pq.Date()), pq.Optional(pq.Timestamp(pq.Millisecond)),
			pq.Optional(pq.Decimal(2, 12, pq.Int64Type)), pq.Optional(pq.Decimal(3, 20, pq.FixedLenByteArrayType(9))), pq.Optional(pq.Leaf(pq.BooleanType)),
			pq.Optional(pq.Leaf(pq.DoubleType)), pq.Optional(pq.Time(pq.Millisecond)), pq.Optional(pq.Time(pq.Microsecond)), pq.String(),
		},
		[]any{"PT", int32(19723), int64(1704412800000), int64(-1205), [9]byte{8: 7}, true, 1.5, int32(27000500), int64(27000000001), "x"},
		[]any{nil, int32(-1), int64(1500), int64(1), [9]byte{255, 255, 255, 255, 255, 255, 255, 255, 255}, false, math.NaN(), int32(0), int64(0), "y"},
		[]any{"Smith, John", nil, nil, nil, nil, nil, nil, nil, nil, "x"},
		[]any{"PT", int32(19723), int64(-1), int64(0), [9]byte{6: 1}, true, -2.0, int32(86399000), int64(86399999999), "y"},
	)
}

// Texts, days, times, decimals and nulls are read as they are.
func TestMixed(t *testing.T) {
	nan := math.NaN()
	want := &points.Mixed{N: 4, Columns: []points.Column{
		{Name: "a_text", Codes: []int32{0, -1, 1, 0}, Levels: []string{"PT", "Smith, John"}},
		{Name: "b_day", Codes: []int32{0, 1, -1, 0}, Levels: []string{"2024-01-01", "1969-12-31"}},
		{Name: "c_time", Codes: []int32{0, 1, -1, 2}, Levels: []string{"2024-01-05T00:00:00Z", "1970-01-01T00:00:01.5Z", "1969-12-31T23:59:59.999Z"}},
		{Name: "d_price", Numbers: []float64{-12.05, 0.01, nan, 0}},
		{Name: "e_wide", Numbers: []float64{0.007, -0.001, nan, 65.536}},
		{Name: "f_flag", Codes: []int32{0, 1, -1, 0}, Levels: []string{"true", "false"}},
		{Name: "g_number", Numbers: []float64{1.5, nan, nan, -2}},
		{Name: "h_clock", Codes: []int32{0, 1, -1, 2}, Levels: []string{"07:30:00.5", "00:00:00", "23:59:59"}},
		{Name: "i_clock", Codes: []int32{0, 1, -1, 2}, Levels: []string{"07:30:00.000001", "00:00:00", "23:59:59.999999"}},
	}}
	file := customers(t)
	d, err := decode(file, mixed())
	if err != nil {
		t.Fatal(err)
	}
	if diff := same.Diff(want, d.Points); diff != "" {
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
	full := table(t, []string{"d_price", "g_text"}, []pq.Node{pq.Decimal(2, 12, pq.Int64Type), pq.String()}, []any{int64(5), "u"}, []any{int64(-5), ""})
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
	if c := d.Points.(*points.Mixed).Columns; len(c) != 2 || c[0].Name != "b_day" || cellOf(&c[1], 0) != "true" {
		t.Errorf("%+v", c)
	}
	for name, c := range map[string]struct {
		change func(o *dataset.ReadOptions)
		text   string
	}{
		"no such label":   {func(o *dataset.ReadOptions) { o.Label = "a_txt" }, `did you mean "a_text"?`},
		"no such id":      {func(o *dataset.ReadOptions) { o.ID = "labels" }, `did you mean "label"?`},
		"nothing to drop": {func(o *dataset.ReadOptions) { o.Drop = []string{"z*"} }, `"z*"`},
		"label twice":     {func(o *dataset.ReadOptions) { o.Label, o.ID = "a_text", "a_text" }, "the label and the id"},
		"text as numbers": {func(o *dataset.ReadOptions) { o.Numbers = []string{"a_text"} }, "contains text: want numbers"},
		"both":            {func(o *dataset.ReadOptions) { o.Numbers, o.Text = []string{"*"}, []string{"g_number"} }, "text and numbers"},
		"no features":     {func(o *dataset.ReadOptions) { o.Drop = []string{"?_*"} }, "no feature columns"},
		"decimal label":   {func(o *dataset.ReadOptions) { o.Label = "d_price" }, "cannot be the labels"},
		"no text":         {func(o *dataset.ReadOptions) { o.Text = []string{"e_wide"} }, "cannot be read as text"},
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

// A decimal is the nearest number to its digits.
func TestDecimals(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		whole, scale := rapid.Int64().Draw(t, "whole"), rapid.IntRange(0, 30).Draw(t, "scale")
		exact := new(big.Rat).SetFrac(big.NewInt(whole), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		want, _ := exact.Float64()
		c := column{kind: 2, mixed: decimals, scale: scale}
		if got := c.number(uint64(whole)); got != want {
			t.Fatalf("%d/10^%d is %v: want %v", whole, scale, got, want)
		}
		b := make([]byte, 11)
		for k := range b {
			b[k] = byte(whole >> min(63, 8*(10-k)))
		}
		if got := decimalOf(b, scale); got != want {
			t.Fatalf("bytes % x/10^%d are %v: want %v", b, scale, got, want)
		}
	})
}

// A time is that of package time.
func TestInstants(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		units := rapid.Int64Range(-1<<55, 1<<57).Draw(t, "units")
		if got, want := instant(units, time.Microsecond), time.UnixMicro(units).UTC(); !got.Equal(want) || got.Location() != time.UTC {
			t.Fatalf("%s: want %s", got, want)
		}
	})
}

// Words such as NA are texts where the format has missing cells of its own, and white space around
// texts never counts.
func TestWordsAreTexts(t *testing.T) {
	optional := pq.Optional(pq.Encoded(pq.String(), &pq.RLEDictionary))
	d, err := decode(table(t, []string{"country", "id", "label"}, []pq.Node{optional, pq.String(), pq.String()},
		[]any{"NA", "u1", "x"}, []any{nil, "u2 ", " x"}, []any{" NA ", "u3", "x"}, []any{"null", "u4", "x"}, []any{" \t", "u5", "x"}), mixed())
	if err != nil {
		t.Fatal(err)
	}
	want := &points.Mixed{N: 5, Columns: []points.Column{{Name: "country", Codes: []int32{0, -1, 0, 1, -1}, Levels: []string{"NA", "null"}}}}
	if diff := same.Diff(want, d.Points); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(append(d.IDs, d.Labels...), ","); got != "u1,u2,u3,u4,u5,x,x,x,x,x" {
		t.Errorf("ids and labels %q", got)
	}
	if _, err := decode(table(t, []string{"country", "id"}, []pq.Node{optional, pq.String()}, []any{"a", "u"}, []any{"b", " "}), mixed()); err == nil || !strings.Contains(err.Error(), "the cell is empty") {
		t.Errorf("error %v of an id of white space: want a refusal", err)
	}
}
