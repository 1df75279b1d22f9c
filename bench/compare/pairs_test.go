package compare

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// TestAdapterGradient: the gradient of InfoNCE is the limit of differences of the loss.
func TestAdapterGradient(t *testing.T) {
	const n, d, h = 8, 5, 1e-5
	r := rand.New(rand.NewPCG(1, 2))
	y := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for k := range y.Data {
		y.Data[k] = r.NormFloat64()
	}
	w := identity(d)
	for k := range w.Data {
		w.Data[k] += .3 * r.NormFloat64()
	}
	var must []links.Link
	for i := 0; i < n; i += 2 {
		must = append(must, links.NewLink(i, i+1, links.Must))
	}
	a, b, g := defaultAdapter(), newEngine(t, 1).Backend(), blas.NewMatrix(d, d)
	a.Temperature = .5
	batch := []int{0, 1, 2, 3}
	a.loss(b, y, must, batch, w, g)
	for k, v := range w.Data {
		w.Data[k] = v + h
		above := a.loss(b, y, must, batch, w, blas.Matrix{})
		w.Data[k] = v - h
		below := a.loss(b, y, must, batch, w, blas.Matrix{})
		w.Data[k] = v
		if want := (above - below) / (2 * h); math.Abs(g.Data[k]-want) > 1e-7 {
			t.Errorf("derivative %d is %g: want %g", k, g.Data[k], want)
		}
	}
}

// TestRetrieved: points of other classes come first at equal distances.
func TestRetrieved(t *testing.T) {
	got := retrieved([]float64{3, 1}, []float64{1, 2})
	if want := [precisions]float64{0, .2, (1./2 + 2./4) / 2}; got[first] != want[first] ||
		math.Abs(got[first10]-want[first10]) > 1e-15 || math.Abs(got[averageOf]-want[averageOf]) > 1e-15 {
		t.Errorf("got %v: want %v", got, want)
	}
}

// TestPairs: every system has values on a small set, and those that learn nothing do not depend on
// the number of links.
func TestPairs(t *testing.T) {
	o := Options{Sets: []string{"iris"}, Repetitions: 2, Seed: 1, Data: folder(t)}
	p, err := RunPairs(context.Background(), newEngine(t, 2), o, []int{5, 20})
	if err != nil || len(p.Failures) > 0 {
		t.Fatalf("%v; failures: %v", err, p.Failures)
	}
	for i, name := range p.Systems {
		few, many := p.Results[0][0].Ours[i], p.Results[1][0].Ours[i]
		for m := range pairSeconds {
			if v := few[m].Mean; !(v >= 0 && v <= 1+1e-12) {
				t.Errorf("%s: %s is %g: want a number from 0 to 1", name, pairNames()[m], v)
			}
			if (name == Raw || name == centered) && few[m].Mean != many[m].Mean {
				t.Errorf("%s: %s is %g, and %g with more links", name, pairNames()[m], few[m].Mean,
					many[m].Mean)
			}
		}
	}
	if page := p.Markdown(); !strings.Contains(page, "| adapter |") ||
		!strings.Contains(page, "| iris | 0.") {
		t.Errorf("the page is %s", page)
	}
	var wrong *fault.ParamError
	if _, err := RunPairs(context.Background(), newEngine(t, 1), o, []int{0}); !errors.As(err, &wrong) {
		t.Errorf("a budget of 0: %v", err)
	}
}
