package graphkernel

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Setup is what a method that learns a kernel matrix is asked for.
type Setup struct {
	Method string
	Settings
	Kernel kernel.Spec // in whose feature space neighbours are near; zero for that of the settings
	Given  blas.Matrix // similarities of the points, for the graph of that name
}

// Task is a problem with what makes a model of its solution.
type Task struct {
	*Problem
	Notices []string // of what is odd in the graph

	setup   Setup
	kernel  kernel.Kernel
	x       points.Points
	weights Similarity
	degrees []float64
}

// Start makes the graph of x, and the problem of its links.
func (s Setup) Start(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Task, error) {
	t := &Task{setup: s, x: x}
	var err error
	if t.kernel, err = s.In(ctx, eng, s.Kernel, x, DefaultKernel); err != nil {
		return nil, err
	}
	around, weights, err := s.Make(ctx, eng, t.kernel, x, s.Given)
	if err != nil {
		return nil, err
	}
	t.weights, t.Notices = weights, unreached(around, set)
	if t.degrees, err = around.Degrees(ctx, eng); err != nil {
		return nil, err
	}
	t.Problem, err = NewProblem(ctx, eng, around, t.degrees, set, s.Loss, s.C, s.Delta)
	return t, err
}

// Make returns the graph of the points, of the given similarities if it is that of these, and how its edges are
// weighted.
func (o Neighbourhood) Make(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, given blas.Matrix) (Adjacency, Similarity, error) {
	if o.Graph == Given {
		a, err := Take(given, x.Len())
		return a, Similarity{}, err
	}
	return o.Similarities(ctx, eng, k, x)
}

// Map makes the map of a solution Z = V V', n x r, without the eigenvalues of Z that are at most tol times the largest.
func (t *Task) Map(ctx context.Context, eng *engine.Engine, v blas.Matrix, tol float64) (*maps.Map, error) {
	places, err := OnAxes(ctx, eng, v, tol)
	if err != nil {
		return nil, err
	}
	e := &extension{Table: maps.NewTable(t.kernel, t.x, places), settings: t.setup.Settings, weights: t.weights, degrees: t.degrees}
	return e.extended(t.setup.Method), nil
}
