package native

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
	"github.com/mustlink/mustlink/blas/krylov"
)

// SymEigTop searches a Krylov space for few eigenpairs of a large matrix: O(n^2) flops for
// each of usually some hundred products, where the decomposition takes O(n^3). It
// decomposes A where that is as fast, where the search does not end, and where squares of
// the elements leave the range of float64.
func (b *backend) SymEigTop(a blas.Matrix, w []float64, v blas.Matrix) error {
	if blas.CheckSymEigTop(a, w, v); krylov.Top(b, b.nest.EachBlock, a, w, v) {
		return nil
	}
	all := make([]float64, a.Rows)
	if err := b.SymEig(a, all, true); err != nil {
		return err
	}
	form.TopRows(all, a, w, v)
	return nil
}
