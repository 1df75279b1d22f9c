package selection

import (
	"context"
	"errors"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/raw"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Raw names the points without learning: their trial, and the method that is selected if no
// candidate is clearly better.
const Raw = raw.Method

// unlearned is the metric of the points without learning.
type unlearned struct{ d int }

// errNoCoordinates is the error for points that are no dense vectors.
var errNoCoordinates = errors.New("only dense vectors have coordinates without learning")

func (unlearned) Method() string            { return Raw }
func (unlearned) Status() algorithms.Status { return algorithms.Status{Converged: true} }
func (u unlearned) Dim() int                { return u.d }

// Embed returns the points themselves.
func (unlearned) Embed(_ context.Context, _ *engine.Engine, x points.Points) (blas.Matrix, error) {
	p, dense := x.(*points.Dense)
	if !dense {
		return blas.Matrix{}, errNoCoordinates
	}
	return kernel.Matrix(p), nil
}

// Distances returns the squared distances of the points themselves.
func (unlearned) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	return verdict.Distances(ctx, eng, x, pairs)
}

func (unlearned) Gram(context.Context, *engine.Engine, points.Points, points.Points) (blas.Matrix, error) {
	return blas.Matrix{}, errNoCoordinates
}

func (unlearned) Encode(*model.File) error { return errNoCoordinates }

// raw returns the trial of the points without learning on all folds, nil for the criterion
// Stability, which needs fits, and for points that a criterion cannot use.
func (s *search) raw(ctx context.Context, eng *engine.Engine) (*Trial, error) {
	if s.o.Criterion == Stability {
		return nil, nil
	}
	t := &Trial{Candidate: Candidate{Method: Raw}}
	for f := range s.folds {
		v, err := s.measure(ctx, eng, unlearned{s.x.Dim()}, f)
		if errors.Is(err, errNoCoordinates) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		t.add(s.evaluator, v)
	}
	return t, nil
}
