// Package graphkernel is the common part of the methods that learn a kernel matrix on a graph: the
// graph, the energy of a kernel matrix with the losses of its links, and the coordinates of
// training points and of new ones.
package graphkernel

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/operator"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// Problem is to minimize tr(Delta Z) + C sum l(t Z_ij) over n points, Delta = diag(Diag) - N.
type Problem struct {
	Loss Loss
	C    float64
	Diag []float64 // all 1 + delta, unless the problem is a reduced one
	N    Adjacency // normalized similarities
	// The links of point i are To[Start[i]:Start[i+1]], with their signs and the weights C w_ij.
	// Each link occurs twice, once at each of its points.
	Start  []int
	To     []int32
	Sign   []float64
	Weight []float64
	Soft   *Soft // nil for the losses themselves
}

// Loss names the loss of a violated link.
type Loss string

// The losses at f = t Z_ij.
const (
	Square       Loss = "sl"  // (1-f)^2
	SquaredHinge Loss = "shl" // max(0, 1-f)^2
	Hinge        Loss = "hl"  // 2 max(0, 1-f)
)

// NewProblem returns the problem of the similarities s and the links. It overwrites s, which it
// normalizes by its degrees.
func NewProblem(ctx context.Context, eng *engine.Engine, s Adjacency, degrees []float64, set *links.Set,
	loss Loss, c, delta float64) (*Problem, error) {
	pr := &Problem{Loss: loss, C: c, Diag: make([]float64, s.Len()), N: s}
	for i := range pr.Diag {
		pr.Diag[i] = 1 + delta
	}
	pr.addLinks(s.Len(), set)
	return pr, s.normalize(ctx, eng, degrees)
}

// Len returns the number of points.
func (p *Problem) Len() int { return p.N.Len() }

// addLinks fills the lists of links of every point.
func (p *Problem) addLinks(n int, set *links.Set) {
	all := append(append([]links.Link(nil), set.Must()...), set.Cannot()...)
	p.Start = make([]int, n+1)
	for _, l := range all {
		p.Start[l.I+1]++
		p.Start[l.J+1]++
	}
	p.To, p.Sign, p.Weight = make([]int32, 2*len(all)), make([]float64, 2*len(all)),
		make([]float64, 2*len(all))
	next := sparse.Begins(p.Start)
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

// Times returns the problem with the weights of the links multiplied by c. It shares the rest of
// its data with p.
func (p *Problem) Times(c float64) *Problem {
	out := *p
	out.C, out.Weight = c*p.C, make([]float64, len(p.Weight))
	for e, w := range p.Weight {
		out.Weight[e] = c * w
	}
	return &out
}

// Links returns the range of point i's links: To[lo:hi].
func (p *Problem) Links(i int) (lo, hi int) { return p.Start[i], p.Start[i+1] }

// Value returns the loss at f.
func (l Loss) Value(f float64) float64 {
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

// Sharp reports whether the losses have kinks.
func (p *Problem) Sharp() bool { return p.Loss == Hinge && p.Soft == nil }

// objectiveRows is the number of points that one task processes.
const objectiveRows = 1024

// Charge returns the loss of link e, a number of To, at f = t Z_ij.
func (p *Problem) Charge(e int, f float64) float64 {
	if p.Soft == nil {
		return p.Weight[e] * p.Loss.Value(f)
	}
	return p.Weight[e] * p.Soft.Value(e, f)
}

// Slope returns minus half the derivative of [Problem.Charge] by f.
func (p *Problem) Slope(e int, f float64) float64 {
	if p.Soft == nil {
		return p.Weight[e] * p.Loss.Slope(f)
	}
	return p.Weight[e] * p.Soft.Slope(e, f)
}

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
			p.N.MultiplyRows(eng, lo, hi, v, product.Data[lo*v.Cols:])
		}
		sum := 0.0
		for i := lo; i < hi; i++ {
			row := v.Row(i)
			sum += p.Diag[i]*blas.Dot(row, row) - blas.Dot(row, product.Row(i)) + p.Losses(i, v)
		}
		parts[lo/objectiveRows] = sum
		return nil
	})
	return blas.Sum(parts), err
}

