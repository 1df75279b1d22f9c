package catalog_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// moved returns points plus an offset, and one more feature of that value if constant is true.
func moved(x *points.Dense, offset float64, constant bool) *points.Dense {
	y := &points.Dense{N: x.N, D: x.D}
	if constant {
		y.D++
	}
	for i := range x.N {
		for _, v := range x.Row(i) {
			if !constant {
				v += offset
			}
			y.Data = append(y.Data, v)
		}
		if constant {
			y.Data = append(y.Data, offset)
		}
	}
	return y
}

// centered returns blobs whose mean is 0, up to the digits that are left of them at 1e8.
func centered(n int) (*points.Dense, []string) {
	x, labels := blobs(n, 2, 12)
	for j := range x.D {
		mean := 0.0
		for i := range n {
			mean += x.Row(i)[j] / float64(n)
		}
		for i := range n {
			x.Row(i)[j] = ((x.Row(i)[j]-mean)/2 + 1e8) - 1e8
		}
	}
	return x, labels
}

// With the linear kernel no method learns other distances of points that are moved, or that have
// one more feature that is constant, from 100 to 1e8: of dense and sparse points not by more than
// their tolerances of convergence. Inner products that are given have lost eps offset^2 of the
// squared distances, which a search that may end elsewhere makes 10,000 times as much at most. At
// 1e8 nothing is left of them. Models that were read again agree on new rows.
func TestOffsets(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, labels := centered(60)
	fresh := x.Select([]int{0, 7, 20, 59}).(*points.Dense)
	for k := range fresh.Data {
		fresh.Data[k] += 0.25
	}
	set := enginetest.Drawn(t, labels, 20, 20, 1)
	fit := func(m catalog.Method, x points.Points) (algorithms.Model, error) {
		l, err := m.New(catalog.Config{Kernel: "linear", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return l.Fit(t.Context(), eng, x, set)
	}
	for row, m := range racetest.Part(catalogtest.Methods()) {
		reference, err := fit(m, x)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		want, onFresh := learned(t, eng, reference, x), learned(t, eng, reference, fresh)
		for _, constant := range []bool{false, true} {
			for column, offset := range []float64{100, 1e5, 1e8} {
				if constant && !drawstest.Turn(row, column, 3) {
					continue
				}
				y, new := moved(x, offset, constant), moved(fresh, offset, constant)
				for kind, p := range map[string][2]points.Points{"dense": {y, new},
					"sparse": {enginetest.Sparse(y), enginetest.Sparse(new)}} {
					what := fmt.Sprintf("%s, %s points, offset %g, constant feature %v", m.Name, kind, offset,
						constant)
					got, err := fit(m, p[0])
					if err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					got = reread(t, got)
					off, offFresh := apart(want, learned(t, eng, got, p[0]), false),
						apart(onFresh, learned(t, eng, got, p[1]), false)
					if !(max(off, offFresh) <= 1e-6) {
						t.Errorf("%s: distances change by %.2g of the largest, of new rows by %.2g", what,
							off, offFresh)
					}
				}
				what := fmt.Sprintf("%s, Gram matrix, offset %g, constant feature %v", m.Name, offset,
					constant)
				g := products(t, eng, "linear", y)
				got, err := fit(m, g)
				switch {
				case err != nil && !fault.IsInput(err):
					t.Errorf("%s: %v", what, err)
				case offset == 1e8 &&
					(err == nil || !strings.Contains(err.Error(), "no variance") && m.Name != "parts"):
					t.Errorf("%s: error %v, want one that says that no variance is left", what, err)
				case err != nil && offset <= 1e3 && m.Name != "parts":
					t.Errorf("%s: %v", what, err)
				case err != nil:
					continue
				}
				tolerance := 1e-6 + 1e4*0x1p-52*slices.Max(g.Diagonal)
				if off := apart(want, learned(t, eng, got, g), false); !(off <= tolerance) &&
					m.Name != "blend" {
					t.Errorf("%s: distances change by %.2g of the largest", what, off)
				}
			}
		}
	}
}

// A kernel around a center has a formula, whose terms do not cancel, and coordinates in single
// precision, of which the center is subtracted in double precision.
func TestOffsetsOfFormulas(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, labels := centered(60)
	set := enginetest.Drawn(t, labels, 20, 20, 1)
	far := moved(x, 1e5, false)
	narrow, err := points.Narrow(far)
	if err != nil {
		t.Fatal(err)
	}
	for method, params := range map[string]map[string]string{
		"krca": {"form": "cholesky"}, "krca ": {"form": "spectral"}, "kpca": nil, "itml": nil, "rca": nil,
		"dca":   nil,
		"kbeta": {"extension": "nystrom"}, "lleratio": nil,
	} {
		m, err := catalog.Lookup(strings.TrimSpace(method))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []points.Points{far, enginetest.Sparse(far)} {
			l, err := m.New(catalog.Config{Kernel: "linear", Params: params})
			if err != nil {
				t.Fatal(err)
			}
			fitted, err := l.Fit(t.Context(), eng, p, set)
			if err != nil {
				t.Fatal(err)
			}
			f, err := fitted.(algorithms.Formulas).Formula()
			if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			want, err := fitted.Embed(t.Context(), eng, narrow.Widened())
			if err != nil {
				t.Fatal(err)
			}
			near := func(what string, i, c int, got, tolerance float64) {
				if !(math.Abs(got-want.At(i, c)) <= tolerance*largest(want.Data)) {
					t.Fatalf("%s, %T, %s: coordinate %d of row %d is %v, want %v", method, p, what, c, i, got,
						want.At(i, c))
				}
			}
			for i := range far.N {
				y, _ := formula.Evaluate(f, narrow.Widened().Row(i))
				for c, v := range y {
					near("formula", i, c, v, 1e-8)
				}
			}
			single, is := fitted.(algorithms.SingleEmbedder)
			if !is || p != points.Points(far) {
				continue
			}
			y, err := single.EmbedSingle(t.Context(), eng, narrow)
			if fault.IsInput(err) {
				continue // not in single precision at all
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range y.Rows {
				for c, v := range y.Row(i) {
					near("single precision", i, c, float64(v), 1e-5)
				}
			}
		}
	}
}
