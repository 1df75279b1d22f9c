package nonlinear

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/basis"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// SpectralKind is the way in which the eigenvectors are weighted.
type SpectralKind string

// The kinds.
const (
	SpectralDiffusion   SpectralKind = "diffusion"
	SpectralRegularized SpectralKind = "regularized"
	SpectralEigenmaps   SpectralKind = "eigenmaps"
	SpectralAlignment   SpectralKind = "alignment"
	SpectralOrder       SpectralKind = "order"
)

// learns reports whether a kind learns from links.
func (k SpectralKind) learns() bool { return k == SpectralAlignment || k == SpectralOrder }

// Spectral computes kernels of a graph's Laplacian L with the
// eigenpairs (mu_i, v_i):
//
//	K = sum_i alpha_i v_i v_i'
//
// These are the baselines of package gml:
//
//   - diffusion: alpha_i = exp(-t mu_i) (Kondor & Lafferty, ICML 2002);
//   - regularized: alpha_i = 1 / (1 + t mu_i), the regularized Laplacian (Smola & Kondor, COLT
//     2003);
//   - eigenmaps: alpha_i = 1 without the constant eigenvectors (Belkin & Niyogi, Neural Computation
//     15, 2003);
//   - alignment: the alpha >= 0 whose kernel is best aligned with the links, maximal alignment
//     restricted to this family (Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan, JMLR 5,
//     2004);
//   - order: the same with alpha falling, except for constant eigenvectors (Zhu, Kandola,
//     Ghahramani & Lafferty, NIPS 2004).
//
// The targets T on the linked points are 1 for must-links and for each point with itself, and -1
// for cannot-links. The alignment of K with T is the cosine of the angle between them. Over a cone,
// it is largest in the direction of the point of the cone nearest to T: a quadratic program in
// alpha >= 0, or, if alpha must fall, in its differences.
//
// The first three kinds do not learn from links. New points get the coordinates of their nearest
// training points, combined with the weights that reconstruct them.
//
// The fields are the parameters of the method.
type Spectral struct {
	Kind SpectralKind `json:"kind" param:"kind" default:"diffusion" choices:"diffusion,regularized,eigenmaps,alignment (learns from links),order (learns from links)" help:"weights of the eigenvectors"`
	// Neighborhood is the graph: "knn", "eps" or "given".
	graphkernel.Neighborhood `default:"neighbors=10"`
	Basis                    basis.Kind `json:"basis" param:"basis" default:"laplacian" choices:"laplacian,lle (locally linear embedding),isomap" help:"basis of the kernel: the eigenvectors of this matrix"`
	// Normalized selects I - D^-1/2 S D^-1/2 instead of D - S.
	Normalized bool    `json:"normalized" param:"normalized" help:"true uses the normalized Laplacian"`
	Time       float64 `json:"time" param:"time" default:"1" range:"> 0, <= 1e15" help:"t in exp(-t mu) and in 1 / (1 + t mu)"`
	Rank       int     `json:"rank" param:"rank" zero:"a tenth of the points, at most 200" help:"number of eigenvectors"`
}

// Validate returns a *fault.ParamError for the first invalid value.
func (p Spectral) Validate() error { return graphkernel.ValidateSparse(p, p.Neighborhood) }

// SpectralLearner computes the kernel of the points; for alignment and order it learns from the
// links. The zero value does not work: Params come from param.Default. Kernel defines the
// feature space of the neighbors. The result has the type *[SpectralModel]. Cost: the nearest
// neighbors, and r eigenvectors of their graph.
//
// Errors are those of [learner.Learner.Fit]. No links for kinds that learn from them, and as many
// eigenvectors as points, are errors, too.
type SpectralLearner = learner.Learner[Spectral]

// Rules describes the method and the input that it requires.
func (p Spectral) Rules() learner.Rules {
	return learner.Rules{Pairs: p.Kind == SpectralAlignment, About: algorithms.About{
		Name: SpectralMethod, Title: "Spectral",
		Summary: "kernels of a graph's Laplacian: diffusion and others, baselines of gml",
		Paper: "Kondor & Lafferty 2002 (diffusion), Smola & Kondor 2003 (regularized), Belkin & " +
			"Niyogi 2003 (eigenmaps), Lanckriet et al. 2004 (alignment), Zhu et al. 2004 (order)",
		DefaultKernel:   graphkernel.DefaultKernel,
		UsesCannotLinks: true, Pairwise: true, Baseline: true, LinksOptional: true,
	}}
}