// Losses returns the sum of the losses of the links from point i to earlier points.
func (p *Problem) Losses(i int, v blas.Matrix) float64 {
	sum, row := 0.0, v.Row(i)
	lo, hi := p.Links(i)
	for e := lo; e < hi; e++ {
		if j := int(p.To[e]); j < i {
			sum += p.Charge(e, p.Sign[e]*blas.Dot(row, v.Row(j)))
		}
	}
	return sum
}

// RankBound returns a rank r such that some optimum has at most that rank: r(r+1)/2 is at most the
// number of links.
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

// Permute returns the problem with its points in another order: point k of the result is point
// order[k] of p. The graph must be sparse.
func (p *Problem) Permute(order []int32) *Problem {
	n := p.Len()
	position := make([]int32, n)
	for k, i := range order {
		position[i] = int32(k)
	}
	out := &Problem{Loss: p.Loss, C: p.C, Diag: make([]float64, n),
		N: Adjacency{Sparse: p.N.Sparse.Permute(order)}}
	out.Start = make([]int, 1, n+1)
	for k, i := range order {
		out.Diag[k] = p.Diag[i]
		lo, hi := p.Links(int(i))
		for e := lo; e < hi; e++ {
			out.To, out.Sign, out.Weight = append(out.To, position[p.To[e]]), append(out.Sign, p.Sign[e]),
				append(out.Weight, p.Weight[e])
		}
		out.Start = append(out.Start, len(out.To))
	}
	return out
}

// Pairs numbers the links of a problem, each once, in the order of their lower points.
type Pairs struct {
	Count  int
	From   []int32 // the lower point of each link
	Once   []int   // the index in Problem.To at which the lower point lists the link
	Number []int32 // the number of the link at each index of Problem.To
}

// Pairs returns the numbering of the links.
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

// Energy returns Delta, both triangles.
func (p *Problem) Energy() blas.Matrix {
	n := p.Len()
	a := blas.NewMatrix(n, n)
	for i := range n {
		p.N.Each(i, func(j int, w float64) { a.Set(i, j, -w) })
		a.Set(i, i, p.Diag[i])
	}
	return a
}

// Terms returns the losses as terms of a semidefinite program, one for each link.
func (p *Problem) Terms() []optimize.Term {
	var out []optimize.Term
	for i := range p.Len() {
		lo, hi := p.Links(i)
		for e := lo; e < hi; e++ {
			if j := int(p.To[e]); j > i {
				out = append(out, optimize.Term{I: i, J: j, Loss: term{p.Loss, p.Sign[e], p.Weight[e]}})
			}
		}
	}
	return out
}

// term is the function w l(t z).
type term struct {
	loss    Loss
	sign, w float64
}

// Smooth returns the loss and its first two derivatives. For the hinge it returns those of
//
//	min over x > max(0, u) of 2 w x - mu log x - mu log (x - u),   u = 1 - t z
func (l term) Smooth(z, mu float64) (f, d1, d2 float64) {
	u := 1 - l.sign*z
	switch {
	case l.loss == Square || l.loss == SquaredHinge && u > 0:
		return l.w * u * u, -2 * l.sign * l.w * u, 2 * l.w
	case l.loss == SquaredHinge:
		return 0, 0, 0
	case mu == 0:
		return 2 * l.w * max(0, u), math.NaN(), math.NaN() // there is no derivative at the kink
	}
	c := 2 * l.w
	cu := c * u
	root := math.Sqrt(cu*cu + 4*mu*mu)
	up, down := root+cu, root-cu // one of the two suffers from cancellation and is replaced below
	if cu > 0 {
		down = 4 * mu * mu / up
	} else {
		up = 4 * mu * mu / down
	}
	x, apart := (up+2*mu)/(2*c), (down+2*mu)/(2*c) // x and x - u
	slope := mu / apart
	rise := (1 + cu/root) / 2 // dx/du
	return c*x - mu*math.Log(x) - mu*math.Log(apart), -l.sign * slope, mu * (1 - rise) / (apart * apart)
}

// Gap returns f(z) + f*(d) - d z.
func (l term) Gap(z, d float64) float64 {
	if l.loss != Hinge {
		_, exact, _ := l.Smooth(z, 0)
		return (d - exact) * (d - exact) / (4 * l.w)
	}
	u := 1 - l.sign*z
	slope := -l.sign * d // derivative with respect to u, between 0 and 2 w
	if slope < 0 || slope > 2*l.w {
		return math.Inf(1)
	}
	return max(0, 2*l.w*max(0, u)-slope*u)
}

