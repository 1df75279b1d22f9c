package krca

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// checkedGram is gram or cross for points that anybody may give.
func (m *metric) checkedGram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if err := m.check(x); err != nil {
		return blas.Matrix{}, err
	}
	rows, cols := x.Len(), x.Len()
	if y != nil {
		if err := m.check(y); err != nil {
			return blas.Matrix{}, err
		}
		cols = y.Len()
	}
	need := addBytes(engine.MatrixBytes(rows, cols), engine.MatrixBytes(cols, m.width()))
	if err := eng.Check(fmt.Sprintf("learned kernel matrix %d x %d", rows, cols), need, "ask for fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	if y == nil {
		g, err := m.gram(ctx, eng, x)
		return finish(ctx, g.kt, err)
	}
	kt, err := m.cross(ctx, eng, x, y)
	return finish(ctx, kt, err)
}

// checkedDistances is distances for points and pairs that anybody may give.
func (m *metric) checkedDistances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	if err := m.checkPairs(eng, x, pairs); err != nil {
		return nil, err
	}
	d, err := m.distances(ctx, eng, x, pairs)
	if err != nil {
		return nil, input.Cancelled(ctx, Method+":", err)
	}
	return d, finiteDistances(d, pairs)
}

func (m *metric) checkPairs(eng *engine.Engine, x points.Points, pairs [][2]int) error {
	if err := m.check(x); err != nil {
		return err
	}
	if err := input.Pairs(x.Len(), pairs); err != nil {
		return err
	}
	group := min(2*len(pairs), x.Len(), maxGroup)
	return eng.Check(fmt.Sprintf("coordinates of %d points", group), engine.MatrixBytes(group, m.width()), "ask for fewer pairs at a time")
}

func finiteDistances(d []float64, pairs [][2]int) error {
	for p, v := range d {
		if v-v != 0 {
			return &fault.DataError{Row: p, Err: fmt.Errorf("learned distance of points %d and %d is %v: want smaller values", pairs[p][0], pairs[p][1], v)}
		}
	}
	return nil
}
