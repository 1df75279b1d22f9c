package baseline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/trusted"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// RCA learns a linear metric from must-links: relevant component
// analysis (Bar-Hillel, Hertz, Shental & Weinshall, "Learning a Mahalanobis metric from equivalence
// constraints", JMLR 2005).
//
// With S the covariance of all training points and C the covariance within chunklets
// (points minus the mean of their chunklet, divisor n = number of points in chunklets),
// the learned metric is that of
//
//	y = W (x - mean),   W = T (C + eps I)^-1/2 P,   eps = eps_rel * tr(C)/q
//
// P projects on the q principal directions of S above rank_tol times the largest, so that constant
// and collinear columns are dropped instead of making C singular. Without a reduced dimension T is
// the identity. If, in addition, no direction can be dropped, P is left out, too, and the root is
// the inverse of the triangular factor of C + eps I, which gives the same distances without
// eigenvalues. With a reduced dimension, the rows of T are the leading eigenvectors of the total
// covariance of the whitened points. These are the directions with the largest ratio of total to
// within-chunklet variance: the constrained Fisher discriminant of the same paper, section 3.
// Directions in which no chunklet varies have the finite weight 1/sqrt(eps).
//
// The kernel counterpart is package krca; with a linear kernel it learns the same inner product, up
// to the dropped directions.
//
// The fields are the parameters of the method.
type RCA struct {
	// EpsRel: small values give the method as published.
	EpsRel  float64 `json:"eps_rel" param:"eps_rel" default:"1e-06" range:"> 0, <= 1e15" help:"regularization relative to the mean within-group variance"`
	Dims    int     `json:"dims" param:"dims" zero:"all" help:"number of leading discriminant directions"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	// Robust changes nothing unless must-links join the points of a cannot-link. Then it leaves out
	// must-links that cannot-links and nearest neighbors contradict. The paper's method uses all.
	Robust bool `json:"robust,omitempty" param:"robust" default:"true" help:"true leaves out must-links that cannot-links and neighbors contradict; false uses all, as in the paper"`
	Shrinkage
}

// Shrinkage is a parameter of methods that whiten the covariance C within chunklets: with Shrink,
// they whiten
//
//	(1 - a) C + a tr(C)/q I,   a = q / (q + m)
//
// instead of C + eps I, where q directions vary and m is the number of must-links that no others
// imply, the rows in chunklets minus their number. It is the prior of [Adapt], worth q must-links,
// and its eps is q/m of the mean variance.
type Shrinkage struct {
	Shrink bool `json:"shrink,omitempty" param:"shrink" help:"true regularizes by a prior worth a must-link for each direction, instead of eps_rel"`
}

// regularized returns the eps_rel that shrinkage stands for, and the number that scales whitened
// points; without shrinkage the given eps_rel and 1.
func (s Shrinkage) regularized(epsRel float64, q int, chunklets [][]int) (relative, scale float64) {
	if !s.Shrink {
		return epsRel, 1
	}
	must := -len(chunklets)
	for _, c := range chunklets {
		must += len(c)
	}
	relative = float64(q) / float64(must)
	return relative, math.Sqrt(1 + relative) // 1/(1-a) = 1 + q/m
}

// RCALearner fits linear RCA: it learns from n dense points of d features and the must-links
// between them. Cannot-links only show which must-links are wrong, with Params.Robust. The result
// has the type *[RCAModel]. Cost: n d^2 + O(d^3) flops.
type RCALearner = learner.Learner[RCA]

// Rules returns what the method requires of its input.
func (RCA) Rules() learner.Rules {
	return learner.Rules{Needs: learner.MustLinks, About: algorithms.About{
		Name: RCAMethod, Title: "RCA",
		Summary: "relevant component analysis, linear: the baseline of krca",
		Paper: "Bar-Hillel, Hertz, Shental & Weinshall, Learning a Mahalanobis metric from equivalence " +
			"constraints, JMLR 2005",
		Linear: true, Baseline: true,
	}}
}

// Learn fits the method.
func (p RCA) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	eng, x := f.Eng, f.Dense
	chunklets, err := p.chunklets(ctx, f)
	if err != nil {
		return nil, err
	}
	stage := f.Stages(3)
	stage("covariance")
	if m, ok, err := p.direct(ctx, eng, x, chunklets); ok || err != nil {
		return fitted.New(m, p, f.Direct()), err
	}
	pc, chunklets, err := p.principal(ctx, eng, x, chunklets)
	if err != nil {
		return nil, err
	}
	stage("within-chunklet covariance")
	white, err := p.whitening(ctx, eng, pc.Z, chunklets)
	if err != nil {
		return nil, err
	}
	if p.Dims > 0 && p.Dims < pc.Z.Cols {
		stage("discriminant directions")
		if white, err = p.discriminant(ctx, eng, pc.Z, white); err != nil {
			return nil, err
		}
	}
	return fitted.New(pc.Map(eng, RCAMethod, white), p, f.Direct()), nil
}

// chunklets returns those of all must-links, or without the must-links that other links and
// neighbors contradict.
func (p RCA) chunklets(ctx context.Context, f *learner.Fit) ([][]int, error) {
	all := f.Links.Chunklets()
	if !p.Robust || f.Links.Consistent() == nil {
		return all, nil
	}
	rows := slices.Concat(all...)
	kept, notice, err := trusted.Links(ctx, f.Eng, kernel.Linear(), f.Dense.Select(rows), rows, f.Links)
	if err != nil || notice == "" {
		return all, err
	}
	f.Notices = []string{RCAMethod + notice}
	return kept.Chunklets(), nil
}

// direct returns the map L^-1 of the features, C + eps I = L L', if it can show, without the total
// covariance matrix T, that no direction counts as constant. The points vary in no direction less
// than within chunklets, so the smallest eigenvalue of T is at least that of C times the share of
// the rows in chunklets, and the largest is at most the trace; the smallest eigenvalue of C + eps I
// is at least 1 / |L^-1|^2. Cost: d^3 / 3 flops for the factor and as many for its inverse;
// eigenvalues would take dozens of d^3.
func (p RCA) direct(ctx context.Context, eng *engine.Engine, x *points.Dense,
	chunklets [][]int) (m *fitted.Map, ok bool, err error) {
	rows := 0
	for _, c := range chunklets {
		rows += len(c)
	}
	if p.Dims > 0 || rows < x.D+len(chunklets) {
		return m, false, nil
	}
	need := engine.MatrixBytes(rows, x.D) + engine.MatrixBytes(x.D, x.D)
	if err := eng.Check(fmt.Sprintf("rca on %d points in chunklets", rows), need,
		"use fewer must-links or features, or raise the memory limit"); err != nil {
		return m, false, err
	}
	mean, total := spread(eng.Backend().Kernels(), x)
	within := linear.Within(kernel.Matrix(x), chunklets)
	c := blas.NewMatrix(x.D, x.D)
	eng.Backend().Syrk(true, 1/float64(within.Rows), within, 0, c)
	trace := c.Trace()
	relative, scale := p.regularized(p.EpsRel, x.D, chunklets)
	eps := relative * trace / float64(x.D)
	for i := range x.D {
		c.Set(i, i, c.At(i, i)+eps)
		clear(c.Row(i)[i+1:])
	}
	if eng.Backend().Cholesky(c) != nil || eng.Backend().TriangularInverse(c) != nil {
		return m, false, nil // the longer way finds out what is wrong
	}
	size := eng.Backend().Kernels().Dot(c.Data, c.Data)
	least := (1/size - eps) * float64(rows) / float64(x.N)
	if !(least > max(p.RankTol, 1e-12)*total) {
		return m, false, nil
	}
	if p.Shrink {
		eng.Backend().Kernels().Scale(scale, c.Data)
	}
	return fitted.NewLinear(RCAMethod, mean, c), true, ctx.Err()
}

// spread returns the mean of the points and the trace of their covariance matrix.
func spread(t *asm.Table, x *points.Dense) (mean []float64, trace float64) {
	mean = make([]float64, x.D)
	for i := range x.N {
		t.Axpy(1, x.Row(i), mean)
	}
	t.Scale(1/float64(x.N), mean)
	for i := range x.N {
		trace += t.SquaredDistance(x.Row(i), mean)
	}
	return mean, trace / float64(x.N)
}

// principal returns the principal coordinates and the chunklets' rows in them. The coordinates are
// those of all points if directions are chosen by their variance, and otherwise those of the points
// in chunklets.
func (p RCA) principal(ctx context.Context, eng *engine.Engine, x *points.Dense,
	chunklets [][]int) (*linear.Principal, [][]int, error) {
	if p.Dims > 0 {
		pc, err := linear.NewPrincipal(ctx, eng, x, p.RankTol)
		return pc, chunklets, err
	}
	var rows []int
	there := make([][]int, len(chunklets))
	for k, c := range chunklets {
		for _, i := range c {
			there[k] = append(there[k], len(rows))
			rows = append(rows, i)
		}
	}
	pc, err := linear.NewPrincipalOf(ctx, eng, x, p.RankTol, rows)
	return pc, there, err
}

// whitening returns (C + eps I)^-1/2, q x q, of the projected points.
func (p RCA) whitening(ctx context.Context, eng *engine.Engine, projected blas.Matrix,
	chunklets [][]int) (blas.Matrix, error) {
	within := linear.Within(projected, chunklets)
	u, values, err := linear.Eigen(ctx, eng, within, true, within.Rows)
	if err != nil {
		return blas.Matrix{}, err
	}
	q, trace := len(values), 0.0
	for _, v := range values {
		trace += max(0, v)
	}
	if !(trace > 0) {
		return blas.Matrix{},
			fault.Data("", "the points of every chunklet are equal: want chunklets that vary")
	}
	relative, scale := p.regularized(p.EpsRel, q, chunklets)
	eps := relative * trace / float64(q)
	scaled := blas.NewMatrix(q, q)
	for i, v := range values {
		factor := scale / math.Sqrt(max(0, v)+eps)
		for j, c := range u.Row(i) {
			scaled.Set(i, j, factor*c)
		}
	}
	white := blas.NewMatrix(q, q)
	eng.Backend().Gemm(true, false, 1, u, scaled, 0, white)
	return white, ctx.Err()
}

// discriminant returns the leading Dims rows of T times white.
func (p RCA) discriminant(ctx context.Context, eng *engine.Engine, projected,
	white blas.Matrix) (blas.Matrix, error) {
	z := eng.NewMatrix(projected.Rows, white.Rows)
	eng.Backend().Gemm(false, true, 1, projected, white, 0, z)
	total := blas.NewMatrix(white.Rows, white.Rows)
	eng.Backend().Syrk(true, 1/float64(z.Rows), z, 0, total)
	if err := linear.CheckCovariance(total); err != nil {
		return blas.Matrix{}, err
	}
	_, t, err := eng.SymEigTop(ctx, total, p.Dims)
	if err != nil {
		return t, err
	}
	out := blas.NewMatrix(t.Rows, white.Cols)
	eng.Backend().Gemm(false, false, 1, t, white, 0, out)
	return out, nil
}

// RCAModel is a fitted metric, the linear map y = W (x - mean).
type RCAModel = fitted.Model[RCA]

// XRCA extends relevant component analysis to cannot-links (after
// Yeung & Chang, "Extending the relevant component analysis algorithm for metric learning using
// both positive and negative equivalence constraints", Pattern Recognition 39, 2006). A baseline,
// linear.
//
// Let C be the covariance of must-linked points within their chunklets, with eps added, and S the
// mean of (x_i - x_j)(x_i - x_j)' / 2 over the cannot-links. Points are first whitened by C, as in
// [RCA], so that must-linked points vary equally in all directions. They are then scaled by
// the root of S in these coordinates, which emphasizes directions in which cannot-linked points
// differ:
//
//	A = C^-1/2 (C^-1/2 S C^-1/2) C^-1/2
//
// is the matrix of the metric. It has the rank of S. Without the second step the method is relevant
// component analysis.
//
// The fields are the parameters of the method.
type XRCA struct {
	EpsRel  float64 `json:"eps_rel" param:"eps_rel" default:"0.3" range:"> 0, <= 1e15" help:"regularization relative to the mean within-group variance"`
	Dims    int     `json:"dims" param:"dims" zero:"all" help:"number of directions, those in which cannot-links differ most"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Shrinkage
}

