package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"

	"gonum.org/v1/gonum/mat"
)

// huBlocks is Algorithm 1 of Hu, Wang & Chen as printed, for small sets: the points without links
// are eliminated, and the rows of V, the coordinates of the others, are minimized one after the
// other. Package npkl does the same for the smooth losses; its hinge goes another way, because
// these sweeps stop at kinks.
type huBlocks struct {
	loss    npkl.Loss
	c       float64
	delta   *mat.SymDense // of the points with links
	spread  *mat.Dense    // from these to all points
	partner [][]int       // links of each point with links
	sign    [][]float64
	dual    [][]float64 // a for each of these links, from the sweep before
	v       *mat.Dense  // a row for each point with links
	trace   []float64   // objective after each sweep
}

// The sweeps end when V changes by less than huStill (1 + |V|), or after huSweeps of them. The
// paper has such a rule without its numbers.
const (
	huStill     = 1e-3
	huSweeps    = 10
	huNeighbors = 5
)

// huRank is the largest rank that an optimum for that many links can need.
func huRank(links int) int { return int((math.Sqrt(8*float64(links)+1) - 1) / 2) }

// newHuBlocks prepares the problem of the points x and starts from rand(r, l).
func newHuBlocks(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set, loss npkl.Loss,
	c float64, seed uint64) (*huBlocks, error) {
	laplacian, err := huLaplacian(ctx, eng, x, huDelta(c))
	if err != nil {
		return nil, err
	}
	h := &huBlocks{loss: loss, c: c}
	linked := h.join(set)
	if err := h.reduce(laplacian, linked); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	h.v = mat.NewDense(len(linked), min(huRank(set.Len()), len(linked)), nil)
	h.v.Apply(func(int, int, float64) float64 { return rng.Float64() }, h.v)
	return h, nil
}

// huLaplacian returns (1 + delta) I - D^-1/2 S D^-1/2 of the graph of five neighbors.
func huLaplacian(ctx context.Context, eng *engine.Engine, x points.Points,
	delta float64) (*mat.SymDense, error) {
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, huNeighbors)
	if err != nil {
		return nil, err
	}
	edges := near.Adjacency(graph.Union, graph.Binary)
	degrees := graph.Degrees(edges)
	out := mat.NewSymDense(x.Len(), nil)
	for i := range x.Len() {
		col, val := edges.Row(i)
		for k, j := range col {
			out.SetSym(i, int(j), -val[k]/math.Sqrt(degrees[i]*degrees[j]))
		}
		out.SetSym(i, i, 1+delta)
	}
	return out, nil
}

// join stores the links by point and returns the points with links, in ascending order.
func (h *huBlocks) join(set *links.Set) []int {
	var linked []int
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, l := range list {
			linked = append(linked, l.I, l.J)
		}
	}
	slices.Sort(linked)
	linked = slices.Compact(linked)
	h.partner, h.sign = make([][]int, len(linked)), make([][]float64, len(linked))
	add := func(list []links.Link, sign float64) {
		for _, l := range list {
			i, _ := slices.BinarySearch(linked, l.I)
			j, _ := slices.BinarySearch(linked, l.J)
			h.partner[i], h.sign[i] = append(h.partner[i], j), append(h.sign[i], sign)
			h.partner[j], h.sign[j] = append(h.partner[j], i), append(h.sign[j], sign)
		}
	}
	add(set.Must(), 1)
	add(set.Cannot(), -1)
	for _, list := range h.partner {
		h.dual = append(h.dual, make([]float64, len(list)))
	}
	return linked
}

// reduce eliminates the points without links: with the columns G of the inverse of Delta that
// belong to the others, and their own rows G_L of it, the reduced matrix is G_L^-1, and G G_L^-1
// carries coordinates to all points.
func (h *huBlocks) reduce(laplacian *mat.SymDense, linked []int) error {
	n, l := laplacian.SymmetricDim(), len(linked)
	var factor mat.Cholesky
	factor.Factorize(laplacian) // Delta has no eigenvalue below delta > 0
	unit := mat.NewDense(n, l, nil)
	for k, i := range linked {
		unit.Set(i, k, 1)
	}
	var columns mat.Dense
	if err := factor.SolveTo(&columns, unit); err != nil {
		return err
	}
	own := mat.NewSymDense(l, nil)
	for k, i := range linked {
		for m := k; m < l; m++ {
			own.SetSym(k, m, columns.At(i, m))
		}
	}
	factor.Factorize(own)
	h.delta = mat.NewSymDense(l, nil)
	if err := factor.InverseTo(h.delta); err != nil {
		return err
	}
	h.spread = mat.NewDense(n, l, nil)
	h.spread.Mul(&columns, h.delta)
	return nil
}

