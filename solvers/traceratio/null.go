package traceratio

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

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
		for i := range s.m {
			work.Set(i, i, work.At(i, i)-least)
		}
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
	if trace(inside) <= float64(s.m)*0x1p-52*trace(s.a) {
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
	res := &Result{W: blas.NewMatrix(s.d, s.m), Ratio: math.Inf(1), Gap: math.NaN(), Trace: []float64{math.Inf(1)}, Eigenproblems: s.solved, Converged: true, Method: "unbounded"}
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
