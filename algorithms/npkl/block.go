package npkl

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// block minimizes over one row of V: D |v|^2 / 2 + b'v + sum_j w_j/2 l(t_j v'v_j), for the smooth
// losses l, whose second derivatives change only where a link changes its state, and for the hinge
// itself. It has the memory of one update, which does not grow with the square of the number of
// links at a point; only one goroutine may use it.
type block struct {
	free  bool // links that are more than satisfied are free
	r     int
	a     []float64 // the linked rows v_j, m x r
	t, w  []float64
	aim   []float64 // targets of t v'v_j
	limit []float64 // the distances to the targets from which on the losses are lines
	m     int
	state []state
	rhs   []float64 // r
	small []float64 // a system of at most r equations
	x     []float64
	next  []float64 // r

	pulled, old, sums []float64 // r, r and any number, for the caller
	kinks             *kinks    // of the hinge itself, nil for the smooth losses
}

// state is where on its loss a link is.
type state int8

const (
	slack  state = iota // where the loss is 0
	square              // where it is a square
	line                // where it is a line
	kink                // where the hinge has its kink
)

func newBlock(loss Loss, r, maxLinks int) *block {
	return &block{
		free: loss != Square, r: r, a: make([]float64, maxLinks*r), t: make([]float64, maxLinks),
		w:   make([]float64, maxLinks),
		aim: make([]float64, maxLinks), limit: make([]float64, maxLinks), state: make([]state, maxLinks),
		rhs: make([]float64, r), small: make([]float64, r*r), x: make([]float64, r), next: make([]float64, r),
		pulled: make([]float64, r), old: make([]float64, r),
	}
}

// blockBytes is the size of a block.
func blockBytes(r, maxLinks int) int64 {
	return engine.MatrixBytes(maxLinks, r+5) + engine.MatrixBytes(r, r+5)
}

// load reads the links of point i.
func (k *block) load(pr *graphkernel.Problem, v blas.Matrix, i int) {
	lo, hi := pr.Links(i)
	k.m = hi - lo
	for e := lo; e < hi; e++ {
		copy(k.a[(e-lo)*k.r:], v.Row(int(pr.To[e])))
	}
	copy(k.t, pr.Sign[lo:hi])
	copy(k.w, pr.Weight[lo:hi])
	for e := lo; e < hi; e++ {
		k.aim[e-lo], k.limit[e-lo] = 1, math.Inf(1)
	}
	if pr.Soft != nil {
		copy(k.limit, pr.Soft.Limit[lo:hi])
		for j, lead := range pr.Soft.Lead[lo:hi] {
			k.aim[j] += lead
		}
	} else if pr.Sharp() {
		k.sharpen()
	}
}

// sharpen makes the losses of the loaded links the hinge itself, w max(0, 1 - t v'v_j).
func (k *block) sharpen() {
	if k.kinks == nil {
		k.kinks = newKinks(k.r)
	}
	clear(k.limit[:k.m])
}

func (k *block) row(j int) []float64 { return k.a[j*k.r : (j+1)*k.r] }

// value returns the objective of the row, for D = d and b = -g.
func (k *block) value(v []float64, d float64, g []float64) float64 {
	sum := d*blas.Dot(v, v)/2 - blas.Dot(g, v)
	for j := range k.m {
		s := k.aim[j] - k.t[j]*blas.Dot(v, k.row(j))
		switch {
		case k.free && s <= 0:
		case k.kinks != nil:
			sum += k.w[j] * s
		case s < k.limit[j]:
			sum += k.w[j] / 2 * (s * s)
		default:
			sum += k.w[j] / 2 * (k.limit[j] * (2*s - k.limit[j]))
		}
	}
	return sum
}

// mark computes the states of the links at v, and reports whether one has changed.
func (k *block) mark(v []float64) (changed bool) {
	for j := range k.m {
		s, at := k.aim[j]-k.t[j]*blas.Dot(v, k.row(j)), square
		if k.free && s <= 0 {
			at = slack
		} else if s >= k.limit[j] {
			at = line
		}
		changed = changed || at != k.state[j]
		k.state[j] = at
	}
	return changed
}

