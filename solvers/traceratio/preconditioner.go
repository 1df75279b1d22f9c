package traceratio

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// block is the order of the diagonal blocks of a preconditioner.
const block = 256

// preconditioner is M = c I - A + l B + V D V', where V are the best directions of the time when it
// was made and D moves their eigenvalues to those of the first directions that are not among them.
// So c may be far below the largest eigenvalue of A - l B, close to those that are hard to tell
// apart. The first one, without good directions and a good ratio, is B plus a small diagonal: it
// leads to both in few steps, from any start.
//
// The factors are M = L S L', where S has diagonal blocks and L has the identity there. With the
// inverses of these blocks, and with L and L' along rows, a solution consists of products that read
// memory in order.
type preconditioner struct {
	factors blas.Matrix // L below the diagonal blocks, L' above, and in them S^-1
	rough   bool        // the first one
	l       float64
	c, last float64 // M has the eigenvalue c - last in the directions V
	error   float64 // of the directions V
	steps   int     // with it
}

const (
	// From the first preconditioner on, the ratio has settled when it grows relatively by less in a
	// step.
	settled = 0.02
	// fresh is what a step leaves of the error after a new factor.
	fresh = 0.12
	// least is the smallest c - last, relative to the mean of the eigenvalues of A: rounding
	// prevails in solutions for matrices that are closer to singular.
	least = 1e-6
)

// outdated reports whether a new factor saves more time than it takes: whether the steps to the end
// are many more as fast as the latest two went than with a new factor, which takes as long as some
// steps. The ratio must have settled.
func (p *preconditioner) outdated(x *space, h *history) bool {
	p.steps++
	switch n := len(h.previous); {
	case p.factors.Data == nil:
		return true
	case h.gain > settled:
		return false
	case p.rough:
		return true
	case p.steps < 3 || math.Abs(x.l/p.l-1) < 0.01 && h.error > 0.1*p.error:
		return false
	default:
		left, rate := math.Log(h.error/precisely), math.Sqrt(h.error/h.previous[n-3])
		price := float64(x.s.m) / float64(30*x.width) // m^3/3 flops, where a step has 10 m^2 width
		return rate >= 1 || left/-math.Log(rate) > price+left/-math.Log(fresh)
	}
}

// renew factors the matrix of the directions in x. It returns false if rounding prevents every c.
func (p *preconditioner) renew(x *space, h *history) (bool, error) {
	if p.factors.Data == nil {
		return p.begin(x)
	}
	s, first, last, edge := x.s, x.values[0], x.values[len(x.values)-1], x.values[x.s.d-1]
	// For the first direction the steps converge as if A - l B had the condition (first - last) /
	// (c - last), for the last wanted one (c - last) / (edge - last): c is between the two.
	most := s.a.Trace()
	above := max(math.Pow(first-last, 0.4)*math.Pow(edge-last, 0.6), least*most/float64(s.m))
	for ; ; above *= 2 {
		c := min(last+above, most)
		f, err := x.deflated(c, last)
		if err != nil {
			return false, err
		}
		err = factor(s, f)
		if err == nil || s.ctx.Err() != nil {
			*p = preconditioner{factors: f, l: x.l, c: c, last: last, error: h.error}
			return true, s.ctx.Err()
		}
		if !(c < most) {
			return false, nil
		}
	}
}

// begin factors B plus a small diagonal, the preconditioner before anything is known.
func (p *preconditioner) begin(x *space) (bool, error) {
	const share = 1e-3 // of the mean of the diagonal of B
	s := x.s
	s.eng.Copy(s.shifted, s.b)
	for i, least := 0, share*s.b.Trace()/float64(s.m); i < s.m; i++ {
		s.shifted.Set(i, i, s.b.At(i, i)+least)
	}
	err := factor(s, s.shifted)
	*p = preconditioner{factors: s.shifted, rough: true, l: x.l}
	return err == nil, s.ctx.Err()
}

// factor computes the Cholesky factor of m, and from it the factors of a preconditioner.
func factor(s *search, m blas.Matrix) error {
	if err := s.eng.Cholesky(s.ctx, m); err != nil {
		return err
	}
	return split(s.eng, m)
}

// deflated returns c I - A + l B + V D V', where D is the distance of the eigenvalues of V from
// last. Its lower triangle is valid.
func (x *space) deflated(c, last float64) (blas.Matrix, error) {
	s, backend := x.s, x.s.eng.Backend()
	f, err := s.shift(-1, x.l, c)
	if err != nil {
		return f, err
	}
	t := x.turn.Clone()
	for r := range t.Rows {
		backend.Kernels().Scale(math.Sqrt(max(0, x.values[r]-last)), t.Row(r))
	}
	v := s.eng.GetMatrix(s.m, t.Rows)
	defer s.eng.PutMatrix(v)
	backend.Gemm(false, true, 1, x.used(x.q), t, 0, v)
	backend.Syrk(false, 1, v, 1, f)
	return f, s.ctx.Err()
}

