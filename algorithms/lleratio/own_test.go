package lleratio_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// gaussians returns two draws of n points each from normal distributions around the same centers in
// d dimensions, and their classes.
func gaussians(n, d, classes int, spread float64,
	seed uint64) (seen, heldOut *points.Dense, labels []string) {
	rng := rand.New(rand.NewPCG(seed, 7))
	centers := make([]float64, classes*d)
	for i := range centers {
		centers[i] = spread * rng.NormFloat64()
	}
	draw := func() *points.Dense {
		x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
		for i := range n {
			for j := range d {
				x.Data[i*d+j] = centers[i%classes*d+j] + rng.NormFloat64()
			}
		}
		return x
	}
	for i := range n {
		labels = append(labels, fmt.Sprint(i%classes))
	}
	return draw(), draw(), labels
}

// clustered returns the adjusted Rand index of the clusters that k-means finds in y.
func clustered(t *testing.T, y blas.Matrix, labels []string, classes int) float64 {
	t.Helper()
	found, err := cluster.KMeans(context.Background(), enginetest.New(t, 0), y,
		cluster.Params{K: classes, Restarts: 10, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	v, err := score.AdjustedRand(labels, found.Labels)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// radius returns the root mean square distance of rows of y from their mean.
func radius(y blas.Matrix, rows []int) float64 {
	sum := 0.0
	for c := range y.Cols {
		mean, squares := 0.0, 0.0
		for _, i := range rows {
			mean += y.At(i, c) / float64(len(rows))
			squares += y.At(i, c) * y.At(i, c) / float64(len(rows))
		}
		sum += squares - mean*mean
	}
	return math.Sqrt(sum)
}

// With about as many features as points, every point is nearly as far from each other one, and its
// kernel value with itself stands out. With K = K0 + t I, where t is the smallest eigenvalue of K,
// the coordinates of a support point are V k0 plus t times its column of V: a part that no other
// point has. Support points are far from all others because of it, held-out points are clustered
// better than those of the fit, and without this part those of the fit are best. This is the
// explanation in docs/methods/lleratio.md.
func TestOwnPartOfSupportPoints(t *testing.T) {
	const n, classes, draws = 200, 5, 3
	ctx, eng := context.Background(), enginetest.New(t, 0)
	var fit, shared, other float64
	for seed := range uint64(draws) {
		seen, heldOut, labels := gaussians(n, 200, classes, 0.2, seed)
		set, err := links.SampleByCount(labels, 120, 120, seed)
		if err != nil {
			t.Fatal(err)
		}
		m := fittest.Fit[*lleratio.Model](t, lleratio.Learner{Params: lleratio.DefaultParams()}, seen, set)
		is := make([]bool, n)
		for _, l := range set.Must() {
			is[l.I], is[l.J] = true, true
		}
		var support, rest, all []int
		for i := range n {
			all = append(all, i)
			if is[i] {
				support = append(support, i)
			} else {
				rest = append(rest, i)
			}
		}
		y, z := embed(t, m, seen), embed(t, m, heldOut)
		fit, other = fit+clustered(t, y, labels, classes)/draws, other+clustered(t, z, labels, classes)/draws

		k, err := m.Kernel().Gram(ctx, eng, seen.Select(support))
		if err != nil {
			t.Fatal(err)
		}
		w, v := make([]float64, len(support)), y.Select(support) // V' = K^-1 Y
		if err := eng.SymEig(ctx, k.Clone(), w, false); err != nil {
			t.Fatal(err)
		}
		if err := eng.Cholesky(ctx, k); err != nil {
			t.Fatal(err)
		}
		eng.Backend().Trsm(true, false, k, v)
		eng.Backend().Trsm(true, true, k, v)
		without := y.Clone()
		for r, i := range support {
			for c := range y.Cols {
				without.Set(i, c, y.At(i, c)-w[0]*v.At(r, c))
			}
		}
		shared += clustered(t, without, labels, classes) / draws
		a, b, c, d := radius(y, support), radius(y, rest), radius(z, all), radius(without, support)
		if !(a > 3*b && math.Abs(b-c) < 0.1*b && d < a/2) {
			t.Errorf("radius of support points %.3g, without their own part %.3g; of other points of the "+
				"fit %.3g, of held-out points %.3g", a, d, b, c)
		}
	}
	if !(fit < other && other < shared) {
		t.Errorf("adjusted Rand index %.3f of the fit, %.3f of held-out points, %.3f of the fit without "+
			"own parts: want them in ascending order", fit, other, shared)
	}
	t.Logf("adjusted Rand index %.3f of the fit, %.3f of held-out points, %.3f of the fit without own parts",
		fit, other, shared)
}
