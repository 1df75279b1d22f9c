package pairmodel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// drawn are pairs of which a share matches, with two normal features: the log odds of the first are
// 2 times it, at a share of 1/2.
func drawn(n int, share float64, rng *rand.Rand) (x blas.Matrix, must []bool, groups []int) {
	x, must, groups = blas.NewMatrix(n, 3), make([]bool, n), make([]int, n)
	for i := range n {
		must[i], groups[i] = rng.Float64() < share, i
		x.Row(i)[0] = rng.NormFloat64() - 1
		if must[i] {
			x.Row(i)[0] += 2
		}
		x.Row(i)[1], x.Row(i)[2] = rng.NormFloat64(), 3 // noise, and a constant
	}
	return x, must, groups
}

// TestCalibrated: the probabilities are those of the distribution that the links are drawn from,
// for their share and another.
func TestCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	eng := enginetest.New(t, 1)
	x, must, groups := drawn(4000, 0.5, rng)
	m, err := Fit(t.Context(), eng, x, must, groups, 1)
	if err != nil {
		t.Fatal(err)
	}
	// The AUC of two normal distributions of variance 1 at a distance of 2 is the distribution
	// function at the root of 2.
	if want := 0.5 * (1 + math.Erf(1)); math.Abs(m.AUC-want) > 0.01 || math.Abs(m.Alone-(1-want)) > 0.01 {
		t.Errorf("AUC %v and alone %v, want %v and %v", m.AUC, m.Alone, want, 1-want)
	}
	z := make([]float64, 3)
	other, _, _ := drawn(20000, 0.05, rng)
	odds := make([]float64, other.Rows)
	for i := range odds {
		odds[i] = m.LogOdds(other.Row(i), z)
	}
	rare, share := m.WithShareOf(odds)
	if math.Abs(share-0.05) > 0.01 {
		t.Errorf("share %v, want 0.05", share)
	}
	for v := -2.0; v <= 2; v += 0.5 {
		if got := m.LogOdds([]float64{v, 0, 3}, z); math.Abs(got-2*v) > 0.3 {
			t.Errorf("log odds %v at %v, want %v", got, v, 2*v)
		}
		got, want := rare.LogOdds([]float64{v, 0, 3}, z), 2*v+math.Log(0.05/0.95)
		if math.Abs(got-want) > 0.5 {
			t.Errorf("rare: log odds %v at %v, want %v", got, v, want)
		}
	}
}

// TestNoise: features that say nothing leave the share of the links.
func TestNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	x, must, groups := drawn(400, 0.3, rng)
	for i := range must {
		must[i] = i%4 == 0
	}
	m, err := Fit(t.Context(), enginetest.New(t, 1), x, must, groups, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p := Probability(m.LogOdds([]float64{5, 2, 3}, make([]float64, 3))); math.Abs(p-0.25) > 0.1 ||
		math.Abs(m.AUC-0.5) > 0.15 {
		t.Errorf("probability %v, AUC %v", p, m.AUC)
	}
}

// TestSeparable: links that features separate give finite log odds, and few links are refused.
func TestSeparable(t *testing.T) {
	x, must, groups := blas.NewMatrix(40, 1), make([]bool, 40), make([]int, 40)
	for i := range must {
		must[i], groups[i], x.Row(i)[0] = i < 20, i, float64(i)
	}
	m, err := Fit(t.Context(), enginetest.New(t, 1), x, must, groups, 1)
	if err != nil {
		t.Fatal(err)
	}
	near, far := m.LogOdds([]float64{0}, make([]float64, 1)), m.LogOdds([]float64{39}, make([]float64, 1))
	if !(near > 2 && far < -2 && near < 50 && far > -50) || m.AUC < 0.99 || m.Alone != 1 {
		t.Errorf("log odds %v and %v, AUC %v", near, far, m.AUC)
	}
	must[0] = false
	if _, err := Fit(t.Context(), enginetest.New(t, 1), x.View(0, 28, 0, 1), must[11:39], groups[:28],
		1); !fault.IsInput(err) {
		t.Errorf("nine must-links: %v", err)
	}
}

// TestOptimum: at the coefficients the gradient of the penalized loss vanishes, with the targets
// (m + 1) / (m + 2) and 1 / (c + 2) for m pairs that match and c that do not.
func TestOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	x, must, _ := drawn(200, 0.3, rng)
	rows := rng.Perm(200)[:150]
	matching := 0.0
	for _, i := range rows {
		if must[i] {
			matching++
		}
	}
	low, high := 1/(float64(len(rows))-matching+2), (matching+1)/(matching+2)
	for _, prior := range []float64{0.1, 1, 50} {
		w, b, err := logistic(t.Context(), enginetest.New(t, 1), x, must, rows, prior)
		if err != nil {
			t.Fatal(err)
		}
		gradient := make([]float64, x.Cols+1)
		for _, i := range rows {
			want := low
			if must[i] {
				want = high
			}
			off := 1/(1+math.Exp(-blas.Dot(w, x.Row(i))-b)) - want
			for k, v := range x.Row(i) {
				gradient[k] += off * v
			}
			gradient[x.Cols] += off
		}
		for k, v := range w {
			gradient[k] += prior * v
		}
		if norm := math.Sqrt(blas.Dot(gradient, gradient)); !(norm <= 1e-5*float64(len(rows))) {
			t.Errorf("prior %v: the gradient has norm %v", prior, norm)
		}
	}
}

// TestShare: the share is the mean probability, with one pair more that matches and one that does
// not, to 1e-6 also where the fixed point is approached slowly.
func TestShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	odds := make([]float64, 5000)
	for i := range odds {
		odds[i] = 1.5*rng.NormFloat64() - 1.1
		if rng.IntN(5) == 0 {
			odds[i] += 2.2
		}
	}
	m := Model{Must: 60, Cannot: 40}
	out, share := m.WithShareOf(odds)
	shift := math.Log(share/(1-share)) - math.Log(1.5)
	mean := 1 / (float64(len(odds)) + 2)
	for _, v := range odds {
		mean += Probability(v+shift) / (float64(len(odds)) + 2)
	}
	if math.Abs(mean-share) > 1e-6 || math.Abs(out.bias-shift) > 1e-12 {
		t.Errorf("share %v for a mean probability of %v, shift %v: want %v", share, mean, out.bias, shift)
	}
}
