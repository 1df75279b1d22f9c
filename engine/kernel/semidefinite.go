package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// indefinite is the tolerance for negative eigenvalues of a Gram matrix, relative to its trace: it
// allows for the rounding of matrices that were written with about ten digits.
const indefinite = 1e-10

// CheckSemidefinite returns a *fault.DataError with the smallest eigenvalue unless the matrix of g,
// whose objects must be the reference objects in order (a training matrix), is positive
// semidefinite up to 1e-10 of its trace. Other Gram matrices have no eigenvalues and pass.
//
// Cost: one Cholesky decomposition, n^3/3 flops and 8n^2 bytes; the smallest eigenvalue is computed
// only if that fails.
func CheckSemidefinite(ctx context.Context, eng *engine.Engine, g *points.Gram) error {
	if !isTraining(g) {
		return nil
	}
	n := g.N
	if err := eng.Check(fmt.Sprintf("check of the %d x %d Gram matrix", n, n), engine.MatrixBytes(n, n), "raise the memory limit"); err != nil {
		return err
	}
	trace := 0.0
	for _, v := range g.Diagonal {
		trace += v
	}
	a := eng.GetMatrix(n, n)
	defer eng.PutMatrix(a)
	if err := fillShifted(ctx, eng, a, g, 1, indefinite*trace); err != nil {
		return err
	}
	err := eng.Cholesky(ctx, a)
	if _, failed := errors.AsType[*blas.NotPositiveDefiniteError](err); !failed {
		return err
	}
	smallest, err := smallestEigenvalue(ctx, eng, a, g)
	if err != nil {
		return err
	}
	if smallest >= -indefinite*trace { // within the tolerance, or a matrix of zeros
		return nil
	}
	return fault.Data("", "the Gram matrix is not positive semidefinite: its smallest eigenvalue is %.6g: want 0 or more; add %.3g to its diagonal, or use another similarity", smallest, -smallest)
}

// isTraining reports whether object i of g is reference object i, for all i.
func isTraining(g *points.Gram) bool {
	if g.N != g.M {
		return false
	}
	for i, r := range g.Reference {
		if r != i {
			return false
		}
	}
	return true
}

// fillShifted writes sign K + shift I over a.
func fillShifted(ctx context.Context, eng *engine.Engine, a blas.Matrix, g *points.Gram, sign, shift float64) error {
	return eng.Each(ctx, g.N, 64, func(i int) {
		to := a.Row(i)
		for j, v := range g.Row(i) {
			to[j] = sign * v
		}
		to[i] += shift
	})
}

// smallestEigenvalue returns c minus the largest eigenvalue of c I - K, where c bounds the
// eigenvalues of K: the eigenvalue of largest magnitude is then the one that the iteration finds.
// It overwrites a, n x n.
func smallestEigenvalue(ctx context.Context, eng *engine.Engine, a blas.Matrix, g *points.Gram) (float64, error) {
	sums := make([]float64, g.N) // of magnitudes in a row: the largest is a bound (Gershgorin)
	err := eng.Each(ctx, g.N, 64, func(i int) {
		sum := 0.0
		for _, v := range g.Row(i) {
			sum += math.Abs(v)
		}
		sums[i] = sum
	})
	if err != nil {
		return 0, err
	}
	c := slices.Max(sums)
	if err := fillShifted(ctx, eng, a, g, -1, c); err != nil {
		return 0, err
	}
	w, _, err := eng.SymEigTop(ctx, a, 1)
	if err != nil {
		return 0, err
	}
	return c - w[0], nil
}
