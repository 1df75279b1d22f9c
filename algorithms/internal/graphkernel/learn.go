package graphkernel

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Settings are the parameters that the baselines on a graph share. Each has losses of its own.
type Settings struct {
	Loss         Loss    `json:"loss" param:"loss" choices:"sl,shl,hl" help:"of links that are not met"`
	C            float64 `json:"C" param:"C" default:"1" range:"> 0" help:"weight of the links"`
	Delta        float64 `json:"delta" param:"delta" default:"0.2" range:"> 0" help:"added to the diagonal of the graph's normalized Laplacian"`
	Neighborhood `default:"neighbors=5"`
}

// Common returns the settings themselves, for parameters that embed them.
func (s Settings) Common() Settings { return s }

// DefaultKernel is the kernel in whose feature space neighbors are looked for without another.
const DefaultKernel = "linear"

// TooMany says that a method is for fewer points.
func TooMany(method string, most, got int) error {
	return fault.Data("", "%s is for up to %d points, got %d (npkl takes more)", method, most, got)
}

// NotReached says of a fit how far it came.
func NotReached(steps int, gap float64) string {
	return fmt.Sprintf("%d steps brought the gap to the optimum down to %.2g, not to the tolerance", steps, gap)
}

// Space says in which space neighbors are near.
type Space string

// The metrics; "" is that of the kernel if there is one, else Euclid.
const (
	Euclid     Space = "euclid"
	Cosine     Space = "cosine"
	FromKernel Space = "kernel" // of the feature space of the Learner's kernel
)

// CheckKernel refuses a kernel that contradicts Metric; the zero Spec is none.
func (o Neighborhood) CheckKernel(asked kernel.Spec) error {
	given := asked != (kernel.Spec{})
	switch {
	case o.Metric == FromKernel && !given:
		return &fault.ParamError{Param: "metric", Value: string(o.Metric), Want: "euclid or cosine, or a kernel as well"}
	case (o.Metric == Euclid || o.Metric == Cosine) && given:
		return &fault.ParamError{Param: "metric", Value: string(o.Metric), Want: "kernel, as one is given, or no kernel"}
	}
	return nil
}

// In returns the kernel in whose feature space neighbors are near: the one that is asked for, or
// that of Metric, or else fallback, by the kind of points as [input.Kernel] says.
func (o Neighborhood) In(ctx context.Context, eng *engine.Engine, asked kernel.Spec, x points.Points, fallback string) (kernel.Kernel, error) {
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

// Setup is what a method that learns a kernel matrix is asked for.
type Setup struct {
	Method string
	Settings
	Kernel kernel.Spec // in whose feature space neighbors are near; zero for that of the settings
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

// Make returns the graph of the points, of the given similarities if it is that of these, and how
// its edges are weighted.
func (o Neighborhood) Make(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, given blas.Matrix) (Adjacency, Similarity, error) {
	if o.Graph == Given {
		a, err := Take(given, x.Len())
		return a, Similarity{}, err
	}
	return o.Similarities(ctx, eng, k, x)
}

// Map makes the map of a solution Z = V V', n x r, without the eigenvalues of Z that are at most
// tol times the largest.
func (t *Task) Map(ctx context.Context, eng *engine.Engine, v blas.Matrix, tol float64) (*maps.Map, error) {
	coordinates, err := OnAxes(ctx, eng, v, tol)
	if err != nil {
		return nil, err
	}
	e := &extension{Table: maps.NewTable(t.kernel, t.x, coordinates), settings: t.setup.Settings, weights: t.weights, degrees: t.degrees}
	return e.extended(t.setup.Method), nil
}

// Solution is what a baseline finds.
type Solution struct {
	V         blas.Matrix // n x r: Z = V V'
	Result    Result
	Converged bool
	Steps     int
	Message   string
}

// Rules are those of a baseline: it learns from every link.
func Rules(about algorithms.About) learner.Rules {
	return learner.Rules{About: about, Needs: learner.AnyLinks, Pairs: true}
}

// Learn makes the problem of a baseline, has it solved, and returns the model of the solution
// without the eigenvalues of Z that are at most tol times the largest.
func Learn[P Parameters](ctx context.Context, f *learner.Fit, p P, tol float64, solve func(*Problem) (Solution, error)) (algorithms.Model, error) {
	settings := p.Common()
	if err := settings.Check(f.X.Len()); err != nil {
		return nil, err
	}
	task, err := Setup{f.Name, settings, f.Kernel, f.Similarities}.Start(ctx, f.Eng, f.X, f.Links)
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
	return &Fitted[P]{record.New(m, p, status), s.Result}, nil
}