// update overwrites v with the minimizer, for D = d and b = -g: Newton's method, whose steps are
// solutions for fixed states. Nearly always it ends after a few whole steps. If the states cycle,
// it begins again with steps that are halved until the objective falls.
func (k *block) update(v []float64, d float64, g []float64) {
	if k.m == 0 {
		for c := range v {
			v[c] = g[c] / d
		}
		return
	}
	if k.kinks != nil {
		k.bend(v, d, g)
		return
	}
	if !k.free { // all links are on their squares, at any row
		for j := range k.m {
			k.state[j] = square
		}
		k.solve(v, d, g)
		return
	}
	copy(k.next, v)
	k.mark(k.next)
	for range 20 {
		if k.solve(k.next, d, g); !k.mark(k.next) {
			copy(v, k.next)
			return
		}
	}
	k.descend(v, d, g)
}

// descend is update with shorter steps. It ends where rounding leaves no lower value.
func (k *block) descend(v []float64, d float64, g []float64) {
	from, value := make([]float64, k.r), k.value(v, d, g)
	for range 200 {
		copy(from, v)
		k.mark(v)
		k.solve(k.next, d, g)
		for step := 1.0; ; step /= 2 {
			for c, x := range from {
				v[c] = x + step*(k.next[c]-x)
			}
			if after := k.value(v, d, g); after < value {
				value = after
				break
			}
			if step < 1e-9 {
				copy(v, from)
				return
			}
		}
	}
}

// solve overwrites v with the minimizer for the marked states: (D I + sum w a a') v = g + sum w aim
// t a + sum w limit t a, where the first two sums are over the links on a square and the last one
// over those on a line. These are r equations, or by Woodbury's identity as many as links on a
// square, if these are fewer.
func (k *block) solve(v []float64, d float64, g []float64) {
	y := k.rhs
	copy(y, g)
	count := 0
	for j := range k.m {
		f := k.w[j] * k.t[j]
		switch k.state[j] {
		case slack:
			continue
		case square:
			count++
			f *= k.aim[j]
		case line:
			f *= k.limit[j]
		}
		blas.AddScaled(y, f, k.row(j))
	}
	if count >= k.r {
		k.direct(v, d)
		return
	}
	// v = (y - A (W^-1 D + A'A)^-1 A'y) / D
	s, x, at := k.small[:count*count], k.x[:count], 0
	for j := range k.m {
		if k.state[j] != square {
			continue
		}
		other := 0
		for l := range j + 1 {
			if k.state[l] == square {
				s[at*count+other] = blas.Dot(k.row(j), k.row(l))
				other++
			}
		}
		s[at*count+at] += d / k.w[j]
		x[at] = blas.Dot(k.row(j), y)
		at++
	}
	cholesky(s, x, count)
	at = 0
	copy(v, y)
	for j := range k.m {
		if k.state[j] == square {
			blas.AddScaled(v, -x[at], k.row(j))
			at++
		}
	}
	for c := range v {
		v[c] /= d
	}
}

// direct solves the r equations for the right-hand side that solve computed.
func (k *block) direct(v []float64, d float64) {
	s := k.small[:k.r*k.r]
	clear(s)
	for c := range k.r {
		s[c*k.r+c] = d
	}
	for j := range k.m {
		if k.state[j] != square {
			continue
		}
		row := k.row(j)
		for c, a := range row {
			f := k.w[j] * a
			for e := range c + 1 {
				s[c*k.r+e] += f * row[e]
			}
		}
	}
	copy(v, k.rhs)
	cholesky(s, v, k.r)
}

// cholesky overwrites x with the solution y of s y = x. s is positive definite of order n; only its
// lower triangle is read, and it is overwritten.
func cholesky(s, x []float64, n int) {
	for i := range n {
		row := s[i*n : i*n+i+1]
		for j := range i {
			other := s[j*n : j*n+j+1]
			sum := row[j]
			for c := range j {
				sum -= row[c] * other[c]
			}
			row[j] = sum / other[j]
		}
		sum := row[i]
		for c := range i {
			sum -= row[c] * row[c]
		}
		row[i] = math.Sqrt(sum)
		for c := range i {
			x[i] -= row[c] * x[c]
		}
		x[i] /= row[i]
	}
	for i := n - 1; i >= 0; i-- {
		x[i] /= s[i*n+i]
		for c := range i {
			x[c] -= s[i*n+c] * x[i]
		}
	}
}

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
		a.out, a.step, a.products = append(a.out[:0], a.out[1:]...), append(a.step[:0], a.step[1:]...),
			a.products[1:]
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
