package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"

	"pgregory.net/rapid"
)

// naiveLloyd runs textbook iterations from given centers until no label changes. It has
// no bounds, no multiplication and no refilling: usable when no cluster gets empty.
func naiveLloyd(x, centers blas.Matrix) (labels []int, means blas.Matrix) {
	k := centers.Rows
	labels = make([]int, x.Rows)
	for first := true; ; first = false {
		changed := false
		for i := range labels {
			best, arg := math.Inf(1), 0
			for c := range k {
				if d := enginetest.SquaredDistance(x.Row(i), centers.Row(c)); d < best {
					best, arg = d, c
				}
			}
			changed = changed || arg != labels[i]
			labels[i] = arg
		}
		if !changed && !first {
			return labels, centers
		}
		centers = plainMeans(x, labels, k)
	}
}

func TestLloydEqualsTheTextbook(t *testing.T) {
	eng := enginetest.New(t, 2)
	for _, tt := range racetest.Part([]struct{ n, d, k int }{{40, 2, 3}, {300, 7, 5}, {1500, 3, 12},
		{700, 20, 2}, {2100, 5, 40}}) {
		for _, offset := range []float64{0, 1e6} {
			x := blobs(7, tt.n, tt.d, 8, 0.7)
			for i := range x.Data {
				x.Data[i] += offset
			}
			s, err := newSample(eng, x)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Params{K: tt.k, Seed: 3, MaxIter: 1000}.resolve(tt.n)
			if err != nil {
				t.Fatal(err)
			}
			r := newStart(context.Background(), eng, s, p, nil, 0, true)
			if err := r.seed(); err != nil {
				t.Fatal(err)
			}
			want, centers := naiveLloyd(s.x, r.centers.Clone())
			r = newStart(context.Background(), eng, s, p, nil, 0, true)
			if err := r.run(); err != nil {
				t.Fatal(err)
			}
			if !r.converged {
				t.Errorf("n=%d k=%d: not converged after %d iterations", tt.n, tt.k, r.iterations)
			}
			for i := range want {
				if r.labels[i] != want[i] {
					t.Fatalf("n=%d k=%d offset=%g: label %d is %d, the textbook's %d", tt.n, tt.k, offset, i,
						r.labels[i], want[i])
				}
			}
			for i := range centers.Data {
				if !(math.Abs(centers.Data[i]-r.centers.Data[i]) <= 1e-12) {
					t.Fatalf("n=%d k=%d: center value %d is %g, the textbook's %g", tt.n, tt.k, i,
						r.centers.Data[i], centers.Data[i])
				}
			}
		}
	}
}

// checkFixedPoint checks that a converged result is one: nearest centers, lower number on
// ties, centers are means, no empty cluster while there are enough distinct rows.
func checkFixedPoint(t failer, x blas.Matrix, k int, r *Result) {
	t.Helper()
	scale := 1e-300
	for _, v := range x.Data {
		scale = max(scale, v*v*float64(x.Cols))
	}
	means := plainMeans(x, r.Labels, k)
	inertia := 0.0
	for i, own := range r.Labels {
		d := enginetest.SquaredDistance(x.Row(i), r.Centers.Row(own))
		inertia += d
		for c := range k {
			if other := enginetest.SquaredDistance(x.Row(i), r.Centers.Row(c)); !(other >= d-1e-13*scale) {
				t.Fatalf("point %d is in cluster %d at %g, but %d is at %g", i, own, d, c, other)
			}
		}
		for j, v := range means.Row(own) {
			if !(math.Abs(v-r.Centers.At(own, j)) <= 1e-13*math.Sqrt(scale)*float64(x.Rows)) {
				t.Fatalf("center %d is %v, the mean %v", own, r.Centers.Row(own), means.Row(own))
			}
		}
	}
	if !(math.Abs(inertia-r.Inertia) <= 1e-12*scale*float64(x.Rows)) {
		t.Fatalf("inertia is %g, recomputed %g", r.Inertia, inertia)
	}
}

