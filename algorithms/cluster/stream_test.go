package cluster

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// inBlocks gives the rows of x in blocks of the sizes, over and over, in memory that is used again.
// passes counts the ranges.
func inBlocks(x blas.Matrix, sizes []int, passes *int) iter.Seq2[blas.Matrix, error] {
	return func(yield func(blas.Matrix, error) bool) {
		if passes != nil {
			*passes++
		}
		block := blas.NewMatrix(slices.Max(sizes), x.Cols)
		for lo, k := 0, 0; lo < x.Rows; k++ {
			hi := min(x.Rows, lo+sizes[k%len(sizes)])
			part := block.View(0, hi-lo, 0, x.Cols)
			part.CopyFrom(x.View(lo, hi, 0, x.Cols))
			if !yield(part, nil) {
				return
			}
			for i := range block.Data { // who keeps a block sees this
				block.Data[i] = math.NaN()
			}
			lo = hi
		}
	}
}

// sameStream compares a streamed result with that of KMeans, bit for bit.
func sameStream(t failer, eng *engine.Engine, x blas.Matrix, want *Result, got *StreamResult) {
	t.Helper()
	if math.Float64bits(want.Inertia) != math.Float64bits(got.Inertia) || want.Iterations != got.Iterations ||
		want.Converged != got.Converged || got.Rows != x.Rows {
		t.Fatalf("inertia %v after %d iterations (converged: %v): want %v after %d (%v)", got.Inertia,
			got.Iterations, got.Converged, want.Inertia, want.Iterations, want.Converged)
	}
	if !slices.EqualFunc(want.Centers.Data, got.Centers().Data, func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b)
	}) {
		t.Fatalf("centers %v: want %v", got.Centers().Data, want.Centers.Data)
	}
	labels, distances, sizes, sum := make([]int, x.Rows), make([]float64, x.Rows),
		make([]int, len(got.Sizes)), 0.0
	if err := got.Assign(context.Background(), eng, x, labels, distances); err != nil {
		t.Fatalf("%v", err)
	}
	for i, c := range labels {
		sizes[c]++
		sum += distances[i]
	}
	if !slices.Equal(labels, want.Labels) || !slices.Equal(sizes, got.Sizes) ||
		math.Float64bits(sum) != math.Float64bits(got.Inertia) {
		t.Fatalf("assigned %v with sizes %v, inertia %v: want %v with %v, %v", labels, sizes, sum,
			want.Labels, got.Sizes, got.Inertia)
	}
}

// From the same starting centers the result of a stream is bit-identical to that of KMeans, for
// blocks of any sizes, any number of workers, ties, duplicates, empty clusters and fewer distinct
// rows than clusters.
func TestStreamEqualsKMeans(t *testing.T) {
	one, three := enginetest.New(t, 1), enginetest.New(t, 3)
	iterations, refilled := 0, 0
	propertytest.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n, d, k := rapid.IntRange(1, 200).Draw(rt, "n"), rapid.IntRange(1, 6).Draw(rt, "d"),
			rapid.IntRange(1, 9).Draw(rt, "k")
		k = min(k, n)
		var x blas.Matrix
		if rapid.Bool().Draw(rt, "ties") {
			x = enginetest.Lattice(rng, n, d, rapid.IntRange(1, 4).Draw(rt, "values"))
		} else {
			x = blobs(rng.Uint64(), n, d, 5, 0.8)
		}
		start := blas.NewMatrix(k, d)
		for i := range start.Data { // far off: some are nearest to no row
			start.Data[i] = math.Round(4*rng.NormFloat64()) / 2
		}
		p := Params{K: k, Start: start, MaxIter: rapid.SampledFrom([]int{0, 1, 3}).Draw(rt, "most"),
			Tol: rapid.SampledFrom([]float64{0, 0, 0.01}).Draw(rt, "tol")}
		want, err := KMeans(context.Background(), one, x, p)
		passes := 0
		sizes := rapid.SliceOfN(rapid.IntRange(1, 90), 1, 4).Draw(rt, "sizes")
		got, streamed := KMeansStream(context.Background(), three, inBlocks(x, sizes, &passes),
			StreamParams{Params: p})
		if err != nil || streamed != nil {
			if err == nil || streamed == nil || err.Error() != streamed.Error() {
				rt.Fatalf("errors %v and %v", err, streamed)
			}
			return
		}
		sameStream(rt, one, x, want, got)
		// One pass for the mean, one for the first assignment, and one an iteration and a refilled
		// cluster.
		if passes != got.Passes || passes < 2+got.Iterations {
			rt.Fatalf("%d passes, %d counted, %d iterations", passes, got.Passes, got.Iterations)
		}
		iterations += got.Iterations
		refilled += passes - 2 - got.Iterations
	})
	if iterations == 0 || refilled == 0 {
		t.Errorf("%d iterations and %d refilled clusters: want some of both", iterations, refilled)
	}
	t.Logf("iterations: %d, refilled clusters: %d", iterations, refilled)
}

