package input

import (
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Rows checks the points of algorithms.RowsLearner.FitRows: so many of them, all that the fit looks at, and a kernel, the zero Spec
// for fallback, without bandwidth rules, which look at others. A Gram matrix, whose columns are all points, is refused.
func Rows(x points.Points, count int, asked kernel.Spec, fallback string) error {
	if _, ok := x.(*points.Gram); ok {
		return fault.Data("", "some rows of a Gram matrix: want vectors or sequences")
	}
	if x.Len() != count {
		return &fault.ShapeError{What: "number of points that the fit looks at", Got: x.Len(), Want: fmt.Sprintf("%d, as many as Rows names", count)}
	}
	if err := Points(x); err != nil {
		return err
	}
	spec, err := specFor(asked, x, fallback)
	if err != nil {
		return err
	}
	if spec.NeedsData() {
		return &fault.ParamError{Param: "kernel", Value: spec.String(), Want: "a number in place of the bandwidth rule, which looks at points that are not given"}
	}
	return distinguishable(x)
}