// Lowest returns the k smallest eigenpairs of an operator. If the search reaches its maximum number
// of steps, it returns the best pairs found; their residuals measure how exact they are.
func Lowest(ctx context.Context, eng *engine.Engine, a operator.Operator, k int,
	o operator.EigenOptions) (*operator.Eigenpairs, error) {
	found, err := operator.BottomEigenpairs(ctx, eng, a, k, o)
	if rough, ok := errors.AsType[*operator.NoEigenpairsError](err); ok {
		return rough.Best, nil
	}
	return found, err
}

// Combined returns Delta minus the matrix whose entry at (i, To[e]) is f(i, e), for the links e of
// each point i.
func (p *Problem) Combined(f func(i, e int) float64) (*Combination, error) {
	edges := p.N.Sparse
	if edges == nil {
		edges = &sparse.Matrix{Rows: p.Len(), Cols: p.Len(), Start: make([]int, p.Len()+1)}
	}
	c := &Combination{rest: p.merged(edges, f), n: p.N.Full}
	var err error
	c.Operator, err = operator.Sparse(c.rest)
	return c, err
}

// Combination is a sparse matrix, minus the full matrix of similarities if all pairs have edges.
type Combination struct {
	operator.Operator
	rest *sparse.Matrix
	n    blas.Matrix // empty if the graph is sparse
}

// Width returns the number of vectors by which one product is cheapest.
func (c *Combination) Width() int {
	if c.n.Rows == 0 {
		return c.Operator.Width()
	}
	return 8
}

// Cost returns the number of stored values per row.
func (c *Combination) Cost() float64 {
	if c.n.Rows == 0 {
		return c.Operator.Cost()
	}
	return float64(c.n.Cols)
}

// Multiply overwrites y with the product of the matrix and x.
func (c *Combination) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	if err := c.Operator.Multiply(ctx, eng, y, x); err != nil || c.n.Rows == 0 {
		return err
	}
	eng.Backend().Gemm(false, false, -1, c.n, x, 1, y)
	return ctx.Err()
}

// WriteTo overwrites to with the full matrix, both triangles.
func (c *Combination) WriteTo(ctx context.Context, eng *engine.Engine, to blas.Matrix) error {
	return eng.Each(ctx, to.Rows, chunk, func(i int) {
		row := to.Row(i)
		clear(row)
		if c.n.Rows > 0 {
			eng.Backend().Kernels().Axpy(-1, c.n.Row(i), row)
		}
		col, val := c.rest.Row(i)
		for k, j := range col {
			row[j] += val[k]
		}
	})
}

// merged returns diag(Diag) - n - f.
func (p *Problem) merged(n *sparse.Matrix, f func(i, e int) float64) *sparse.Matrix {
	size := n.Count() + n.Rows + len(p.To) // an upper bound
	g := &sparse.Matrix{Rows: n.Rows, Cols: n.Rows, Start: make([]int, 1, n.Rows+1),
		Col: make([]int32, 0, size), Val: make([]float64, 0, size)}
	var all []entry // the diagonal and the links of one point
	for i := range n.Rows {
		all = append(all[:0], entry{int32(i), p.Diag[i]})
		lo, hi := p.Links(i)
		for e := lo; e < hi; e++ {
			all = append(all, entry{p.To[e], -f(i, e)})
		}
		slices.SortFunc(all, func(a, b entry) int { return int(a.col) - int(b.col) }) // columns are distinct
		// entries not yet merged
		own := all
		col, val := n.Row(i)
		for k, j := range col {
			for len(own) > 0 && own[0].col < j {
				g.Col, g.Val = append(g.Col, own[0].col), append(g.Val, own[0].val)
				own = own[1:]
			}
			v := -val[k]
			if len(own) > 0 && own[0].col == j {
				v += own[0].val
				own = own[1:]
			}
			g.Col, g.Val = append(g.Col, j), append(g.Val, v)
		}
		for _, x := range own {
			g.Col, g.Val = append(g.Col, x.col), append(g.Val, x.val)
		}
		g.Start = append(g.Start, len(g.Col))
	}
	return g
}

type entry struct {
	col int32
	val float64
}
