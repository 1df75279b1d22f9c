package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/export"
)

// offsets are columns whose values differ by little of what they are: each by its smallest value
// and the width of its range.
var offsets = map[string][][2]float64{
	"millions": {{1e6, 1}, {0, 1}},
	"seconds":  {{1.7e9, 86400}, {0, 25}},
	"meters":   {{389000, 1000}, {5820000, 1000}},
	"degrees":  {{52.5, .04}, {13.4, .06}},
	"years":    {{1950, 75}, {0, 3}, {1e4, 1e3}},
	"negative": {{-4e6, .5}, {-1e5, 1}, {3, 1e-3}},
}

// offset returns a problem of single precision numbers: what a graph takes.
func offset(t testing.TB, columns [][2]float64, n int) problem {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	p := newProblem(t, n, 2)
	p.rows = nil
	for i := range 200 + n {
		row := make([]float64, len(columns))
		for j, c := range columns {
			row[j] = c[0] + c[1]*(rng.Float64()+float64(i%3)*float64(j%2))/2
		}
		if i < n {
			p.train[i] = row
			continue
		}
		for j, v := range row {
			row[j] = float64(float32(v))
		}
		p.rows = append(p.rows, row)
	}
	return p
}

// TestOffsetRuntime compares graphs of every method with Embed on numbers far from zero.
func TestOffsetRuntime(t *testing.T) {
	r := newRuntime(t)
	for name, columns := range offsets {
		p := offset(t, columns, 90)
		for _, c := range exportable {
			r.addOffset(name, p, c)
		}
		for _, c := range unscaledOffsets {
			r.addOffset(name, p, append([]string{c[0], "unscaled"}, c[1:]...))
		}
	}
	r.compare()
}

// unscaledOffsets are methods that are also fitted to the numbers as they are.
var unscaledOffsets = [][]string{
	{"rca"}, {"xrca"}, {"lfda"}, {"covariance"}, {"itml"}, {"lmnn"}, {"mmc"}, {"raw"}, {"lleratio"}, {"krca", "dims=4"}, {"gml"}, {"llma"}, {"parts"},
	{"kpca", "kernel=exp:width=2"}, {"kpca", "kernel=poly:degree=2"}, {"kpca", "kernel=cosine"}, {"kpca", "kernel=linear"}, {"krca", "kernel=linear"},
}

// addOffset adds a model, unless its points coincide up to rounding, or its export is refused since
// the coordinates do.
func (r *runtime) addOffset(name string, p problem, c []string) {
	m, err := p.tryFit(r.t, c[0], c[1:]...)
	if fault.IsInput(err) {
		return
	}
	if err != nil {
		r.t.Fatal(err)
	}
	f, err := m.Record().Model.(algorithms.Formulas).Formula()
	if err != nil {
		r.t.Fatal(err)
	}
	want := embed(r.t, m, table(r.t, p.rows))
	name += " " + strings.NewReplacer("/", " ", ":", " ").Replace(strings.Join(c, " "))
	for _, precision := range []export.Precision{export.Double, export.Single} {
		limit := limitOf(m, precision)
		if precision == export.Double && formula.Condition(f) < math.Inf(1) {
			limit = max(limit, 0x1p-50*formula.Condition(f))
		}
		var file bytes.Buffer
		switch _, err := export.ONNX(context.Background(), &file, m, export.ONNXOptions{Precision: precision}); {
		case err == nil:
			r.addFile(name, file.Bytes(), precision, p.rows, nil, want, limit)
		case !fault.IsInput(err):
			r.t.Errorf("%s: %v", name, err)
		default:
			r.t.Logf("%s %s: %v", name, precision, err)
		}
	}
}

// TestOffsetJSON compares linear maps with Embed on numbers far from zero.
func TestOffsetJSON(t *testing.T) {
	for name, columns := range offsets {
		p := offset(t, columns, 90)
		for _, c := range [][]string{{"rca"}, {"rca", "unscaled"}, {"itml"}, {"lfda"}, {"covariance", "unscaled"}, {"lleratio", "mode=linear"}, {"lmnn", "unscaled"}, {"kpca", "kernel=linear"}} {
			m := p.fit(t, c[0], c[1:]...)
			var text bytes.Buffer
			if err := export.JSON(&text, m, export.Limits{}); err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			var l linearMap
			if err := json.Unmarshal(text.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			var got []float64
			for _, row := range p.rows {
				got = append(got, l.of(row)...)
			}
			if off := distance(got, embed(t, m, table(t, p.rows))); !(off <= 1e-12) {
				t.Errorf("%s %v: coordinates differ by %.2g of the largest", name, c, off)
			}
		}
	}
}
