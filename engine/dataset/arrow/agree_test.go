package arrow_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/arrow-go/v18/arrow"
	pq "github.com/parquet-go/parquet-go"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/dataset/arrow"
	"github.com/mustlink/mustlink/engine/dataset/parquet"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/difftest"
)

// cell is a value as the three formats have it.
type cell struct {
	csv, json string
	parquet   any
}

// kindOfColumn makes a column of a table; names are in ascending order, as the writer of Parquet
// sorts them.
type kindOfColumn struct {
	name string
	of   apache.DataType
	node pq.Node
	full bool // no missing cells
	cell func(r *rand.Rand, row int) cell
}

func quoted(s string) cell { return cell{s, strconv.Quote(s), s} }

// moment draws a second of the year 2024.
func moment(r *rand.Rand) time.Time {
	return time.Date(2024, 1, 1, 0, 0, r.IntN(366*24*3600), 0, time.UTC)
}

var columns = []kindOfColumn{
	{"amount", apache.PrimitiveTypes.Float64, pq.Leaf(pq.DoubleType), false, func(r *rand.Rand, _ int) cell {
		v := r.NormFloat64()
		s := strconv.FormatFloat(v, 'g', -1, 64)
		return cell{s, s, v}
	}},
	{"at", &apache.TimestampType{Unit: apache.Microsecond, TimeZone: "Europe/Berlin"},
		pq.Timestamp(pq.Microsecond), false, func(r *rand.Rand, _ int) cell {
			v := moment(r).Add(time.Duration(r.IntN(1000)) * time.Millisecond)
			return cell{v.Format(time.RFC3339Nano), strconv.Quote(v.Format(time.RFC3339Nano)), v.UnixMicro()}
		}},
	{"city", &apache.DictionaryType{IndexType: apache.PrimitiveTypes.Int16,
		ValueType: apache.BinaryTypes.String}, pq.Encoded(pq.String(), &pq.RLEDictionary), false,
		func(r *rand.Rand, _ int) cell { return quoted([]string{"Köln", "a, b", "Rome"}[r.IntN(3)]) }},
	{"clock", apache.FixedWidthTypes.Time32ms, pq.Time(pq.Millisecond), false,
		func(r *rand.Rand, _ int) cell {
			v := moment(r)
			s := v.Format(time.TimeOnly)
			return cell{s, strconv.Quote(s), int32(v.Hour()*3600+v.Minute()*60+v.Second()) * 1000}
		}},
	{"count", apache.PrimitiveTypes.Int64, pq.Leaf(pq.Int64Type), false, func(r *rand.Rand, _ int) cell {
		v := r.Int64N(1000) - 500
		return cell{strconv.FormatInt(v, 10), strconv.FormatInt(v, 10), v}
	}},
	{"day", apache.FixedWidthTypes.Date32, pq.Date(), false, func(r *rand.Rand, _ int) cell {
		v := moment(r).Truncate(24 * time.Hour)
		return cell{v.Format(time.DateOnly), strconv.Quote(v.Format(time.DateOnly)),
			int32(v.Unix() / (24 * 3600))}
	}},
	{"flag", apache.FixedWidthTypes.Boolean, pq.Leaf(pq.BooleanType), false, func(r *rand.Rand, _ int) cell {
		v := r.IntN(2) > 0
		return cell{strconv.FormatBool(v), strconv.FormatBool(v), v}
	}},
	{"id", apache.BinaryTypes.String, pq.String(), true, func(_ *rand.Rand, row int) cell {
		return quoted("r" + strconv.Itoa(row))
	}},
	{"label", apache.PrimitiveTypes.Int32, pq.Leaf(pq.Int32Type), true, func(r *rand.Rand, _ int) cell {
		v := int32(r.IntN(3))
		return cell{strconv.Itoa(int(v)), strconv.Itoa(int(v)), v}
	}},
	{"note", apache.BinaryTypes.LargeString, pq.String(), false, func(r *rand.Rand, row int) cell {
		return quoted("words of row " + strconv.Itoa(row/2))
	}},
	{"price", &apache.Decimal128Type{Precision: 12, Scale: 2}, pq.Decimal(2, 12, pq.Int64Type), false,
		func(r *rand.Rand, _ int) cell {
			v := r.Int64N(100_000) - 500
			s := strconv.FormatFloat(float64(v)/100, 'f', 2, 64)
			return cell{s, strconv.Quote(s), v}
		}},
	{"small", apache.PrimitiveTypes.Uint8, pq.Uint(8), false, func(r *rand.Rand, _ int) cell {
		v := r.IntN(256)
		return cell{strconv.Itoa(v), strconv.Itoa(v), int32(v)}
	}},
	{"solid", apache.PrimitiveTypes.Float32, pq.Leaf(pq.FloatType), true, func(r *rand.Rand, _ int) cell {
		v := float32(r.IntN(1000)) / 8
		s := strconv.FormatFloat(float64(v), 'g', -1, 64)
		return cell{s, s, v}
	}},
}

