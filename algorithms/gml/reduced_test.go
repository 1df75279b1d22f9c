package gml

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// strip returns two clusters of points in d dimensions, and links. On a line, their Gaussian kernel
// matrix has few eigenvalues above rounding.
func strip(t *testing.T, n, d int) (*points.Dense, *links.Set) {
	t.Helper()
	rng, data, labels := rand.New(rand.NewPCG(1, 1)), make([]float64, n*d), make([]string, n)
	for i := range n {
		labels[i] = string(rune('a' + i%2))
		for j := range d {
			data[i*d+j] = 0.4 * rng.NormFloat64()
		}
		data[i*d] += float64(i % 2)
	}
	x, err := points.NewDense(n, d, data)
	if err != nil {
		t.Fatal(err)
	}
	set, err := links.SampleByCount(labels, n/4, n/4, 2)
	if err != nil {
		t.Fatal(err)
	}
	return x, set
}

// furthest returns the largest difference of the distances of two models, relative to the mean
// distance.
func furthest(t *testing.T, x *points.Dense, a, b *Model) float64 {
	t.Helper()
	ctx, eng := context.Background(), enginetest.New(t, 0)
	var pairs [][2]int
	for i := range x.N {
		for j := range i {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	p, err := a.Distances(ctx, eng, x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.Distances(ctx, eng, x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	worst, mean := 0.0, 0.0
	for k, v := range p {
		worst, mean = max(worst, math.Abs(v-q[k])), mean+v/float64(len(p))
	}
	return worst / mean
}

// fitted fits the whole kernel to a high accuracy with some landmarks.
func fittedGML(t *testing.T, x *points.Dense, set *links.Set, gamma, width float64, landmarks int,
	seed uint64) *Model {
	t.Helper()
	l := Learner{Params: DefaultParams(), Seed: seed}
	l.Params.Dims = 0
	l.Params.Tol, l.Params.MaxIter, l.Params.Upper = 1e-9, 100000, "p20"
	l.Params.Gamma, l.Params.Width, l.Params.Landmarks = gamma, width, landmarks
	m := fittest.Fit[*Model](t, l, x, set)
	if !m.Status().Converged || m.Residual() > 1e-4 {
		t.Errorf("%d landmarks: %+v, residual %g", landmarks, m.Status(), m.Residual())
	}
	return m
}

// TestLandmarks: where landmarks span the kernel matrix up to rounding, their choice does not
// matter; the metric is that of the whole matrix up to the ridge that this one has, whose
// directions only strong links use. With a narrow kernel, which needs nearly all points, the
// difference falls with the part that the landmarks leave.
func TestLandmarks(t *testing.T) {
	x, set := strip(t, 60, 1)
	few := fittedGML(t, x, set, 1e-3, 1, 20, 1)
	if d := furthest(t, x, fittedGML(t, x, set, 1e-3, 1, 0, 1), few); d > 1e-3 {
		t.Errorf("distances differ by %.2g from those of the whole matrix", d)
	}
	if few.about.Landmarks > 20 || few.about.Rest > 1e-12 {
		t.Errorf("%d landmarks leave %g: want at most 20, and nothing", few.about.Landmarks, few.about.Rest)
	}
	if d := furthest(t, x, fittedGML(t, x, set, 1, 1, 20, 1), fittedGML(t, x, set, 1, 1, 30, 2)); d > 1e-6 {
		t.Errorf("distances differ by %.2g from those of other landmarks", d)
	}
	x, set = strip(t, 60, 4)
	whole, before := fittedGML(t, x, set, 1, 0.4, 0, 1), math.Inf(1)
	for _, c := range []struct {
		landmarks int
		apart     float64
	}{{20, 0.25}, {28, 0.2}, {35, 0.1}} {
		m := fittedGML(t, x, set, 1, 0.4, c.landmarks, 1)
		d := furthest(t, x, whole, m)
		t.Logf("%d landmarks leave %.2g: distances differ by %.2g", m.about.Landmarks, m.about.Rest, d)
		if d > c.apart || d > before {
			t.Errorf("%d landmarks: distances differ by %.2g: want at most %g, and %.2g as with fewer",
				c.landmarks, d, c.apart, before)
		}
		before = d
	}
}

// TestLandmarksMore: a model on landmarks that gets the rest of the links is that of all links.
func TestLandmarksMore(t *testing.T) {
	x, set := strip(t, 60, 1)
	some, err := links.New(60, append(slices.Clone(set.Must()[:10]), set.Cannot()[:12]...))
	if err != nil {
		t.Fatal(err)
	}
	more, err := fittedGML(t, x, some, 0.1, 1, 20, 1).AddLinks(context.Background(), enginetest.New(t, 0), x,
		set)
	if err != nil {
		t.Fatal(err)
	}
	if d := furthest(t, x, fittedGML(t, x, set, 0.1, 1, 20, 1), more.(*Model)); d > 1e-3 {
		t.Errorf("distances differ by %.2g", d)
	}
}

// TestLandmarksRefuse: landmarks belong to the Gaussian prior and one round.
func TestLandmarksRefuse(t *testing.T) {
	for _, change := range []func(p *Params){
		func(p *Params) { p.Prior = Spectral },
		func(p *Params) { p.Prior = DataDep },
		func(p *Params) { p.Outer = 2 },
	} {
		p := DefaultParams()
		p.Landmarks = 10
		change(&p)
		var param *fault.ParamError
		if err := p.Validate(); !errors.As(err, &param) || param.Param != "landmarks" {
			t.Errorf("%+v: %v: want an error about landmarks", p, err)
		}
	}
}
