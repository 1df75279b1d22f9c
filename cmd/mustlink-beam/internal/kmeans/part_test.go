package kmeans

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/engine/points"
)

func matrix(x *points.Dense) blas.Matrix {
	return blas.MatrixOf(x.N, x.D, x.Data)
}

// partsOf returns the parts of blocks of rows.
func partsOf(t *testing.T, p pass, x *points.Dense, rows int, s State) []Part {
	t.Helper()
	eng := trial.Engine(t)
	var parts []Part
	for lo := 0; lo < x.N; lo += rows {
		hi := min(x.N, lo+rows)
		numbers := make([]int64, hi-lo)
		for i := range numbers {
			numbers[i] = int64(lo + i)
		}
		part, err := p.part(t.Context(), eng, matrix(points.Slice(x, lo, hi).(*points.Dense)), numbers, s)
		if err != nil {
			t.Fatal(err)
		}
		part.Index = int64(len(parts))
		parts = append(parts, part)
	}
	return parts
}

// A round draws the rows x with u(x) phi <= l d(x)^2, where phi is the sum over all rows, although
// each part knows only its own sum.
func TestRoundUsesTotalCost(t *testing.T) {
	x := trial.Blobs(3, 5000, 3, 7, 0.8)
	s := From(matrix(points.Slice(x, 0, 4).(*points.Dense)))
	s.Numbers = []int64{0, 1, 2, 3}
	squared, cost := make([]float64, x.N), 0.0
	for i := range squared {
		squared[i] = math.Inf(1)
		for c := range 4 {
			squared[i] = min(squared[i], points.SquaredDistance(x.Row(i), x.Row(c)))
		}
		cost += squared[i]
	}
	const limit = 200
	total := 0
	for r := range uint64(8) {
		p := pass{Kind: round, Seed: 5, Round: r + 1, Limit: limit}
		got := mergeAll(partsOf(t, p, x, 333, s), limit)
		var want []int64
		for i, d := range squared {
			if rowrandom.Uniform(5, drawing+r+1, int64(i))*cost <= limit*d {
				want = append(want, int64(i))
			}
		}
		slices.Sort(got.Drawn.Numbers)
		if !slices.Equal(got.Drawn.Numbers, want) {
			t.Fatalf("round %d drew %d rows, want %d", r, len(got.Drawn.Numbers), len(want))
		}
		if !(math.Abs(got.Cost-cost) <= 1e-12*cost) || got.Rows != int64(x.N) {
			t.Fatalf("cost %g of %d rows, want %g", got.Cost, got.Rows, cost)
		}
		total += len(want)
	}
	// About limit rows a round, fewer where a chance would be above 1.
	if mean := float64(total) / 8; mean > limit+4*math.Sqrt(limit/8.0) || mean < limit/2 {
		t.Errorf("%.1f rows a round, want about %d", mean, limit)
	}
}

// The first pass draws every row with the same chance.
func TestFirstRow(t *testing.T) {
	x := trial.Blobs(1, 40, 2, 3, 1)
	var count [4]float64
	const n = 2000
	for seed := range uint64(n) {
		found := mergeAll(partsOf(t, pass{Kind: first, Seed: seed}, x, 7, State{}), 0)
		if len(found.Drawn.Numbers) != 1 ||
			!slices.Equal(found.Drawn.Values, x.Row(int(found.Drawn.Numbers[0]))) {
			t.Fatalf("seed %d: rows %v", seed, found.Drawn.Numbers)
		}
		count[found.Drawn.Numbers[0]/10]++
	}
	for quarter, v := range count {
		if !(math.Abs(v/n-0.25) < 4*math.Sqrt(0.25*0.75/n)) {
			t.Errorf("quarter %d is drawn in %.3f of the seeds", quarter, v/n)
		}
	}
}

// Parts in any order, some of them twice, give a bit-identical result. Their sums are those of a
// loop over all rows.
func TestMergeIsBitIdentical(t *testing.T) {
	x := trial.Blobs(2, 3000, 4, 5, 1)
	s := From(matrix(points.Slice(x, 10, 16).(*points.Dense)))
	parts := partsOf(t, pass{Kind: move}, x, 100, s)
	want := mergeAll(slices.Clone(parts), 0)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		mixed := append(slices.Clone(parts), parts[3], parts[29])
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if got := mergeAll(mixed, 0); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatal("another order of the parts gives another result")
		}
	}
	shift, sums := s.shift(), make([]float64, 6*5)
	for i := range x.N {
		best, c := math.Inf(1), 0
		for k := range 6 {
			if d := points.SquaredDistance(x.Row(i), s.Matrix().Row(k)); d < best {
				best, c = d, k
			}
		}
		for j, v := range x.Row(i) {
			sums[5*c+j] += v - shift[j]
		}
		sums[5*c+4]++
	}
	for i, v := range sums {
		if !(math.Abs(want.Sums[i]-v) <= 1e-10) {
			t.Fatalf("sum %d is %g, want %g", i, want.Sums[i], v)
		}
	}
}

// A center without rows takes the farthest row. The state has not converged while there is such a
// row.
func TestEmptyClusterTakesTheFarthestRow(t *testing.T) {
	x := &points.Dense{N: 5, D: 1, Data: []float64{0, 1, 2, 50, 3}}
	s := From(blas.MatrixOf(2, 1, []float64{1, 1000}))
	s.Measured, s.Inertia = true, 1e-9 // lower than any: a test of the inertia alone would stop here
	next := pass{Kind: move}.step(s, mergeAll(partsOf(t, pass{Kind: move}, x, 2, s), 0))
	if next.Converged || next.Centers[1] != 50 {
		t.Fatalf("centers %v, converged %v, want the row at 50", next.Centers, next.Converged)
	}
	for range 4 {
		next = pass{Kind: move}.step(next, mergeAll(partsOf(t, pass{Kind: move}, x, 2, next), 0))
	}
	if !next.Converged || !slices.Equal(next.Sizes, []int64{4, 1}) || !(math.Abs(next.Inertia-5) < 1e-12) {
		t.Errorf("sizes %v, inertia %g, converged %v", next.Sizes, next.Inertia, next.Converged)
	}
}