// run sweeps until V rests, or for at most that many sweeps.
func (h *huBlocks) run(ctx context.Context, still float64, most int) error {
	l, r := h.v.Dims()
	before, pull := mat.NewDense(l, r, nil), make([]float64, r)
	for range most {
		before.Copy(h.v)
		for i := range l {
			h.pull(i, pull)
			h.update(i, h.v.RawRowView(i), pull)
		}
		h.trace = append(h.trace, h.objective())
		before.Sub(h.v, before)
		if mat.Norm(before, 2) < still*(1+mat.Norm(h.v, 2)) {
			break
		}
	}
	return ctx.Err()
}

// pull computes b, the sum of the other rows by the entries of row i of the matrix.
func (h *huBlocks) pull(i int, b []float64) {
	clear(b)
	for k := range h.partner {
		if k == i {
			continue
		}
		w := h.delta.At(i, k)
		for c, x := range h.v.RawRowView(k) {
			b[c] += w * x
		}
	}
}

// update overwrites v with the minimizer of D |v|^2 / 2 + b'v + C/2 sum l(t v'v_j), by the dual of
// the paper: v = (sum a t v_j - b) / D. For the square loss a is free and solves (P + D/C I) a = q;
// for the squared hinge it is at least 0; the hinge has no D/C, and a is at most C.
func (h *huBlocks) update(i int, v, b []float64) {
	d, m := h.delta.At(i, i), len(h.partner[i])
	p, q, a := make([][]float64, m), make([]float64, m), h.dual[i]
	for j, from := range h.partner[i] {
		row := h.v.RawRowView(from)
		q[j], p[j] = h.sign[i][j]*huDot(row, b)+d, make([]float64, m)
		for k, to := range h.partner[i] {
			p[j][k] = h.sign[i][j] * h.sign[i][k] * huDot(row, h.v.RawRowView(to))
		}
		if h.loss != npkl.Hinge {
			p[j][j] += d / h.c
		}
	}
	h.solve(p, q, a)
	for c := range v {
		v[c] = -b[c] / d
	}
	for j, from := range h.partner[i] {
		w := a[j] * h.sign[i][j] / d
		for c, x := range h.v.RawRowView(from) {
			v[c] += w * x
		}
	}
}

func huDot(x, y []float64) (sum float64) {
	for c, v := range x {
		sum += float64(v * y[c])
	}
	return sum
}

// solve minimizes a'Pa/2 - q'a between the bounds of the loss, coordinate by coordinate, from a on.
func (h *huBlocks) solve(p [][]float64, q, a []float64) {
	lowest, highest := 0.0, math.Inf(1)
	switch h.loss {
	case npkl.Square:
		lowest = math.Inf(-1)
	case npkl.Hinge:
		highest = h.c
	}
	const rounds, still = 100, 1e-9
	for range rounds {
		moved := 0.0
		for j, curve := range p {
			next := highest // where the curvature is 0, q is positive: the slope is constant
			if curve[j] > 0 {
				next = min(max(a[j]+(q[j]-huDot(curve, a))/curve[j], lowest), highest)
			}
			moved = max(moved, math.Abs(next-a[j]))
			a[j] = next
		}
		if moved <= still*h.c {
			return
		}
	}
}

// objective returns the value of the problem at V.
func (h *huBlocks) objective() float64 {
	var pulled mat.Dense
	pulled.Mul(h.delta, h.v)
	sum := 0.0
	for i, partners := range h.partner {
		row := h.v.RowView(i)
		sum += mat.Dot(row, pulled.RowView(i))
		for j, k := range partners {
			if k > i {
				sum += h.c * h.charge(1-h.sign[i][j]*mat.Dot(row, h.v.RowView(k)))
			}
		}
	}
	return sum
}

// charge is the loss of a link that lacks u.
func (h *huBlocks) charge(u float64) float64 {
	switch h.loss {
	case npkl.Square:
		return u * u
	case npkl.SquaredHinge:
		return max(0, u) * max(0, u)
	}
	return 2 * max(0, u)
}

// coordinates returns the coordinates of all points.
func (h *huBlocks) coordinates() blas.Matrix {
	var all mat.Dense
	all.Mul(h.spread, h.v)
	raw := all.RawMatrix()
	return blas.Matrix{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data}
}
