package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/traceratio"
)

// DCA learns a metric in which must-linked points are close and
// chunklets that cannot-links separate are far apart: discriminative component analysis, linear and
// with a kernel (Hoi, Liu, Lyu & Ma, "Learning distance metrics with contextual constraints for
// image retrieval", CVPR 2006).
//
// A chunklet is a must-link component; a linked point without must-links is a chunklet of its own.
// With the means m_j, and D_j the chunklets that a cannot-link joins to chunklet j,
//
//	C_b = mean over j and i in D_j of (m_j - m_i)(m_j - m_i)'
//	C_w = mean over j of the covariance of the points of j around m_j
//
// and the directions A maximize |A'C_b A| / |A'C_w A|. The directions in which C_b is not 0 are
// whitened by C_b; among them, C_w, with eps added, is made diagonal and whitened. The directions
// with the smallest C_w come first.
//
// In kernel mode the coordinates are those in the principal directions of all points in the feature
// space.
//
// The fields are the parameters of the method.
type DCA struct {
	Dims int `json:"dims" param:"dims" zero:"all in which the means of cannot-linked chunklets vary" help:"number of directions"`
	// EpsRel is added to C_w, in units of its mean eigenvalue in these directions.
	EpsRel float64 `json:"eps_rel" param:"eps_rel" default:"0.001" range:"> 0, <= 1e15" help:"regularization relative to the mean within-group variance"`
	// RankTol also applies to the eigenvalues of C_b.
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a direction counts as constant"`
}

// DCAModel is a fitted metric. It is immutable and safe for concurrent use. Embed, Gram and
// Distances, documented at [algorithms.Model], cost 2 d Dim flops per point in linear mode. In
// kernel mode they cost the point's kernel values with the stored points, which are all points of
// the fit, and 2 Dim flops for each of these.
type DCAModel = fitted.Model[DCA]

// DCALearner learns from must-links and cannot-links on the points; at least one cannot-link joins
// two chunklets. Its zero Kernel means the linear mode for dense vectors, and otherwise the default
// kernel of such points. The result has the type *[DCAModel].
//
// Cost: in linear mode the eigendecomposition of the covariance matrix, in kernel mode that of the
// kernel matrix, n^3; and q^2 flops per linked point and per pair of cannot-linked chunklets.
type DCALearner = learner.Learner[DCA]

// Rules returns what the method requires of its input.
func (DCA) Rules() learner.Rules {
	return learner.Rules{Needs: learner.BothKinds, About: algorithms.About{
		Name: DCAMethod, Title: "DCA",
		Summary: "discriminative component analysis: moves cannot-linked chunklets apart, linear or " +
			"with a kernel (-k)",
		Paper: "Hoi, Liu, Lyu & Ma, Learning distance metrics with contextual constraints for image " +
			"retrieval, CVPR 2006",
		UsesCannotLinks: true, Baseline: true,
	}}
}

// Learn fits the method.
func (p DCA) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	f.Report(algorithms.Progress{Stage: "principal directions", Total: 2})
	z, turned, err := p.coordinates(ctx, f)
	if err != nil {
		return nil, err
	}
	f.Report(algorithms.Progress{Stage: "discriminative directions", Done: 1, Total: 2})
	a, err := p.directions(ctx, f, z)
	if err != nil {
		return nil, err
	}
	return fitted.New(turned(a), p, f.Direct()), nil
}

// coordinates returns the coordinates of the points in principal directions, and the function that
// turns directions in them into a map.
func (p DCA) coordinates(ctx context.Context,
	f *learner.Fit) (blas.Matrix, func(blas.Matrix) *fitted.Map, error) {
	if dense, is := f.X.(*points.Dense); is && f.Kernel == (kernel.Spec{}) {
		pc, err := linear.NewPrincipal(ctx, f.Eng, dense, p.RankTol)
		if err != nil {
			return blas.Matrix{}, nil, err
		}
		return pc.Z, func(t blas.Matrix) *fitted.Map {
			return fitted.WithKernel(pc.Map(f.Eng, DCAMethod, t))
		}, nil
	}
	k, err := input.Kernel(ctx, f.Eng, f.Kernel, f.X, "linear")
	if err != nil {
		return blas.Matrix{}, nil, err
	}
	a, err := linear.NewKernelAxes(ctx, f.Eng, k, f.X, 0, p.RankTol)
	if err != nil {
		return blas.Matrix{}, nil, err
	}
	return a.Z, func(t blas.Matrix) *fitted.Map { return a.Turned(f.Eng, DCAMethod, t) }, nil
}

// directions returns A', whose rows are the directions.
func (p DCA) directions(ctx context.Context, f *learner.Fit, z blas.Matrix) (blas.Matrix, error) {
	eng := f.Eng
	between, within, err := dcaScatters(eng, z, linear.NewClasses(f.Links))
	if err != nil {
		return z, err
	}
	u, err := linear.Whiten(ctx, eng, between, 0, p.RankTol) // k x q
	if err != nil {
		return u, err
	}
	half, among := blas.NewMatrix(u.Rows, z.Cols), blas.NewMatrix(u.Rows, u.Rows)
	eng.Backend().Gemm(false, false, 1, u, within, 0, half)
	eng.Backend().Gemm(false, true, 1, half, u, 0, among)
	if !(among.Trace() > 0) {
		return u, fault.Data("", "the points of every chunklet are equal: want chunklets that vary")
	}
	v, err := linear.Whiten(ctx, eng, among, p.EpsRel, 0) // smallest C_w first
	if err != nil {
		return v, err
	}
	if p.Dims > 0 && p.Dims < v.Rows {
		v = v.View(0, p.Dims, 0, v.Cols)
	}
	out := blas.NewMatrix(v.Rows, z.Cols)
	eng.Backend().Gemm(false, false, 1, v, u, 0, out)
	return out, nil
}