// Learn weighs the eigenvectors of the graph.
func (p Spectral) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	eng, x, set := f.Eng, f.X, f.Links
	if p.Kind.learns() && set.Len() == 0 {
		return nil, input.NoLinks(SpectralMethod + " (" + string(p.Kind) + ")")
	}
	k, err := p.In(ctx, eng, f.Kernel, x, graphkernel.DefaultKernel)
	if err != nil {
		return nil, err
	}
	f.Report(algorithms.Progress{Stage: "eigenvectors of the graph"})
	b, err := p.basis(ctx, f, k)
	if err != nil {
		return nil, err
	}
	alpha, err := p.weights(eng, b, set)
	if err != nil {
		return nil, err
	}
	m, err := outofsample.NewBarycentric(ctx, eng, SpectralMethod, k, min(p.near(), x.Len()), x,
		spectralCoordinates(b, alpha))
	if err != nil {
		return nil, err
	}
	f.Notices = b.Notices
	return &SpectralModel{fitted.New(m, p, f.Status(algorithms.Status{Converged: true, Iterations: 1})),
		alpha}, nil
}

// basis returns the vectors to weigh.
func (p Spectral) basis(ctx context.Context, f *learner.Fit, k kernel.Kernel) (*basis.Basis, error) {
	if f.Basis != nil {
		return basis.Given(f.Eng, f.Basis, f.X.Len(), p.Rank)
	}
	r := p.Rank
	if r == 0 {
		r = max(2, min(200, f.X.Len()/10))
	}
	return basis.Choice{
		Kind: p.Basis, Normalized: p.Normalized, Neighborhood: p.Neighborhood,
		Rank: r, Similarities: f.Similarities, Seed: f.Seed,
	}.Make(ctx, f.Eng, k, f.X)
}

// near returns the number of neighbors that reconstruct a new point.
func (p Spectral) near() int {
	if p.Graph == graphkernel.KNN {
		return p.Neighbors
	}
	return param.Default[Spectral]().Neighbors
}

// weights returns alpha.
func (p Spectral) weights(eng *engine.Engine, b *basis.Basis, set *links.Set) ([]float64, error) {
	alpha := make([]float64, len(b.Values))
	for i, mu := range b.Values {
		switch p.Kind {
		case SpectralDiffusion:
			alpha[i] = math.Exp(-p.Time * mu)
		case SpectralRegularized:
			alpha[i] = 1 / (1 + p.Time*mu)
		case SpectralEigenmaps:
			if i >= b.Constant() {
				alpha[i] = 1
			}
		}
	}
	if p.Kind.learns() {
		free := len(alpha)
		if p.Kind == SpectralOrder {
			free = b.Constant()
		}
		return aligned(eng, b.Vectors, set, free), nil
	}
	return alpha, nil
}

// spectralCoordinates returns the rows of V diag(alpha)^1/2 without zero columns, but at least one
// column.
func spectralCoordinates(b *basis.Basis, alpha []float64) blas.Matrix {
	var kept []int
	var weights []float64
	for c, a := range alpha {
		if a > 0 {
			kept, weights = append(kept, c), append(weights, a)
		}
	}
	return linear.Coordinates(b.Vectors.Select(kept), weights)
}

// SpectralModel is a kernel of a graph and its extension to new points. It is immutable and safe
// for concurrent use. Embed, Gram and Distances, documented at [algorithms.Model], are exact for
// the training points, whose coordinates are stored. A new point costs its distances to all of
// them, O(k^3) flops for the weights of its k neighbors, and 2 k Dim flops.
type SpectralModel struct {
	*fitted.Model[Spectral]
	weights []float64
}

const tensorWeights = "spectral.weights" // [r]

// Weights returns alpha.
func (m *SpectralModel) Weights() []float64 { return slices.Clone(m.weights) }

