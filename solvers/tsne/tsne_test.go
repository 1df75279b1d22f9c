package tsne

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// blobs returns points of some separated clusters in d dimensions, and the cluster of each.
func blobs(n, d, clusters int, apart float64) (*points.Dense, []int) {
	r := rand.New(rand.NewPCG(1, 2))
	centers := make([]float64, clusters*d)
	for k := range centers {
		centers[k] = apart * r.NormFloat64()
	}
	x, of := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]int, n)
	for i := range n {
		of[i] = i % clusters
		for j := range d {
			x.Data[i*d+j] = centers[of[i]*d+j] + r.NormFloat64()
		}
	}
	return x, of
}

func similarities(t testing.TB, x *points.Dense, count int, perplexity float64) *sparse.Matrix {
	t.Helper()
	near, err := graph.Nearest(context.Background(), enginetest.New(t, 2), kernel.Linear(), x, count)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Similarities(near, perplexity)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func noise(n int, size float64) Plane {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	at := Plane{make([]float64, n), make([]float64, n)}
	for i := range n {
		at.X[i], at.Y[i] = size*r.NormFloat64(), size*r.NormFloat64()
	}
	return at
}

// TestSimilarities: they are symmetric with sum 1, and the weights of a point have the entropy of
// the perplexity.
func TestSimilarities(t *testing.T) {
	x, _ := blobs(80, 5, 3, 4)
	p := similarities(t, x, 30, 10)
	sum := 0.0
	for i := range p.Rows {
		columns, values := p.Row(i)
		for k, j := range columns {
			sum += values[k]
			if turned := p.At(int(j), i); turned != values[k] || int(j) == i || k > 0 && columns[k-1] >= j {
				t.Fatalf("element %d, %d is %g, the mirrored one %g", i, j, values[k], turned)
			}
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the sum is %v", sum)
	}
	weights, squared := make([]float64, 20), make([]float64, 20)
	for _, unit := range []float64{1e-200, 1, 1e200} {
		for a := range squared {
			squared[a] = unit * (3 + float64(a*a))
		}
		gaussian(weights, squared, 6)
		entropy := 0.0
		for _, w := range weights {
			if w > 0 {
				entropy -= w * math.Log(w)
			}
		}
		if math.Abs(math.Exp(entropy)-6) > 1e-9 {
			t.Errorf("unit %g: perplexity %v: want 6", unit, math.Exp(entropy))
		}
	}
	gaussian(weights, make([]float64, 20), 6) // all at distance 0
	if weights[0] != 0.05 || weights[19] != 0.05 {
		t.Errorf("weights of equal points: %v", weights)
	}
}

// TestGradient compares with differences of the divergence.
func TestGradient(t *testing.T) {
	x, _ := blobs(40, 4, 2, 2)
	p, at, eng := similarities(t, x, 12, 5), noise(40, 1), enginetest.New(t, 2)
	d := newDescent(40)
	if err := d.gradient(context.Background(), eng, p, at, 1); err != nil {
		t.Fatal(err)
	}
	const h = 1e-5
	value := func(c []float64, i int, change float64) float64 {
		was := c[i]
		defer func() { c[i] = was }()
		c[i] += change
		v, err := divergence(context.Background(), eng, p, at)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i := range at.X {
		for k, c := range [][]float64{at.X, at.Y} {
			want, got := (value(c, i, h)-value(c, i, -h))/(2*h), [][]float64{d.gx, d.gy}[k][i]
			if math.Abs(got-want) > 1e-8 {
				t.Fatalf("coordinate %d of point %d: gradient %g, difference %g", k, i, got, want)
			}
		}
	}
}

// TestFit: the divergence falls from that of the start, more with more iterations, and clusters
// that are separated stay so, from a start that does not know them: the nearest points in the
// plane are of the same cluster, and every cluster lies apart from the others.
func TestFit(t *testing.T) {
	x, of := blobs(300, 20, 10, 3)
	p, start, eng := similarities(t, x, 60, 20), noise(300, 1), enginetest.New(t, 2)
	last := math.Inf(1)
	var at Plane
	for _, iterations := range []int{30, 150, 600} {
		var err error
		if at, err = Fit(context.Background(), eng, p, start, Options{Iterations: iterations}); err != nil {
			t.Fatal(err)
		}
		value, err := divergence(context.Background(), eng, p, at)
		if err != nil || !(value < last) {
			t.Errorf("divergence %v after %d iterations, error %v: want less than %v", value, iterations, err,
				last)
		}
		last = value
	}
	if begin, _ := divergence(context.Background(), eng, p, scaled(start, defaultSpread)); !(last < begin/2) {
		t.Errorf("divergence %v: want less than half of %v, that of the start", last, begin)
	}
	wrong := 0
	for i := range of {
		best, least := -1, math.Inf(1)
		for j := range of {
			if d := math.Hypot(at.X[i]-at.X[j], at.Y[i]-at.Y[j]); j != i && d < least {
				best, least = j, d
			}
		}
		if of[best] != of[i] {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of 300 points are nearest to one of another cluster", wrong)
	}
}

// TestBits: the plane is bit-identical for any number of workers.
func TestBits(t *testing.T) {
	x, _ := blobs(150, 6, 3, 3)
	p, start := similarities(t, x, 30, 10), noise(150, 1)
	var want Plane
	for _, workers := range []int{1, 4} {
		at, err := Fit(context.Background(), enginetest.New(t, workers), p, start, Options{Iterations: 100})
		if err != nil {
			t.Fatal(err)
		}
		if workers == 1 {
			want = at
			continue
		}
		for i := range want.X {
			if at.X[i] != want.X[i] || at.Y[i] != want.Y[i] {
				t.Fatalf("point %d is at %v, %v with %d workers: want %v, %v", i, at.X[i], at.Y[i], workers,
					want.X[i], want.Y[i])
			}
		}
	}
}

// TestCircle: points without spread start on a circle around the origin, as far from one another as
// their order says.
func TestCircle(t *testing.T) {
	const n, radius = 9, 2.0
	got := scaled(Plane{slices.Repeat([]float64{7}, n), slices.Repeat([]float64{-3}, n)}, radius)
	for i := range n {
		if r := math.Hypot(got.X[i], got.Y[i]); math.Abs(r-radius) > 1e-12 {
			t.Errorf("point %d is %v from the origin: want %v", i, r, radius)
		}
		for j := range i {
			d := math.Hypot(got.X[i]-got.X[j], got.Y[i]-got.Y[j])
			if want := 2 * radius * math.Sin(math.Pi*float64(i-j)/n); math.Abs(d-want) > 1e-12 {
				t.Errorf("points %d and %d are %v apart: want %v", i, j, d, want)
			}
		}
	}
}

// TestAlign: a plane that was turned, mirrored and shifted is brought back.
func TestAlign(t *testing.T) {
	fixed := noise(30, 2)
	for _, sign := range []float64{1, -1} {
		for angle := 0.0; angle < 7; angle += 0.9 {
			sin, cos := math.Sincos(angle)
			moved := Plane{make([]float64, 30), make([]float64, 30)}
			for i := range fixed.X {
				moved.X[i] = cos*fixed.X[i] - sin*fixed.Y[i] + 5
				moved.Y[i] = sign*(sin*fixed.X[i]+cos*fixed.Y[i]) - 3
			}
			got := Align(moved, fixed)
			for i := range fixed.X {
				if math.Hypot(got.X[i]-fixed.X[i], got.Y[i]-fixed.Y[i]) > 1e-9 {
					t.Fatalf("sign %v, angle %v: point %d is at %v, %v: want %v, %v", sign, angle, i,
						got.X[i], got.Y[i], fixed.X[i], fixed.Y[i])
				}
			}
		}
	}
}

// TestDegenerate: equal points, and few points, have finite coordinates.
func TestDegenerate(t *testing.T) {
	for _, n := range []int{3, 10} {
		x := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}
		p := similarities(t, x, 2, 1.5)
		at, err := Fit(context.Background(), enginetest.New(t, 1), p,
			Plane{make([]float64, n), make([]float64, n)}, Options{Iterations: 200})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if !(math.Hypot(at.X[i], at.Y[i]) < 1e6) {
				t.Errorf("%d points: %v, %v", n, at.X[i], at.Y[i])
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	x, _ := blobs(20, 3, 2, 3)
	p, eng, ctx := similarities(t, x, 5, 3), enginetest.New(t, 2), context.Background()
	if _, err := Fit(ctx, eng, p, noise(19, 1), Options{}); !fault.IsInput(err) {
		t.Errorf("a start of 19 points: error %v", err)
	}
	bad := noise(20, 1)
	bad.Y[3] = math.NaN()
	if _, err := Fit(ctx, eng, p, bad, Options{}); !fault.IsInput(err) {
		t.Errorf("a start that is not finite: error %v", err)
	}
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, perplexity := range []float64{0, -1, 6, math.NaN()} {
		if _, err := Similarities(near, perplexity); !fault.IsInput(err) {
			t.Errorf("perplexity %v: error %v", perplexity, err)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	o := Options{Report: func(done, _ int) {
		if done == 3 {
			cancel()
		}
		if done > 3 {
			t.Errorf("iteration %d after the cancellation", done)
		}
	}}
	if _, err := Fit(canceled, eng, p, noise(20, 1), o); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

func BenchmarkFit(b *testing.B) {
	x, _ := blobs(2000, 20, 10, 3)
	p, start, eng := similarities(b, x, 90, 30), noise(2000, 1), enginetest.New(b, 2)
	for b.Loop() {
		if _, err := Fit(context.Background(), eng, p, start, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// divergence returns the Kullback-Leibler divergence sum p log(p / q) of the similarities q of a
// plane from p, which [Fit] minimizes. Cost: O(n^2). Errors are those of Fit.
func divergence(ctx context.Context, eng *engine.Engine, p *sparse.Matrix, at Plane) (float64, error) {
	if err := check(p, at); err != nil {
		return 0, err
	}
	d := newDescent(len(at.X))
	if err := d.gradient(ctx, eng, p, at, 1); err != nil {
		return 0, err
	}
	total, sum := d.total(), 0.0
	for i := range at.X {
		columns, values := p.Row(i)
		for k, j := range columns {
			dx, dy := at.X[i]-at.X[j], at.Y[i]-at.Y[j]
			if values[k] > 0 {
				sum += values[k] * math.Log(values[k]*total*(1+dx*dx+dy*dy))
			}
		}
	}
	return sum, nil
}

// TestFailures: what fails on the way fails the fit, with its error.
func TestFailures(t *testing.T) {
	x, _ := blobs(30, 3, 2, 3)
	p := similarities(t, x, 10, 4)
	enginetest.FailEverywhere(t, "fit", 40, func(ctx context.Context) error {
		_, err := Fit(ctx, enginetest.New(t, 1), p, noise(30, 1e-2), Options{Iterations: 20})
		return err
	})
}
