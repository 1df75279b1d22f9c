package traceratio

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

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
	return n > steps && h.error < enough && h.error > 0.5*h.previous[n-1-steps] && math.Abs(h.gain) <= tolerance
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
