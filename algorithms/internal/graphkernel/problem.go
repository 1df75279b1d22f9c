// Package graphkernel holds what methods share that learn a kernel matrix on a graph: the graph,
// the energy of a kernel matrix with the losses of its links, and the places of training and of new
// points.
package graphkernel

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
)

// Problem is tr(Delta Z) + C sum l(t Z_ij) on n points, Delta = diag(Diag) - N.
type Problem struct {
	Loss Loss
	C    float64
	Diag []float64 // 1 + delta, all of them, where N is that of the graph itself
	N    Adjacency // normalized similarities
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

// NewProblem normalizes the similarities s, which it overwrites, by the degrees that they have.
func NewProblem(ctx context.Context, eng *engine.Engine, s Adjacency, degrees []float64, set *links.Set, loss Loss, c, delta float64) (*Problem, error) {
	pr := &Problem{Loss: loss, C: c, Diag: make([]float64, s.Len()), N: s}
	for i := range pr.Diag {
		pr.Diag[i] = 1 + delta
	}
	pr.join(s.Len(), set)
	return pr, s.normalize(ctx, eng, degrees)
}

// Len returns the number of points.
func (p *Problem) Len() int { return p.N.Len() }

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

// Times returns the problem of links that weigh c times as much; it shares all else.
func (p *Problem) Times(c float64) *Problem {
	out := *p
	out.C, out.Weight = c*p.C, make([]float64, len(p.Weight))
	for e, w := range p.Weight {
		out.Weight[e] = c * w
	}
	return &out
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

// objectiveRows is the number of points that one task takes.
const objectiveRows = 1024

// Objective evaluates the problem at Z = V V', V n x r.
func (p *Problem) Objective(ctx context.Context, eng *engine.Engine, v blas.Matrix) (float64, error) {
	product := eng.GetMatrix(v.Rows, v.Cols)
	defer eng.PutMatrix(product)
	if p.N.Sparse == nil {
		eng.Backend().Gemm(false, false, 1, p.N.Full, v, 0, product)
	}
	parts := make([]float64, (v.Rows+objectiveRows-1)/objectiveRows)
	err := eng.For(ctx, v.Rows, objectiveRows, func(lo, hi int) error {
		if p.N.Sparse != nil {
			p.N.Pull(eng, lo, hi, v, product.Data[lo*v.Cols:])
		}
		sum := 0.0
		for i := lo; i < hi; i++ {
			row := v.Row(i)
			sum += p.Diag[i]*Dot(row, row) - Dot(row, product.Row(i)) + p.Charges(i, v)
		}
		parts[lo/objectiveRows] = sum
		return nil
	})
	total := 0.0
	for _, s := range parts {
		total += s
	}
	return total, err
}

// Charges returns the losses of the links from point i to earlier ones.
func (p *Problem) Charges(i int, v blas.Matrix) float64 {
	sum, row := 0.0, v.Row(i)
	lo, hi := p.Links(i)
	for e := lo; e < hi; e++ {
		if j := int(p.To[e]); j < i {
			sum += p.Weight[e] * p.Loss.Charge(p.Sign[e]*Dot(row, v.Row(j)))
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

// RankBound returns the rank that suffices for some optimum: r(r+1)/2 is at most the number of
// links.
func (p *Problem) RankBound() int {
	count := len(p.To) / 2
	linked := 0
	for i := range p.Len() {
		if lo, hi := p.Links(i); hi > lo {
			linked++
		}
	}
	return max(1, min(int((math.Sqrt(8*float64(count)+1)-1)/2), linked))
}

// Permute returns the problem of the points in another order: order[k] is the point that comes
// k-th. Its graph is a sparse one.
func (p *Problem) Permute(order []int32) *Problem {
	n := p.Len()
	place := make([]int32, n)
	for k, i := range order {
		place[i] = int32(k)
	}
	out := &Problem{Loss: p.Loss, C: p.C, Diag: make([]float64, n), N: Adjacency{Sparse: p.N.Sparse.Permute(order)}}
	out.Start = make([]int, 1, n+1)
	for k, i := range order {
		out.Diag[k] = p.Diag[i]
		lo, hi := p.Links(int(i))
		for e := lo; e < hi; e++ {
			out.To, out.Sign, out.Weight = append(out.To, place[p.To[e]]), append(out.Sign, p.Sign[e]), append(out.Weight, p.Weight[e])
		}
		out.Start = append(out.Start, len(out.To))
	}
	return out
}

// Pairs numbers the links of a problem, each once, in the order of their lower points.
type Pairs struct {
	Count  int
	From   []int32 // the lower point of each
	Once   []int   // its place among the links of that point
	Number []int32 // of the link at each place
}

// Pairs returns the numbers of the links.
func (p *Problem) Pairs() Pairs {
	out := Pairs{Number: make([]int32, len(p.To))}
	type pair struct{ i, j int32 }
	known := make(map[pair]int32, len(p.To)/2)
	for i := range p.Len() {
		lo, hi := p.Links(i)
		for e := lo; e < hi; e++ {
			j := p.To[e]
			if int(j) < i {
				out.Number[e] = known[pair{j, int32(i)}]
				continue
			}
			known[pair{int32(i), j}] = int32(out.Count)
			out.Number[e] = int32(out.Count)
			out.From, out.Once = append(out.From, int32(i)), append(out.Once, e)
			out.Count++
		}
	}
	return out
}
