package npkl

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/engine"
)

// window is the number of earlier sweeps that an extrapolation combines.
const window = 5

// chunk is the number of values that one task processes.
const chunk = 1 << 13

// anderson extrapolates the sweeps of a fixed rank, which are a fixed-point iteration V -> S(V)
// that converges linearly. It combines the latest S(V) with the weights that make the same
// combination of S(V) - V shortest (Anderson 1965).
type anderson struct {
	eng       *engine.Engine
	out, step [][]float64 // S(V) and S(V) - V, the latest last
	products  [][]float64 // of the steps, lower triangle
}

// last returns the latest S(V).
func (a *anderson) last() []float64 { return a.out[len(a.out)-1] }

// add stores out, the rows after a sweep, and step, what the sweep added to them. It returns memory
// for the next pair, which it no longer uses.
func (a *anderson) add(ctx context.Context, out, step []float64) (freeOut, freeStep []float64, err error) {
	if len(a.out) > window {
		freeOut, freeStep = a.out[0], a.step[0]
		a.out, a.step, a.products = append(a.out[:0], a.out[1:]...), append(a.step[:0], a.step[1:]...), a.products[1:]
		for i := range a.products {
			a.products[i] = a.products[i][1:]
		}
	} else {
		freeOut, freeStep = make([]float64, len(out)), make([]float64, len(out))
	}
	a.out, a.step = append(a.out, out), append(a.step, step)
	t, m := a.eng.Backend().Kernels(), len(a.step)
	parts := make([]float64, (len(out)+chunk-1)/chunk*m)
	err = a.eng.For(ctx, len(out), chunk, func(lo, hi int) error {
		for j, other := range a.step {
			parts[lo/chunk*m+j] = t.Dot(step[lo:hi], other[lo:hi])
		}
		return nil
	})
	products := make([]float64, m)
	for k, x := range parts {
		products[k%m] += x
	}
	a.products = append(a.products, products)
	return freeOut, freeStep, err
}

// reset drops all sweeps.
func (a *anderson) reset() { a.out, a.step, a.products = nil, nil, nil }

// propose overwrites v with the extrapolation, and reports whether there is one.
func (a *anderson) propose(ctx context.Context, v []float64) (bool, error) {
	m := len(a.out) - 1
	if m < 2 {
		return false, nil
	}
	weights := a.weights(m)
	if slices.ContainsFunc(weights, func(x float64) bool { return x-x != 0 }) {
		return false, nil
	}
	t, own := a.eng.Backend().Kernels(), 1.0
	for _, x := range weights {
		own -= x
	}
	return true, a.eng.For(ctx, len(v), chunk, func(lo, hi int) error {
		clear(v[lo:hi])
		t.Axpy(own, a.out[m][lo:hi], v[lo:hi])
		for j, x := range weights {
			t.Axpy(x, a.out[j][lo:hi], v[lo:hi])
		}
		return nil
	})
}

// weights returns the weights g_j of all S(V) except the latest, whose weight completes the sum to
// 1. With the differences d_j = step_m - step_j they minimize |step_m - sum g_j d_j|.
func (a *anderson) weights(m int) []float64 {
	at := func(i, j int) float64 { return a.products[max(i, j)][min(i, j)] }
	s, g := make([]float64, m*m), make([]float64, m)
	trace := 0.0
	for i := range m {
		for j := range m {
			s[i*m+j] = at(m, m) - at(m, i) - at(m, j) + at(i, j)
		}
		g[i] = at(m, m) - at(m, i)
		trace += s[i*m+i]
	}
	for i := range m {
		s[i*m+i] += 1e-10 * trace
	}
	cholesky(s, g, m)
	return g
}