func distinctRows(x blas.Matrix) int {
	seen := map[string]bool{}
	for i := range x.Rows {
		key := ""
		for _, v := range x.Row(i) {
			key += string(rune(int(v) + 1000))
		}
		seen[key] = true
	}
	return len(seen)
}

// TestKMeansProperties draws points on a lattice, full of ties and duplicates.
func TestKMeansProperties(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		d := rapid.IntRange(1, 3).Draw(t, "d")
		k := rapid.IntRange(1, n).Draw(t, "k")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "data"), 0))
		x := enginetest.Lattice(rng, n, d, rapid.IntRange(1, 6).Draw(t, "values"))
		p := Params{K: k, Seed: rapid.Uint64().Draw(t, "seed"), Restarts: 3,
			Init: rapid.SampledFrom([]string{InitPlusPlus, InitRandom}).Draw(t, "init")}
		r, err := KMeans(context.Background(), eng, x, p)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Converged {
			t.Fatalf("not converged after %d iterations", r.Iterations)
		}
		for _, v := range r.Centers.Data {
			if math.IsNaN(v) {
				t.Fatal("a center is NaN")
			}
		}
		used := map[int]bool{}
		for _, c := range r.Labels {
			used[c] = true
		}
		distinct := distinctRows(x)
		if len(used) != min(k, distinct) {
			t.Fatalf("%d clusters in use, want %d (k %d, distinct rows %d)", len(used), min(k, distinct), k,
				distinct)
		}
		if distinct <= k && r.Inertia > 1e-25 { // means of equal rows are rounded
			t.Fatalf("inertia %g with a cluster for every distinct row", r.Inertia)
		}
		for i := range n { // equal rows, equal labels
			for j := range i {
				if enginetest.SquaredDistance(x.Row(i), x.Row(j)) == 0 && r.Labels[i] != r.Labels[j] {
					t.Fatalf("equal rows %d and %d are in clusters %d and %d", i, j, r.Labels[i], r.Labels[j])
				}
			}
		}
		checkFixedPoint(t, x, k, r)
		// The bounds that let rows be skipped still hold at the end of a start.
		s, err := newSample(eng, x)
		if err != nil {
			t.Fatal(err)
		}
		p, _ = p.resolve(n)
		one := newStart(context.Background(), eng, s, p, nil, 0, false)
		if err := one.run(); err != nil {
			t.Fatal(err)
		}
		for i, own := range one.labels {
			for c := range k {
				if d := math.Sqrt(points.SquaredDistance(s.x.Row(i), one.centers.Row(c))); c != own &&
					!(one.lower[i] <= d) {
					t.Fatalf("row %d: bound %g above the distance %g of center %d", i, one.lower[i], d, c)
				}
			}
		}
	})
}

// failer is what checks need of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func TestInertiaDecreasesMonotonically(t *testing.T) {
	eng := enginetest.New(t, 2)
	for seed := range uint64(20) {
		x := blobs(seed, 400, 3, 6, 1)
		s, err := newSample(eng, x)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := Params{K: 15, Seed: seed, Init: InitRandom}.resolve(400)
		r := newStart(context.Background(), eng, s, p, nil, 0, false)
		if err := r.run(); err != nil {
			t.Fatal(err)
		}
		if len(r.trace) < 3 {
			t.Errorf("seed %d: only %d values in the trace", seed, len(r.trace))
		}
		for i := 1; i < len(r.trace); i++ {
			if !(r.trace[i] <= r.trace[i-1]*(1+1e-14)) {
				t.Errorf("seed %d: the inertia rises from %g to %g", seed, r.trace[i-1], r.trace[i])
			}
		}
	}
}

