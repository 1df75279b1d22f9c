package traceratio

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
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
	x := &space{s: s, width: width, ga: blas.NewMatrix(capacity, capacity),
		gb: blas.NewMatrix(capacity, capacity)}
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
	for _, side := range []struct{ of, image, projected blas.Matrix }{{x.s.a, x.qa, x.ga},
		{x.s.b, x.qb, x.gb}} {
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
		x.l = a.Trace() / b.Trace()
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
	x.turn.Shift(1)
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

const (
	// precisely is the error of the directions at which a search ends.
	precisely = 1e-9
	// expansions is the number of expansions of a space for each of Options.MaxIter, after which
	// matrices are decomposed.
	expansions = 4
)

// davidson finds the best directions in a space that grows: each step adds the residuals of the
// best directions so far, multiplied by the inverse of a matrix that is close to c I - A + l B, and
// solves the problem inside the space (Davidson, J. Comput. Phys. 17, 1975; with several previous
// directions kept at a restart, Stathopoulos & Saad, ETNA 7, 1998). The ratio l rises in the same
// steps. It returns nil if rounding makes this fail, or if the ratio rises as if it had no bound.
//
// Cost of a step: 10 m^2 w flops for w directions, which are a quarter more than d. Some sixteen
// steps and two or three Cholesky factors are usual.
func (s *search) davidson() (*Result, error) {
	x := newSpace(s)
	defer x.release()
	if err := x.begin(); err != nil {
		return nil, err
	}
	var p preconditioner
	history, start := newHistory(), s.start()
	s.ratios = []float64{start}
	most := start / (float64(s.m) * 0x1p-52) // B is rounding in directions with such a ratio
	for range expansions * s.MaxIter {
		if !(0 < x.l && x.l < most) {
			return nil, nil
		}
		if p.outdated(x, history) {
			usable, err := p.renew(x, history)
			if err != nil || !usable {
				return nil, err
			}
		}
		w, err := x.corrections(&p)
		if err != nil {
			return nil, err
		}
		history.add(largestLength(w, s.d), x.l)
		// Corrections shrink where the ratio rises without bound: it must have settled too.
		if max(history.error, history.gain) <= precisely || history.stalled() {
			return x.result()
		}
		if err := x.expand(w); err != nil {
			return nil, err
		}
		s.report(max(x.l, s.ratios[len(s.ratios)-1]))
	}
	return nil, nil
}

// history is what the latest steps reached.
type history struct {
	error    float64   // of the directions: the largest correction, relative to their length
	gain     float64   // of the ratio in the latest step
	ratio    float64   // the latest one
	previous []float64 // errors
}

func newHistory() *history { return &history{error: 1, gain: 1} }

func (h *history) add(err, ratio float64) {
	h.error, h.gain, h.ratio = err, (ratio-h.ratio)/math.Abs(ratio), ratio
	h.previous = append(h.previous, err)
}

// stalled reports whether rounding keeps the directions from the usual accuracy, although they
// have half as many digits as that and the ratio has all of its digits.
func (h *history) stalled() bool {
	const steps, enough = 8, 1e-6
	n := len(h.previous)
	return n > steps && h.error < enough && h.error > 0.5*h.previous[n-1-steps] &&
		math.Abs(h.gain) <= tolerance
}

// corrections returns the residuals (A - l B) v - v theta of the best directions, multiplied by the
// inverse of the preconditioner and improved. Their lengths are about the errors of the directions.
// The matrix is valid until the next call.
func (x *space) corrections(p *preconditioner) (blas.Matrix, error) {
	s, backend := x.s, x.s.eng.Backend()
	t := x.turn.View(0, x.width, 0, x.columns)
	scaled := t.Clone()
	for r := range scaled.Rows {
		backend.Kernels().Scale(x.values[r], scaled.Row(r))
	}
	backend.Gemm(false, true, 1, x.used(x.qa), t, 0, x.residual)
	backend.Gemm(false, true, -x.l, x.used(x.qb), t, 1, x.residual)
	backend.Gemm(false, true, -1, x.used(x.q), scaled, 1, x.residual)
	p.solve(s.eng, x.residual, x.correction)
	if p.rough {
		return x.correction, s.ctx.Err()
	}
	return x.correction, x.improve(p)
}

// largestLength returns the largest length of the first d columns.
func largestLength(m blas.Matrix, d int) float64 {
	sums := make([]float64, d)
	for i := range m.Rows { // m d additions are few next to the m^2 d of a step
		for j, v := range m.Row(i)[:d] {
			sums[j] += v * v
		}
	}
	largest := 0.0
	for _, v := range sums {
		largest = max(largest, v)
	}
	return math.Sqrt(largest)
}

// ratioOf returns tr(W A W') / tr(W B W').
func ratioOf(ctx context.Context, eng *engine.Engine, w, a, b blas.Matrix) (float64, error) {
	products := eng.GetMatrix(w.Rows, w.Cols)
	defer eng.PutMatrix(products)
	var sums [2]float64
	k := eng.Backend().Kernels()
	for side, x := range []blas.Matrix{a, b} {
		eng.Backend().Gemm(false, false, 1, w, x, 0, products)
		for r := range w.Rows {
			sums[side] += k.Dot(w.Row(r), products.Row(r))
		}
	}
	return sums[0] / sums[1], ctx.Err()
}

// inner is the number of steps of the iteration that improves corrections, each of which solves
// with the preconditioner. After two, the error falls tenfold in a step of davidson. More gain
// little, because the preconditioner belongs to an earlier ratio and earlier directions.
const inner = 2

// chebyshev is Chebyshev's iteration for a column t of (I - delta S) t = g, where the spectrum of S
// is in [0, largest].
type chebyshev struct {
	delta          float64
	center, radius float64 // of the spectrum of I - delta S
	alpha, beta    float64 // the length of a step, and the share of the step before in it
}

func newChebyshev(delta, largest float64) chebyshev {
	const least = 0.02 // if rounding makes I - delta S indefinite
	end := max(1-delta*largest, least)
	center := (1 + end) / 2
	return chebyshev{delta: delta, center: center, radius: math.Abs(1-end) / 2, alpha: 1 / center}
}

// advance computes the coefficients of step k, from 1 on.
func (c *chebyshev) advance(k int) {
	half := c.radius * c.alpha / 2
	c.beta = half * half
	if k == 1 {
		c.beta *= 2
	}
	c.alpha = 1 / (c.center - c.beta/c.alpha)
}

// move returns element t of the solution and its step after the next one, for the element y of S t.
func (c *chebyshev) move(t, step, g, y float64) (float64, float64) {
	step = g - t + float64(c.delta*y) + float64(c.beta*step)
	return t + float64(c.alpha*step), step
}

// improve brings the corrections M^-1 r closer to the solutions t of (theta - A + l B) t = r among
// the vectors orthogonal to the best directions, for each direction with its eigenvalue theta
// (Sleijpen & Van der Vorst, SIAM J. Matrix Anal. Appl. 17, 1996). With the projection P on these
// vectors, it solves (I - (c - theta) P M^-1) t = P M^-1 r, where no eigenvalue of P M^-1 is above
// 1 / (c - last). It overwrites the residuals.
func (x *space) improve(p *preconditioner) error {
	s, width, backend := x.s, x.width, x.s.eng.Backend()
	var memory [4]blas.Matrix
	for i := range memory {
		memory[i] = s.eng.GetMatrix(s.m, width)
		defer s.eng.PutMatrix(memory[i])
	}
	best, first, step, image := memory[0], memory[1], memory[2], memory[3]
	backend.Gemm(false, true, 1, x.used(x.q), x.turn.View(0, width, 0, x.columns), 0, best)
	inside := blas.NewMatrix(width, width)
	project := func(y blas.Matrix) {
		backend.Gemm(true, false, 1, best, y, 0, inside)
		backend.Gemm(false, false, -1, best, inside, 1, y)
	}
	project(x.correction)
	first.CopyFrom(x.correction)
	step.CopyFrom(x.correction)
	columns := make([]chebyshev, width)
	for j := range columns {
		columns[j] = newChebyshev(p.c-x.values[j], 1/(p.c-p.last))
	}
	err := x.eachRow(func(i int) {
		for j, v := range first.Row(i) {
			x.correction.Row(i)[j] = columns[j].alpha * v
		}
	})
	for k := 1; k <= inner && err == nil; k++ {
		x.residual.CopyFrom(x.correction)
		p.solve(s.eng, x.residual, image)
		project(image)
		for j := range columns {
			columns[j].advance(k)
		}
		err = x.eachRow(func(i int) {
			t, g, z, y := x.correction.Row(i), first.Row(i), step.Row(i), image.Row(i)
			for j := range columns {
				t[j], z[j] = columns[j].move(t[j], z[j], g[j], y[j])
			}
		})
	}
	return err
}

// eachRow calls f for all rows of the corrections.
func (x *space) eachRow(f func(i int)) error {
	const rows = 256 // in a task
	return x.s.eng.Each(x.s.ctx, x.s.m, rows, f)
}