// TestStreamInChunks: sums over more rows than one chunk, and clusters shared among workers.
func TestStreamInChunks(t *testing.T) {
	x := blobs(3, 9000, 40, 12, 0.9)
	start := x.View(0, 30, 0, x.Cols).Clone()
	p := Params{K: 30, Start: start, MaxIter: 6}
	want, err := KMeans(context.Background(), enginetest.New(t, 2), x, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{700, 8999, 20000} {
		got, err := KMeansStream(context.Background(), enginetest.New(t, 3), inBlocks(x, []int{size}, nil),
			StreamParams{Params: p})
		if err != nil {
			t.Fatal(err)
		}
		sameStream(t, enginetest.New(t, 1), x, want, got)
	}
}

// TestStreamOfASample: a sample that holds all rows is k-means; a smaller one gives a fixed point
// of all rows, whose inertia falls in every pass.
func TestStreamOfASample(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := blobs(5, 3000, 4, 6, 0.9)
	want, err := KMeans(context.Background(), eng, x, Params{K: 6, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []func(context.Context, *StreamParams) (*StreamResult, error){
		func(ctx context.Context, p *StreamParams) (*StreamResult, error) {
			return KMeansStream(ctx, eng, inBlocks(x, []int{257}, nil), *p)
		},
		func(ctx context.Context, p *StreamParams) (*StreamResult, error) {
			return MiniBatch(ctx, eng, inBlocks(x, []int{257}, nil), *p)
		},
	} {
		got, err := f(context.Background(), &StreamParams{Params: Params{K: 6, Seed: 4}, Sample: 3000})
		if err != nil {
			t.Fatal(err)
		}
		sameStream(t, eng, x, want, got)
	}

	var trace []float64
	p := StreamParams{Params: Params{K: 6, Seed: 4, Progress: func(r algorithms.Progress) {
		if r.Stage == "streaming k-means" && r.Done > 0 {
			trace = append(trace, r.Objective)
		}
	}}, Sample: 60}
	got, err := KMeansStream(context.Background(), eng, inBlocks(x, []int{100}, nil), p)
	if err != nil || !got.Converged {
		t.Fatal(got, err)
	}
	trace = append(trace, got.Inertia)
	for k := 1; k < len(trace); k++ {
		if !(trace[k] <= trace[k-1]*(1+1e-14)) {
			t.Errorf("the inertia rises from %v to %v in pass %d", trace[k-1], trace[k], k)
		}
	}
	if len(trace) < 3 {
		t.Errorf("only %d passes: the sample says all", len(trace))
	}
	labels := make([]int, x.Rows)
	if err := got.Assign(context.Background(), eng, x, labels, make([]float64, x.Rows)); err != nil {
		t.Fatal(err)
	}
	checkFixedPoint(t, x, 6, &Result{Labels: labels, Centers: got.Centers(), Inertia: got.Inertia})
}

// TestReservoir: every row is as likely in the sample as any other.
func TestReservoir(t *testing.T) {
	const n, size, rounds = 40, 10, 4000
	x, seen := blas.NewMatrix(n, 1), make([]float64, n)
	for i := range n {
		x.Set(i, 0, float64(i))
	}
	for seed := range uint64(rounds) {
		s := &survey{eng: enginetest.New(t, 1),
			p: StreamParams{Params: Params{K: 1, Seed: seed}, Sample: size}, collect: true}
		if err := s.run(context.Background(), inBlocks(x, []int{7}, nil)); err != nil {
			t.Fatal(err)
		}
		rows := slices.Sorted(slices.Values(s.held.Data))
		if len(rows) != size || len(slices.Compact(rows)) != size {
			t.Fatalf("the sample is %v", s.held.Data)
		}
		for _, v := range rows {
			seen[int(v)]++
		}
	}
	// Each of the 40 counts is binomial with p = 1/4 and standard deviation sqrt(rounds 3/16):
	// allow 5 standard deviations.
	mean, sd := float64(rounds)*size/n, math.Sqrt(float64(rounds)*3/16)
	for i, c := range seen {
		if !(math.Abs(c-mean) <= 5*sd) {
			t.Errorf("row %d is in %v samples: want %v +- %v", i, c, mean, sd)
		}
	}
}

// TestMiniBatch: on separated blobs the inertia is within 5 % of that of k-means; a batch of one
// row keeps the mean; neither blocks nor workers show.
func TestMiniBatch(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	for seed := range uint64(racetest.Fewer(5)) { // with one pass and with two
		x := blobs(seed, 8000, 6, 8, 0.25)
		best, err := KMeans(ctx, eng, x, Params{K: 8, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		p := StreamParams{Params: Params{K: 8, Seed: seed}, Sample: 400, Batch: 100, Passes: 1 + int(seed%2)}
		first, err := MiniBatch(ctx, eng, inBlocks(x, []int{1000}, nil), p)
		if err != nil {
			t.Fatal(err)
		}
		labels, distances, inertia := make([]int, x.Rows), make([]float64, x.Rows), 0.0
		if err := first.Assign(ctx, eng, x, labels, distances); err != nil {
			t.Fatal(err)
		}
		for _, v := range distances {
			inertia += v
		}
		if !(inertia <= 1.05*best.Inertia) || !(inertia >= best.Inertia*(1-1e-12)) {
			t.Errorf("seed %d: inertia %v, that of k-means is %v", seed, inertia, best.Inertia)
		}
		for _, sizes := range [][]int{{1}, {399, 1, 7}, {8000}} {
			passes := 0
			again, err := MiniBatch(ctx, enginetest.New(t, 3), inBlocks(x, sizes, &passes), p)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(again.Centers().Data, first.Centers().Data) || again.Inertia != first.Inertia ||
				!slices.Equal(again.Sizes, first.Sizes) || passes != p.Passes {
				t.Errorf("seed %d: blocks of %v give other bits, in %d passes", seed, sizes, passes)
			}
		}
	}

	// With one cluster and one pass a center is the mean of all rows, by Sculley's learning rates.
	x := blobs(9, 5000, 3, 4, 1)
	r, err := MiniBatch(ctx, eng, inBlocks(x, []int{64}, nil),
		StreamParams{Params: Params{K: 1}, Sample: 10, Batch: 7})
	if err != nil {
		t.Fatal(err)
	}
	mean := plainMeans(x, make([]int, x.Rows), 1)
	for j, v := range r.Centers().Data {
		if !(math.Abs(v-mean.Data[j]) <= 1e-12) {
			t.Errorf("the center is %v, the mean %v", r.Centers().Data, mean.Data)
		}
	}
	if r.Sizes[0] != 5000 || r.Rows != 5000 {
		t.Errorf("%d rows, of which the center had %v", r.Rows, r.Sizes)
	}
}

// TestAssigner: rows go to the nearest center, those far from the origin too, the same alone as
// among others.
func TestAssigner(t *testing.T) {
	eng := enginetest.New(t, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, offset := range []float64{0, 1e6} {
		x, centers := enginetest.Lattice(rng, 500, 3, 5), enginetest.Lattice(rng, 7, 3, 5)
		for _, m := range []blas.Matrix{x, centers} {
			for i := range m.Data {
				m.Data[i] += offset
			}
		}
		a, err := NewAssigner(centers)
		if err != nil {
			t.Fatal(err)
		}
		labels, distances := make([]int, x.Rows), make([]float64, x.Rows)
		if err := a.Assign(context.Background(), eng, x, labels, distances); err != nil {
			t.Fatal(err)
		}
		for i, own := range labels {
			d := enginetest.SquaredDistance(x.Row(i), centers.Row(own))
			if !(math.Abs(d-distances[i]) <= 1e-9) {
				t.Errorf("row %d is at %v, %v was said", i, d, distances[i])
			}
			for c := range centers.Rows {
				if other := enginetest.SquaredDistance(x.Row(i), centers.Row(c)); other < d-1e-9 {
					t.Errorf("row %d is in cluster %d at %v: %d is at %v", i, own, d, c, other)
				}
			}
			alone, at := make([]int, 1), make([]float64, 1)
			if err := a.Assign(context.Background(), eng, x.View(i, i+1, 0, 3), alone, at); err != nil ||
				alone[0] != own || at[0] != distances[i] {
				t.Errorf("row %d alone goes to %v at %v, error %v: not to %d at %v", i, alone, at, err, own,
					distances[i])
			}
		}
	}
}

// TestStreamRefuses: what cannot be clustered is named, with the row counted from the first of all.
func TestStreamRefuses(t *testing.T) {
	eng, x := enginetest.New(t, 1), blobs(1, 50, 2, 3, 1)
	broken := x.Clone()
	broken.Set(33, 1, math.Inf(1))
	huge := x.Clone()
	for i := range huge.Data {
		huge.Data[i] *= 1e170
	}
	calls := 0
	shrinking := func(yield func(blas.Matrix, error) bool) {
		calls++
		yield(x.View(0, 50-calls, 0, 2), nil)
	}
	failure := errors.New("the disk")
	failing := func(yield func(blas.Matrix, error) bool) {
		_ = yield(x.View(0, 20, 0, 2), nil) && yield(blas.Matrix{}, failure)
	}
	ragged := func(yield func(blas.Matrix, error) bool) {
		_ = yield(x, nil) && yield(blas.NewMatrix(3, 3), nil)
	}
	small := StreamParams{Params: Params{K: 3}, Sample: 10, Batch: 4, Passes: 2}
	for name, c := range map[string]struct {
		rows iter.Seq2[blas.Matrix, error]
		p    StreamParams
		want string
	}{
		"value": {inBlocks(broken, []int{8}, nil), small,
			"row 33, column \"1\": value is +Inf: want a finite number"},
		"huge": {inBlocks(huge, []int{8}, nil), small, "squares overflow"},
		"empty": {inBlocks(x.View(0, 0, 0, 2), []int{8}, nil), small,
			"number of rows is 0: want at least 1"},
		"few": {inBlocks(x.View(0, 2, 0, 2), []int{8}, nil), small,
			"number of clusters is 3: want at most the number of points, 2"},
		"shrinks": {shrinking, small, "want the same rows every time"},
		"ragged":  {ragged, small, "number of columns of a block of rows is 3: want 2"},
		"k": {inBlocks(x, []int{8}, nil), StreamParams{},
			"number of clusters is 0: want a number >= 1"},
		"sample": {inBlocks(x, []int{8}, nil), StreamParams{Params: Params{K: 3}, Sample: 2},
			"rows of the sample is 2: want at least the number of clusters, 3"},
		"batch": {inBlocks(x, []int{8}, nil), StreamParams{Params: Params{K: 3}, Batch: -1},
			"rows of a batch is -1"},
		"passes": {inBlocks(x, []int{8}, nil), StreamParams{Params: Params{K: 3}, Passes: -1},
			"passes is -1"},
	} {
		for method, f := range map[string]func(StreamParams) (*StreamResult, error){
			"stream": func(p StreamParams) (*StreamResult, error) {
				return KMeansStream(context.Background(), eng, c.rows, p)
			},
			"batch": func(p StreamParams) (*StreamResult, error) {
				return MiniBatch(context.Background(), eng, c.rows, p)
			},
		} {
			calls = 0
			if _, err := f(c.p); !fault.IsInput(err) || !containsText(err, c.want) {
				t.Errorf("%s, %s: error %v: want %q", method, name, err, c.want)
			}
		}
	}
	if _, err := KMeansStream(context.Background(), eng, failing, small); !errors.Is(err, failure) {
		t.Errorf("error %v: want that of the rows", err)
	}
	if _, err := MiniBatch(context.Background(), eng, failing, small); !errors.Is(err, failure) {
		t.Errorf("error %v: want that of the rows", err)
	}
	start := Params{Start: blas.NewMatrix(2, 2)}
	if _, err := MiniBatch(context.Background(), eng, inBlocks(x, []int{8}, nil),
		StreamParams{Params: Params{K: 2, Start: start.Start}}); !fault.IsInput(err) {
		t.Errorf("mini-batches from given centers: error %v", err)
	}
	start.Start = blas.NewMatrix(2, 3)
	if _, err := KMeans(context.Background(), eng, x, start); !fault.IsInput(err) {
		t.Errorf("centers of other columns: error %v", err)
	}
	a, err := NewAssigner(x.View(0, 4, 0, 2))
	if err != nil {
		t.Fatal(err)
	}
	labels, distances := make([]int, 50), make([]float64, 50)
	if err := a.Assign(context.Background(), eng, broken, labels, distances); !containsText(err,
		"row 33, column \"1\"") {
		t.Errorf("an infinite value is assigned: error %v", err)
	}
	if err := a.Assign(context.Background(), eng, huge, labels, distances); !containsText(err,
		"row 0: values are too large") {
		t.Errorf("huge values are assigned: error %v", err)
	}
	if err := a.Assign(context.Background(), eng, x, labels[:3], distances); !fault.IsInput(err) {
		t.Errorf("too few labels: error %v", err)
	}
	if _, err := NewAssigner(blas.Matrix{}); !fault.IsInput(err) {
		t.Errorf("no centers: error %v", err)
	}
}

func containsText(err error, text string) bool {
	return err != nil && strings.Contains(err.Error(), text)
}

// TestSampleSize: the sample is bounded by what it takes and by the memory limit, and has as many
// rows as clusters.
func TestSampleSize(t *testing.T) {
	for _, c := range []struct {
		p     StreamParams
		limit int64
		d     int
		want  int
	}{
		{StreamParams{Params: Params{K: 3}}, 0, 2, 1 << 16},
		{StreamParams{Params: Params{K: 3}}, 0, 1 << 10, 1 << 13},
		{StreamParams{Params: Params{K: 1000}}, 0, 1 << 20, 20000},
		{StreamParams{Params: Params{K: 3}}, 1 << 20, 24, 128},
		{StreamParams{Params: Params{K: 300}}, 1 << 20, 24, 300},
		{StreamParams{Params: Params{K: 3}}, 1 << 50, 2, 1 << 16},
		{StreamParams{Params: Params{K: 3}, Sample: 17}, 1 << 20, 24, 17},
	} {
		if got, err := c.p.sampleSize(c.limit, c.d); err != nil || got != c.want {
			t.Errorf("K = %d, d = %d, limit %d: %d rows, error %v: want %d", c.p.K, c.d, c.limit, got, err,
				c.want)
		}
	}
}
