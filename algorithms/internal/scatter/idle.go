package scatter

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
)

// Idle returns a notice if the directions w, d x m, include some on which the scatter matrix a of
// the cannot-links vanishes: only others determine these, and rounding where they do not. There are
// at most as many other directions as cannot-links. Cost: 2 d m^2 flops.
func Idle(
	ctx context.Context, eng *engine.Engine, a, w blas.Matrix, set *links.Set, others string,
) ([]string, error) {
	const rounding = 1e-12
	d := w.Rows
	image, inside, values := blas.NewMatrix(d, a.Rows), blas.NewMatrix(d, d), make([]float64, d)
	eng.Backend().Gemm(false, false, 1, w, a, 0, image)
	eng.Backend().Gemm(false, true, 1, image, w, 0, inside)
	if err := eng.SymEig(ctx, inside, values, false); err != nil {
		return nil, err
	}
	trace := 0.0
	for i := range a.Rows {
		trace += a.At(i, i)
	}
	idle := 0
	for idle < d && values[idle] <= rounding*trace {
		idle++
	}
	if idle == 0 {
		return nil, nil
	}
	_, cannot := set.Count()
	return []string{fmt.Sprintf("%d of the %d columns separate no cannot-link, and %s alone determine them; directions that these do not determine are arbitrary: use dims=%d or more than %d cannot-links",
		idle, d, others, max(1, d-idle), cannot)}, nil
}
