package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/racetest"
)

// odd returns points that lie oddly, by name.
func odd(rng *rand.Rand) map[string]blas.Matrix {
	out := map[string]blas.Matrix{
		"one point": blobs(1, 1, 3, 1, 1), "two points": blobs(2, 2, 3, 2, 0.1),
		"lattice": enginetest.Lattice(rng, 18, 2, 2), "one column": blobs(3, 18, 1, 3, 0.1),
		"one place": blas.NewMatrix(18, 3), "plain": blobs(4, 18, 3, 3, 0.3),
	}
	far := blobs(5, 18, 3, 3, 0.3)
	far.Set(4, 1, 1e12)
	near := blobs(6, 18, 3, 3, 0.3)
	for i := 0; i < 18; i += 2 {
		copy(near.Row(i+1), near.Row(i))
		near.Set(i+1, 1, math.Nextafter(near.At(i, 1), 100))
	}
	uneven := blobs(7, 18, 3, 3, 0.3)
	for i := range 18 {
		uneven.Set(i, 0, uneven.At(i, 0)*1e-150)
		uneven.Set(i, 2, uneven.At(i, 2)*1e20)
	}
	out["one point far away"], out["nearly equal pairs"], out["columns of all sizes"] = far, near, uneven
	return out
}

// scaled returns s x, and the Gram matrix of that.
func scaled(x blas.Matrix, s float64) (y, gram blas.Matrix) {
	y, gram = x.Clone(), blas.NewMatrix(x.Rows, x.Rows)
	for k := range y.Data {
		y.Data[k] *= s
	}
	for i := range x.Rows {
		for j := range x.Rows {
			for c, v := range y.Row(i) {
				gram.Set(i, j, gram.At(i, j)+v*y.At(j, c))
			}
		}
	}
	return y, gram
}

// Data of any size and shape give clusters of the same points at any scale, no worse than one
// cluster for all, or an error of the input; never NaN, never a panic.
func TestClustersOfOddPoints(t *testing.T) {
	eng := enginetest.New(t, 1)
	for name, x := range odd(rand.New(rand.NewPCG(1, 2))) {
		n := x.Rows
		var list []links.Link
		for i := 2; i < n; i++ {
			list = append(list, links.NewLink(i, rand.New(rand.NewPCG(uint64(i), 3)).IntN(i),
				[]links.Sign{links.Must, links.Cannot}[i%2]))
		}
		set := mustSet(t, n, list)
		k := min(3, n)
		for _, s := range racetest.Part([]float64{1, 0x1p-1060, 0x1p-1000, 0x1p-700, 0x1p-500, 0x1p-200,
			0x1p100, 0x1p400, 0x1p500, 0x1p520, 0x1p1000}) {
			y, gram := scaled(x, s)
			p := Params{K: k, Seed: 1, Restarts: 3}
			runs := map[string]func(context.Context) (*Result, error){
				"k-means": func(ctx context.Context) (*Result, error) {
					return KMeans(ctx, eng, y, p)
				},
				"constrained k-means": func(ctx context.Context) (*Result, error) {
					return Constrained(ctx, eng, y, set, p)
				},
				"kernel k-means": func(ctx context.Context) (*Result, error) {
					return Kernel(ctx, eng, gram, p)
				},
				"weighted kernel k-means": func(ctx context.Context) (*Result, error) {
					p := p
					p.Weights = slices.Repeat([]float64{2}, gram.Rows)
					return Kernel(ctx, eng, gram, p)
				},
			}
			for _, metric := range Metrics() {
				for _, each := range []bool{false, true} {
					runs[fmt.Sprintf("penalized k-means, metric %s, each %v", metric,
						each)] = penalizedRun(eng, y, set,
						PenalizedParams{Params: p, Metric: MetricKind(metric), Each: each})
				}
			}
			for what, streamed := range map[string]StreamParams{
				"streaming k-means from given centers": {Params: Params{Start: y.View(0, k, 0,
					y.Cols).Clone()}},
				"streaming k-means of a sample": {Params: p, Sample: k + 1},
				"mini-batch k-means":            {Params: p, Sample: k + 1, Batch: 4, Passes: 2},
			} {
				runs[what] = streamedRun(eng, y, streamed)
			}
			for what, run := range runs {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				r, err := run(ctx)
				cancel()
				at := fmt.Sprintf("%s of %s times %g", what, name, s)
				if err != nil {
					if !fault.IsInput(err) || s == 1 && what == "k-means" {
						t.Errorf("%s: error %v", at, err)
					}
					continue
				}
				if r.Inertia-r.Inertia != 0 || r.Inertia < 0 {
					t.Errorf("%s: inertia %v", at, r.Inertia)
				}
				for i, c := range r.Labels {
					if c < 0 || c >= k {
						t.Errorf("%s: point %d is in cluster %d of %d", at, i, c, k)
					}
				}
				if one := plainInertia(y, make([]int, n), 1); what == "k-means" && r.Inertia > one*(1+1e-9) {
					t.Errorf("%s: inertia %g, and %g of one cluster", at, r.Inertia, one)
				}
				if what == "k-means" { // a power of two changes no bit but for those that leave the range
					plain, err := KMeans(context.Background(), eng, x, p)
					if err != nil {
						t.Fatal(err)
					}
					if name != "columns of all sizes" && !slices.Equal(r.Labels, plain.Labels) {
						t.Errorf("%s: other clusters", at)
					}
					if want := plain.Inertia * s * s; !(math.Abs(r.Inertia-want) <= 1e-9*want+0x1p-1060) {
						t.Errorf("%s: inertia %g, want %g", at, r.Inertia, want)
					}
				}
			}
		}
	}
}

func penalizedRun(eng *engine.Engine, x blas.Matrix, set *links.Set,
	p PenalizedParams) func(context.Context) (*Result, error) {
	return func(ctx context.Context) (*Result, error) {
		r, err := Penalized(ctx, eng, x, set, p)
		if err != nil {
			return nil, err
		}
		if r.Objective-r.Objective != 0 {
			return nil, fmt.Errorf("objective %v", r.Objective)
		}
		return &r.Result, nil
	}
}

// streamedRun clusters the rows of x as they pass; with given centers it demands what KMeans makes
// of them.
func streamedRun(eng *engine.Engine, x blas.Matrix, p StreamParams) func(context.Context) (*Result, error) {
	return func(ctx context.Context) (*Result, error) {
		learn := KMeansStream
		if p.Batch > 0 {
			learn = MiniBatch
		}
		r, err := learn(ctx, eng, inBlocks(x, []int{5, 2}, nil), p)
		if p.Start.Rows > 0 {
			if held, fail := KMeans(ctx, eng, x, p.Params); fmt.Sprint(fail) != fmt.Sprint(err) ||
				err == nil && math.Float64bits(held.Inertia) != math.Float64bits(r.Inertia) {
				return nil, fmt.Errorf("error %v, of k-means %v, or another inertia", err, fail)
			}
		}
		if err != nil {
			return nil, err
		}
		out := &Result{Labels: make([]int, x.Rows), Centers: r.Centers(), Inertia: r.Inertia}
		if err := checkFinite(out.Centers); err != nil {
			return nil, fmt.Errorf("centers: %v", err)
		}
		return out, r.Assign(ctx, eng, x, out.Labels, make([]float64, x.Rows))
	}
}
