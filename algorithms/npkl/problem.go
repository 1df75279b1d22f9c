package npkl

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/sparse"
)

// problem is tr(Delta Z) + C sum l(t Z_ij) on n points.
type problem struct {
	loss Loss
	c    float64
	diag float64        // 1 + delta
	n    *sparse.Matrix // normalised similarities; a diagonal of zeros
	// The links of point i are to[start[i]:start[i+1]], with their signs and the weights C w_ij.
	start  []int
	to     []int32
	sign   []float64
	weight []float64
}

// newProblem normalises the similarities s, symmetric, which it overwrites.
func newProblem(s *sparse.Matrix, set *links.Set, p Params) *problem {
	pr := &problem{loss: p.Loss, c: p.C, diag: 1 + p.Delta, n: s}
	degrees := graph.Degrees(s)
	for i := range s.Rows {
		col, val := s.Row(i)
		for a, j := range col {
			if d := degrees[i] * degrees[j]; d > 0 {
				val[a] /= math.Sqrt(d)
			}
		}
	}
	pr.join(s.Rows, set)
	return pr
}

// join lists the links of every point, in the order of the other points.
func (p *problem) join(n int, set *links.Set) {
	all := append(append([]links.Link(nil), set.Must()...), set.Cannot()...)
	p.start = make([]int, n+1)
	for _, l := range all {
		p.start[l.I+1]++
		p.start[l.J+1]++
	}
	for i := range n {
		p.start[i+1] += p.start[i]
	}
	p.to, p.sign, p.weight = make([]int32, 2*len(all)), make([]float64, 2*len(all)), make([]float64, 2*len(all))
	next := append([]int(nil), p.start...)
	put := func(i, j int, l links.Link) {
		at := next[i]
		next[i]++
		p.to[at], p.sign[at], p.weight[at] = int32(j), float64(l.Sign), p.c*l.Weight
	}
	for _, l := range all {
		put(l.I, l.J, l)
		put(l.J, l.I, l)
	}
}

// links returns the place of point i's links.
func (p *problem) links(i int) (lo, hi int) { return p.start[i], p.start[i+1] }

// charge returns the loss at f.
func (l Loss) charge(f float64) float64 {
	switch l {
	case Square:
		return (1 - f) * (1 - f)
	case SquaredHinge:
		d := max(0, 1-f)
		return d * d
	}
	return 2 * max(0, 1-f)
}

// slope returns h = -l'(f)/2.
func (l Loss) slope(f float64) float64 {
	switch {
	case l == Square:
		return 1 - f
	case f >= 1:
		return 0
	case l == SquaredHinge:
		return 1 - f
	}
	return 1
}

// objective evaluates the problem at Z = V V', V n x r.
func (p *problem) objective(v blas.Matrix) float64 {
	sum := 0.0
	for i := range v.Rows {
		row := v.Row(i)
		sum += p.diag * dot(row, row)
		col, val := p.n.Row(i)
		for a, j := range col {
			sum -= val[a] * dot(row, v.Row(int(j)))
		}
		lo, hi := p.links(i)
		for e := lo; e < hi; e++ {
			if j := int(p.to[e]); j > i { // each once
				sum += p.weight[e] * p.loss.charge(p.sign[e]*dot(row, v.Row(j)))
			}
		}
	}
	return sum
}

// dot is the inner product of two short vectors.
func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}
