package baseline

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Raw learns nothing: it is the distance of the points as they
// are, a baseline of every method.
//
// The coordinates of a dense vector are its features, bit for bit. With a kernel, and for other
// points, the squared distance is that of the feature space of the kernel,
//
//	d(x, y)^2 = k(x, x) - 2 k(x, y) + k(y, y)
//
// The kernel is linear for sparse vectors, whose distance then is Euclidean, and for a Gram matrix,
// which has its own distance; for sequences it is cosine@spectrum:k=3, which compares the counts of
// words of three letters at unit length. Coordinates in that space are the leading principal ones.
//
// The fields are the parameters of the method: none.
type Raw struct{}

// RawLearner makes the model of n points of d features and ignores links. The result has the type
// *[RawModel]. Cost: O(1) for dense vectors; for other points, and with a kernel, that of their
// principal coordinates.
type RawLearner = learner.Learner[Raw]

// Rules returns what the method requires of its input.
func (Raw) Rules() learner.Rules {
	return learner.Rules{Sequences: "cosine@spectrum:k=3", About: algorithms.About{
		Name: RawMethod, Title: "Raw",
		Summary: "no learning: the prepared rows as they are; ignores links: the baseline to compare with",
		Paper:   "None: it learns nothing",
		Linear:  true, Baseline: true, LinksOptional: true,
	}}
}

// Learn returns the map of the points to themselves.
func (p Raw) Learn(_ context.Context, f *learner.Fit) (algorithms.Model, error) {
	f.Report(algorithms.Progress{Stage: "the rows as they are", Total: 1})
	return &RawModel{fitted.New(fitted.OfFunction(RawMethod, identity(f.Dense.D)), p, f.Direct())}, nil
}

// RawModel is the metric of the points as they are. It is immutable and safe for concurrent use.
type RawModel struct{ *fitted.Model[Raw] }

// Describe returns the statistics of the model.
func (m *RawModel) Describe() []algorithms.Statistic {
	return append([]algorithms.Statistic{{Name: "learned", Value: "nothing: the prepared rows as they are"}},
		m.Model.Describe()...)
}

// Distances returns the squared distance of each pair of rows of x; see [algorithms.Model]. With a
// kernel it is exact, at O(d) per pair, where coordinates may leave out directions; only the
// distance of two new rows of a Gram matrix is that of their coordinates.
func (m *RawModel) Distances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	if m.Kernel().String() == "" || unknown(x, pairs) {
		return m.Model.Distances(ctx, eng, x, pairs)
	}
	if err := m.Check(x); err != nil {
		return nil, err
	}
	if err := input.Pairs(x.Len(), pairs); err != nil {
		return nil, err
	}
	square, err := m.Kernel().Distances(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(pairs))
	for p, pair := range pairs {
		out[p] = square(pair[0], pair[1])
		if math.IsNaN(out[p]) || math.IsInf(out[p], 0) {
			return nil, fault.Row(p, "the distance of points %d and %d is %v: want smaller values "+
				"(standardize the data)", pair[0], pair[1], out[p])
		}
	}
	return out, nil
}

// unknown reports whether a Gram matrix lacks the product of some pair, both of whose rows are new.
func unknown(x points.Points, pairs [][2]int) bool {
	g, is := x.(*points.Gram)
	return is && slices.ContainsFunc(pairs, func(p [2]int) bool {
		n := g.Len()
		return p[0] != p[1] && min(p[0], p[1]) >= 0 && max(p[0], p[1]) < n && max(g.Reference[p[0]],
			g.Reference[p[1]]) < 0
	})
}

// identity is the map of vectors of this dimension to themselves.
type identity int

// Dim returns the number of coordinates.
func (d identity) Dim() int { return int(d) }

// InputDim returns the number of features, which are the coordinates.
func (d identity) InputDim() int { return int(d) }

// Embed copies x.
func (identity) Embed(x, y []float64) { copy(y, x) }

// Encode returns the dimension for the header.
func (d identity) Encode(*model.File) any { return fitted.MapHeader{InputDim: int(d)} }

// Formula returns the map as a matrix.
func (d identity) Formula() (formula.Map, error) {
	return &formula.Linear{W: blas.Identity(int(d)), Mean: make([]float64, d)}, nil
}

// DecodeRaw returns the model that Encode stored in f. An unusable tensor or part of the header is
// a *fault.DataError.
func DecodeRaw(f *model.File) (*RawModel, error) {
	var about fitted.MapHeader
	m, err := fitted.Decode[Raw](RawMethod, f, func(method string, _ *model.File) (*fitted.Map, error) {
		if about.InputDim < 1 || about.InputDim > math.MaxInt32 {
			return nil, fitted.InHeader(fault.Data("", "input_dim is %d: want 1 to %d", about.InputDim,
				math.MaxInt32))
		}
		return fitted.OfFunction(method, identity(about.InputDim)), nil
	}, &about)
	if err != nil {
		return nil, err
	}
	return &RawModel{m}, nil
}

// Covariance is the Mahalanobis distance of the points: the
// linear metric in which all directions have the same variance, computed without links
// (Mahalanobis, "On the generalized distance in statistics", 1936). A baseline of every linear
// method.
//
// With the principal directions u_r of the points and their variances v_r,
//
//	y_r = u_r' (x - mean) / sqrt(v_r)
//
// so that squared distances are (x - y)' S^+ (x - y) for the covariance S of the points. Directions
// with a variance up to rank_tol times the largest are dropped.
//
// The fields are the parameters of the method.
type Covariance struct {
	Dims    int     `json:"dims" param:"dims" zero:"all" help:"number of directions, those of largest variance"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
}

// CovarianceModel is a fitted metric, a linear map.
type CovarianceModel = fitted.Model[Covariance]

// CovarianceLearner learns from n dense points of d features and ignores links. The result has the
// type *[CovarianceModel]. Cost: the eigendecomposition of a matrix of order min(n, d), and 4 n d
// min(n, d) flops.
type CovarianceLearner = learner.Learner[Covariance]

// Rules returns what the method requires of its input.
func (Covariance) Rules() learner.Rules {
	return learner.Rules{About: algorithms.About{
		Name: CovarianceMethod, Title: "Covariance",
		Summary: "Mahalanobis distance of the points, linear; ignores links: the baseline of linear methods",
		Paper: "Mahalanobis, On the generalized distance in statistics, Proceedings of the National " +
			"Institute of Sciences of India 2, 1936",
		Linear: true, Baseline: true, LinksOptional: true,
	}}
}

// Learn fits the method.
func (p Covariance) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	f.Report(algorithms.Progress{Stage: "principal directions", Total: 1})
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, p.RankTol)
	if err != nil {
		return nil, err
	}
	if p.Dims > 0 {
		pc.Keep(p.Dims)
	}
	roots := pc.StandardDeviations()
	scale := blas.NewMatrix(len(roots), len(roots))
	for r, root := range roots {
		scale.Set(r, r, 1/root)
	}
	return fitted.New(pc.Map(f.Eng, CovarianceMethod, scale), p, f.Direct()), nil
}
