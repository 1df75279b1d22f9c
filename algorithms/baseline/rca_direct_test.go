package baseline

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// TestRCABothWaysAgree checks that the metric is the same with and without the covariance matrix of
// all points, when that matrix is not needed.
func TestRCABothWaysAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := &points.Dense{N: 90, D: 5, Data: make([]float64, 450)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64() * float64(1+i%5)
	}
	var chunklets [][]int
	for i := 0; i < 60; i += 3 {
		chunklets = append(chunklets, []int{i, i + 1, i + 2})
	}
	set, err := links.FromChunklets(90, chunklets)
	if err != nil {
		t.Fatal(err)
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	short := &RCALearner{Params: param.Default[RCA]()}
	if _, ok, err := short.Params.direct(ctx, eng, x, set.Chunklets()); err != nil || !ok {
		t.Fatalf("the short way is not taken (%v)", err)
	}
	long := &RCALearner{Params: param.Default[RCA]()}
	long.Params.Dims = 5 // as many as there are: none is left out
	if _, ok, _ := long.Params.direct(ctx, eng, x, set.Chunklets()); ok {
		t.Fatal("the long way is not taken")
	}
	pairs := [][2]int{{0, 1}, {5, 80}, {17, 33}}
	var found [2][]float64
	for k, l := range []*RCALearner{short, long} {
		m, err := l.Fit(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		if found[k], err = m.Distances(ctx, eng, x, pairs); err != nil {
			t.Fatal(err)
		}
	}
	for k := range pairs {
		if a, b := found[0][k], found[1][k]; math.Abs(a-b) > 1e-10*a {
			t.Errorf("pair %d is %.15g apart, the long way %.15g", k, a, b)
		}
	}
}
