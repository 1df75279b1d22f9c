package npkl

import (
	"context"
	"errors"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/operator"
)

// certified is how precisely the smallest eigenvalue of G is told from 0, relative to its norm.
const certified = 1e-5

// stationarity returns G = Delta - sum w h t (E_ij + E_ji) at Z = V V'.
func stationarity(p *graphkernel.Problem, v blas.Matrix) *sparse.Matrix {
	return p.Combined(func(i, e int) float64 {
		return p.Weight[e] * p.Sign[e] * p.Loss.Slope(p.Sign[e]*graphkernel.Dot(v.Row(i), v.Row(int(p.To[e]))))
	})
}

// bottom is the smallest eigenvalue of a symmetric matrix, to within error, with its unit eigenvector.
type bottom struct {
	value, error float64
	vector       []float64
	norm         float64 // of the matrix
}

// least finds the smallest eigenvalue beside the subspace that the rows of null span. If that is not
// quite invariant, the error says by how much.
func least(ctx context.Context, eng *engine.Engine, a *sparse.Matrix, null blas.Matrix, seed uint64) (bottom, error) {
	op, err := operator.Sparse(a)
	if err != nil {
		return bottom{}, err
	}
	found, err := eigen.Bottom(ctx, eng, op, 1, eigen.Options{Tolerance: 0.1 * certified, Seed: seed, Null: null, Products: 20000})
	if rough, ok := errors.AsType[*eigen.NoConvergenceError](err); ok {
		found, err = rough.Best, nil
	}
	if err != nil {
		return bottom{}, err
	}
	return bottom{found.Values[0], found.Residuals[0], found.Vectors.Row(0), found.Norm}, nil
}

// basis returns orthonormal rows that span the columns of v that count, and the values and directions
// that count: Z = V V' has the eigenvalues w, descending, and V times the rows of turn, as columns, are
// its eigenvectors times their roots.
func basis(ctx context.Context, eng *engine.Engine, v blas.Matrix) (rows blas.Matrix, w []float64, turn blas.Matrix, err error) {
	r := v.Cols
	gram, values := blas.NewMatrix(r, r), make([]float64, r)
	eng.Backend().Syrk(true, 1, v, 0, gram)
	if err := eng.SymEig(ctx, gram, values, true); err != nil {
		return rows, nil, turn, err
	}
	const counts = 1e-10
	for c := r - 1; c >= 0 && values[c] > counts*values[r-1]; c-- {
		w = append(w, values[c])
	}
	turn, rows = blas.NewMatrix(len(w), r), blas.NewMatrix(len(w), v.Rows)
	for k := range w {
		copy(turn.Row(k), gram.Row(r-1-k))
	}
	eng.Backend().Gemm(false, true, 1, turn, v, 0, rows)
	for k, s := range w {
		eng.Backend().Kernels().Scale(1/math.Sqrt(s), rows.Row(k))
	}
	return rows, w, turn, ctx.Err()
}