// XRCAModel is a fitted metric, a linear map.
type XRCAModel = fitted.Model[XRCA]

// XRCALearner learns from n dense points of d features and the links between them, of both kinds;
// for each kind, some links join points that differ. The result has the type *[XRCAModel]. Cost:
// eigendecompositions of order q, the number of directions in which points vary, and q^2 flops per
// link.
type XRCALearner = learner.Learner[XRCA]

// Rules returns what the method requires of its input.
func (XRCA) Rules() learner.Rules {
	return learner.Rules{Needs: learner.BothKinds, About: algorithms.About{
		Name: XRCAMethod, Title: "XRCA",
		Summary: "relevant component analysis extended to cannot-links, linear",
		Paper: "Yeung & Chang, Extending the relevant component analysis algorithm for metric " +
			"learning using both positive and negative equivalence constraints, Pattern Recognition 39, 2006",
		Linear: true, UsesCannotLinks: true, Baseline: true,
	}}
}

// Learn fits the method.
func (p XRCA) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	f.Report(algorithms.Progress{Stage: "principal directions", Total: 2})
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, p.RankTol)
	if err != nil {
		return nil, err
	}
	f.Report(algorithms.Progress{Stage: "whitening", Done: 1, Total: 2})
	t, err := p.directions(ctx, f, pc.Z)
	if err != nil {
		return nil, err
	}
	return fitted.New(pc.Map(f.Eng, XRCAMethod, t), p, f.Direct()), nil
}

