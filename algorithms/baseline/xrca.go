package baseline

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/param"
)

// XRCAAbout describes the method.
var XRCAAbout = algorithms.About{
	Name:    XRCAMethod,
	Title:   "XRCA",
	Summary: "relevant component analysis extended to cannot-links, linear",
	Paper: "Yeung & Chang, Extending the relevant component analysis algorithm for metric " +
		"learning using both positive and negative equivalence constraints, Pattern Recognition 39, 2006",
	Linear:          true,
	UsesCannotLinks: true,
	Baseline:        true,
}

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
// The fields are the parameters of the method. [XRCADefaults] returns the defaults.
type XRCA struct {
	EpsRel  float64 `json:"eps_rel" param:"eps_rel" default:"0.3" range:"> 0, <= 1e15" help:"regularization relative to the mean within-group variance"`
	Dims    int     `json:"dims" param:"dims" zero:"all" help:"number of directions, those in which cannot-links differ most"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
}

// XRCADefaults returns all directions.
func XRCADefaults() XRCA { return param.Default[XRCA]() }

// XRCAModel is a fitted metric, a linear map.
type XRCAModel = fitted.Model[XRCA]

// XRCALearner learns from n dense points of d features and the links between them, of both kinds;
// for each kind, some links join points that differ. The result has the type *[XRCAModel]. Cost:
// eigendecompositions of order q, the number of directions in which points vary, and q^2 flops per
// link.
type XRCALearner = learner.Learner[XRCA]

// Rules returns what the method requires of its input.
func (XRCA) Rules() learner.Rules { return learner.Rules{About: XRCAAbout, Needs: learner.BothKinds} }

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
	eng, q, within := f.Eng, z.Cols, linear.Within(z, f.Links.Chunklets())
	c := blas.NewMatrix(q, q)
	eng.Backend().Gemm(true, false, 1/float64(within.Rows), within, within, 0, c)
	if largest(c) == 0 {
		return c, fault.Data("", "the points of every chunklet are equal: want chunklets that vary")
	}
	white, err := linear.Whiten(ctx, eng, c, p.EpsRel, 0)
	if err != nil {
		return white, err
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