// TestKMeansFindsTheOptimum compares with all partitions of few points.
func TestKMeansFindsTheOptimum(t *testing.T) {
	eng := enginetest.New(t, 1)
	for seed := range uint64(10) {
		x := blobs(seed, 8, 2, 3, 0.5)
		best := math.Inf(1)
		allLabelings(8, 3, func(labels []int) {
			if v := plainInertia(x, labels, 3); v < best { // NaN for empty clusters: never better
				best = v
			}
		})
		r, err := KMeans(context.Background(), eng, x, Params{K: 3, Restarts: 30, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(r.Inertia-best) <= 1e-12*best) {
			t.Errorf("seed %d: inertia %g, optimum %g", seed, r.Inertia, best)
		}
	}
}

// TestBitsDoNotDependOnWorkers covers whole starts on workers and shared rows.
func TestBitsDoNotDependOnWorkers(t *testing.T) {
	x := blobs(5, 3000, 6, 8, 0.8)
	for _, restarts := range []int{1, 2, 5} {
		p := Params{K: 9, Restarts: restarts, Seed: 11}
		want, err := KMeans(context.Background(), enginetest.New(t, 1), x, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{2, 3, 7} {
			got, err := KMeans(context.Background(), enginetest.New(t, workers), x, p)
			if err != nil {
				t.Fatal(err)
			}
			if !sameResult(want, got) {
				t.Errorf("restarts=%d: %d workers give another result than one", restarts, workers)
			}
		}
	}
}

func TestSeeds(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := blobs(5, 500, 4, 8, 1.5)
	run := func(seed uint64) *Result {
		r, err := KMeans(context.Background(), eng, x, Params{K: 10, Restarts: 1, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if !sameResult(run(1), run(1)) {
		t.Error("the same seed gives different results")
	}
	if sameResult(run(1), run(2)) {
		t.Error("different seeds give the same result")
	}
	// The best of more restarts is at least as good, and the first restart is the same.
	one, err := KMeans(context.Background(), eng, x, Params{K: 10, Restarts: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ten, err := KMeans(context.Background(), eng, x, Params{K: 10, Restarts: 10, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if ten.Inertia > one.Inertia {
		t.Errorf("ten restarts give %g, one %g", ten.Inertia, one.Inertia)
	}
}

// TestDrawFrequencies checks the sampling of seeds against its probabilities: 4 s.d.
func TestDrawFrequencies(t *testing.T) {
	cost := []float64{0, 1, 0, 3, 4, 0}
	rng := rand.New(rand.NewPCG(1, 1))
	count := make([]float64, len(cost))
	const trials = 20000
	for range trials {
		count[draw(cost, rng.Float64())]++
	}
	for i, c := range cost {
		p := c / 8
		if math.Abs(count[i]-trials*p) > 4*math.Sqrt(trials*p*(1-p)) {
			t.Errorf("index %d drawn %g times of %d, want about %g", i, count[i], trials, trials*p)
		}
	}
	if got := draw([]float64{0, 0}, 0.9); got != 0 {
		t.Errorf("draw from zeros = %d", got)
	}
	if got := draw([]float64{0, 5, 0}, math.Nextafter(1, 0)); got != 1 {
		t.Errorf("draw at the upper end = %d", got)
	}
}

// TestSlackBoundsTheError measures the error that slack bounds, on rows of very different
// size and rows that nearly coincide.
func TestSlackBoundsTheError(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	worst := 0.0
	for range 2000 {
		d := 1 + rng.IntN(60)
		x, a, b := make([]float64, d), make([]float64, d), make([]float64, d)
		size := math.Exp(rng.NormFloat64() * 3)
		for j := range d {
			x[j] = rng.NormFloat64()
			a[j] = x[j] + size*1e-8*rng.NormFloat64()
			b[j] = size * rng.NormFloat64()
		}
		zero := make([]float64, d)
		expanded := func(c []float64) float64 {
			dot := 0.0
			for j := range d {
				dot += x[j] * c[j]
			}
			return points.SquaredDistance(c, zero) - 2*dot
		}
		xn := points.SquaredDistance(x, zero)
		cn := max(points.SquaredDistance(a, zero), points.SquaredDistance(b, zero))
		diff := math.Abs((expanded(a) - expanded(b)) -
			(points.SquaredDistance(x, a) - points.SquaredDistance(x, b)))
		worst = max(worst, diff/slack(d, xn, cn))
	}
	if worst > 1 {
		t.Errorf("error is %.3g times its bound", worst)
	}
	if worst < 1e-3 {
		t.Errorf("error is only %.3g of its bound: the bound prunes nothing", worst)
	}
}

// TestAssignDecidesTies gives centers that are equal, equally far, or apart by one bit, and
// compares with direct sums over all centers, lower number first.
func TestAssignDecidesTies(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(t *rapid.T) {
		n, k, d := rapid.IntRange(1, 300).Draw(t, "n"), rapid.IntRange(2, 12).Draw(t, "k"),
			rapid.IntRange(1, 9).Draw(t, "d")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "rng"), 0))
		s := &sample{x: enginetest.Lattice(rng, n, d, 4), shift: make([]float64, d)}
		unit := rapid.SampledFrom([]float64{1, 0.1, 1e8 / 3}).Draw(t, "unit")
		for i := range s.x.Data {
			s.x.Data[i] *= unit
		}
		if err := s.setNorms(); err != nil {
			t.Fatal(err)
		}
		r := newStart(context.Background(), eng, s, Params{K: k}, nil, 0, true)
		for c := range k {
			copy(r.centers.Row(c), s.x.Row(rng.IntN(n)))
			if c > 0 && rng.IntN(3) == 0 {
				copy(r.centers.Row(c), r.centers.Row(rng.IntN(c)))
				r.centers.Row(c)[0] *= 1 + 0x1p-52*float64(rng.IntN(3)-1)
			}
		}
		// Twice: the second time with bounds in place.
		for _, first := range []bool{true, false} {
			if _, err := r.assign(first); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				best, arg := math.Inf(1), 0
				for c := range k {
					if v := points.SquaredDistance(s.x.Row(i), r.centers.Row(c)); v < best {
						best, arg = v, c
					}
				}
				if r.labels[i] != arg || r.dist[i] != best {
					t.Fatalf("row %d: cluster %d at %g, want %d at %g", i, r.labels[i], r.dist[i], arg, best)
				}
				// The bound must hold for every other center.
				for c := range k {
					if v := points.SquaredDistance(s.x.Row(i), r.centers.Row(c)); c != arg &&
						!(r.lower[i] <= math.Sqrt(v)) {
						t.Fatalf("row %d: bound %g above the distance %g of center %d", i, r.lower[i],
							math.Sqrt(v), c)
					}
				}
			}
		}
	})
}

// TestBackendsGiveTheSameBits: the backend's rounding decides nothing.
func TestBackendsGiveTheSameBits(t *testing.T) {
	x := blobs(5, 2000, 6, 8, 0.8)
	var want *Result
	for _, name := range backends.Names() {
		b, err := backends.Open(backends.Options{Name: name, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		eng, err := engine.New(engine.Options{Backend: b, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		got, err := KMeans(context.Background(), eng, x, Params{K: 9, Seed: 11, Restarts: 3})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		} else if !sameResult(want, got) {
			t.Errorf("backend %s gives another result than %s", name, backends.Names()[0])
		}
	}
}

// TestSeedingSpreads: three tight clusters very far apart get one seed each, whatever the
// seed of the generator; the chance of any other outcome is below 1e-9.
func TestSeedingSpreads(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := blas.NewMatrix(30, 1)
	for i := range 30 {
		x.Set(i, 0, float64(i%3)*1e9+float64(i)*1e-3)
	}
	s, err := newSample(eng, x)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(100) {
		p, _ := Params{K: 3, Seed: seed}.resolve(30)
		r := newStart(context.Background(), eng, s, p, nil, 0, false)
		if err := r.seed(); err != nil {
			t.Fatal(err)
		}
		near := map[int]bool{}
		for c := range 3 {
			near[int(math.Round((r.centers.At(c, 0)+s.shift[0])/1e9))] = true
		}
		if len(near) != 3 {
			t.Fatalf("seed %d: centers %v", seed, r.centers.Data)
		}
	}
}

// TestTournament: the order in which starts finish does not matter.
func TestTournament(t *testing.T) {
	inertia := []float64{5, 3, 4, 3, 3}
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {3, 0, 4, 1, 2}} {
		var best tournament[*start]
		for _, restart := range order {
			best.enter(&start{trace: []float64{inertia[restart]}}, restart)
		}
		if best.restart != 1 || best.start.last() != 3 {
			t.Errorf("order %v: start %d wins", order, best.restart)
		}
	}
}

func TestEmptyClusterTakesTheFarthestPoint(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := blas.MatrixOf(5, 1, []float64{0, 1, 2, 10, 11})
	s, err := newSample(eng, x)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := Params{K: 3}.resolve(5)
	r := newStart(context.Background(), eng, s, p, nil, 0, false)
	copy(r.centers.Data, []float64{-100, s.x.Data[0], 100}) // 0 and 2 attract nothing
	r.dist = []float64{0, 1, 4, 100, 121}
	r.labels = []int{1, 1, 1, 1, 1}
	r.lower = []float64{90, 90, 90, 90, 90} // true of cluster 0 and 2, not of the old one
	r.refill()
	if r.lower[2] != 0 || r.lower[4] != 0 || r.lower[0] != 90 {
		t.Errorf("bounds %v: those of the moved rows say nothing about the cluster they left", r.lower)
	}
	if want := []int{1, 1, 2, 1, 0}; !equalInts(r.labels, want) {
		t.Errorf("labels %v, want %v", r.labels, want)
	}
}

func equalInts(a, b []int) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestParameters(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := blobs(1, 10, 2, 2, 1)
	for name, p := range map[string]Params{
		"K 0":        {},
		"K negative": {K: -1},
		"K > n":      {K: 11},
		"restarts":   {K: 2, Restarts: -1},
		"too many":   {K: 2, Restarts: MaxRestarts + 1},
		"iterations": {K: 2, MaxIter: -1},
		"tol 1":      {K: 2, Tol: 1},
		"tol NaN":    {K: 2, Tol: math.NaN()},
		"init":       {K: 2, Init: "kmeans+"},
	} {
		var want *fault.ParamError
		if _, err := KMeans(context.Background(), eng, x, p); !errors.As(err, &want) {
			t.Errorf("%s: KMeans gives %v, want a *fault.ParamError", name, err)
		}
		if _, err := Constrained(context.Background(), eng, x, mustSet(t, 10, nil), p); !errors.As(err,
			&want) {
			t.Errorf("%s: Constrained gives %v, want a *fault.ParamError", name, err)
		}
		if _, err := Kernel(context.Background(), eng, blas.NewMatrix(10, 10), p); !errors.As(err, &want) {
			t.Errorf("%s: Kernel gives %v, want a *fault.ParamError", name, err)
		}
	}
	if _, err := KMeans(context.Background(), eng, blas.NewMatrix(0, 3), Params{K: 1}); !fault.IsInput(err) {
		t.Errorf("no points: %v", err)
	}
}

func TestBadValues(t *testing.T) {
	eng := enginetest.New(t, 1)
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e200} {
		x := blobs(1, 10, 3, 2, 1)
		x.Set(4, 2, v)
		var data *fault.DataError
		if _, err := KMeans(context.Background(), eng, x, Params{K: 2}); !errors.As(err, &data) {
			t.Errorf("%g: %v, want a *fault.DataError", v, err)
		} else if math.Abs(v) != 1e200 && (data.Row != 4 || data.Column != "2") {
			t.Errorf("%g: placed at row %d, column %q", v, data.Row, data.Column)
		}
	}
	// Large values whose squares are finite are fine.
	x := blobs(1, 10, 3, 2, 1)
	for i := range x.Data {
		x.Data[i] *= 1e150
	}
	if r, err := KMeans(context.Background(), eng, x, Params{K: 2}); err != nil || math.IsNaN(r.Inertia) ||
		math.IsInf(r.Inertia, 0) {
		t.Errorf("values of 1e150: %v", err)
	}
}

func TestCancel(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := blobs(1, 200, 3, 2, 1)
	k := gram(x)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l := mustSet(t, 200, pairs("c0-1 m2-3"))
	for name, f := range map[string]func() error{
		"KMeans":      func() error { _, err := KMeans(ctx, eng, x, Params{K: 2}); return err },
		"Constrained": func() error { _, err := Constrained(ctx, eng, x, l, Params{K: 2}); return err },
		"Kernel":      func() error { _, err := Kernel(ctx, eng, k, Params{K: 2}); return err },
	} {
		if err := f(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want one that wraps context.Canceled", name, err)
		}
	}
	// Canceling from the progress callback stops between starts.
	ctx, cancel = context.WithCancel(context.Background())
	calls := 0
	_, err := KMeans(ctx, enginetest.New(t, 1), x,
		Params{K: 2, Restarts: 50, Progress: func(algorithms.Progress) {
			calls++
			cancel()
		}})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("canceled after the first start: %d starts, error %v", calls, err)
	}
}

func TestProgress(t *testing.T) {
	var got []algorithms.Progress
	_, err := KMeans(context.Background(), enginetest.New(t, 3), blobs(1, 100, 2, 3, 1),
		Params{K: 3, Restarts: 7, Progress: func(p algorithms.Progress) { got = append(got, p) }})
	if err != nil || len(got) != 7 {
		t.Fatalf("%d reports, want 7 (%v)", len(got), err)
	}
	for i, p := range got {
		if p.Done != i+1 || p.Total != 7 || (i > 0 && p.Objective > got[i-1].Objective) {
			t.Errorf("report %d: %+v", i, p)
		}
	}
}

func TestMaxIterAndTol(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := blobs(3, 2000, 4, 8, 2)
	r, err := KMeans(context.Background(), eng, x, Params{K: 20, Restarts: 1, MaxIter: 1})
	if err != nil || r.Converged || r.Iterations != 1 {
		t.Errorf("one iteration: %v, %+v", err, r)
	}
	exact, err := KMeans(context.Background(), eng, x, Params{K: 20, Restarts: 1})
	if err != nil {
		t.Fatal(err)
	}
	loose, err := KMeans(context.Background(), eng, x, Params{K: 20, Restarts: 1, Tol: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if !loose.Converged || loose.Iterations >= exact.Iterations || loose.Inertia < exact.Inertia {
		t.Errorf("tol 0.01 takes %d iterations to %g, tol 0 takes %d to %g", loose.Iterations, loose.Inertia,
			exact.Iterations, exact.Inertia)
	}
}

// TestStridedInput gives a view of a larger matrix whose rest is NaN, and checks that the
// input is left alone.
func TestStridedInput(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := blobs(3, 50, 3, 3, 1)
	wide := blas.NewMatrix(60, 8)
	for i := range wide.Data {
		wide.Data[i] = math.NaN()
	}
	v := wide.View(4, 54, 2, 5)
	v.CopyFrom(x)
	a, err := KMeans(context.Background(), eng, x, Params{K: 3})
	if err != nil {
		t.Fatal(err)
	}
	b, err := KMeans(context.Background(), eng, v, Params{K: 3})
	if err != nil {
		t.Fatal(err)
	}
	if !sameResult(a, b) {
		t.Error("a view gives another result than its copy")
	}
	for i := range x.Rows {
		if !(enginetest.SquaredDistance(x.Row(i), v.Row(i)) == 0) {
			t.Fatal("the input has changed")
		}
	}
}
