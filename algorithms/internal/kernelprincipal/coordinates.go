package kernelprincipal

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/internal/draw"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Limits of the coordinates in which linear methods learn.
const (
	// most is the number of directions. A linear method takes time in the second or third power of it,
	// and has to learn as many numbers from links.
	most = 100
	// carriers is the number of points that the directions are sought in. A model stores them all, and
	// a new point costs a kernel value with each.
	carriers = 2000
	// constant is the variance, relative to the largest, up to which a direction counts as constant.
	// The coordinates of a direction have a relative error of rounding over the root of this.
	constant = 1e-10
)

// Coordinates returns the principal coordinates of x in the feature space of a kernel, up to 100 of
// them, and their axes. The zero Spec means linear for vectors and Gram matrices, and spectrum:k=3
// for sequences. The directions are those of x or, if these are many, of 2000 points drawn from x.
// The notice says what is left out; it is "" if nothing is.
//
// Errors: those of the kernel; points that are all equal in the feature space; a request above the
// memory limit. Cost for m = min(n, 2000): n m
// kernel values, and the leading eigenpairs of a matrix of order m.
func Coordinates(ctx context.Context, eng *engine.Engine, asked kernel.Spec, x points.Points, seed uint64) (*points.Dense, *Axes, string, error) {
	rows := draw.Some(x.Len(), carriers, seed)
	n, m := x.Len(), len(rows)
	need := 2*engine.MatrixBytes(m, m) + engine.MatrixBytes(n+2*m, min(m, most))
	if err := eng.Check(fmt.Sprintf("kernel principal coordinates of %d points", n), need, "fit a sample of the rows, or raise the memory limit"); err != nil {
		return nil, nil, "", err
	}
	k, err := input.Kernel(ctx, eng, asked, x, "linear")
	if err != nil {
		return nil, nil, "", err
	}
	axes, err := New(ctx, eng, k, x.Select(rows), most, constant)
	if err != nil {
		return nil, nil, "", err
	}
	y, err := axes.Map("coordinates").Embed(ctx, eng, x) // as new rows get them, to the bit
	if err != nil {
		return nil, nil, "", err
	}
	return &points.Dense{N: n, D: y.Cols, Data: y.Data}, axes, axes.notice(n), nil
}

// notice says what the coordinates of n points leave out.
func (a *Axes) notice(n int) string {
	kept := 0.0
	for _, v := range a.Variances {
		kept += v
	}
	text := ""
	if m := a.V.Cols; m < n {
		text = fmt.Sprintf(", found in %d of the %d points", m, n)
	}
	if share := kept / a.Total; share < 0.9995 {
		text += fmt.Sprintf(": they have %.1f %% of the variance", 100*share)
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" learned in the %d leading principal coordinates of kernel %s%s", len(a.Variances), a.kernel, text)
}
