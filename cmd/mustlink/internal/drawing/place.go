package drawing

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// CoordinateName names a coordinate of an embedding.
func CoordinateName(j int) string { return fmt.Sprintf("coordinate %d", j) }

// FeatureName names a column of data.
func FeatureName(d *dataset.Data, j int) string {
	if j < len(d.Features) {
		return d.Features[j]
	}
	return fmt.Sprintf("feature %d", j)
}

// Place takes two columns of m, or the plane in which its rows vary most where there are more
// and none was asked for. Where there is one column, points lie on a line.
func Place(ctx context.Context, eng *engine.Engine, s *view.Scatter, m blas.Matrix, dims []int, name func(j int) string) (err error) {
	if dims == nil && m.Cols > 2 {
		var share [2]float64
		s.X, s.Y, share, err = view.Plane(ctx, eng, m)
		s.XLabel = fmt.Sprintf("first principal component (%.0f %% of the variance)", 100*share[0])
		s.YLabel = fmt.Sprintf("second principal component (%.0f %%)", 100*share[1])
		return err
	}
	for _, j := range dims {
		if j >= m.Cols {
			return usage.Errorf("--dims names coordinate %d: want 0 to %d", j, m.Cols-1)
		}
	}
	if dims == nil {
		dims = []int{0, 1}
	}
	s.X, s.XLabel = coordinate(m, dims[0], name)
	s.Y, s.YLabel = coordinate(m, dims[1], name)
	return nil
}

// coordinate returns a column of m and its name, or zeros without a name for one that m lacks.
func coordinate(m blas.Matrix, j int, name func(j int) string) ([]float64, string) {
	values := make([]float64, m.Rows)
	if j >= m.Cols {
		return values, ""
	}
	for i := range values {
		values[i] = m.At(i, j)
	}
	return values, name(j)
}
