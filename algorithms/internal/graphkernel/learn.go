package graphkernel

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Settings are the parameters that the baselines on a graph share. Each baseline has its own set of
// losses.
type Settings struct {
	Loss         Loss    `json:"loss" param:"loss" choices:"sl,shl,hl" help:"loss of violated links"`
	C            float64 `json:"C" param:"C" default:"1" range:">= 1e-15, <= 1e15" help:"weight of the links"`
	Delta        float64 `json:"delta" param:"delta" default:"0.2" range:">= 1e-15, <= 1e15" help:"added to the diagonal of the graph's normalized Laplacian"`
	Neighborhood `default:"neighbors=5"`
}

// Common returns the settings themselves, for parameters that embed them.
func (s Settings) Common() Settings { return s }

// DefaultKernel is the kernel of the neighbor search when the caller names none.
const DefaultKernel = "linear"

// TooMany returns the error of a method that accepts at most a given number of points.
func TooMany(method string, most, got int) error {
	return fault.Data("", "%d points: want at most %d for %s; use npkl for more", got, most, method)
}

// NotReached returns the message of a fit that ended above its tolerance.
func NotReached(steps int, gap float64) string {
	return fmt.Sprintf("the gap to the optimum is %.2g after %d steps, above the tolerance", gap, steps)
}

// Space names the metric of the neighbor search.
type Space string

// The metrics. "" means FromKernel if the caller names a kernel, else Euclid.
const (
	Euclid     Space = "euclid"
	Cosine     Space = "cosine"
	FromKernel Space = "kernel" // of the feature space of the Learner's kernel
)

// CheckKernel returns an error for a kernel that contradicts Metric. The zero Spec means no kernel.
func (o Neighborhood) CheckKernel(asked kernel.Spec) error {
	given := asked != (kernel.Spec{})
	switch {
	case o.Metric == FromKernel && !given:
		return fault.Param("metric", string(o.Metric), "euclid or cosine, or a kernel as well")
	case (o.Metric == Euclid || o.Metric == Cosine) && given:
		return fault.Param("metric", string(o.Metric), "kernel, as one is given, or no kernel")
	}
	return nil
}

// In returns the kernel in whose feature space neighbors are searched: the one that the caller
// asked for, or that of Metric, or else fallback, which [input.Kernel] adapts to the kind of
// points.
func (o Neighborhood) In(ctx context.Context, eng *engine.Engine, asked kernel.Spec, x points.Points,
	fallback string) (kernel.Kernel, error) {
	if err := o.CheckKernel(asked); err != nil {
		return kernel.Kernel{}, err
	}
	if o.Metric == Cosine {
		var err error
		if asked, err = kernel.Parse(string(Cosine)); err != nil {
			return kernel.Kernel{}, err
		}
	}
	return input.Kernel(ctx, eng, asked, x, fallback)
}

// Setup holds the settings of a method that learns a kernel matrix.
type Setup struct {
	Method string
	Settings
	Kernel kernel.Spec // its feature space is where neighbors are searched; zero for that of the settings
	Given  blas.Matrix // similarities of the points, for the graph Given
}

// Task is a problem, with the data that turn its solution into a model.
type Task struct {
	*Problem
	Notices []string // about the graph

	setup   Setup
	kernel  kernel.Kernel
	x       points.Points
	weights Similarity
	degrees []float64
}

// Start builds the graph of x and the problem of its links.
func (s Setup) Start(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (*Task, error) {
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

// Make returns the graph of the points and the function that weights its edges. For the graph Given
// it takes the given similarities.
func (o Neighborhood) Make(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	given blas.Matrix) (Adjacency, Similarity, error) {
	if o.Graph == Given {
		a, err := Take(given, x.Len())
		return a, Similarity{}, err
	}
	return o.Similarities(ctx, eng, k, x)
}

// Map returns the map of a solution Z = V V', V n x r. It drops the eigenvalues of Z that are at
// most tol times the largest.
func (t *Task) Map(ctx context.Context, eng *engine.Engine, v blas.Matrix, tol float64) (*fitted.Map, error) {
	coordinates, err := OnAxes(ctx, eng, v, tol)
	if err != nil {
		return nil, err
	}
	e := &extension{Table: fitted.NewTable(t.kernel, t.x, coordinates), settings: t.setup.Settings,
		weights: t.weights, degrees: t.degrees}
	return e.extendedMap(t.setup.Method), nil
}

// Solution is the result of a baseline's solver.
type Solution struct {
	V         blas.Matrix // n x r: Z = V V'
	Result    Result
	Converged bool
	Steps     int
	Message   string
}

// Rules returns the rules of a baseline that learns from every link.
func Rules(about algorithms.About) learner.Rules {
	return learner.Rules{About: about, Needs: learner.AnyLinks, Pairs: true}
}

// Learn builds the problem of a baseline, calls solve, and returns the model of the solution. It
// drops the eigenvalues of Z that are at most tol times the largest.
func Learn[P Parameters](ctx context.Context, f *learner.Fit, p P, tol float64,
	solve func(*Problem) (Solution, error)) (algorithms.Model, error) {
	task, err := Setup{f.Name, p.Common(), f.Kernel, f.Similarities}.Start(ctx, f.Eng, f.X, f.Links)
	if err != nil {
		return nil, err
	}
	f.Notices = task.Notices
	s, err := solve(task.Problem)
	if err != nil {
		return nil, err
	}
	m, err := task.Map(ctx, f.Eng, s.V, tol)
	if err != nil {
		return nil, err
	}
	status := f.Status(algorithms.Status{Converged: s.Converged, Iterations: s.Steps, Message: s.Message})
	return &Fitted[P]{fitted.New(m, p, status), s.Result}, nil
}
