package lleratio_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// alpha returns the weight that the model of the default parameters reports.
func alpha(t enginetest.Fataler, x points.Points, set *links.Set) float64 {
	t.Helper()
	m := fittest.Fit[*lleratio.Model](t, lleratio.Learner{Params: lleratio.DefaultParams()}, x, set)
	for _, s := range m.Describe() {
		if s.Name == "alpha" {
			return s.Value.(float64)
		}
	}
	t.Fatal("no alpha in the statistics")
	return 0
}

// sparse returns x without its zeros.
func sparse(x *points.Dense) *points.CSR {
	s := &points.CSR{N: x.N, D: x.D, Start: []int{0}}
	for i := range x.N {
		for j, v := range x.Row(i) {
			if v != 0 {
				s.Col, s.Val = append(s.Col, int32(j)), append(s.Val, v)
			}
		}
		s.Start = append(s.Start, len(s.Val))
	}
	return s
}

// products returns the Gram matrix of x moved by shift.
func products(t enginetest.Fataler, x *points.Dense, shift float64) *points.Gram {
	t.Helper()
	data := make([]float64, x.N*x.N)
	for i := range x.N {
		for j := range i + 1 {
			sum := 0.0
			for c, v := range x.Row(i) {
				sum += (v + shift) * (x.Row(j)[c] + shift)
			}
			data[i*x.N+j], data[j*x.N+i] = sum, sum
		}
	}
	g, err := points.NewGram(x.N, x.N, data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Constant columns change neither alpha nor the metric, of dense and of sparse points. The Gram
// matrix of vectors has their alpha, wherever their origin is and in whatever order they come.
func TestAlphaCountsWhatVaries(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		d, more := rapid.IntRange(3, 8).Draw(t, "d"), rapid.IntRange(0, 6).Draw(t, "constant columns")
		x, set := problem(t, 40, d, 8, rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "zeros") { // a column that varies only between absent and present
			for i := range x.N {
				x.Row(i)[d-1] = float64(i % 3 / 2)
			}
		}
		want := 0.02
		if d > 5 {
			want = 0.2
		}
		wide := &points.Dense{N: x.N, D: d + more}
		value := rapid.SampledFrom([]float64{0, 1, -7.5}).Draw(t, "value")
		for i := range x.N {
			wide.Data = append(append(wide.Data, x.Row(i)...), slices.Repeat([]float64{value}, more)...)
		}
		shift := rapid.SampledFrom([]float64{0, 30}).Draw(t, "shift")
		order := rand.New(rand.NewPCG(3, 3)).Perm(x.N)
		gram := products(t, wide, shift)
		for name, some := range map[string]points.Points{
			"dense": wide, "sparse": sparse(wide), "Gram matrix": gram,
			"Gram matrix in another order": gram.Select(order),
		} {
			if got := alpha(t, some, set); got != want {
				t.Fatalf("%s: alpha %g, want %g for %d features that vary", name, got, want, d)
			}
		}
		l := lleratio.Learner{Params: lleratio.DefaultParams()}
		near(t, "constant columns", distances(t, fittest.Fit[*lleratio.Model](t, l, wide, set), wide),
			distances(t, fittest.Fit[*lleratio.Model](t, l, x, set), x), 1e-6)
	})
}

// rank counts the steps of an elimination with pivoting of the differences of the linked rows.
func rank(y *points.Dense, list []links.Link) int {
	rows := blas.NewMatrix(len(list), y.D)
	for k, l := range list {
		for c := range y.D {
			rows.Set(k, c, y.Row(l.I)[c]-y.Row(l.J)[c])
		}
	}
	done := 0
	for c := range y.D {
		p := done
		for r := done; r < rows.Rows; r++ {
			if v := rows.At(r, c); v*v > rows.At(min(p, rows.Rows-1), c)*rows.At(min(p, rows.Rows-1), c) {
				p = r
			}
		}
		if p >= rows.Rows || rows.At(p, c)*rows.At(p, c) < 1e-18 {
			continue
		}
		for r := done; r < rows.Rows; r++ {
			if r != p {
				f := rows.At(r, c) / rows.At(p, c)
				for a := range y.D {
					rows.Set(r, a, rows.At(r, a)-f*rows.At(p, a))
				}
			}
		}
		for a := range y.D {
			v := rows.At(done, a)
			rows.Set(done, a, rows.At(p, a))
			rows.Set(p, a, v)
		}
		done++
	}
	return done
}

