// Package algorithms (internal: may change) defines the interfaces of learning methods. A
// [Learner] fits a [Model], and every Model maps points to a finite-dimensional embedding, in which
// ordinary Euclidean tools work.
//
// Each method is a package below this one; none imports another but blend and parts, which are made
// of others. Package algorithms/catalog lists them by name.
package algorithms

import (
	"context"
	"time"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Learner fits one method with fixed parameters. It is immutable and safe for concurrent use.
type Learner interface {
	// Method returns the method's name in the catalog: "krca".
	Method() string
	// Fit learns from n points and the links between them. For invalid input it returns an error
	// for which fault.IsInput is true, and for a canceled ctx an error that wraps ctx.Err(). A fit
	// that ended before convergence returns a model whose Status reports it, not an error.
	Fit(ctx context.Context, eng *engine.Engine, x points.Points, l *links.Set) (Model, error)
}

// Common holds the settings that all learners have, in addition to the parameters of the method.
type Common struct {
	// Kernel is the kernel of the method. The zero Spec means the method's default for the kind of
	// points.
	Kernel kernel.Spec
	// Similarities of the points, n x n, are for methods on a graph, if the graph is "given".
	Similarities blas.Matrix
	Lesson              // what there is to learn from besides links
	Seed         uint64 // seed of all random numbers
	Progress     ProgressFunc
}

// About describes a method. Each package of a method has one.
type About struct {
	Name          string // "krca", the name in the catalog and in model files
	Title         string // "KRCA", the name in texts, and of the class in Python
	Summary       string // one line
	Paper         string // where it was published
	DefaultKernel string // in the form of kernel.Parse; "" for none
	// Linear is true for a method that learns from the features of dense vectors. With a kernel,
	// and from other points, it learns in kernel principal coordinates.
	Linear bool
	// UsesCannotLinks is false for a method that ignores cannot-links with a notice.
	UsesCannotLinks bool
	// UsesTriplets is true for a method that also learns from triplets; UsesQuadruplets and
	// UsesTargets are the same for relative comparisons of two pairs and for a number for each row.
	UsesTriplets, UsesQuadruplets, UsesTargets bool
	// LinksOptional is true for a method that learns without links too.
	LinksOptional bool
	// Pairwise is true for a method that learns from each link separately, so that implied links
	// add information. It is false for a method that learns from the components of must-links.
	Pairwise bool
	// Baseline is true for a method that serves for comparison.
	Baseline bool
	// Small is true for a method that is limited to small data.
	Small bool
}

// Model is a learned metric. It is immutable and safe for concurrent use.
//
// Embed, Gram and Distances take points of the same kind and number of features as the training
// points; for others the error is a *fault.ShapeError or a *fault.DataError. Other errors are a
// *fault.DataError with row and column for a value that is NaN, infinite or so large that its
// squares overflow, a *fault.MemoryError for a result above the memory limit, and ctx.Err(),
// wrapped.
type Model interface {
	// Method returns the name of the method that made the model.
	Method() string
	// Status returns the status of the fit.
	Status() Status
	// Dim returns the number of columns of Embed.
	Dim() int
	// Embed maps any n points to an n x Dim matrix. The Euclidean distance of its rows is the
	// learned distance, exactly or as closely as Dim allows, depending on the method. Row i depends
	// on point i alone: it is bit-identical in any batch. A model that stores the coordinates of
	// its training rows returns these for a point that equals one of them, and their mean if it
	// equals several.
	Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error)
	// Gram evaluates the learned kernel between the rows of x and y, |x| x |y|. A nil y
	// means x, and then the result is exactly symmetric.
	Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error)
	// Distances returns the squared learned distance of each pair of rows of x. A row out of range
	// is a *fault.DataError whose Row is the number of the pair.
	Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error)
	// Encode stores the model's tensors and its entries of the header in f.
	Encode(f *model.File) error
}

// PathLearner is implemented by learners that may learn the metrics of many values of one parameter
// at about the cost of one.
type PathLearner interface {
	Learner
	// PathValue returns the name of the parameter, "" if the method has no path, and the learner's
	// own value, which is 0 if it is not on the path.
	PathValue() (name string, value float64)
	// PathProjected reports whether models keep some directions of the metric alone, so that the
	// distances of their coordinates are not those of the path.
	PathProjected() bool
	// FitPath is Fit for all values of the parameter. Without a path it returns a
	// *fault.ParamError.
	FitPath(ctx context.Context, eng *engine.Engine, x points.Points, l *links.Set) (Path, error)
}

