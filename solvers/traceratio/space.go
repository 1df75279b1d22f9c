package traceratio

import (
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/blas"
)

// space is a space in which davidson searches: the first columns of Q are orthonormal and span it.
type space struct {
	s       *search
	width   int // number of directions that are corrected: d + 1 and some more
	columns int // of Q that are in use

	q, qa, qb            blas.Matrix // Q, A Q and B Q, m x capacity
	spare                blas.Matrix // of the same shape
	ga, gb               blas.Matrix // Q'AQ and Q'BQ
	residual, correction blas.Matrix // m x width

	// The best ratio in the space, the largest eigenvalues of Q'(A - l B)Q in descending order, and
	// their eigenvectors as rows.
	l      float64
	values []float64
	turn   blas.Matrix
	before blas.Matrix // the first rows of turn in the step before
}

// spaceSize returns the number of directions that are corrected in a step, and the number of
// columns of the space. The eigenproblem in the space must stay small compared with a step.
func spaceSize(d int) (width, capacity int) {
	width = d + 1 + max(4, d/4)
	return width, 4*width + min(width, 40)
}

func newSpace(s *search) *space {
	width, capacity := spaceSize(s.d)
	x := &space{s: s, width: width, ga: blas.NewMatrix(capacity, capacity), gb: blas.NewMatrix(capacity, capacity)}
	for _, m := range []*blas.Matrix{&x.q, &x.qa, &x.qb, &x.spare} {
		*m = s.eng.GetMatrix(s.m, capacity)
	}
	x.residual, x.correction = s.eng.GetMatrix(s.m, width), s.eng.GetMatrix(s.m, width)
	return x
}

func (x *space) release() {
	for _, m := range []blas.Matrix{x.q, x.qa, x.qb, x.spare, x.residual, x.correction} {
		x.s.eng.PutMatrix(m)
	}
}

// used returns the columns of m that are in use.
func (x *space) used(m blas.Matrix) blas.Matrix { return m.View(0, m.Rows, 0, x.columns) }

// begin fills the space with random directions.
func (x *space) begin() error {
	rng := rand.New(rand.NewPCG(x.s.Seed, 1))
	for i := range x.correction.Rows {
		for j := range x.correction.Row(i) {
			x.correction.Set(i, j, rng.NormFloat64())
		}
	}
	return x.expand(x.correction)
}

// expand adds the columns of w, which it overwrites, and solves the problem in the larger space. A
// space that is full is reduced before.
func (x *space) expand(w blas.Matrix) error {
	if x.columns+w.Cols > x.q.Cols {
		x.reduce()
	}
	if x.turn.Rows > 0 {
		x.before = x.turn.View(0, x.width, 0, x.columns).Clone()
	}
	x.orthonormalize(w)
	lo, hi := x.columns, x.columns+w.Cols
	rows := x.s.m
	x.q.View(0, rows, lo, hi).CopyFrom(w)
	x.columns = hi
	backend := x.s.eng.Backend()
	for _, side := range []struct{ of, image, projected blas.Matrix }{{x.s.a, x.qa, x.ga}, {x.s.b, x.qb, x.gb}} {
		image := side.image.View(0, rows, lo, hi)
		backend.Gemm(false, false, 1, side.of, w, 0, image)
		backend.Gemm(true, false, 1, x.used(x.q), image, 0, side.projected.View(0, hi, lo, hi))
		side.projected.View(0, lo, lo, hi).TransposeTo(side.projected.View(lo, hi, 0, lo))
	}
	return x.solve()
}

// orthonormalize makes the columns of w orthonormal to those of Q and to each other. Twice is
// enough (Giraud, Langou & Rozloznik, Comput. Math. Appl. 50, 2005).
func (x *space) orthonormalize(w blas.Matrix) {
	backend := x.s.eng.Backend()
	l := blas.NewMatrix(w.Cols, w.Cols)
	for range 2 {
		if x.columns > 0 {
			c := blas.NewMatrix(x.columns, w.Cols)
			backend.Gemm(true, false, 1, x.used(x.q), w, 0, c)
			backend.Gemm(false, false, -1, x.used(x.q), c, 1, w)
		}
		backend.QR(w, l)
	}
}

// solve maximizes the ratio in the space, by Newton's method from the latest ratio on. The first
// ratio is the average in the space: Newton's method needs one that the space reaches.
func (x *space) solve() error {
	n, s := x.columns, x.s
	a, b, h := x.ga.View(0, n, 0, n), x.gb.View(0, n, 0, n), blas.NewMatrix(n, n)
	if x.turn.Rows == 0 {
		x.l = trace(a) / trace(b)
	}
	const steps, rounding = 10, 1e-14
	for range steps {
		h.CopyFrom(a)
		for i := range n {
			s.eng.Backend().Kernels().Axpy(-x.l, b.Row(i), h.Row(i))
		}
		var err error
		if x.values, x.turn, err = s.eng.SymEigTop(s.ctx, h, 2*x.width); err != nil {
			return err
		}
		s.solved++
		l, err := ratioOf(s.ctx, s.eng, x.turn.View(0, s.d, 0, n), a, b)
		if err != nil {
			return err
		}
		gain := (l - x.l) / math.Abs(l)
		x.l = l
		if !(math.Abs(gain) > rounding) {
			break
		}
	}
	return nil
}

// reduce keeps the best directions, twice as many as are corrected, and those of the step before:
// with them the next steps converge as if nothing had been dropped, as in the method of conjugate
// gradients.
func (x *space) reduce() {
	k, n, backend := x.turn.Rows, x.columns, x.s.eng.Backend()
	t := blas.NewMatrix(n, k+x.before.Rows)
	x.turn.TransposeTo(t.View(0, n, 0, k))
	x.before.TransposeTo(t.View(0, x.before.Cols, k, t.Cols))
	backend.QR(t, blas.NewMatrix(t.Cols, t.Cols))
	for _, m := range []*blas.Matrix{&x.q, &x.qa, &x.qb} {
		backend.Gemm(false, false, 1, x.used(*m), t, 0, x.spare.View(0, x.s.m, 0, t.Cols))
		*m, x.spare = x.spare, *m
	}
	half, whole := blas.NewMatrix(t.Cols, n), blas.NewMatrix(t.Cols, t.Cols)
	for _, g := range []blas.Matrix{x.ga, x.gb} {
		backend.Gemm(true, false, 1, t, g.View(0, n, 0, n), 0, half)
		backend.Gemm(false, false, 1, half, t, 0, whole)
		g.View(0, t.Cols, 0, t.Cols).CopyFrom(whole)
	}
	x.columns = t.Cols
	// The best directions are the first columns now.
	x.turn = blas.NewMatrix(k, t.Cols)
	for r := range k {
		x.turn.Set(r, r, 1)
	}
}

// result returns the best directions of the space, or nil if their ratio is below an earlier one
// (directions on which both matrices vanish are as good as any at the best ratio, and rounding
// chooses).
func (x *space) result() (*Result, error) {
	s := x.s
	const rounding = 1e-9
	w := blas.NewMatrix(s.d, s.m)
	s.eng.Backend().Gemm(false, true, 1, x.turn.View(0, s.d, 0, x.columns), x.used(x.q), 0, w)
	ratio, err := ratioOf(s.ctx, s.eng, w, s.a, s.b)
	if reached := s.ratios[len(s.ratios)-1]; err != nil || !(ratio >= reached*(1-rounding)) {
		return nil, err
	}
	s.best, s.w, s.gap = ratio, w, gap(x.values, s.d)
	return s.result("newton", true), nil
}
