package bandwidth

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// selectBelow agrees with sorting and picking, with ties and extreme exponents.
func TestSelectBelow(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		value := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 1, 2, 5e-324, math.MaxFloat64}),
			rapid.Float64Range(0, 1e3), rapid.Float64Range(0, 1e-300))
		m := blas.NewMatrix(n, n)
		var all []float64
		for i := range n {
			for j := range n {
				v := value.Draw(t, "v")
				m.Set(i, j, v) // also above the diagonal, where it must not count
				if j < i {
					all = append(all, v)
				}
			}
		}
		slices.Sort(all)
		k := rapid.IntRange(0, len(all)-1).Draw(t, "k")
		if got := selectBelow(m, k); got != all[k] {
			t.Fatalf("rank %d of %v is %v", k, all, got)
		}
	})
}

// spread picks different rows, ascending, one from each stretch, and both residues of any
// small period about equally often.
func TestSpread(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 50).Draw(t, "limit")
		n := rapid.IntRange(limit+1, 1000).Draw(t, "n")
		rows := spread(n, limit)
		if len(rows) != limit {
			t.Fatalf("%d rows, want %d", len(rows), limit)
		}
		for i, r := range rows {
			if r < i*n/limit || r >= (i+1)*n/limit {
				t.Fatalf("row %d is %d, outside its stretch of %d/%d", i, r, n, limit)
			}
		}
	})
	for _, n := range []int{8192, 12288, 40960, 60000} {
		for period := 2; period <= 10; period++ {
			count := make([]int, period)
			for _, r := range spread(n, 4096) {
				count[r%period]++
			}
			if want := 4096 / period; slices.Min(count) < want*8/10 || slices.Max(count) > want*12/10+1 {
				t.Errorf("n=%d, period %d: %v", n, period, count)
			}
		}
	}
}

// sampled resolves a rule with limits far below the number of points.
func sampled(t *testing.T, rule string, x points.Points, workers int) float64 {
	t.Helper()
	eng, err := engine.New(engine.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := kernel.Parse("rbf:" + rule)
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = resolve(t.Context(), eng, spec, x, limits{pairs: 400, queries: 200}); err != nil {
		t.Fatal(err)
	}
	_, number, _ := strings.Cut(spec.String(), "=")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A sample represents all points: its value is close to that of all points, the same for any number
// of workers, and not biased by rows that alternate between classes.
func TestSampledPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const n = 1600
	x := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64() + float64(100*(i/2%2)) // odd rows are another class
	}
	// Half of the pairs are at a distance near 100 sqrt 2, the others at sqrt(pi) on average.
	mean := (100*math.Sqrt2 + math.Sqrt(math.Pi)) / 2
	for rule, want := range map[string]float64{"mean": mean, "lle": 1.5 * mean,
		"msq": math.Sqrt(0.4 * (4 + 10000))} {
		got := sampled(t, rule, x, 2)
		if math.Abs(got-want) > 0.01*want {
			t.Errorf("%s is %v, want about %v", rule, got, want)
		}
		if again := sampled(t, rule, x, 1); again != got {
			t.Errorf("%s is %v with two workers, %v with one", rule, got, again)
		}
	}
}

// The sampled points of a large set have their neighbors among all points: on the integers 0, 1, …,
// n-1 they are at distances 1, 1, 2, 2, …, 5, 5.
func TestSampledNearest(t *testing.T) {
	const n = 3000
	x := &points.Dense{N: n, D: 1, Data: make([]float64, n)}
	for i := range x.Data {
		x.Data[i] = float64(i)
	}
	if got := sampled(t, "knn10", x, 2); math.Abs(got-3) > 0.05 {
		t.Errorf("got %v, want 3 except at the two ends", got)
	}
}
