package landmarks_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

// crowd returns many points in one cluster and a few far away, one in each direction.
func crowd(seed uint64, many, few int) *points.Dense {
	rng := rand.New(rand.NewPCG(seed, seed))
	x := &points.Dense{N: many + few, D: few}
	for i := range x.N {
		for f := range few {
			v := 0.02 * rng.NormFloat64()
			if i-many == f {
				v += 10
			}
			x.Data = append(x.Data, v)
		}
	}
	return x
}

// TestSelect checks that every rule chooses different points, the given ones first, and is
// reproducible.
func TestSelect(t *testing.T) {
	x, k := crowd(1, 300, 5), enginetest.Kernel(t, "rbf:sigma=1")
	for _, rule := range landmarks.Rules() {
		for _, m := range []int{0, 1, 20, 305} {
			for _, given := range [][]int{nil, {7, 3}} {
				if len(given) > m {
					continue
				}
				var first []int
				for _, workers := range []int{1, 3} {
					eng := enginetest.New(t, workers)
					got, err := landmarks.Select(t.Context(), eng, rule, landmarks.OfKernel(eng, k, x), m,
						given, 9)
					if err != nil {
						t.Fatal(err)
					}
					sorted := slices.Clone(got)
					slices.Sort(sorted)
					if len(got) != m || len(slices.Compact(sorted)) != m || m > 0 &&
						(sorted[0] < 0 || sorted[len(sorted)-1] >= x.N) ||
						!slices.Equal(got[:len(given)], given) {
						t.Fatalf("%s: %d of %d points with %v given: %v", rule, m, x.N, given, got)
					}
					if workers == 1 {
						first = got
					} else if !slices.Equal(first, got) {
						t.Fatalf("%s: other points with three workers", rule)
					}
				}
			}
		}
	}
}