// split turns a Cholesky factor C into the factors of a preconditioner: with the diagonal blocks D
// of C, L is C D^-1 and S is D D'. A block that is singular is an error.
func split(eng *engine.Engine, c blas.Matrix) error {
	m, backend := c.Rows, eng.Backend()
	inverse := eng.GetMatrix(min(block, m), min(block, m))
	defer eng.PutMatrix(inverse)
	for lo := 0; lo < m; lo += block {
		hi := min(lo+block, m)
		d, inside := c.View(lo, hi, lo, hi), inverse.View(0, hi-lo, 0, hi-lo)
		backend.Trsm(false, false, d, c.View(hi, m, lo, hi))
		d.ClearUpper()
		if err := backend.TriangularInverse(d); err != nil {
			return err
		}
		inside.CopyFrom(d)
		backend.Syrk(true, 1, inside, 0, d)
	}
	eng.Mirror(c)
	return nil
}

// solve computes y = M^-1 x. It overwrites x. Cost: 2 m^2 flops for each column.
func (p *preconditioner) solve(eng *engine.Engine, x, y blas.Matrix) {
	backend := eng.Backend()
	forward(backend, p.factors, x)
	for lo := 0; lo < x.Rows; lo += block {
		hi := min(lo+block, x.Rows)
		backend.Gemm(false, false, 1, p.factors.View(lo, hi, lo, hi), x.View(lo, hi, 0, x.Cols), 0,
			y.View(lo, hi, 0, x.Cols))
	}
	backward(backend, p.factors, y)
}

// forward computes x = L^-1 x.
func forward(backend blas.Backend, f, x blas.Matrix) {
	if above, below, ok := halves(x); ok {
		n, mid := f.Rows, above.Rows
		forward(backend, f.View(0, mid, 0, mid), above)
		backend.Gemm(false, false, -1, f.View(mid, n, 0, mid), above, 1, below)
		forward(backend, f.View(mid, n, mid, n), below)
	}
}

// backward computes x = L'^-1 x.
func backward(backend blas.Backend, f, x blas.Matrix) {
	if above, below, ok := halves(x); ok {
		n, mid := f.Rows, above.Rows
		backward(backend, f.View(mid, n, mid, n), below)
		backend.Gemm(false, false, -1, f.View(0, mid, mid, n), below, 1, above)
		backward(backend, f.View(0, mid, 0, mid), above)
	}
}

// halves cuts x between two diagonal blocks, if it has more than one.
func halves(x blas.Matrix) (above, below blas.Matrix, ok bool) {
	blocks := (x.Rows + block - 1) / block
	mid := (blocks + 1) / 2 * block
	if blocks < 2 {
		return x, x, false
	}
	return x.View(0, mid, 0, x.Cols), x.View(mid, x.Rows, 0, x.Cols), true
}

// nullSpace returns orthonormal rows that span the null space of B, up to rounding. It returns no
// rows if B minus the rounding error has a Cholesky factor, which is cheap to check.
func (s *search) nullSpace() (blas.Matrix, error) {
	norm := 0.0
	for i := range s.m {
		sum := 0.0
		for _, v := range s.b.Row(i) {
			sum += math.Abs(v)
		}
		norm = max(norm, sum)
	}
	least := float64(s.m) * 0x1p-52 * norm
	if norm > 0 {
		work := s.shifted
		work.CopyFrom(s.b)
		work.Shift(-least)
		if err := s.eng.Cholesky(s.ctx, work); err == nil || s.ctx.Err() != nil {
			return blas.Matrix{}, s.ctx.Err()
		}
	}
	v, w := s.shifted, make([]float64, s.m)
	v.CopyFrom(s.b)
	if err := s.eng.SymEig(s.ctx, v, w, true); err != nil {
		return blas.Matrix{}, err
	}
	null := 0
	for null < s.m && w[null] <= least {
		null++
	}
	return v.View(0, null, 0, s.m).Clone(), nil
}

// unbounded returns the subspace of the null space of B on which A is largest, or nil if the null
// space is smaller than d or A vanishes on it.
func (s *search) unbounded(null blas.Matrix) (*Result, error) {
	if null.Rows < s.d {
		return nil, nil
	}
	k := null.Rows
	image, inside := blas.NewMatrix(k, s.m), blas.NewMatrix(k, k)
	s.eng.Backend().Gemm(false, false, 1, null, s.a, 0, image)
	s.eng.Backend().Gemm(false, true, 1, image, null, 0, inside)
	if inside.Trace() <= float64(s.m)*0x1p-52*s.a.Trace() {
		return nil, nil
	}
	w := make([]float64, k)
	s.solved++
	if err := s.eng.SymEig(s.ctx, inside, w, true); err != nil {
		return nil, err
	}
	u := blas.NewMatrix(s.d, k)
	for r := range s.d {
		copy(u.Row(r), inside.Row(k-1-r))
	}
	res := &Result{W: blas.NewMatrix(s.d, s.m), Ratio: math.Inf(1), Gap: math.NaN(),
		Trace: []float64{math.Inf(1)}, Eigenproblems: s.solved, Converged: true, Method: "unbounded"}
	s.eng.Backend().Gemm(false, false, 1, u, null, 0, res.W)
	if k > s.d {
		descending := make([]float64, s.d+1)
		for r := range descending {
			descending[r] = w[k-1-r]
		}
		res.Gap = gap(descending, s.d)
	}
	return res, s.ctx.Err()
}