// RowsLearner is implemented by learners that may use only a part of the training points, linked
// points and landmarks. They can be fitted when no single machine holds all points. A learner of a
// method that needs all points returns a *fault.ParamError.
type RowsLearner interface {
	Learner
	// Rows returns the rows that a fit uses, ascending, out of set.N() rows. A rule for landmarks
	// that uses all points is an error for which fault.IsInput is true, as are unusable links and
	// parameters.
	Rows(set *links.Set) ([]int, error)
	// FitRows is Fit with only the points x of Rows, in their order. The model is bit-identical to
	// that of Fit on all points. The kernel must have a number instead of a bandwidth rule. Rows in
	// errors count the rows of x.
	FitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (Model, error)
}

// Path holds the metrics of a PathLearner. It is immutable and safe for concurrent use.
type Path interface {
	// Distances returns, for each value of the parameter, the distances of Model.Distances.
	Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int,
		values []float64) ([][]float64, error)
}

// Status describes the end of a fit.
type Status struct {
	Converged  bool
	Iterations int           // 0 for direct methods
	Message    string        // one sentence about a fit that did not converge, else ""
	Elapsed    time.Duration // wall time of the fit
	// Notices are remarks about the input that did not prevent the fit, such as cannot-links that
	// the method ignores.
	Notices []string
}

// Progress reports how far a long computation is. Callbacks run one at a time and must return
// quickly; those of a fit run on the goroutine that called it. A panic in a callback reaches the
// caller. From clustering, selection and tables, which use several goroutines, it reaches the
// caller as an *engine.Panic.
type Progress struct {
	Stage       string // name of the current stage: "kernel matrix", "cholesky"
	Done, Total int    // steps of the whole fit; Total 0 when unknown
	Objective   float64
	Residual    float64
	Elapsed     time.Duration
}

// ProgressFunc receives progress. It may be nil.
type ProgressFunc func(Progress)

// Report calls f if it is not nil.
func (f ProgressFunc) Report(p Progress) {
	if f != nil {
		f(p)
	}
}

// Optional interfaces of models.
type (
	// Objective is implemented by models of methods that optimize an objective.
	Objective interface{ Objective() float64 }
	// Trace is implemented by models that keep the objective of every iteration.
	Trace interface{ Trace() []float64 }
	// Describer is implemented by models with statistics of their own, in the order of display.
	Describer interface{ Describe() []Statistic }
	// Inputs is implemented by models with a fixed number of input features (or reference objects).
	Inputs interface{ InputDim() int }
	// Spectral is implemented by models with one value for each of their directions, such as
	// eigenvalues and weights.
	Spectral interface{ Spectra() []Spectrum }
	// SingleEmbedder is implemented by models that also embed in single precision. It is used only
	// on request.
	SingleEmbedder interface {
		// EmbedSingle is Embed in single precision: kernel values as kernel.GramSingle computes
		// them, rounded to 24 bits and summed in 24 bits. The error of a coordinate is that of a
		// sum of products of kernel values and model coefficients, relative to the sum of their
		// absolute values. It returns a *fault.ParamError for a model whose points are not dense
		// vectors, whose kernel is not linear, rbf or exp, or whose coordinates are not such a sum.
		EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error)
	}
	// Projection is implemented by models whose Embed may hold only a part of the learned distance,
	// which Gram and Distances compute.
	Projection interface {
		// Projected reports whether it may.
		Projected() bool
		// Share returns the share of the learned squared distance of the training points that Embed
		// holds, 0 if it is unknown.
		Share() float64
	}
	// Formulas is implemented by models that can say as data how they compute coordinates.
	Formulas interface {
		// Formula returns the map of Embed as data. A model without one for new rows is a
		// *fault.ParamError that says why.
		Formula() (formula.Map, error)
	}
	// Linker is implemented by models that support a warm start with more links between their
	// training points. The model itself does not change.
	Linker interface {
		// Links returns the links that the model was fitted on, nil if it does not store them.
		Links() *links.Set
		// AddLinks returns the model of its own links and those of set. The points x must be the
		// training points of the model.
		AddLinks(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (Model, error)
	}
	// Updater is implemented by models that learn more chunklets without a new fit. The model
	// itself does not change; the Status of the new one has the notices.
	Updater interface {
		// Update returns the model with new points: the rows of x in the chunklets. Each is a
		// separate observation, even if it equals a stored one.
		Update(ctx context.Context, eng *engine.Engine, x points.Points, chunklets []Chunklet) (Model, error)
		// DropLast returns the model without the latest count updates.
		DropLast(ctx context.Context, eng *engine.Engine, count int) (Model, error)
	}
	// UpdateChecker is implemented by a Linker or Updater of which some models refuse updates.
	UpdateChecker interface {
		// CheckUpdate returns the error of every update of the model, nil if it accepts updates.
		CheckUpdate() error
	}
)

