package baseline

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// LFDAScaling is the way in which the solutions of the eigenproblem make a map.
type LFDAScaling string

const (
	LFDAWeighted        LFDAScaling = "weighted"        // multiplied by the root of the ratio
	LFDAOrthonormalized LFDAScaling = "orthonormalized" // orthonormal directions of the same span
	LFDAPlain           LFDAScaling = "plain"           // as the eigenproblem returns them
)

// LFDA is local Fisher discriminant analysis (Sugiyama,
// "Dimensionality reduction of multimodal labeled data by local Fisher discriminant analysis", JMLR
// 8, 2007). A baseline, linear.
//
// The points of one must-link component belong to one class; two classes differ if a cannot-link
// joins them. With n linked points, n_c of them in class c,
//
//	Sw = 1/2 sum_ij in one class A_ij / n_c (x_i - x_j)(x_i - x_j)'
//	Sb = 1/2 sum_ij in one class A_ij (1/n - 1/n_c) (x_i - x_j)(x_i - x_j)'
//	   + 1/2 sum_ij in different classes 1/n (x_i - x_j)(x_i - x_j)'
//
// where A_ij = exp(-|x_i - x_j|^2 / (s_i s_j)) is small for points that are far apart relative to
// their neighborhoods; s_i is the distance from x_i to its seventh nearest point in the class. With
// A_ij = 1 this is Fisher's discriminant; with local A_ij a class may consist of several parts.
//
// The rows t of the map solve Sb t = v (Sw + eps I) t for the largest v, with t'(Sw + eps I) t = 1;
// eps is relative to the mean of Sw's diagonal. The rows are kept (metric=plain), multiplied by the
// root of v (weighted: rows with v > 0, or only the first one), or made orthonormal
// (orthonormalized).
//
// The fields are the parameters of the method.
type LFDA struct {
	Dims      int         `json:"dims" param:"dims" zero:"all" help:"number of directions, those that separate classes best"`
	Neighbors int         `json:"neighbors" param:"neighbors" default:"7" range:">= 1" help:"the distance to this neighbor in the class is the local scale; fewer in smaller classes"`
	Scaling   LFDAScaling `json:"metric" param:"metric" default:"weighted" choices:"weighted,orthonormalized,plain" help:"scaling of the directions"`
	EpsRel    float64     `json:"eps_rel" param:"eps_rel" default:"0.001" range:"> 0, <= 1e15" help:"regularization relative to the mean local variance within classes"`
	RankTol   float64     `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
}

// LFDAModel is a fitted metric, a linear map. It is immutable and safe for concurrent use.
type LFDAModel = fitted.Model[LFDA]

// LFDALearner learns from n dense points of d features. Points joined by must-links belong to one
// class, and cannot-links join classes; the points of a class must not all be equal. The result has
// the type *[LFDAModel]. More dimensions than directions are an error.
//
// Cost: n_c^2 q flops for each class, and eigenproblems of order q, the number of directions in
// which the points vary.
type LFDALearner = learner.Learner[LFDA]

// Rules returns what the method requires of its input.
func (LFDA) Rules() learner.Rules {
	return learner.Rules{Needs: learner.Classes, About: algorithms.About{
		Name: LFDAMethod, Title: "LFDA",
		Summary: "local Fisher discriminant analysis, linear; learns from classes (--links-from-labels " +
			"all)",
		Paper: "Sugiyama, Dimensionality reduction of multimodal labeled data by local Fisher " +
			"discriminant analysis, JMLR 8, 2007",
		Linear: true, UsesCannotLinks: true, Baseline: true,
	}}
}

// Learn fits the method.
func (p LFDA) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	c, eng := linear.NewClasses(f.Links), f.Eng
	pc, err := linear.NewPrincipalOf(ctx, eng, f.Dense, p.RankTol, c.Rows)
	if err != nil {
		return nil, err
	}
	if q := pc.Z.Cols; p.Dims > q {
		return nil, fault.Param("dims", p.Dims,
			"a number from 0 to %d, the number of directions in which the points vary", q)
	}
	f.Report(algorithms.Progress{Stage: "local scatter"})
	within, between, err := lfdaScatters(ctx, eng, pc.Z, c, p.differences)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: true}
	t, err := p.directions(ctx, eng, within, between, &status)
	if err != nil {
		return nil, err
	}
	w := blas.NewMatrix(t.Cols, f.Dense.D)
	eng.Backend().Gemm(true, false, 1, t, pc.Directions, 0, w)
	return fitted.New(fitted.NewLinear(LFDAMethod, pc.Mean, w), p, f.Status(status)), nil
}

// directions returns the rows t, as columns, in principal coordinates. It overwrites the matrices.
func (p LFDA) directions(ctx context.Context, eng *engine.Engine, within, between blas.Matrix,
	status *algorithms.Status) (blas.Matrix, error) {
	q, be := within.Rows, eng.Backend()
	white, err := linear.Whiten(ctx, eng, within, p.EpsRel, 0)
	if err != nil {
		return white, err
	}
	if white.Rows == 0 {
		return white, fault.Data("",
			"the points of every class are equal, or have no neighbors: want classes that vary")
	}
	half, turn, v := blas.NewMatrix(q, q), blas.NewMatrix(q, q), make([]float64, q)
	be.Gemm(false, false, 1, white, between, 0, half)
	be.Gemm(false, true, 1, half, white, 0, turn)
	if err := eng.SymEig(ctx, turn, v, true); err != nil {
		return turn, err
	}
	dims, weighted := cmp.Or(p.Dims, q), p.Scaling == LFDAWeighted
	for weighted && dims > 1 && !(v[q-dims] > 1e-12*v[q-1]) {
		dims--
	}
	if weighted && !(v[q-1] > 0) {
		weighted, status.Message = false,
			"no direction separates the classes more than their neighborhoods: the best direction is kept"
	}
	columns, rows := blas.NewMatrix(q, dims), blas.NewMatrix(dims, q)
	for r := range dims { // eigenvalues ascend
		copy(rows.Row(r), turn.Row(q-1-r))
		if weighted {
			be.Kernels().Scale(math.Sqrt(v[q-1-r]), rows.Row(r))
		}
	}
	be.Gemm(true, true, 1, white, rows, 0, columns)
	if p.Scaling == LFDAOrthonormalized {
		be.QR(columns, blas.NewMatrix(dims, dims))
	}
	return columns, nil
}

// lfdaScatters returns Sw and Sb of the points z. The sum over the pairs of a class is X'Y, where Y
// has the differences. Two classes that differ, with means m_k, m_l and scatters S_k, S_l, add (n_l
// S_k + n_k S_l + n_k n_l (m_k - m_l)(m_k - m_l)') / n to Sb.
func lfdaScatters(ctx context.Context, eng *engine.Engine, z blas.Matrix, c *linear.Classes,
	differences func(context.Context, *engine.Engine, blas.Matrix) (blas.Matrix, error)) (within,
	between blas.Matrix, err error) {
	n, be := float64(z.Rows), eng.Backend()
	within, between = eng.NewMatrix(z.Cols, z.Cols), eng.NewMatrix(z.Cols, z.Cols)
	means, apart := eng.NewMatrix(len(c.Members), z.Cols), []links.Link(nil)
	for k, members := range c.Members {
		x, size, rivals := z.Select(members), float64(len(members)), 0.0
		copy(means.Row(k), linear.Center(x))
		for _, l := range c.Rivals(k) {
			other := float64(len(c.Members[l]))
			if rivals += other; k < l {
				apart = append(apart, links.Link{I: k, J: l, Weight: size * other / n})
			}
		}
		y, err := differences(ctx, eng, x)
		if err != nil {
			return within, between, err
		}
		be.Gemm(true, false, 1/size, x, y, 1, within)
		be.Gemm(true, false, 1/n-1/size, x, y, 1, between)
		be.Gemm(true, false, rivals/n, x, x, 1, between)
	}
	if len(apart) == 0 {
		return within, between,
			fault.Data("", "all cannot-links join points of one class: want some between classes")
	}
	err = linear.LinkScatter(ctx, eng, means, apart, between)
	eng.Mirror(within)
	eng.Mirror(between)
	return within, between, err
}

// differences returns the rows y_i = sum_j A_ij (x_i - x_j) of a class. A scale of 0 has A_ij = 0.
func (p LFDA) differences(ctx context.Context, eng *engine.Engine, x blas.Matrix) (blas.Matrix, error) {
	t, y, scale := eng.Backend().Kernels(), blas.NewMatrix(x.Rows, x.Cols), make([]float64, x.Rows)
	err := eng.For(ctx, x.Rows, 64, func(lo, hi int) error {
		squared := make([]float64, x.Rows)
		for i := lo; i < hi; i++ {
			for j := range squared {
				squared[j] = t.SquaredDistance(x.Row(i), x.Row(j))
			}
			slices.Sort(squared) // the first is the distance to itself
			scale[i] = math.Sqrt(squared[min(p.Neighbors, x.Rows-1)])
		}
		return nil
	})
	if err != nil {
		return y, err
	}
	return y, eng.Each(ctx, x.Rows, 64, func(i int) {
		for j, s := range scale {
			if s > 0 && scale[i] > 0 {
				a := math.Exp(-t.SquaredDistance(x.Row(i), x.Row(j)) / scale[i] / s)
				t.Axpy(a, x.Row(i), y.Row(i))
				t.Axpy(-a, x.Row(j), y.Row(i))
			}
		}
	})
}