// TestApart checks that all rules except uniform find the few isolated points; k-means++ and
// leverage nearly always.
func TestApart(t *testing.T) {
	const many, few = 600, 4
	eng, k := enginetest.New(t, 2), enginetest.Kernel(t, "rbf:sigma=3")
	x := crowd(2, many, few)
	found := map[string]int{}
	for seed := range uint64(20) {
		for _, rule := range landmarks.Rules() {
			got, err := landmarks.Select(t.Context(), eng, rule, landmarks.OfKernel(eng, k, x), 8, nil, seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range got {
				if i >= many {
					found[rule]++
				}
			}
		}
	}
	if found[landmarks.Farthest] != 20*few {
		t.Errorf("farthest point found %d of %d", found[landmarks.Farthest], 20*few)
	}
	if found[landmarks.KMeans] < 18*few || found[landmarks.Leverage] < 16*few ||
		found[landmarks.Uniform] > 5*few {
		t.Errorf("of %d points apart the rules found %v", 20*few, found)
	}
}

// TestFarthestCovers checks that farthest point covers all points within twice the best radius, the
// known radius of a grid.
func TestFarthestCovers(t *testing.T) {
	x := &points.Dense{N: 100, D: 1}
	for i := range 100 {
		x.Data = append(x.Data, float64(i))
	}
	eng := enginetest.New(t, 1)
	got, err := landmarks.Select(t.Context(), eng, landmarks.Farthest,
		landmarks.OfKernel(eng, enginetest.Kernel(t, "linear"), x), 10, nil, 4)
	if err != nil {
		t.Fatal(err)
	}
	const best = 4.5 // ten intervals of ten points each
	for i := range 100 {
		nearest := math.Inf(1)
		for _, l := range got {
			nearest = min(nearest, math.Abs(float64(i-l)))
		}
		if nearest > 2*best {
			t.Errorf("point %d is %v from the nearest landmark: want %v at most", i, nearest, 2*best)
		}
	}
}

// TestScores compares the approximate scores from all points with the exact ones by a decomposition
// of the whole matrix; scores from a sample add up to about the same.
func TestScores(t *testing.T) {
	eng, k := enginetest.New(t, 2), enginetest.Kernel(t, "rbf:sigma=0.3")
	x := crowd(3, 90, 6)
	full, err := k.Gram(t.Context(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []int{48, 10} { // 48: all points are in the sample
		r := 0.01 * float64(x.N) / float64(m)
		got, err := landmarks.Scores(t.Context(), eng, landmarks.OfKernel(eng, k, x), m, 5)
		if err != nil {
			t.Fatal(err)
		}
		vectors, w := full.Clone(), make([]float64, x.N)
		if err := eng.Backend().SymEig(vectors, w, true); err != nil {
			t.Fatal(err)
		}
		total, wantTotal := 0.0, 0.0
		for i := range x.N {
			want := 0.0
			for e, v := range w {
				want += v / (v + r) * vectors.At(e, i) * vectors.At(e, i)
			}
			if m == 48 && math.Abs(got[i]-want) > 1e-9 {
				t.Fatalf("m=%d: the score of point %d is %v: want %v", m, i, got[i], want)
			}
			total += got[i]
			wantTotal += want
		}
		if total < wantTotal/2 || total > 2*wantTotal {
			t.Errorf("m=%d: the scores add up to %v: want about %v", m, total, wantTotal)
		}
	}
}

// TestIdentical checks identical points: after the first landmark no point is preferred, and no
// point is chosen twice.
func TestIdentical(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := &points.Dense{N: 30, D: 2, Data: slices.Repeat([]float64{1, 2}, 30)}
	for _, text := range []string{"linear", "rbf:sigma=1", "cosine"} {
		for _, rule := range landmarks.Rules() {
			got, err := landmarks.Select(t.Context(), eng, rule,
				landmarks.OfKernel(eng, enginetest.Kernel(t, text), x), 12, nil, 1)
			slices.Sort(got)
			if err != nil || len(slices.Compact(got)) != 12 {
				t.Errorf("%s, %s: %v, %v", text, rule, got, err)
			}
		}
	}
	zero := &points.Dense{N: 5, D: 1, Data: make([]float64, 5)}
	if got, err := landmarks.Select(t.Context(), eng, landmarks.Leverage,
		landmarks.OfKernel(eng, enginetest.Kernel(t, "linear"), zero), 3, nil, 1); err != nil ||
		len(got) != 3 {
		t.Errorf("a kernel matrix of zeros: %v, %v", got, err)
	}
}

func TestRejects(t *testing.T) {
	eng := enginetest.New(t, 1)
	src := landmarks.OfKernel(eng, enginetest.Kernel(t, "linear"), crowd(4, 10, 2))
	for what, c := range map[string]struct {
		rule  string
		m     int
		given []int
	}{"more than there are": {landmarks.Uniform, 13, nil}, "negative": {landmarks.Uniform, -1, nil},
		"rule":          {"kmeans", 3, nil},
		"more given":    {landmarks.Uniform, 1, []int{1, 2}},
		"no such point": {landmarks.Uniform, 3, []int{1, 12}},
		"twice":         {landmarks.Uniform, 3, []int{1, 1}}} {
		if _, err := landmarks.Select(t.Context(), eng, c.rule, src, c.m, c.given, 1); !fault.IsInput(err) {
			t.Errorf("%s: %v: want an input error", what, err)
		}
	}
	_, err := landmarks.Select(t.Context(), eng, landmarks.Uniform, src, 3, []int{1, 12}, 1)
	if d, ok := errors.AsType[*fault.DataError](err); !ok || d.Row != 1 {
		t.Errorf("%v: want a DataError at place 1", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, rule := range landmarks.Rules() {
		if _, err := landmarks.Select(ctx, eng, rule, src, 3, nil, 1); rule != landmarks.Uniform &&
			!errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v: want context.Canceled", rule, err)
		}
	}
}

// lonely is the kernel matrix of points that coincide, except for a few at the end, which have
// nothing in common with any other. It notes the longest row of a block.
type lonely struct{ n, few, longest int }

func (l *lonely) Len() int { return l.n }

func (l *lonely) Diagonal(context.Context) ([]float64, error) {
	return slices.Repeat([]float64{1}, l.n), nil
}

func (l *lonely) Columns(_ context.Context, which []int, lo, hi int, dst blas.Matrix) error {
	l.longest = max(l.longest, dst.Stride)
	for k, c := range which {
		for i := lo; i < hi; i++ {
			v := 0.0
			if i == c || max(i, c) < l.n-l.few {
				v = 1
			}
			dst.Set(k, i-lo, v)
		}
	}
	return nil
}

// TestBlocks: the points that matter are found behind the first block, and a block is not as long
// as all points, which is what the memory limit counts on.
func TestBlocks(t *testing.T) {
	const block, few = 8192, 3
	for _, rule := range landmarks.Rules()[1:] {
		src := &lonely{n: block + 40, few: few}
		got, err := landmarks.Select(t.Context(), enginetest.New(t, 1), rule, src, 6, []int{5, 8}, 1)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if first := src.n - few; !slices.Equal(got[len(got)-few:], []int{first, first + 1, first + 2}) &&
			rule != landmarks.Leverage { // where a single point is below the ridge
			t.Errorf("%s: %v, want the last %d of %d points among them", rule, got, few, src.n)
		}
		if src.longest > block {
			t.Errorf("%s: blocks of %d points, want at most %d", rule, src.longest, block)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	eng := enginetest.New(b, 0)
	rng := rand.New(rand.NewPCG(1, 1))
	x := &points.Dense{N: 20000, D: 50, Data: make([]float64, 1_000_000)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	src := landmarks.OfKernel(eng, enginetest.Kernel(b, "rbf:sigma=7"), x)
	for _, rule := range landmarks.Rules() {
		b.Run(fmt.Sprintf("rule=%s/n=20000/m=100", rule), func(b *testing.B) {
			for b.Loop() {
				if _, err := landmarks.Select(b.Context(), eng, rule, src, 100, nil, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestFailures: an error of the kernel is that of the choice.
func TestFailures(t *testing.T) {
	eng := enginetest.New(t, 1)
	src := landmarks.OfKernel(eng, enginetest.Kernel(t, "rbf:sigma=1"), crowd(3, 40, 3))
	for _, rule := range landmarks.Rules()[1:] {
		enginetest.FailEverywhere(t, rule, 100, func(ctx context.Context) error {
			_, err := landmarks.Select(ctx, eng, rule, src, 6, []int{2}, 1)
			return err
		})
	}
}