// threeFiles writes a table of n rows in the three formats.
func threeFiles(t *testing.T, n int) (csv string, inParquet, inArrow []byte) {
	r := rand.New(rand.NewPCG(1, 1))
	lines, rows := make([]string, n), make([]pq.Row, n)
	group := pq.Group{}
	var names []string
	var fields []field
	for j, c := range columns {
		node := c.node
		if !c.full {
			node = pq.Optional(node)
		}
		group[c.name], names = node, append(names, c.name)
		json := make([]string, n)
		for i := range n {
			x, level := c.cell(r, i), 1
			switch {
			case c.full:
				level = 0
			case r.IntN(8) == 0:
				x, level = cell{"", "null", nil}, 0
			}
			if strings.Contains(x.csv, ",") {
				x.csv = `"` + x.csv + `"`
			}
			if j > 0 {
				lines[i] += ","
			}
			lines[i] += x.csv
			json[i] = x.json
			rows[i] = append(rows[i], pq.ValueOf(x.parquet).Level(0, level, j))
		}
		half := n / 2
		fields = append(fields,
			field{c.name, c.of, []string{"[" + strings.Join(json[:half], ",") + "]",
				"[" + strings.Join(json[half:], ",") + "]"}})
	}
	var out bytes.Buffer
	w := pq.NewWriter(&out, pq.NewSchema("rows", group))
	if _, err := w.WriteRows(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, ",") + "\n" + strings.Join(lines, "\n") + "\n", out.Bytes(),
		file(t, nil, fields...)
}

// The same table in CSV, Parquet and Arrow is the same points, ids and labels, its columns have the
// same kinds, and it is prepared to the same numbers.
func TestFormatsAgree(t *testing.T) {
	csv, inParquet, inArrow := threeFiles(t, 200)
	o := dataset.ReadOptions{Mixed: true, Extensions: []dataset.Extension{parquet.Format(), arrow.Format()}}
	var first *dataset.Data
	var found string
	var prepared any
	for _, f := range []struct {
		format  string
		content []byte
	}{{"csv", []byte(csv)}, {"parquet", inParquet}, {"arrow", inArrow}} {
		o.Format = f.format
		d, err := dataset.Decode(bytes.NewReader(f.content), "t", "", o)
		if err != nil {
			t.Fatalf("%s: %v", f.format, err)
		}
		how, kinds, err := prepare.Fit(d, prepare.Options{})
		if err != nil {
			t.Fatalf("%s: %v", f.format, err)
		}
		kept := o
		kept.Keep = how.(*prepare.Preparation).Columns() // without those that are left out
		used, err := dataset.Decode(bytes.NewReader(f.content), "t", "", kept)
		if err != nil {
			t.Fatalf("%s: %v", f.format, err)
		}
		x, err := how.Apply(used.Points)
		if err != nil {
			t.Fatalf("%s: %v", f.format, err)
		}
		var list []string
		for _, c := range kinds {
			c.Example = "" // as the file writes it
			list = append(list, fmt.Sprintf("%+v", c))
		}
		summary := strings.Join(list, "\n")
		if first == nil {
			first, found, prepared = d, summary, x
			continue
		}
		if summary != found {
			t.Errorf("%s: columns are\n%s\nwant those of CSV:\n%s", f.format, summary, found)
		}
		if diff := difftest.Diff(prepared, any(x)); diff != "" {
			t.Errorf("%s: prepared otherwise than CSV: %s", f.format, diff)
		}
		if diff := difftest.Diff([][]string{first.IDs, first.Labels, first.Features},
			[][]string{d.IDs, d.Labels, d.Features}); diff != "" {
			t.Errorf("%s: ids, labels or names differ from those of CSV: %s", f.format, diff)
		}
	}
	for _, kind := range []string{"Kind:boolean", "Kind:category", "Kind:date", "Kind:number", "Missing:2"} {
		if !strings.Contains(found, kind) {
			t.Errorf("no column has %s", kind)
		}
	}
}
