package baseline

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/solvers/logdet"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// LSMLPrior is the metric that the learned one stays close to.
type LSMLPrior string

// The priors.
const (
	LSMLIdentity   LSMLPrior = "identity"   // divided by the mean variance of a direction
	LSMLCovariance LSMLPrior = "covariance" // the inverse covariance
)

// LSML learns a linear metric from relative comparisons: least
// squared-residual metric learning (Liu, Guo, Sun, Wu & Zhang, "Metric learning from relative
// comparisons by minimizing squared residual", ICDM 2012). A baseline.
//
// A comparison states that rows a and b are nearer to each other than rows c and d. Let d_M be the
// distance, not squared, of the metric of the positive definite matrix M. A comparison costs the
// square of its violation, and the objective is
//
//	F(M) = gamma mean_k w_k max(0, d_M(a_k, b_k) - d_M(c_k, d_k))^2
//	       + tr(M M0^-1) - log det(M M0^-1) - q
//
// over all M of order q, the number of directions in which the points vary; the last terms are the
// LogDet divergence from a prior M0. The prior is the identity divided by the mean variance of a
// direction, or the inverse covariance, so that the unit of the points does not matter. If all
// comparisons hold in the prior, M = M0.
//
// The problem is strictly convex. It is minimized by limited-memory BFGS over the factor of M. F
// falls in every iteration, and each stationary point is the minimum. The fit ends when F is
// provably within the tolerance of its minimum: logdet.Compare has the proofs.
//
// Without comparisons, the links are turned into comparisons: each must-link must be shorter than
// each cannot-link, with the product of their weights. If there are more such pairs than the limit,
// pairs are drawn at random.
//
// The fields are the parameters of the method.
type LSML struct {
	Prior       LSMLPrior `json:"prior" param:"prior" default:"identity" choices:"identity (over the mean variance),covariance (its inverse)" help:"metric that the learned one stays close to"`
	Gamma       float64   `json:"gamma" param:"gamma" default:"1000" range:"> 0" help:"total weight of the comparisons relative to the prior"`
	Comparisons int       `json:"comparisons" param:"comparisons" default:"10000" range:">= 1" help:"maximum number of comparisons of must-links with cannot-links; drawn at random if there are more"`
	Dims        int       `json:"dims" param:"dims" zero:"all" help:"columns of the embedding"`
	Tol         float64   `json:"tol" param:"tol" default:"1e-06" range:"> 0" help:"the fit stops when the objective is within this of its minimum"`
	MaxIter     int       `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"maximum number of iterations"`
}

// LSMLModel is a fitted metric, a linear map. The objective is F.
type LSMLModel = fitted.Traced[LSML]

// LSMLLearner learns from n dense points of d features, the comparisons of its lesson, and the
// comparisons of the links. The zero value does not work: Params come from param.Default. The
// result has the type *[LSMLModel].
//
// Cost of an iteration for m compared points, k comparisons and q directions: 4 m q^2 + 8 k q + 3
// q^3 flops.
//
// Errors are those of [learner.Learner.Fit]. No comparisons and no links of both kinds, and
// comparisons of rows that do not exist, are errors, too.
type LSMLLearner = learner.Learner[LSML]

// Rules describes the method and the input that it requires.
func (LSML) Rules() learner.Rules {
	return learner.Rules{Pairs: true, About: algorithms.About{
		Name: LSMLMethod, Title: "LSML",
		Summary: "least squared-residual metric learning from relative comparisons, linear",
		Paper: "Liu, Guo, Sun, Wu & Zhang, Metric learning from relative comparisons by minimizing " +
			"squared residual, ICDM 2012",
		Linear: true, UsesCannotLinks: true, UsesTriplets: true, UsesQuadruplets: true,
		Pairwise: true, Baseline: true,
	}}
}