// A notice names the columns beyond the directions of the cannot-links, in all modes, and there is
// none if the links span enough of them.
func TestNoticeOfIdleColumns(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		x, all := problem(t, 40, 9, 10, rapid.Uint64().Draw(t, "seed"))
		few, dims := rapid.IntRange(1, 6).Draw(t, "cannot-links"), rapid.IntRange(1, 8).Draw(t, "dims")
		set, err := links.New(40, slices.Concat(all.Must(), all.Cannot()[:few]))
		if err != nil {
			t.Fatal(err)
		}
		l := lleratio.Learner{Params: lleratio.DefaultParams()}
		l.Params.Mode = rapid.SampledFrom([]lleratio.Mode{lleratio.Kernel, lleratio.Linear,
			lleratio.Full}).Draw(t, "mode")
		l.Params.Alpha = rapid.SampledFrom([]float64{0, 0.02, 0.2}).Draw(t, "alpha")
		l.Params.Dims = dims
		m := fittest.Fit[*lleratio.Model](t, l, x, set)
		y := embed(t, m, x)
		coordinates := &points.Dense{N: y.Rows, D: y.Cols}
		for i := range y.Rows {
			coordinates.Data = append(coordinates.Data, y.Row(i)...)
		}
		notices := strings.Join(m.Status().Notices, "\n")
		if r := rank(coordinates, set.Cannot()); r < dims {
			if want := " of the " + string(rune('0'+dims)) +
				" columns separate no cannot-link"; !strings.HasPrefix(notices,
				string(rune('0'+dims-r))+want) {
				t.Fatalf("cannot-links differ in %d of %d columns; notices %q", r, dims, notices)
			}
		} else if notices != "" {
			t.Fatalf("cannot-links differ in all %d columns, but: %s", dims, notices)
		}
		if dims > few && notices == "" {
			t.Fatalf("no notice for %d columns of %d cannot-links", dims, few)
		}
	})
}

// A feature that drowns the others leaves one direction: the error advises to standardize.
func TestOneCoordinate(t *testing.T) {
	x, set := problem(t, 30, 3, 6, 1)
	for i := range x.N {
		x.Row(i)[2] *= 1e12
	}
	for _, dims := range []int{0, 1} {
		l := lleratio.Learner{Params: lleratio.DefaultParams()}
		l.Params.Mode, l.Params.Dims = lleratio.Linear, dims
		_, err := l.Fit(context.Background(), enginetest.New(t, 0), x, set)
		if !fault.IsInput(err) || !strings.Contains(err.Error(), "standardize") ||
			strings.Contains(err.Error(), "below 1") {
			t.Errorf("dims=%d: error %v, want one that advises to standardize", dims, err)
		}
	}
}

// By default, linear mode keeps half of the coordinates and full mode a quarter, at least 1 and at
// most 25.
func TestDefaultDims(t *testing.T) {
	for _, c := range []struct {
		mode             lleratio.Mode
		d, pairs, points int
		want             int
	}{
		{lleratio.Linear, 2, 8, 40, 1}, {lleratio.Linear, 3, 8, 40, 1}, {lleratio.Linear, 9, 8, 40, 4},
		{lleratio.Linear, 60, 30, 100, 25},
		{lleratio.Full, 3, 8, 40, 10}, {lleratio.Full, 3, 30, 140, 25},
	} {
		x, set := problem(t, c.points, c.d, c.pairs, 1)
		l := lleratio.Learner{Params: lleratio.DefaultParams()}
		l.Params.Mode = c.mode
		if got := fittest.Fit[*lleratio.Model](t, l, x, set).Dim(); got != c.want {
			t.Errorf("%s mode, %d points of %d features: %d columns, want %d", c.mode, c.points, c.d, got,
				c.want)
		}
	}
}
