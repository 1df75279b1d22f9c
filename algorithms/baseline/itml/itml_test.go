package itml

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func distances(t enginetest.Fataler, m *Model, x points.Points, pairs [][2]int) []float64 {
	t.Helper()
	d, err := m.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestModesAgree checks that kernel mode with a linear kernel learns the metric of linear mode,
// also between new points.
func TestModesAgree(t *testing.T) {
	for _, gamma := range []float64{0.1, 1, 10} {
		x, _, set := enginetest.Bands(t, 60, 4, 30, 1)
		l := Learner{Params: DefaultParams(),
			Lesson: algorithms.Lesson{Triplets: []links.Triplet{{I: 0, J: 3, K: 1}, {I: 50, J: 20, K: 51},
				{I: 4, J: 7, K: 30}}}}
		l.Params.Gamma, l.Params.Tol, l.Params.MaxIter = gamma, 1e-12, 100000
		flat := fittest.Fit[*Model](t, l, x, set)
		var err error
		if l.Kernel, err = kernel.Parse("linear"); err != nil {
			t.Fatal(err)
		}
		curved := fittest.Fit[*Model](t, l, x, set)
		if flat.Residual() > 1e-9 || curved.Residual() > 1e-9 {
			t.Fatalf("residuals %g and %g", flat.Residual(), curved.Residual())
		}
		other, _, _ := enginetest.Bands(t, 10, 4, 2, 2)
		pairs := [][2]int{{0, 1}, {2, 7}, {3, 9}, {4, 5}}
		a, b := distances(t, flat, other, pairs), distances(t, curved, other, pairs)
		for k := range a {
			if math.Abs(a[k]-b[k]) > 1e-6*a[k] {
				t.Fatalf("gamma %g: pair %d is %.12g apart, with the kernel %.12g", gamma, k, a[k], b[k])
			}
		}
	}
}

// TestTriplet checks that a triplet that does not hold before the fit holds after it, by the margin
// minus the slack.
func TestTriplet(t *testing.T) {
	x, _, _ := enginetest.Bands(t, 60, 3, 5, 7)
	none, err := links.New(60, nil)
	if err != nil {
		t.Fatal(err)
	}
	far := func(a, b int) float64 { return points.SquaredDistance(x.Row(a), x.Row(b)) }
	w := links.Triplet{I: 0, J: 1, K: 2}
	for k := range 60 { // the nearest point must become farther away than the next row
		if k != w.I && k != w.J && far(w.I, k) < far(w.I, w.K) {
			w.K = k
		}
	}
	if far(w.I, w.J) < far(w.I, w.K) {
		t.Fatal("the triplet holds before")
	}
	for _, gamma := range []float64{1, 100, math.MaxFloat64} {
		l := Learner{Params: DefaultParams(), Lesson: algorithms.Lesson{Triplets: []links.Triplet{w}}}
		l.Params.Gamma, l.Params.Margin, l.Params.Tol = gamma, "0.25", 1e-12
		m := fittest.Fit[*Model](t, l, x, none)
		d := distances(t, m, x, [][2]int{{w.I, w.J}, {w.I, w.K}})
		gap := d[1] - d[0]
		if gap <= 0 || gamma >= 100 && math.Abs(gap-0.25) > 1e-2 || gamma > 100 &&
			math.Abs(gap-0.25) > 1e-8 || m.Residual() > 1e-9 {
			t.Errorf("gamma %g: distances %v, %g apart, want 0.25 for a large gamma (residual %g)", gamma, d,
				gap, m.Residual())
		}
	}
}

// TestGap checks in both modes that converged means a duality gap of at most the tolerance, and
// that the gap is among the statistics.
func TestGap(t *testing.T) {
	x, _, set := enginetest.Bands(t, 60, 4, 40, 8)
	for _, text := range []string{"", "rbf:sigma=mean"} {
		seen := map[bool]bool{}
		for _, gamma := range []float64{1, 100} {
			for _, sweeps := range []int{1, 10, 20000} {
				l := Learner{Params: DefaultParams()}
				l.Params.Gamma, l.Params.MaxIter = gamma, sweeps
				if text != "" {
					var err error
					if l.Kernel, err = kernel.Parse(text); err != nil {
						t.Fatal(err)
					}
				}
				m := fittest.Fit[*Model](t, l, x, set)
				gap, is := math.NaN(), false
				for _, s := range m.Describe() {
					if s.Name == "duality gap" {
						gap, is = s.Value.(float64), true
					}
				}
				converged := m.Status().Converged
				seen[converged] = true
				if !is || !(gap >= 0) || !(gap <= 1) || converged != (gap <= l.Params.Tol) ||
					converged != (m.Status().Message == "") {
					t.Errorf("%q, gamma %g, %d sweeps: gap %g, status %+v", text, gamma, sweeps, gap,
						m.Status())
				}
			}
		}
		if len(seen) != 2 {
			t.Errorf("%q: converged %v, want both", text, seen)
		}
	}
}

// TestCovariancePrior checks that the inverse covariance as prior is the identity on whitened
// points.
func TestCovariancePrior(t *testing.T) {
	x, _, set := enginetest.Bands(t, 60, 3, 30, 3)
	l := Learner{Params: DefaultParams()}
	l.Params.Prior, l.Params.Tol, l.Params.MaxIter = Covariance, 1e-11, 100000
	want := fittest.Fit[*Model](t, l, x, set)
	// Then a linear change of all features has no effect.
	mixed := &points.Dense{N: x.N, D: 3, Data: make([]float64, 3*x.N)}
	for i := range x.N {
		a := x.Row(i)
		copy(mixed.Row(i), []float64{2*a[0] + a[1], 5*a[1] - a[2], a[2] + 0.1*a[0]})
	}
	got := fittest.Fit[*Model](t, l, mixed, set)
	pairs := [][2]int{{0, 1}, {5, 17}, {8, 30}}
	a, b := distances(t, want, x, pairs), distances(t, got, mixed, pairs)
	for k := range a {
		if math.Abs(a[k]-b[k]) > 1e-6*a[k] {
			t.Fatalf("pair %d is %.12g apart, after a change of features %.12g", k, a[k], b[k])
		}
	}
}

// TestLearns checks in both modes that links are satisfied better than before: must-links become
// short relative to cannot-links.
func TestLearns(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		x, labels, set := enginetest.Bands(t, 90, 4, 60, rapid.Uint64().Draw(rt, "seed"))
		l := Learner{Params: DefaultParams()}
		if rapid.Bool().Draw(rt, "kernel") {
			var err error
			if l.Kernel, err = kernel.Parse("rbf:sigma=mean"); err != nil {
				t.Fatal(err)
			}
		}
		ratio := func(d func(i, j int) float64) float64 {
			var sum [2]float64
			for i := range x.N {
				for j := range i {
					k := 0
					if labels[i] != labels[j] {
						k = 1
					}
					sum[k] += d(i, j)
				}
			}
			return sum[1] / sum[0]
		}
		y, err := fittest.Fit[*Model](t, l, x, set).Embed(context.Background(), enginetest.New(t, 0), x)
		if err != nil {
			t.Fatal(err)
		}
		squared := func(a blas.Matrix) func(i, j int) float64 {
			return func(i, j int) float64 { return points.SquaredDistance(a.Row(i), a.Row(j)) }
		}
		raw := ratio(squared(blas.MatrixOf(x.N, x.D, x.Data)))
		if got := ratio(squared(y)); got < 1.05*raw {
			rt.Fatalf("distances between classes over those within are %g, %g before", got, raw)
		}
	})
}

