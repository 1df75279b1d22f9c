// Package algorithms (engine room: may change) states the contract between learning methods and
// everything that uses them: a [Learner] fits a [Model], and every Model ends in the same thing, a
// finite-dimensional map in which ordinary Euclidean tools work.
//
// Each method is a package of its own below this one; none imports another. Package
// algorithms/catalog lists them by name.
package algorithms

import (
	"context"
	"time"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Learner fits one method with fixed parameters. A Learner is immutable once built and
// may fit from several goroutines at once.
type Learner interface {
	// Method returns the method's name in the catalog: "krca".
	Method() string
	// Fit learns from n points and the links between them. Bad input gives an error for
	// which fault.IsInput is true; canceling ctx gives an error that wraps ctx.Err().
	// A fit that stopped before convergence is a model whose Status says so, not an error.
	Fit(ctx context.Context, eng *engine.Engine, x points.Points, l *links.Set) (Model, error)
}

// Common is what every learner takes besides the parameters of its method.
type Common struct {
	// Kernel is the kernel to learn in. The zero Spec leaves the choice to the method, by the kind
	// of points.
	Kernel kernel.Spec
	// Similarities of the points, n x n, are for methods on a graph, if it is that of given ones.
	Similarities blas.Matrix
	Seed         uint64 // fixes every random choice
	Progress     ProgressFunc
}

// About says what a method is, for people and programs. Each package of a method has one.
type About struct {
	Name          string // "krca", as the catalog and model files have it
	Title         string // "KRCA", its name for people, and that of its class in Python
	Summary       string // one line
	Paper         string // where it was published
	DefaultKernel string // as kernel.Parse reads it; "" when none is the default
	// Linear is true for a method that takes no kernel.
	Linear bool
	// UsesCannotLinks is false for a method that ignores cannot-links with a notice.
	UsesCannotLinks bool
	// Pairwise is true for a method that learns from every link by itself, to which implied links
	// are news; false for one that learns from the components of must-links.
	Pairwise bool
	// Baseline is true for a method that is here to compare others with.
	Baseline bool
	// Small is true for a method that takes few points.
	Small bool
}

// Model is a learned metric. It is immutable and safe for concurrent use.
//
// Embed, Gram and Distances take points of the kind that the model was fitted on, with as many
// features: otherwise the error is a *fault.ShapeError or a *fault.DataError. Other errors are a
// *fault.DataError with row and column for a value that is NaN, infinite or so large that its
// squares overflow, a *fault.MemoryError for a result above the memory limit, and ctx.Err(),
// wrapped.
type Model interface {
	// Method returns the name of the method that made it.
	Method() string
	// Status says how the fit ended.
	Status() Status
	// Dim returns the number of columns of Embed.
	Dim() int
	// Embed maps any n points to an n x Dim matrix whose Euclidean geometry is the
	// learned one (exactly or as closely as Dim allows; each method says which).
	// Row i depends on point i alone: its bits are the same in any batch. One case is an exception.
	// A model that stores the coordinates of its training rows returns them for these rows in their
	// order, all or a run of them. Elsewhere a point that equals several training rows has their mean.
	Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error)
	// Gram evaluates the learned kernel between the rows of x and y, |x| x |y|. A nil y
	// means x, and then the result is symmetric to the bit.
	Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error)
	// Distances returns the squared learned distance of each pair of rows of x. A row out of range
	// is a *fault.DataError whose Row is the number of the pair.
	Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error)
	// Encode stores the model's tensors and its entries of the header in f.
	Encode(f *model.File) error
}

// Triplets is implemented by learners that also learn from triplets.
type Triplets interface {
	Learner
	// WithTriplets returns the learner that learns from these beside links.
	WithTriplets(list []links.Triplet) Learner
}

// Quadruplets is implemented by learners that also learn from relative comparisons of two pairs.
type Quadruplets interface {
	Learner
	// WithQuadruplets returns the learner that learns from these, and from links.
	WithQuadruplets(list []links.Quadruplet) Learner
}

// Targets is implemented by learners that learn from a number for each row, as regression does.
type Targets interface {
	Learner
	// WithTargets returns the learner that learns from these, one finite number for each training row.
	WithTargets(values []float64) Learner
}

// PathLearner is implemented by learners that learn the metrics of many values of one parameter at
// about the cost of one.
type PathLearner interface {
	Learner
	// PathValue returns the name of the parameter, and the learner's own value of it; 0 when it is
	// not on the path.
	PathValue() (name string, value float64)
	// FitPath is Fit for all values.
	FitPath(ctx context.Context, eng *engine.Engine, x points.Points, l *links.Set) (Path, error)
}