// Learn finds the metric whose distances agree with the comparisons.
func (p LSML) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	list, err := p.comparisons(f)
	if err != nil {
		return nil, err
	}
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, linear.Constant)
	if err != nil {
		return nil, err
	}
	units := pc.Units() // in these units the prior is the identity
	if p.Prior == LSMLCovariance {
		units = pc.StandardDeviations()
	}
	z := pc.Z.Clone()
	linear.DivideColumns(z, units)
	found, err := logdet.Compare(ctx, f.Eng, z, list,
		logdet.CompareOptions{Tolerance: p.Tol, MaxIter: p.MaxIter,
			Progress: f.Bounded("descent", p.MaxIter)})
	if err != nil {
		return nil, err
	}
	axes, err := linear.Axes(ctx, f.Eng, found.A, p.Dims)
	if err != nil {
		return nil, err
	}
	linear.DivideColumns(axes, units)
	status := f.Status(fitted.Bounded(found.Trace, found.Converged, found.Bound))
	return fitted.NewTraced(pc.Map(f.Eng, LSMLMethod, axes), p, status, found.Trace), nil
}

// comparisons returns the comparisons of the lesson and of the links; their mean weight is gamma
// divided by their number.
func (p LSML) comparisons(f *learner.Fit) ([]logdet.Comparison, error) {
	given := slices.Clone(f.Quadruplets)
	for _, t := range f.Triplets {
		given = append(given, t.Quadruplet())
	}
	n := f.Links.N()
	err := cmp.Or(links.CheckQuadruplets(n, f.Quadruplets), links.CheckTriplets(n, f.Triplets))
	if err != nil {
		return nil, err
	}
	var out []logdet.Comparison
	for _, q := range given {
		out = append(out, logdet.Comparison{I: q.I, J: q.J, K: q.K, L: q.L, Weight: 1})
	}
	must, cannot := f.Links.Must(), f.Links.Cannot()
	for _, k := range sampling.Some(len(must)*len(cannot), p.Comparisons, f.Seed) {
		m, c := must[k/len(cannot)], cannot[k%len(cannot)]
		out = append(out, logdet.Comparison{I: m.I, J: m.J, K: c.I, L: c.J, Weight: m.Weight * c.Weight})
	}
	if len(out) == 0 {
		return nil, fault.Data("",
			"%s learns from comparisons: want must-links and cannot-links, got %d and %d, or quadruplets "+
				"or triplets", LSMLMethod, len(must), len(cannot))
	}
	total := 0.0
	for _, c := range out {
		total += c.Weight
	}
	for k := range out {
		out[k].Weight *= p.Gamma / total
	}
	return out, nil
}

// SCMLBasis is the kind of rank-one metrics.
type SCMLBasis string

const (
	SCMLAuto         SCMLBasis = "auto"          // LDA with links that give triplets, TripletDiffs without
	SCMLLDA          SCMLBasis = "lda"           // discriminants of regions
	SCMLTripletDiffs SCMLBasis = "triplet_diffs" // differences of far pairs, and their discriminants
)

// SCML learns a linear metric as a sparse sum of rank-one
// metrics: sparse compositional metric learning (Shi, Bellet & Sha, "Sparse compositional metric
// learning", AAAI 2014), the global form. A baseline.
//
// A triplet states that row i is nearer to row j than to row k. For given bases b_1 ... b_B, which
// are unit vectors,
//
//	M = sum_b w_b b b',  w >= 0, minimizes  mean_t max(0, 1 + d_M(i, j) - d_M(i, k)) + beta sum_b w_b
//
// with the squared distances d_M, over the triplets. sum_b w_b is the trace of M. Points are
// divided by the root of the mean variance of the directions in which they vary, so that their unit
// does not matter. The paper uses stochastic dual averaging; this is a linear program, which
// optimize.MinimizeHinge solves to a proven gap. Most w are 0; all are 0 if no basis separates k
// from j.
//
// The bases are Fisher's linear discriminants of regions (basis=lda): around a linked row, its
// nearest 10, 20 or 50 rows of the same class against as many rows of the cannot-linked classes,
// with a ridge of a tenth of the mean variance within the two. With basis=triplet_diffs they are
// the differences of the rows i and k of triplets, and each difference times the inverse scatter of
// the differences of i and j, with a similar ridge. If there are more than the limit, bases are
// drawn at random.
//
// Links give the triplets with rows i and j of one must-link component and k of another one, where
// a cannot-link joins the two components. If there are more than the limit, triplets are drawn at
// random. Weights of links are ignored. Both draws depend on the numbers of rows: rows in another
// order give another metric, unless the limits are so large that nothing is drawn.
//
// The fields are the parameters of the method.
type SCML struct {
	Beta     float64   `json:"beta" param:"beta" default:"1e-05" range:"> 0" help:"penalty of the weights: the larger, the fewer bases"`
	Basis    SCMLBasis `json:"basis" param:"basis" default:"auto" choices:"auto (lda with links, else triplet_diffs),lda (discriminants of regions),triplet_diffs (of triplets' far pairs)" help:"rank-one metrics to choose from"`
	Bases    int       `json:"bases" param:"bases" default:"200" range:">= 1" help:"maximum number of bases; drawn at random if there are more"`
	Triplets int       `json:"triplets" param:"triplets" default:"10000" range:">= 1" help:"maximum number of triplets from links; drawn at random if there are more"`
	Dims     int       `json:"dims" param:"dims" zero:"all" help:"columns of the embedding"`
	Tol      float64   `json:"tol" param:"tol" default:"1e-08" range:"> 0" help:"the fit stops when the objective is within this of its minimum"`
	MaxIter  int       `json:"max_iter" param:"max_iter" default:"200" range:">= 1" help:"maximum number of iterations"`
}