// Spectra returns the weights of the eigenvectors.
func (m *SpectralModel) Spectra() []algorithms.Spectrum {
	return []algorithms.Spectrum{{Name: "weights of the Laplacian's eigenvectors", Values: m.Weights()}}
}

// Describe returns the statistics of the model.
func (m *SpectralModel) Describe() []algorithms.Statistic {
	statistics := []algorithms.Statistic{{Name: "kind", Value: string(m.Params().Kind)},
		{Name: "graph", Value: string(m.Params().Graph)}}
	return append(append(statistics, m.Model.Describe()...),
		algorithms.Statistic{Name: "weights of the eigenvectors", Value: m.weights})
}

// Encode stores the model in f.
func (m *SpectralModel) Encode(f *model.File) error {
	f.SetFloat64s(tensorWeights, m.weights)
	return m.Model.Encode(f)
}

// DecodeSpectral rebuilds the model that [SpectralModel.Encode] stored. An invalid tensor or header
// is a *fault.DataError.
func DecodeSpectral(f *model.File) (*SpectralModel, error) {
	m, err := fitted.Decode[Spectral](SpectralMethod, f, outofsample.ReadBarycentric)
	if err != nil {
		return nil, err
	}
	weights, err := fitted.ReadFinite(f, tensorWeights, -1)
	return &SpectralModel{m, weights}, err
}

// aligned returns the alpha >= 0 for which sum alpha_c v_c v_c' is nearest to the targets on the
// links and the linked points. The first free ones are in any order, the others fall. Cost: O(links
// r^2 + r^3).
func aligned(eng *engine.Engine, v blas.Matrix, set *links.Set, free int) []float64 {
	h, g := targets(eng, v, set)
	r := v.Rows
	// With alpha = U beta and beta >= 0, alpha_c is beta_c if free, and otherwise the sum of beta
	// from c on.
	if free < r {
		sums(h, g, free)
	}
	trace := 0.0
	for c := range r {
		trace += h[c*r+c]
	}
	for c := range r {
		h[c*r+c] += 1e-12 * trace
	}
	beta := make([]float64, r)
	(&optimize.BoxQP{}).Solve(h, g, math.Inf(1), beta)
	for c := r - 2; c >= free; c-- {
		beta[c] += beta[c+1]
	}
	return beta
}

// block is the number of links whose terms are added at a time.
const block = 1024

// targets returns H = sum w f f' and g = sum w t f, with f_c = v_c(i) v_c(j), over the links twice
// and the linked points once.
func targets(eng *engine.Engine, v blas.Matrix, set *links.Set) (h, g []float64) {
	r := v.Rows
	whole := blas.NewMatrix(r, r)
	f, t := blas.NewMatrix(block, r), make([]float64, 0, block) // sqrt(w) f, sqrt(w) t
	g = make([]float64, r)
	flush := func() {
		part := f.View(0, len(t), 0, r)
		eng.Backend().Gemm(true, false, 1, part, part, 1, whole)
		eng.Backend().Gemv(true, 1, part, t, 1, g)
		t = t[:0]
	}
	seen := map[int]bool{}
	add := func(i, j int, target, w float64) {
		w = math.Sqrt(w)
		row := f.Row(len(t))
		for c := range row {
			row[c] = w * v.At(c, i) * v.At(c, j)
		}
		if t = append(t, w*target); len(t) == block {
			flush()
		}
	}
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, l := range list {
			add(l.I, l.J, float64(l.Sign), 2*l.Weight)
			for _, i := range []int{l.I, l.J} {
				if !seen[i] {
					seen[i] = true
					add(i, i, 1, 1)
				}
			}
		}
	}
	if len(t) > 0 {
		flush()
	}
	return whole.Data, g
}

// sums transforms H and g to the coordinates beta: columns and rows become the sums of those from
// free up to them.
func sums(h, g []float64, free int) {
	r := len(g)
	for c := free + 1; c < r; c++ {
		g[c] += g[c-1]
		for d := range r {
			h[d*r+c] += h[d*r+c-1]
		}
	}
	for c := free + 1; c < r; c++ {
		for d := range r {
			h[c*r+d] += h[(c-1)*r+d]
		}
	}
}