// Spectrum is one value for every direction of a model, in the order of the directions.
type Spectrum struct {
	Name   string
	Values []float64 // >= 0
}

// NewChunklet is the ID of a [Chunklet] that does not exist yet.
const NewChunklet = -1

// Chunklet is a group of rows that belong together, for an [Updater].
type Chunklet struct {
	// ID is the number of the model's chunklet that the rows join, in the order of creation from 0,
	// or NewChunklet. The number of a chunklet that was merged into another one means the union.
	ID   int
	Rows []int
}

// Statistic is one named value of a model, as `mustlink inspect` shows it.
type Statistic struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Lesson is what a method may learn from besides points and links. [About] says which of it a
// method uses.
type Lesson struct {
	Triplets    []links.Triplet
	Quadruplets []links.Quadruplet
	Targets     []float64 // one finite number for each training row
}

// Given reports whether there is anything to learn from besides links.
func (l Lesson) Given() bool {
	return len(l.Triplets) > 0 || len(l.Quadruplets) > 0 || len(l.Targets) > 0
}

// For returns a *fault.ParamError for a part of the lesson that the method does not learn from.
func (l Lesson) For(a About) error {
	for _, part := range []struct {
		name  string
		count int
		used  bool
	}{
		{"triplets", len(l.Triplets), a.UsesTriplets},
		{"quadruplets", len(l.Quadruplets), a.UsesQuadruplets},
		{"targets", len(l.Targets), a.UsesTargets},
	} {
		if part.count > 0 && !part.used {
			return fault.Param("number of "+part.name, part.count,
				"none: %s does not learn from them", a.Name)
		}
	}
	return nil
}

// Among returns the lesson of the given rows alone, renumbered: the comparisons of which all rows
// are among them, and their targets. Targets that lack one of the rows are a *fault.ShapeError.
func (l Lesson) Among(rows []int) (Lesson, error) {
	out := Lesson{
		Triplets:    links.TripletsAmong(l.Triplets, rows),
		Quadruplets: links.QuadrupletsAmong(l.Quadruplets, rows),
	}
	if len(l.Targets) == 0 {
		return out, nil
	}
	out.Targets = make([]float64, len(rows))
	for k, i := range rows {
		if i >= len(l.Targets) {
			return Lesson{}, fault.Shape("number of targets", len(l.Targets),
				"one for each point, also for row %d", i)
		}
		out.Targets[k] = l.Targets[i]
	}
	return out, nil
}

// Restrictable is implemented by learners that may hold rows of the training points, or values for
// each of them: landmarks, the similarities of a graph, triplets, targets.
type Restrictable interface {
	Learner
	// Among returns the learner for the points x.Select(rows), where x are those of the learner.
	// Rows are ascending; see [Among].
	Among(rows []int) (Learner, error)
}

// Silent returns the learner without its reports of progress.
func Silent(l Learner) Learner {
	if reports, is := l.(interface{ Silent() Learner }); is {
		return reports.Silent()
	}
	return l
}

// Among returns the learner for the points x.Select(rows), where x are the points that l is for:
// what l holds of the other rows is dropped, and the rest is renumbered. It is l itself, or an
// equal learner, unless l refers to rows. The rows must be ascending, each once, and >= 0; others
// are a *fault.DataError. So is a learner of which nothing is left that it could learn with, or
// that cannot be restricted.
//
// Cost: a copy of the restricted similarities, m x m for m rows; otherwise O(m + what l holds).
func Among(l Learner, rows []int) (Learner, error) {
	for k, i := range rows {
		if i < 0 || k > 0 && i <= rows[k-1] {
			return nil, fault.Row(k, "row %d of a part of the points: want ascending rows >= 0", i)
		}
	}
	if r, is := l.(Restrictable); is {
		return r.Among(rows)
	}
	return l, nil
}
