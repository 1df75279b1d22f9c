package npkl

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// window is the number of sweeps that an extrapolation looks back on.
const window = 5

// anderson extrapolates the sweeps of a given rank, a fixed-point iteration V -> S(V) that converges
// linearly: the combination of the latest S(V) is taken for which that of the latest S(V) - V is
// shortest (Anderson 1965).
type anderson struct {
	t         *asm.Table
	out, step [][]float64 // S(V) and S(V) - V, the latest last
}

// add takes a sweep from before to after.
func (a *anderson) add(before, after []float64) {
	var out, step []float64
	if len(a.out) > window { // the oldest give their memory
		out, step = a.out[0], a.step[0]
		a.out, a.step = append(a.out[:0], a.out[1:]...), append(a.step[:0], a.step[1:]...)
	} else {
		out, step = make([]float64, len(after)), make([]float64, len(after))
	}
	copy(out, after)
	copy(step, after)
	a.t.Axpy(-1, before, step)
	a.out, a.step = append(a.out, out), append(a.step, step)
}

func (a *anderson) reset() { a.out, a.step = nil, nil }

// propose writes the extrapolation to v, and says whether there is one.
func (a *anderson) propose(v blas.Matrix) bool {
	m := len(a.out) - 1
	if m < 2 {
		return false
	}
	// With the differences d_j = step_m - step_j: minimise |step_m - sum g_j d_j|.
	products := make([]float64, (m+1)*(m+1))
	for i := range m + 1 {
		for j := range i + 1 {
			products[i*(m+1)+j] = a.t.Dot(a.step[i], a.step[j])
			products[j*(m+1)+i] = products[i*(m+1)+j]
		}
	}
	at := func(i, j int) float64 { return products[i*(m+1)+j] }
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
	copy(v.Data, a.out[m])
	for j, x := range g {
		if x-x != 0 {
			return false
		}
		a.t.Axpy(-x, a.out[m], v.Data)
		a.t.Axpy(x, a.out[j], v.Data)
	}
	return true
}