// SCMLModel is a fitted metric, a linear map. The objective is that of the comment of [SCML]; its
// trace has the best value so far.
type SCMLModel = fitted.Traced[SCML]

// SCMLLearner learns from n dense points of d features, the triplets of its lesson, and the
// triplets of the links. The zero value does not work: Params come from param.Default. The result
// has the type *[SCMLModel].
//
// Cost for T triplets, B bases and q directions: about 25 iterations of T B^2 flops; q^3/3 flops
// per basis.
//
// Errors are those of [learner.Learner.Fit]. No triplets and no links that give some, basis=lda
// without such links, and triplets of rows that do not exist are errors, too.
type SCMLLearner = learner.Learner[SCML]

// Rules describes the method and the input that it requires.
func (SCML) Rules() learner.Rules {
	return learner.Rules{About: algorithms.About{
		Name: SCMLMethod, Title: "SCML",
		Summary: "sparse compositional metric learning from triplets: few of many rank-one metrics, " +
			"linear",
		Paper:  "Shi, Bellet & Sha, Sparse compositional metric learning, AAAI 2014",
		Linear: true, UsesCannotLinks: true, UsesTriplets: true, Baseline: true,
	}}
}

// Learn weighs the bases.
func (p SCML) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	eng, c := f.Eng, linear.NewClasses(f.Links)
	count := len(f.Triplets) + int(min(c.NumTriplets(), float64(p.Triplets)))
	if err := eng.Check(fmt.Sprintf("scml on %d triplets", count), 2*engine.MatrixBytes(count, p.Bases),
		"use fewer triplets or bases"); err != nil {
		return nil, err
	}
	if err := links.CheckTriplets(f.X.Len(), f.Triplets); err != nil {
		return nil, err
	}
	made, err := c.Triplets(p.Triplets, f.Seed)
	if err != nil {
		return nil, err
	}
	triplets := slices.Concat(f.Triplets, made)
	if len(triplets) == 0 {
		return nil, fault.Data("",
			"%s learns from triplets: want some, or must-links and cannot-links that share a row", SCMLMethod)
	}
	pc, err := linear.NewPrincipal(ctx, eng, f.Dense, linear.Constant)
	if err != nil {
		return nil, err
	}
	units := pc.Units()
	z := pc.Z.Clone()
	linear.DivideColumns(z, units)
	var bases blas.Matrix
	switch {
	case p.Basis == SCMLTripletDiffs || p.Basis == SCMLAuto && len(made) == 0:
		bases, err = p.differences(ctx, f, z, triplets)
	case len(made) == 0:
		err = &fault.ParamError{Param: "basis", Value: string(SCMLLDA),
			Want: "another basis, or must-links and cannot-links that share a row"}
	default:
		bases, err = p.discriminants(ctx, f, z, c)
	}
	if err != nil {
		return nil, err
	}
	found, err := p.weigh(ctx, f, z, bases, triplets)
	if err != nil {
		return nil, err
	}
	a, kept := blas.NewMatrix(z.Cols, z.Cols), 0
	for b, w := range found.W {
		if w > 0 {
			eng.Backend().Syr(w, bases.Row(b), a)
			kept++
		}
	}
	eng.Mirror(a)
	if p.Dims > 0 {
		kept = min(kept, p.Dims)
	}
	axes, err := linear.Axes(ctx, eng, a, max(1, kept))
	if err != nil {
		return nil, err
	}
	linear.DivideColumns(axes, units)
	if kept == 0 {
		f.Notices = []string{fmt.Sprintf(
			"no basis reduces the objective: want beta below %g, or triplets that the points agree with",
			p.Beta)}
	}
	status := f.Status(fitted.Bounded(found.Trace, found.Converged, found.Gap))
	return fitted.NewTraced(pc.Map(eng, SCMLMethod, axes), p, status, found.Trace), nil
}

