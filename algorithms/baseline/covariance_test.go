package baseline_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// cloud returns points with three correlated features and a constant one.
func cloud(n int) *points.Dense {
	rng := rand.New(rand.NewPCG(3, 4))
	x := &points.Dense{N: n, D: 4, Data: make([]float64, 4*n)}
	for i := range n {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		copy(x.Row(i), []float64{a, 2*a + 0.5*b, b - 3*c, 7})
	}
	return x
}

func covarianceFit(t *testing.T, p baseline.Covariance, x points.Points) (algorithms.Model, error) {
	t.Helper()
	none, err := links.New(x.Len(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return baseline.CovarianceLearner{Params: p}.Fit(t.Context(), enginetest.New(t, 2), x, none)
}

// TestCovarianceUnitCovariance checks that the coordinates of the training points have mean 0 and
// the identity as covariance, up to rounding, and that the constant feature adds no direction.
func TestCovarianceUnitCovariance(t *testing.T) {
	x := cloud(60)
	m, err := covarianceFit(t, param.Default[baseline.Covariance](), x)
	if err != nil {
		t.Fatal(err)
	}
	if m.Dim() != 3 {
		t.Fatalf("%d dimensions: want 3, since a feature is constant", m.Dim())
	}
	y, err := m.Embed(t.Context(), enginetest.New(t, 2), x)
	if err != nil {
		t.Fatal(err)
	}
	const tolerance = 60 * 100 * 0x1p-52 // n, the condition of the covariance, eps
	for a := range 3 {
		for b := range 3 {
			mean, product, want := 0.0, 0.0, 0.0
			for i := range y.Rows {
				mean += y.At(i, a) / float64(y.Rows)
				product += y.At(i, a) * y.At(i, b) / float64(y.Rows)
			}
			if a == b {
				want = 1
			}
			if !(math.Abs(mean) <= tolerance && math.Abs(product-want) <= tolerance) {
				t.Errorf("coordinates %d and %d: mean %g, covariance %g: want 0 and %g", a, b, mean, product,
					want)
			}
		}
	}
}

// TestCovarianceAffine checks that distances do not change when features are scaled, mixed and
// shifted.
func TestCovarianceAffine(t *testing.T) {
	x := cloud(60)
	moved := &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
	for i := range x.N {
		r := moved.Row(i)
		r[0], r[1], r[2] = 100*r[0]+3, r[1]-r[0], r[2]/8+r[1]
	}
	var found [2][]float64
	for k, points := range []*points.Dense{x, moved} {
		m, err := covarianceFit(t, param.Default[baseline.Covariance](), points)
		if err != nil {
			t.Fatal(err)
		}
		if found[k], err = m.Distances(t.Context(), enginetest.New(t, 2), points,
			[][2]int{{0, 1}, {7, 50}, {3, 3}}); err != nil {
			t.Fatal(err)
		}
	}
	for p := range found[0] {
		if d := found[0][p] - found[1][p]; !(math.Abs(d) <= 1e-9*(1+found[0][p])) {
			t.Errorf("pair %d: %g before, %g after", p, found[0][p], found[1][p])
		}
	}
}

// TestCovarianceDims checks that fewer dimensions are the first ones of all.
func TestCovarianceDims(t *testing.T) {
	x, p := cloud(60), param.Default[baseline.Covariance]()
	p.Dims = 2
	few, err := covarianceFit(t, p, x)
	if err != nil {
		t.Fatal(err)
	}
	all, err := covarianceFit(t, param.Default[baseline.Covariance](), x)
	if err != nil {
		t.Fatal(err)
	}
	y, _ := few.Embed(t.Context(), enginetest.New(t, 1), x)
	z, _ := all.Embed(t.Context(), enginetest.New(t, 1), x)
	for i := range x.N {
		if y.Cols != 2 || !slices.Equal(y.Row(i), z.Row(i)[:2]) {
			t.Fatalf("row %d is %v: want the beginning of %v", i, y.Row(i), z.Row(i))
		}
	}
}

// TestCovarianceBadInput checks that points that cannot be whitened, and parameters out of range,
// are input errors.
func TestCovarianceBadInput(t *testing.T) {
	gram, err := points.NewGram(2, 2, []float64{1, 1, 1, 1}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		p baseline.Covariance
		x points.Points
	}{
		"one place": {param.Default[baseline.Covariance](), gram},
		"equal points": {param.Default[baseline.Covariance](),
			&points.Dense{N: 3, D: 1, Data: []float64{2, 2, 2}}},
		"NaN": {param.Default[baseline.Covariance](),
			&points.Dense{N: 2, D: 1, Data: []float64{2, math.NaN()}}},
		"negative dims":     {baseline.Covariance{Dims: -1}, cloud(9)},
		"rank_tol beyond 1": {baseline.Covariance{RankTol: 1}, cloud(9)},
	} {
		if _, err := covarianceFit(t, c.p, c.x); !fault.IsInput(err) {
			t.Errorf("%s: error %v is not one of the input", name, err)
		}
	}
}
