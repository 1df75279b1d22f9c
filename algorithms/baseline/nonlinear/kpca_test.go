package nonlinear

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func cloud(n, d int, seed uint64) *points.Dense {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64() * float64(1+i%d)
	}
	return x
}

func kpcaFitted(t enginetest.Fataler, kernelText string, dims int, x points.Points) *KPCAModel {
	t.Helper()
	l := KPCALearner{Kernel: enginetest.Spec(t, kernelText), Params: param.Default[KPCA]()}
	l.Params.Dims = dims
	return fittest.Fit[*KPCAModel](t, l, x, enginetest.Links(t, x.Len(), nil))
}

func embedded(t enginetest.Fataler, m *KPCAModel, x points.Points) blas.Matrix {
	t.Helper()
	y, err := m.Embed(context.Background(), enginetest.New(t, 0), x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// TestKPCACoordinates checks with all directions that products of coordinates are the centered
// kernel, of training points with new ones, too, and that coordinates of training points have mean
// 0 and a diagonal covariance matrix, the variances.
func TestKPCACoordinates(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(5, 40).Draw(rt, "n")
		seed := rapid.Uint64().Draw(rt, "seed")
		x, other := cloud(n, 3, seed), cloud(7, 3, seed+1)
		text := rapid.SampledFrom([]string{"linear", "rbf:sigma=3", "poly:degree=2,coef=1,scale=1"}).Draw(rt,
			"kernel")
		m := kpcaFitted(rt, text, 0, x)
		y, z := embedded(rt, m, x), embedded(rt, m, other)
		spread := m.variances[0]
		for a := range y.Cols {
			mean := 0.0
			for i := range n {
				mean += y.At(i, a) / float64(n)
			}
			if math.Abs(mean) > 1e-7*math.Sqrt(spread) {
				rt.Fatalf("direction %d has mean %g", a, mean)
			}
			for b := range y.Cols {
				sum := 0.0
				for i := range n {
					sum += y.At(i, a) * y.At(i, b) / float64(n)
				}
				if a == b {
					sum -= m.variances[a]
				}
				if math.Abs(sum) > 1e-7*spread {
					rt.Fatalf("covariance of %d and %d is off by %g", a, b, sum)
				}
			}
		}
		k := kernel.Kernel(m.Kernel())
		inner, err := k.Gram(context.Background(), enginetest.New(t, 0), x)
		if err != nil {
			rt.Fatal(err)
		}
		all := append(slices.Clone(x.Data), other.Data...)
		whole, err := k.Gram(context.Background(), enginetest.New(t, 0),
			&points.Dense{N: n + 7, D: 3, Data: all})
		if err != nil {
			rt.Fatal(err)
		}
		mean := func(p int) float64 { // of the kernel values of point p with the training points
			sum := 0.0
			for i := range n {
				sum += whole.At(p, i) / float64(n)
			}
			return sum
		}
		grand := 0.0
		for i := range n {
			for j := range n {
				grand += inner.At(i, j) / float64(n*n)
			}
		}
		for i := range n {
			for j := range 7 {
				sum := 0.0
				for c := range y.Cols {
					sum += y.At(i, c) * z.At(j, c)
				}
				if want := whole.At(i, n+j) - mean(i) - mean(n+j) +
					grand; math.Abs(sum-want) > 1e-5*spread*float64(n) {
					rt.Fatalf("product of %d and new point %d is %g, want %g", i, j, sum, want)
				}
			}
		}
	})
}

// TestKPCAFewDirections checks that few directions, computed by products, are the first of all
// directions, computed by a decomposition.
func TestKPCAFewDirections(t *testing.T) {
	x := cloud(400, 6, 3)
	few, all := kpcaFitted(t, "rbf:sigma=5", 4, x), kpcaFitted(t, "rbf:sigma=5", 0, x)
	a, b := embedded(t, few, x), embedded(t, all, x)
	for c := range 4 {
		if d := math.Abs(few.variances[c]/all.variances[c] - 1); d > 1e-9 {
			t.Errorf("variance %d differs by %g", c, d)
		}
		sign := 1.0
		if a.At(0, c)*b.At(0, c) < 0 {
			sign = -1
		}
		for i := range x.N {
			if d := math.Abs(a.At(i, c) - sign*b.At(i, c)); d > 1e-6 {
				t.Fatalf("direction %d differs by %g at %d", c, d, i)
			}
		}
	}
}

// TestKPCAWhiten checks that whitened coordinates of the training points have mean 0, variance 1
// and no covariance, in units of n eps of the spread of the variances, and that they are the
// coordinates without whitening with each direction scaled.
func TestKPCAWhiten(t *testing.T) {
	x := cloud(40, 3, 5)
	plain := kpcaFitted(t, "rbf:sigma=2", 6, x)
	none, err := links.New(x.N, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := param.Default[KPCA]()
	p.Dims, p.Whiten = 6, true
	m, err := KPCALearner{Kernel: enginetest.Spec(t, "rbf:sigma=2"), Params: p}.Fit(context.Background(),
		enginetest.New(t, 0), x, none)
	if err != nil {
		t.Fatal(err)
	}
	y, z := embedded(t, m.(*KPCAModel), x), embedded(t, plain, x)
	spread := plain.variances[0] / plain.variances[5]
	tolerance := 40 * 0x1p-52 * spread
	for a := range y.Cols {
		for b := range a + 1 {
			mean, product := 0.0, 0.0
			for i := range y.Rows {
				mean += y.At(i, a) / float64(y.Rows)
				product += y.At(i, a) * y.At(i, b) / float64(y.Rows)
			}
			want := 0.0
			if a == b {
				want = 1
			}
			if !(math.Abs(mean) <= tolerance) || !(math.Abs(product-want) <= tolerance) {
				t.Errorf("directions %d and %d: mean %g, product %g: want 0 and %g", a, b, mean, product,
					want)
			}
		}
		for i := range y.Rows {
			if e := y.At(i, a)*math.Sqrt(plain.variances[a]) - z.At(i, a); !(math.Abs(e) <= tolerance) {
				t.Errorf("coordinate (%d, %d) is off by %g", i, a, e)
			}
		}
	}
}

func TestKPCAModelFile(t *testing.T) {
	x := cloud(30, 3, 4)
	m := kpcaFitted(t, "rbf:sigma=2", 5, x)
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := DecodeKPCA(f)
	if err != nil {
		t.Fatal(err)
	}
	other := cloud(9, 3, 5)
	if a, b := embedded(t, m, other), embedded(t, back, other); !slices.Equal(a.Data, b.Data) ||
		!slices.Equal(m.Spectra()[0].Values, back.Spectra()[0].Values) {
		t.Error("the model that was read differs from the one that was written")
	}
}

func TestKPCABadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	none, err := links.New(20, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(p *KPCA)
		x      points.Points
	}{
		"dims":      {func(p *KPCA) { p.Dims = -1 }, cloud(20, 2, 1)},
		"rank_tol":  {func(p *KPCA) { p.RankTol = 1 }, cloud(20, 2, 1)},
		"one place": {func(*KPCA) {}, &points.Dense{N: 20, D: 2, Data: make([]float64, 40)}},
		"rows":      {func(*KPCA) {}, cloud(19, 2, 1)},
	} {
		l := KPCALearner{Params: param.Default[KPCA]()}
		c.change(&l.Params)
		if _, err := l.Fit(ctx, eng, c.x, none); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (KPCALearner{Params: param.Default[KPCA]()}).Fit(done, eng, cloud(20, 2, 1),
		none); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