// directions returns the matrix of the map in principal coordinates.
func (p XRCA) directions(ctx context.Context, f *learner.Fit, z blas.Matrix) (blas.Matrix, error) {
	eng, q, chunklets := f.Eng, z.Cols, f.Links.Chunklets()
	within := linear.Within(z, chunklets)
	c := blas.NewMatrix(q, q)
	eng.Backend().Gemm(true, false, 1/float64(within.Rows), within, within, 0, c)
	if largest(c) == 0 {
		return c, fault.Data("", "the points of every chunklet are equal: want chunklets that vary")
	}
	relative, scale := p.regularized(p.EpsRel, q, chunklets)
	white, err := linear.Whiten(ctx, eng, c, relative, 0)
	if err != nil {
		return white, err
	}
	if p.Shrink {
		eng.Backend().Kernels().Scale(scale, white.Data)
	}
	s := blas.NewMatrix(q, q)
	if err := linear.LinkScatter(ctx, eng, z, f.Links.Cannot(), s); err != nil {
		return s, err
	}
	eng.Mirror(s)
	if largest(s) == 0 {
		return s, linear.NoDifference()
	}
	eng.Backend().Kernels().Scale(0.5/float64(len(f.Links.Cannot())), s.Data)
	half, stretch := blas.NewMatrix(q, q), blas.NewMatrix(q, q)
	eng.Backend().Gemm(false, false, 1, white, s, 0, half)
	eng.Backend().Gemm(false, true, 1, half, white, 0, stretch)
	w := make([]float64, q)
	if err := eng.SymEig(ctx, stretch, w, true); err != nil {
		return stretch, err
	}
	const nothing = 1e-12
	dims := 0
	for dims < q && w[q-1-dims] > nothing*w[q-1] && (p.Dims == 0 || dims < p.Dims) {
		dims++
	}
	turn := blas.NewMatrix(dims, q)
	for r := range dims {
		root := math.Sqrt(w[q-1-r])
		for j, v := range stretch.Row(q - 1 - r) {
			turn.Set(r, j, root*v)
		}
	}
	out := blas.NewMatrix(dims, q)
	eng.Backend().Gemm(false, false, 1, turn, white, 0, out)
	return out, nil
}

// largest returns the largest element of the diagonal.
func largest(c blas.Matrix) float64 {
	most := 0.0
	for i := range c.Rows {
		most = max(most, c.At(i, i))
	}
	return most
}