// RowsLearner is implemented by learners that look at few of the training points, those of links
// and landmarks, and so can be fitted where all points are never in one place.
type RowsLearner interface {
	Learner
	// Rows returns the rows, ascending, of the points that a fit looks at among the set.N() that
	// there are. A rule of landmarks that looks at all points is an error for which fault.IsInput is
	// true, as are links and parameters of no use.
	Rows(set *links.Set) ([]int, error)
	// FitRows is Fit with the points of Rows alone: x, in their order. The model has the bits of
	// Fit's on all points. The kernel must have numbers in place of bandwidth rules. Rows in errors
	// are those of x.
	FitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (Model, error)
}

// Path holds the metrics of a PathLearner. It is immutable and safe for concurrent use.
type Path interface {
	// Distances returns, for each value of the parameter, what Model.Distances does.
	Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int, values []float64) ([][]float64, error)
}

// Status says how a fit ended.
type Status struct {
	Converged  bool
	Iterations int           // 0 for direct methods
	Message    string        // one sentence for people, "" when there is nothing to say
	Elapsed    time.Duration // wall time of the fit
	// Notices are remarks on the input that did not stop the fit, such as cannot-links
	// given to a method that uses must-links only.
	Notices []string
}

// Progress is a report from long work. Callbacks run one at a time, those of a fit on the
// goroutine that called it, and must return quickly. A panic of theirs reaches the caller; from
// clustering, selection and tables, which share their work among goroutines, as an *engine.Panic.
type Progress struct {
	Stage       string // what is being done: "kernel matrix", "cholesky"
	Done, Total int    // steps of the whole fit; Total 0 when unknown
	Objective   float64
	Residual    float64
	Elapsed     time.Duration
}

// ProgressFunc receives progress; nil means nobody listens.
type ProgressFunc func(Progress)

// Report calls f if it is not nil.
func (f ProgressFunc) Report(p Progress) {
	if f != nil {
		f(p)
	}
}

// Optional interfaces of models.
type (
	// Objective is implemented by models of methods that minimize or maximize a number.
	Objective interface{ Objective() float64 }
	// Trace is implemented by models that keep the objective of every iteration.
	Trace interface{ Trace() []float64 }
	// Describer is implemented by models that have figures of their own to show, in order.
	Describer interface{ Describe() []Statistic }
	// Inputs is implemented by models that know the number of features (or of reference
	// objects) of the points that they take.
	Inputs interface{ InputDim() int }
	// Spectral is implemented by models with curves over their directions, such as eigenvalues
	// and weights.
	Spectral interface{ Spectra() []Spectrum }
	// SingleEmbedder is implemented by models whose Embed is there in single precision too. Nothing
	// uses it unless it is asked to.
	SingleEmbedder interface {
		// EmbedSingle is Embed in single precision: kernel values as kernel.GramSingle computes them,
		// rounded and summed up to 24 bits. The error of a coordinate is that of a sum of products of
		// kernel values with the model's numbers, relative to the sum of their absolute values. A
		// model that has other points than dense vectors, another kernel than linear, rbf or exp, or
		// no such sum is a *fault.ParamError.
		EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error)
	}
	// Linker is implemented by models that learn more links between the points that they were fitted
	// on, starting from what they know. The model itself stays as it is.
	Linker interface {
		// AddLinks returns the model of the links it has and those of set, for the points x that it was
		// fitted on.
		AddLinks(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (Model, error)
	}
	// Updater is implemented by models that learn more chunklets without being fitted
	// again. The model itself stays as it is; the new one's Status holds the notices.
	Updater interface {
		// Update adds one update: the rows of x that the chunklets name are new points, each
		// an observation of its own even where it equals a stored one.
		Update(ctx context.Context, eng *engine.Engine, x points.Points, chunklets []Chunklet) (Model, error)
		// DropLast takes back the latest count updates.
		DropLast(ctx context.Context, eng *engine.Engine, count int) (Model, error)
	}
)

// Spectrum is one value for every direction of a model, in the order of the directions.
type Spectrum struct {
	Name   string
	Values []float64 // >= 0
}

// NewChunklet as the ID of a [Chunklet] asks for one that does not exist yet.
const NewChunklet = -1

// Chunklet is a group of rows that belong together, for an [Updater].
type Chunklet struct {
	// ID is the number of the chunklet of the model that the rows join, in the order of
	// creation from 0, or NewChunklet. The number of a chunklet that was merged into
	// another one names the union.
	ID   int
	Rows []int
}

// Statistic is one named value for people to read, as `mustlink inspect` shows it.
type Statistic struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}