// weigh computes the weights of the bases.
func (p SCML) weigh(ctx context.Context, f *learner.Fit, z, bases blas.Matrix,
	triplets []links.Triplet) (*optimize.HingeResult, error) {
	eng := f.Eng
	along, d := eng.NewMatrix(z.Rows, bases.Rows), eng.NewMatrix(len(triplets), bases.Rows)
	cost := slices.Repeat([]float64{1 / float64(len(triplets))}, len(triplets))
	eng.Backend().Gemm(false, true, 1, z, bases, 0, along)
	for n, t := range triplets {
		i, j, k, to := along.Row(t.I), along.Row(t.J), along.Row(t.K), d.Row(n)
		for b, v := range i {
			to[b] = (v-j[b])*(v-j[b]) - (v-k[b])*(v-k[b])
		}
	}
	return optimize.MinimizeHinge(ctx, eng, d, cost, p.Beta,
		optimize.HingeOptions{Tolerance: p.Tol, MaxIter: p.MaxIter,
			Progress: f.Bounded("weights", p.MaxIter)})
}

// differences returns the differences of the far pairs of triplets as bases, followed by their
// discriminants.
func (p SCML) differences(ctx context.Context, f *learner.Fit, z blas.Matrix,
	triplets []links.Triplet) (blas.Matrix, error) {
	some, plain, near := sampling.Some(2*len(triplets), p.Bases, f.Seed), 0, make([]links.Link, len(triplets))
	out, s := blas.NewMatrix(len(some), z.Cols), blas.NewMatrix(z.Cols, z.Cols)
	for b, at := range some {
		if at < len(triplets) {
			plain++
		}
		t := triplets[at%len(triplets)]
		copy(out.Row(b), z.Row(t.I))
		f.Eng.Backend().Kernels().Axpy(-1, z.Row(t.K), out.Row(b))
	}
	for n, t := range triplets {
		near[n] = links.NewLink(t.I, t.J, links.Must)
	}
	if err := linear.LinkScatter(ctx, f.Eng, z, near, s); err != nil {
		return out, err
	}
	f.Eng.Backend().Kernels().Scale(1/float64(len(near)), s.Data)
	linear.UnitRows(f.Eng, out)
	return out, linear.Discriminants(f.Eng, s, out.View(plain, out.Rows, 0, out.Cols))
}

// discriminants returns the discriminants of some regions as bases.
func (p SCML) discriminants(ctx context.Context, f *learner.Fit, all blas.Matrix,
	c *linear.Classes) (blas.Matrix, error) {
	sizes, z := []int{10, 20, 50}, all.Select(c.Rows)
	some := sampling.Some(len(sizes)*len(c.Rows), p.Bases, f.Seed)
	out := blas.NewMatrix(len(some), z.Cols)
	err := f.Eng.For(ctx, len(some), 1, func(b, _ int) error {
		place, size := some[b]/len(sizes), sizes[some[b]%len(sizes)]
		own, others := c.Members[c.Of[place]], c.RivalMembers(c.Of[place])
		if len(others) == 0 {
			return nil // the basis stays 0
		}
		return linear.LocalDiscriminant(f.Eng, z, out.View(b, b+1, 0, out.Cols), place, own, others, size)
	})
	return out, err
}
