package logdet

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestCompareGradient compares the gradient with respect to L with central differences.
func TestCompareGradient(t *testing.T) {
	const n, q, h = 15, 4, 1e-5
	rng := rand.New(rand.NewPCG(8, 1))
	z, at, gradient, none := blas.NewMatrix(n, q), make([]float64, q*q), make([]float64, q*q),
		make([]float64, q*q)
	for i := range z.Data {
		z.Data[i] = rng.NormFloat64()
	}
	for i := range at {
		at[i] = rng.NormFloat64()
	}
	var list []Comparison
	for range 40 {
		p := rng.Perm(n)
		list = append(list, Comparison{p[0], p[1], p[2], p[3], rng.Float64()},
			Comparison{p[4], p[5], p[4], p[6], rng.Float64()})
	}
	p := newComparing(enginetest.New(t, 1), z, list)
	value := func(g []float64) float64 {
		f, err := p.at(context.Background(), at, g)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := value(gradient)
	for i, v := range at {
		at[i] = v + h
		up := value(none)
		at[i] = v - h
		down := value(none)
		at[i] = v
		if d := (up - down) / (2 * h); math.Abs(d-gradient[i]) > 1e-7*f {
			t.Errorf("element %d is %.10g, by differences %.10g", i, gradient[i], d)
		}
	}
	clear(at)
	if f := value(gradient); !math.IsInf(f, 1) {
		t.Errorf("F is %g where L is singular, want infinity", f)
	}
}
