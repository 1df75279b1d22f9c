package graphkernel

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Problem is tr(Delta Z) + C sum l(t Z_ij) on n points, Delta = Diag I - N.
type Problem struct {
	Loss Loss
	C    float64
	Diag float64        // 1 + delta
	N    *sparse.Matrix // normalised similarities; a diagonal of zeros
	// The links of point i are To[Start[i]:Start[i+1]], with their signs and the weights C w_ij: every
	// link is there twice.
	Start  []int
	To     []int32
	Sign   []float64
	Weight []float64
}

// Loss says how a link that is not met is charged.
type Loss string

// The losses at f = t Z_ij.
const (
	Square       Loss = "sl"  // (1-f)^2
	SquaredHinge Loss = "shl" // max(0, 1-f)^2
	Hinge        Loss = "hl"  // 2 max(0, 1-f)
)

// Check returns a *fault.ParamError for a loss that does not exist.
func (l Loss) Check() error {
	if l != Square && l != SquaredHinge && l != Hinge {
		return fault.Unknown("loss", string(l), []string{string(Square), string(SquaredHinge), string(Hinge)})
	}
	return nil
}

// NewProblem normalises the similarities s, symmetric, which it overwrites, by the degrees that they have.
func NewProblem(s *sparse.Matrix, degrees []float64, set *links.Set, loss Loss, c, delta float64) *Problem {
	pr := &Problem{Loss: loss, C: c, Diag: 1 + delta, N: s}
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
func (p *Problem) join(n int, set *links.Set) {
	all := append(append([]links.Link(nil), set.Must()...), set.Cannot()...)
	p.Start = make([]int, n+1)
	for _, l := range all {
		p.Start[l.I+1]++
		p.Start[l.J+1]++
	}
	for i := range n {
		p.Start[i+1] += p.Start[i]
	}
	p.To, p.Sign, p.Weight = make([]int32, 2*len(all)), make([]float64, 2*len(all)), make([]float64, 2*len(all))
	next := append([]int(nil), p.Start...)
	put := func(i, j int, l links.Link) {
		at := next[i]
		next[i]++
		p.To[at], p.Sign[at], p.Weight[at] = int32(j), float64(l.Sign), p.C*l.Weight
	}
	for _, l := range all {
		put(l.I, l.J, l)
		put(l.J, l.I, l)
	}
}

// Links returns the place of point i's links.
func (p *Problem) Links(i int) (lo, hi int) { return p.Start[i], p.Start[i+1] }

// Charge returns the loss at f.
func (l Loss) Charge(f float64) float64 {
	switch l {
	case Square:
		return (1 - f) * (1 - f)
	case SquaredHinge:
		d := max(0, 1-f)
		return d * d
	}
	return 2 * max(0, 1-f)
}

// Slope returns h = -l'(f)/2.
func (l Loss) Slope(f float64) float64 {
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

// Objective evaluates the problem at Z = V V', V n x r.
func (p *Problem) Objective(v blas.Matrix) float64 {
	sum := 0.0
	for i := range v.Rows {
		row := v.Row(i)
		sum += p.Diag * Dot(row, row)
		col, val := p.N.Row(i)
		for a, j := range col {
			sum -= val[a] * Dot(row, v.Row(int(j)))
		}
		lo, hi := p.Links(i)
		for e := lo; e < hi; e++ {
			if j := int(p.To[e]); j > i { // each once
				sum += p.Weight[e] * p.Loss.Charge(p.Sign[e]*Dot(row, v.Row(j)))
			}
		}
	}
	return sum
}

// Dot is the inner product of two short vectors.
func Dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// Combined returns Delta less the matrix that has f(i, e) at the places of the links e of point i.
func (p *Problem) Combined(f func(i, e int) float64) *sparse.Matrix {
	n := p.N.Rows
	g := &sparse.Matrix{Rows: n, Cols: n, Start: make([]int, 1, n+1)}
	type entry struct {
		col int32
		val float64
	}
	var row []entry
	for i := range n {
		row = append(row[:0], entry{int32(i), p.Diag})
		col, val := p.N.Row(i)
		for a, j := range col {
			row = append(row, entry{j, -val[a]})
		}
		lo, hi := p.Links(i)
		for e := lo; e < hi; e++ {
			row = append(row, entry{p.To[e], -f(i, e)})
		}
		slices.SortStableFunc(row, func(a, b entry) int { return int(a.col) - int(b.col) })
		first := len(g.Col)
		for _, x := range row {
			if last := len(g.Col) - 1; last >= first && g.Col[last] == x.col {
				g.Val[last] += x.val
				continue
			}
			g.Col, g.Val = append(g.Col, x.col), append(g.Val, x.val)
		}
		g.Start = append(g.Start, len(g.Col))
	}
	return g
}

// RankBound returns the rank that suffices for some optimum: r(r+1)/2 is at most the number of links.
func (p *Problem) RankBound() int {
	count := len(p.To) / 2
	linked := 0
	for i := range p.N.Rows {
		if lo, hi := p.Links(i); hi > lo {
			linked++
		}
	}
	return max(1, min(int((math.Sqrt(8*float64(count)+1)-1)/2), linked))
}
