package npkl

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// printed is Algorithm 1 of Hu, Wang & Chen by its equations, for small sets: the points without
// links are eliminated, and the rows of V, the coordinates of the others, are minimized one after
// the other, by their duals (9), (10) and (11).
type printed struct {
	loss    Loss
	c       float64
	delta   *mat.SymDense // of the points with links
	partner [][]int       // links of each point with links
	sign    [][]float64
	v       *mat.Dense // a row for each point with links
}

// join stores the links by point and returns the points with links, in ascending order.
func (h *printed) join(set *links.Set) []int {
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
	return linked
}

// reduce eliminates the points without links: the inverse of the reduced matrix is the block of the
// inverse of Delta that belongs to the others.
func (h *printed) reduce(t *rapid.T, laplacian [][]float64, linked []int) {
	whole := mat.NewDense(len(laplacian), len(laplacian), slices.Concat(laplacian...))
	var inverse, reduced mat.Dense
	err := inverse.Inverse(whole)
	l := len(linked)
	own := mat.NewDense(l, l, nil)
	own.Apply(func(i, j int, _ float64) float64 { return inverse.At(linked[i], linked[j]) }, own)
	if err == nil {
		err = reduced.Inverse(own)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.delta = mat.NewSymDense(l, nil)
	for i := range l {
		for j := i; j < l; j++ {
			h.delta.SetSym(i, j, (reduced.At(i, j)+reduced.At(j, i))/2)
		}
	}
}

// sweep updates all rows.
func (h *printed) sweep() {
	_, r := h.v.Dims()
	for i := range h.partner {
		b := make([]float64, r)
		h.pull(i, b)
		h.update(i, h.v.RawRowView(i), b)
	}
}

// pull computes b, the sum of the other rows by the entries of row i of the matrix.
func (h *printed) pull(i int, b []float64) {
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
// the paper: v = (sum a t v_j - b) / D, equation (8). For the square loss a is free and solves (P +
// D/C I) a = q; for the squared hinge it is at least 0; the hinge has no D/C, and a is at most C.
// Some solution of the dual has each a at 0, at C, or among those that solve the rest of the
// equations. So of all such choices, the one whose row is best is the minimizer.
func (h *printed) update(i int, v, b []float64) {
	d, m := h.delta.At(i, i), len(h.partner[i])
	p, q := mat.NewDense(m, m, nil), make([]float64, m)
	for j, from := range h.partner[i] {
		row := h.v.RawRowView(from)
		q[j] = h.sign[i][j]*dot(row, b) + d
		for k, to := range h.partner[i] {
			p.Set(j, k, h.sign[i][j]*h.sign[i][k]*dot(row, h.v.RawRowView(to)))
		}
		if h.loss != Hinge {
			p.Set(j, j, p.At(j, j)+d/h.c)
		}
	}
	choices := map[Loss]int{Square: 1, SquaredHinge: 2, Hinge: 3}[h.loss]
	best, least := slices.Clone(v), math.Inf(1)
	for choice := range int(math.Pow(float64(choices), float64(m))) {
		a, free := make([]float64, m), []int{}
		for j := range m {
			if choice%choices == 0 {
				free = append(free, j)
			} else if choice%choices == 2 {
				a[j] = h.c
			}
			choice /= choices
		}
		if !solveFree(p, q, a, free) {
			continue
		}
		for c := range v {
			v[c] = -b[c] / d
		}
		for j, from := range h.partner[i] {
			for c, x := range h.v.RawRowView(from) {
				v[c] += a[j] * h.sign[i][j] / d * x
			}
		}
		value := d*dot(v, v)/2 + dot(b, v)
		for j, from := range h.partner[i] {
			value += h.c / 2 * h.charge(1-h.sign[i][j]*dot(v, h.v.RawRowView(from)))
		}
		if value < least {
			least = value
			copy(best, v)
		}
	}
	copy(v, best)
}

// solveFree computes the free a from the rows of P a = q that belong to them, and reports whether
// there is a solution.
func solveFree(p *mat.Dense, q, a []float64, free []int) bool {
	if len(free) == 0 {
		return true
	}
	own, rest := mat.NewDense(len(free), len(free), nil), mat.NewVecDense(len(free), nil)
	for k, j := range free {
		rest.SetVec(k, q[j]-dot(p.RawRowView(j), a))
		for l, o := range free {
			own.Set(k, l, p.At(j, o))
		}
	}
	var x mat.VecDense
	if x.SolveVec(own, rest) != nil {
		return false
	}
	for k, j := range free {
		a[j] = x.AtVec(k)
	}
	return true
}

func dot(x, y []float64) (sum float64) {
	for c, v := range x {
		sum += v * y[c]
	}
	return sum
}

// objective returns the value of the problem at V.
func (h *printed) objective() float64 {
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
func (h *printed) charge(u float64) float64 {
	switch h.loss {
	case Square:
		return u * u
	case SquaredHinge:
		return max(0, u) * max(0, u)
	}
	return 2 * max(0, u)
}

// TestPrinted: with plain=true the sweeps are those of the paper, for all losses: from the same
// start, the objective after every sweep is that of its equations.
func TestPrinted(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		p, seed := DefaultParams(), rapid.Uint64().Draw(t, "seed")
		p.Loss = rapid.SampledFrom([]Loss{Hinge, SquaredHinge, Square}).Draw(t, "loss")
		p.C = rapid.SampledFrom([]float64{0.3, 1, 10}).Draw(t, "C")
		if p.Loss != Hinge && rapid.Bool().Draw(t, "large") { // without multipliers for these, too
			p.C = 1000
		}
		p.Delta, p.Plain, p.Tol, p.MaxIter = 0.5, true, 1e-12, 12
		x, _, set := enginetest.Blobs(t, 25, 3, rapid.IntRange(2, 12).Draw(t, "pairs"), seed)
		h := &printed{loss: p.Loss, c: p.C}
		h.reduce(t, delta(x, p.Neighbors, p.Delta), h.join(set))
		if most := slices.MaxFunc(h.partner, func(a, b []int) int { return len(a) - len(b) }); len(most) > 6 {
			t.Skip("too many links at a point for all choices")
		}
		p.Rank = min(int((math.Sqrt(float64(8*set.Len()+1))-1)/2), len(h.partner))
		l := Learner{Params: p, Seed: seed}
		f := &fit{Fit: l.Begin(enginetest.New(t, 0), x, set), Params: p}
		g, err := f.prepare(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		start := newDescent(f.Eng, g.Problem, g.classes, p.Rank, seed).v
		h.v = mat.NewDense(start.Rows, start.Cols, slices.Clone(start.Data))
		if p.Loss == Hinge { // whose rank is the largest that an optimum can need
			l.Params.Rank = 0
		}
		m := fittest.Fit[*Model](t, l, x, set)
		if len(m.Trace()) == 1 && m.Certified() {
			return // the best kernel is 0, whose objective is the trace
		}
		for k, got := range m.Trace() {
			if h.sweep(); math.Abs(got-h.objective()) > 1e-9*h.objective() {
				t.Fatalf("%s, sweep %d: the objective is %.15g, by the equations %.15g", p.Loss, k+1, got,
					h.objective())
			}
		}
	})
}

// TestPrintedHinge: the sweeps with the hinge come to rest above the certified optimum, at rows
// none of which can be improved, and say so.
func TestPrintedHinge(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 60, 3, 60, 4)
	l := Learner{Params: DefaultParams()}
	l.Params.Loss, l.Params.Tol = Hinge, 1e-6
	best := fittest.Fit[*Model](t, l, x, set)
	l.Params.Plain = true
	m := fittest.Fit[*Model](t, l, x, set)
	if s := m.Status(); !s.Converged || m.Certified() || !strings.Contains(s.Message, "plain=false") {
		t.Errorf("status %+v, certified: %v", s, m.Certified())
	}
	if above := m.Objective()/best.Objective() - 1; !best.Certified() || above < 1e-4 {
		t.Errorf("the sweeps end %v above the optimum: want that they stop at a kink", above)
	}
}
