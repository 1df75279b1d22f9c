package gml

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

// byFormula returns the learned kernel matrix of all points x of a model with the prior rbf, the
// first of which are the training points: M - M_L (M_LL + ridge + P^-1)^-1 M_L', computed as
// M - M_L (I + P M_LL)^-1 P M_L', for the signed multipliers P of the links.
func byFormula(t *testing.T, m *Model, x *points.Dense) *mat.Dense {
	t.Helper()
	linked := logdetmetric.Supervision{Links: m.warm.Links, Triplets: m.warm.Triplets}.Linked()
	all, among := mat.NewDense(x.N, x.N, nil), mat.NewDense(len(linked), len(linked), nil)
	sigma := m.sigma() // read from a text, which takes longer than a value
	value := func(i, j int) float64 {
		return m.about.Alpha * math.Exp(-points.SquaredDistance(x.Row(i), x.Row(j))/(2*sigma*sigma))
	}
	for i := range x.N {
		for j := range x.N {
			all.Set(i, j, value(i, j))
		}
	}
	for a, i := range linked {
		for b, j := range linked {
			among.Set(a, b, value(i, j))
		}
		among.Set(a, a, m.about.Alpha*(1+ridge))
	}
	across := mat.NewDense(x.N, len(linked), nil)
	across.Apply(func(i, b int, _ float64) float64 { return value(i, linked[b]) }, across)
	return moved(t, m, all, across, among)
}

// moved returns M - M_L (I + P M_LL)^-1 P M_L' for a matrix M of all points, its columns M_L of
// those with links, and M_LL.
func moved(t *testing.T, m *Model, all, across, among *mat.Dense) *mat.Dense {
	t.Helper()
	linked := logdetmetric.Supervision{Links: m.warm.Links, Triplets: m.warm.Triplets}.Linked()
	at, count := logdetmetric.Positions(linked), len(linked)
	p := mat.NewDense(count, count, nil)
	add := func(i, j int, v float64) { p.Set(at[i], at[j], p.At(at[i], at[j])+v) }
	for k, l := range slices.Concat(m.warm.Links.Must(), m.warm.Links.Cannot()) {
		v := float64(l.Sign) * m.warm.Multipliers[k]
		add(l.I, l.I, v)
		add(l.J, l.J, v)
		add(l.I, l.J, -v)
		add(l.J, l.I, -v)
	}
	var left, inner, change mat.Dense
	left.Mul(p, among)
	for i := range linked {
		left.Set(i, i, left.At(i, i)+1)
	}
	if err := inner.Solve(&left, p); err != nil {
		t.Fatal(err)
	}
	change.Mul(across, &inner)
	var whole mat.Dense
	whole.Mul(&change, across.T())
	all.Sub(all, &whole)
	return all
}

// TestLearnedKernel: Gram matrices and distances are those of the learned kernel, between training
// points, new points, and both; also with few directions, after new links, and after storing.
func TestLearnedKernel(t *testing.T) {
	const n, many, few = 120, 600, 40 // many are more than a block
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, labels, _ := enginetest.Rings(t, n+many, 2, 1)
	train := points.Slice(x, 0, n).(*points.Dense)
	set, more := enginetest.Drawn(t, labels[:n], 25, 25, 1), enginetest.Drawn(t, labels[:n], 2, 2, 2)
	for _, width := range racetest.Some([]float64{2, 1, 0.3}, []float64{1}) {
		for _, dims := range []int{0, 3} {
			l := of(RBF)
			l.Params.Outer, l.Params.Dims, l.Params.Width = 1, dims, width
			m := fittest.Fit[*Model](t, l, train, set)
			added, err := m.AddLinks(ctx, eng, train, more)
			if err != nil {
				t.Fatal(err)
			}
			some := points.Slice(x, 0, n+few).(*points.Dense)
			for _, m := range []*Model{m, added.(*Model), enginetest.Reread(t, m, Decode)} {
				compareKernel(t, m, some, n, byFormula(t, m, some))
			}
			if width == 2 && dims > 0 {
				compareKernel(t, m, x, n, byFormula(t, m, x))
			}
		}
	}
}

// compareKernel compares the Gram matrices and distances of a model with a learned kernel matrix of
// all points x, the first n of which are the training points.
func compareKernel(t *testing.T, m algorithms.Model, x *points.Dense, n int, want *mat.Dense) {
	t.Helper()
	ctx, eng, bound := context.Background(), enginetest.New(t, 0), 1e-9*mat.Max(want)
	train, fresh := points.Slice(x, 0, n), points.Slice(x, n, x.N)
	for _, part := range []struct {
		x, y     points.Points
		row, col int // of its first element
	}{{train, nil, 0, 0}, {fresh, train, n, 0}, {train, fresh, 0, n}, {fresh, nil, n, n}} {
		k, err := m.Gram(ctx, eng, part.x, part.y)
		if err != nil {
			t.Fatal(err)
		}
		for i := range k.Rows {
			for j, v := range k.Row(i) {
				if w := want.At(part.row+i, part.col+j); !(math.Abs(v-w) <= bound) {
					t.Fatalf("kernel of %d and %d is %.12g, want %.12g", part.row+i, part.col+j, v, w)
				}
			}
		}
	}
	var pairs [][2]int
	for k := range 4 * x.N {
		pairs = append(pairs, [2]int{k % x.N, (7*k + k/x.N) % x.N})
	}
	d, err := m.Distances(ctx, eng, x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	for p, q := range pairs {
		w := want.At(q[0], q[0]) + want.At(q[1], q[1]) - 2*want.At(q[0], q[1])
		if !(math.Abs(d[p]-w) <= bound) {
			t.Fatalf("%d and %d are %.12g apart, want %.12g", q[0], q[1], d[p], w)
		}
	}
}