func TestModelFile(t *testing.T) {
	x, _, set := enginetest.Bands(t, 60, 4, 30, 5)
	for _, text := range []string{"", "rbf:sigma=mean"} {
		l := Learner{Params: DefaultParams()}
		if text != "" {
			var err error
			if l.Kernel, err = kernel.Parse(text); err != nil {
				t.Fatal(err)
			}
		}
		m := fittest.Fit[*Model](t, l, x, set)
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		back, err := Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		pairs := [][2]int{{0, 1}, {5, 17}}
		if a, b := distances(t, m, x, pairs), distances(t, back, x, pairs); !slices.Equal(a, b) ||
			back.Residual() != m.Residual() {
			t.Errorf("%q: the model that was read differs from the one that was written", text)
		}
	}
}

func TestBadInput(t *testing.T) {
	x, _, set := enginetest.Bands(t, 60, 4, 10, 6)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	none, err := links.New(60, nil)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(l *Learner)) algorithms.Learner {
		l := Learner{Params: DefaultParams()}
		change(&l)
		return l
	}
	linear, err := kernel.Parse("linear")
	if err != nil {
		t.Fatal(err)
	}
	same := &points.Dense{N: 60, D: 4, Data: slices.Clone(x.Data)}
	for i := range 50 {
		copy(same.Row(i), same.Row(0))
	}
	for name, c := range map[string]struct {
		l   algorithms.Learner
		x   points.Points
		set *links.Set
	}{
		"triplet":  {with(func(l *Learner) { l.Triplets = []links.Triplet{{I: 1, J: 1, K: 2}} }), x, set},
		"margin":   {with(func(l *Learner) { l.Params.Margin = "p" }), x, set},
		"no links": {with(func(*Learner) {}), x, none},
		"gamma":    {with(func(l *Learner) { l.Params.Gamma = 0 }), x, set},
		"upper":    {with(func(l *Learner) { l.Params.Upper = "five" }), x, set},
		"lower":    {with(func(l *Learner) { l.Params.Lower = "p101" }), x, set},
		"prior":    {with(func(l *Learner) { l.Params.Prior = "p" }), x, set},
		"with":     {with(func(l *Learner) { l.Params.Prior, l.Kernel = Covariance, linear }), x, set},
		"dims":     {with(func(l *Learner) { l.Params.Dims = -1 }), x, set},
		"tol":      {with(func(l *Learner) { l.Params.Tol = math.Inf(1) }), x, set},
		"max_iter": {with(func(l *Learner) { l.Params.MaxIter = 0 }), x, set},
	} {
		if _, err := c.l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	// Bounds in the wrong order, and a limit on the sweeps, are reported.
	m, err := with(func(l *Learner) {
		l.Params.Upper, l.Params.Lower, l.Params.MaxIter = "9", "2", 1
	}).Fit(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Status(); s.Converged || !strings.Contains(s.Message, "1 sweeps") || len(s.Notices) != 1 ||
		!strings.Contains(s.Notices[0], "9") {
		t.Errorf("status %+v", s)
	}
	// Points that coincide do no harm: links between them are counted, and those that cannot be
	// satisfied are reported.
	twins, err := links.New(60,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 3, links.Cannot),
			links.NewLink(50, 51, links.Must)})
	if err != nil {
		t.Fatal(err)
	}
	m, err = with(func(l *Learner) { l.Params.Upper, l.Params.Lower = "1", "9" }).Fit(ctx, eng, same, twins)
	if err != nil || m.(*Model).about.Skipped != 2 ||
		!slices.ContainsFunc(m.Status().Notices, func(s string) bool {
			return strings.Contains(s, "2 and 3")
		}) {
		t.Errorf("twins: error %v, %+v", err, m)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := with(func(*Learner) {}).Fit(done, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// TestLandmarks: on a kernel matrix of few eigenvalues, landmarks give the distances of the whole
// matrix.
func TestLandmarks(t *testing.T) {
	rng, labels, data := rand.New(rand.NewPCG(3, 3)), make([]string, 60), make([]float64, 60)
	for i := range data {
		labels[i] = strconv.Itoa(i % 2)
		data[i] = float64(i%2) + 0.3*rng.NormFloat64()
	}
	x, err := points.NewDense(60, 1, data)
	if err != nil {
		t.Fatal(err)
	}
	set, err := links.SampleByCount(labels, 20, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	cubic, err := kernel.Parse("poly:degree=3,coef=1")
	if err != nil {
		t.Fatal(err)
	}
	var before []float64
	for _, landmarks := range []int{0, 25} {
		l := Learner{Kernel: cubic, Params: DefaultParams()}
		l.Params.Landmarks, l.Params.Tol, l.Params.Gamma = landmarks, 1e-9, 0.1
		m := fittest.Fit[*Model](t, l, x, set)
		d, err := m.Distances(context.Background(), enginetest.New(t, 0), x,
			[][2]int{{0, 1}, {0, 2}, {4, 17}, {30, 59}, {11, 12}})
		if err != nil {
			t.Fatal(err)
		}
		if (m.about.Landmarks > 0) != (landmarks > 0) || m.about.Landmarks > 4 {
			t.Errorf("%d landmarks: the model says %d: want the 4 that a cubic on a line has", landmarks,
				m.about.Landmarks)
		}
		for k, v := range before {
			if math.Abs(v-d[k]) > 1e-5*v {
				t.Errorf("distance %d is %g with landmarks: want %g", k, d[k], v)
			}
		}
		before = d
	}
}

// TestChange: the learned kernel is the prior one and a change, whose rank is the number of
// landmarks.
func TestChange(t *testing.T) {
	const n, landmarks = 30, 5
	x, _, set := enginetest.Blobs(t, n, 3, 12, 4)
	l := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=1"), Params: DefaultParams()}
	l.Params.Landmarks = landmarks
	m, eng := fittest.Fit[*Model](t, l, x, set), enginetest.New(t, 1)
	learned, err := m.Gram(t.Context(), eng, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	prior, err := m.Kernel().Gram(t.Context(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	eng.Backend().Kernels().Axpy(-1, prior.Data, learned.Data)
	w, rank := make([]float64, n), 0
	if err := eng.SymEig(t.Context(), learned, w, false); err != nil {
		t.Fatal(err)
	}
	for _, v := range w {
		if math.Abs(v) > 1e-9*max(w[n-1], -w[0]) {
			rank++
		}
	}
	if rank != landmarks {
		t.Errorf("the change has rank %d: want %d", rank, landmarks)
	}
}

// TestConstant: a direction counts if its variance is above 1e-12 of the largest.
func TestConstant(t *testing.T) {
	set := enginetest.Links(t, 4, []links.Link{links.NewLink(0, 1, links.Must),
		links.NewLink(0, 2, links.Cannot)})
	for variance, directions := range map[float64]int{3e-12: 2, 3e-13: 1} {
		v := math.Sqrt(variance)
		x := &points.Dense{N: 4, D: 2, Data: []float64{1, v, 1, -v, -1, v, -1, -v}}
		l := Learner{Params: DefaultParams()}
		l.Params.Upper, l.Params.Lower = "0.5", "5"
		if m := fittest.Fit[*Model](t, l, x, set); m.Dim() != directions {
			t.Errorf("variance %g: %d directions, want %d", variance, m.Dim(), directions)
		}
	}
}

// TestNotices: the notice about the bounds of all links comes before that about some of them.
func TestNotices(t *testing.T) {
	set := enginetest.Links(t, 4, []links.Link{links.NewLink(0, 1, links.Must),
		links.NewLink(0, 2, links.Cannot), links.NewLink(0, 3, links.Cannot)})
	l := Learner{Params: DefaultParams()}
	l.Params.Upper, l.Params.Lower = "5", "0.5"
	x := &points.Dense{N: 4, D: 1, Data: []float64{0, 1, 2, 0}}
	n := fittest.Fit[*Model](t, l, x, set).Status().Notices
	if len(n) != 2 || !strings.Contains(n[0], "upper < lower") || !strings.Contains(n[1], "rows 0 and 3") {
		t.Errorf("notices %q", n)
	}
}