// dcaScatters returns C_b and C_w, both triangles.
func dcaScatters(eng *engine.Engine, z blas.Matrix,
	c *linear.Classes) (between, within blas.Matrix, err error) {
	q := z.Cols
	between, within = blas.NewMatrix(q, q), blas.NewMatrix(q, q)
	means := blas.NewMatrix(len(c.Members), q)
	var rows [][]float64 // differences within chunklets, divided by the roots of the sizes
	for j, members := range c.Members {
		for _, i := range members {
			eng.Backend().Kernels().Axpy(1/float64(len(members)), z.Row(c.Rows[i]), means.Row(j))
		}
		for _, i := range members {
			row := make([]float64, q)
			for k, v := range z.Row(c.Rows[i]) {
				row[k] = (v - means.At(j, k)) / math.Sqrt(float64(len(members)))
			}
			rows = append(rows, row)
		}
	}
	pairs := 0
	for j := range c.Members {
		for _, i := range c.Rivals(j) {
			if i > j {
				pairs++
			}
		}
	}
	if pairs == 0 {
		return between, within,
			fault.Data("", "all cannot-links are within must-link components: want some between them")
	}
	apart := blas.NewMatrix(pairs, q)
	at := 0
	for j := range c.Members {
		for _, i := range c.Rivals(j) {
			if i > j {
				for k, v := range means.Row(j) {
					apart.Set(at, k, v-means.At(i, k))
				}
				at++
			}
		}
	}
	inner := blas.NewMatrix(len(rows), q)
	for i, row := range rows {
		copy(inner.Row(i), row)
	}
	eng.Backend().Gemm(true, false, 1/float64(pairs), apart, apart, 0, between)
	eng.Backend().Gemm(true, false, 1/float64(len(c.Members)), inner, inner, 0, within)
	if err := linear.CheckCovariance(between); err != nil {
		return between, within, err
	}
	return between, within, linear.CheckCovariance(within)
}

// Xiang learns a linear metric by a trace ratio of the links
// alone (Xiang, Nie & Zhang, "Learning a Mahalanobis distance metric for data clustering and
// classification", Pattern Recognition 41, 2008): the orthonormal W that maximizes the squared
// distances of cannot-linked points relative to those of must-linked points.
//
// The fields are the parameters of the method. The zero value has the paper's parameters.
type Xiang struct {
	Dims int `json:"dims" param:"dims" zero:"half of the directions in which the points vary" help:"columns of the embedding"`
}

// XiangLearner learns from n dense points of d features and both kinds of links. If there are so
// few must-links that W can vanish on all of them, the ratio has no bound; then cannot-links decide
// among these W. A notice counts the columns of W that separate no cannot-link: where must-links do
// not determine them, rounding does. The result has the type *[XiangModel]. As many dimensions as
// the data have are an error.
//
// Cost: n d^2 flops for the q directions in which the points vary, q^2 flops per link, and a few
// eigenproblems of order q.
type XiangLearner = learner.Learner[Xiang]

// Rules returns what the method requires of its input.
func (Xiang) Rules() learner.Rules {
	return learner.Rules{Pairs: true, About: algorithms.About{
		Name: XiangMethod, Title: "Xiang",
		Summary: "trace-ratio metric of the links alone, linear: the baseline of lleratio",
		Paper: "Xiang, Nie & Zhang, Learning a Mahalanobis distance metric for data clustering and " +
			"classification, Pattern Recognition 41, 2008",
		Linear: true, UsesCannotLinks: true, Pairwise: true, Baseline: true,
	}}
}

// Learn fits the method.
func (p Xiang) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	if must, cannot := f.Links.Count(); must == 0 || cannot == 0 {
		return nil, fault.Data("", "xiang compares must-links with cannot-links: want both, got %d and %d",
			must, cannot)
	}
	const constant = 1e-12
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, constant)
	if err != nil {
		return nil, err
	}
	q, eng := pc.Z.Cols, f.Eng
	d := p.Dims
	if d == 0 {
		d = max(1, q/2)
	}
	if d >= q && q > 1 {
		return nil, fault.Param("dims", d, "a number below %d, the number of directions in which the "+
			"points vary (with all of them nothing is learned)", q)
	}
	a, b := eng.NewMatrix(q, q), eng.NewMatrix(q, q)
	if err := linear.LinkScatter(ctx, eng, pc.Z, f.Links.Cannot(), a); err != nil {
		return nil, err
	}
	if err := linear.LinkScatter(ctx, eng, pc.Z, f.Links.Must(), b); err != nil {
		return nil, err
	}
	res, err := traceratio.Solve(ctx, eng, a, b, d,
		traceratio.Options{Seed: f.Seed, Progress: func(step int, ratio float64) {
			f.Report(algorithms.Progress{Stage: "trace ratio", Done: step, Objective: ratio})
		}})
	if err != nil {
		return nil, err
	}
	idle, err := linear.Idle(ctx, eng, a, res.W, f.Links, "must-links")
	if err != nil {
		return nil, err
	}
	f.Notices = append(f.Notices, idle...)
	status := f.Status(algorithms.Status{Converged: res.Converged, Iterations: len(res.Trace) - 1})
	if math.IsInf(res.Ratio, 1) {
		status.Message = fmt.Sprintf(
			"the ratio has no bound: in %d dimensions all must-linked points coincide (more must-links or "+
				"dimensions avoid it)", d)
	}
	return fitted.New(pc.Map(eng, XiangMethod, res.W), p, status), nil
}

// XiangModel is a fitted metric, the linear map y = W (x - mean) with orthonormal rows.
type XiangModel = fitted.Model[Xiang]
