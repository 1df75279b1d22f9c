package npkl

import (
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/solvers/boxqp"
)

// block minimizes over one row of V: D |v|^2 / 2 + b'v + sum_j w_j/2 l(t_j v'v_j). It has the
// memory of one update; only one goroutine may use it.
type block struct {
	loss  Loss
	r     int
	a     []float64 // the linked rows v_j, m x r
	t, w  []float64
	m     int
	rhs   []float64 // r
	small []float64 // a system of equations
	x     []float64
	on    []bool // whether a link is violated, for the squared hinge
	qp    boxqp.Solver
	p, q  []float64

	pulled, old, sums []float64 // r, r and any number, for the caller
}

func newBlock(loss Loss, r, maxLinks int) *block {
	size := max(r, maxLinks)
	return &block{
		loss: loss, r: r, a: make([]float64, maxLinks*r), t: make([]float64, maxLinks), w: make([]float64, maxLinks),
		rhs: make([]float64, r), small: make([]float64, size*size), x: make([]float64, size), on: make([]bool, maxLinks),
		p: make([]float64, maxLinks*maxLinks), q: make([]float64, maxLinks),
		pulled: make([]float64, r), old: make([]float64, r),
	}
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
}

func (k *block) row(j int) []float64 { return k.a[j*k.r : (j+1)*k.r] }

// value returns the objective of the row, for D = d and b = -g.
func (k *block) value(v []float64, d float64, g []float64) float64 {
	sum := d*graphkernel.Dot(v, v)/2 - graphkernel.Dot(g, v)
	for j := range k.m {
		sum += k.w[j] / 2 * k.loss.Value(k.t[j]*graphkernel.Dot(v, k.row(j)))
	}
	return sum
}

// update overwrites v with the minimizer, for D = d and b = -g.
func (k *block) update(v []float64, d float64, g []float64) {
	if k.m == 0 {
		for c := range v {
			v[c] = g[c] / d
		}
		return
	}
	switch k.loss {
	case Square:
		for j := range k.m {
			k.on[j] = true
		}
		k.square(v, d, g)
	case SquaredHinge:
		if !k.squaredHinge(v, d, g) {
			k.dual(v, d, g)
		}
	default:
		k.dual(v, d, g)
	}
}

// square solves (D I + sum w a a') v = sum w t a + g over the links that are on: r equations, or by
// Woodbury's identity as many equations as such links.
func (k *block) square(v []float64, d float64, g []float64) {
	y := k.rhs
	copy(y, g)
	count := 0
	for j := range k.m {
		if k.on[j] {
			count++
			f := k.w[j] * k.t[j]
			for c, a := range k.row(j) {
				y[c] += f * a
			}
		}
	}
	if count >= k.r {
		k.direct(v, d)
		return
	}
	// v = (y - A (W^-1 D + A'A)^-1 A'y) / D
	s, x, at := k.small[:count*count], k.x[:count], 0
	for j := range k.m {
		if !k.on[j] {
			continue
		}
		other := 0
		for l := range j + 1 {
			if k.on[l] {
				s[at*count+other] = graphkernel.Dot(k.row(j), k.row(l))
				other++
			}
		}
		s[at*count+at] += d / k.w[j]
		x[at] = graphkernel.Dot(k.row(j), y)
		at++
	}
	cholesky(s, x, count)
	at = 0
	copy(v, y)
	for j := range k.m {
		if k.on[j] {
			for c, a := range k.row(j) {
				v[c] -= x[at] * a
			}
			at++
		}
	}
	for c := range v {
		v[c] /= d
	}
}

// direct solves the r equations for the right-hand side that square computed.
func (k *block) direct(v []float64, d float64) {
	s := k.small[:k.r*k.r]
	clear(s)
	for c := range k.r {
		s[c*k.r+c] = d
	}
	for j := range k.m {
		if !k.on[j] {
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

// squaredHinge solves for the violated links, and repeats this until their set no longer changes.
// If the sets cycle, it returns false and leaves v unchanged.
func (k *block) squaredHinge(v []float64, d float64, g []float64) bool {
	for j := range k.m {
		k.on[j] = k.t[j]*graphkernel.Dot(v, k.row(j)) < 1
	}
	var before [64]float64
	var saved []float64
	if len(v) <= len(before) {
		saved = before[:len(v)]
	} else {
		saved = make([]float64, len(v))
	}
	copy(saved, v)
	for range 20 {
		k.square(v, d, g)
		same := true
		for j := range k.m {
			on := k.t[j]*graphkernel.Dot(v, k.row(j)) < 1
			same = same && on == k.on[j]
			k.on[j] = on
		}
		if same {
			return true
		}
	}
	copy(v, saved)
	return false
}

// dual solves the dual of the hinges, in a box: v = (sum_j a_j t_j v_j + g) / D, with a_j in [0,
// w_j] for the hinge and a_j >= 0 for its square.
func (k *block) dual(v []float64, d float64, g []float64) {
	m := k.m
	p, q, a := k.p[:m*m], k.q[:m], k.x[:m]
	for j := range m {
		for l := range j + 1 {
			// In units of the weights, the box has the same size in all directions.
			s := k.w[j] * k.w[l] * k.t[j] * k.t[l] * graphkernel.Dot(k.row(j), k.row(l))
			p[j*m+l], p[l*m+j] = s, s
		}
		q[j] = k.w[j] * (d - k.t[j]*graphkernel.Dot(k.row(j), g))
		a[j] = 0
	}
	upper := 1.0
	if k.loss == SquaredHinge {
		upper = math.Inf(1)
		for j := range m {
			p[j*m+j] += d * k.w[j]
		}
	}
	k.qp.Solve(p, q, upper, a)
	copy(v, g)
	for j := range m {
		f := a[j] * k.w[j] * k.t[j]
		for c, x := range k.row(j) {
			v[c] += f * x
		}
	}
	for c := range v {
		v[c] /= d
	}
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
