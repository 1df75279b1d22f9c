package nonlinear

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/engine/model"
)

// KPCADefaultKernel is the kernel of a Learner without one.
const KPCADefaultKernel = "rbf:sigma=mean"

// KPCA embeds points in the directions of largest variance in the
// feature space of a kernel: kernel principal component analysis (Schoelkopf, Smola & Mueller,
// Neural Computation 10, 1998). It ignores links and is a baseline of methods that use them.
//
// With K = U W U' the centered kernel matrix of the n training points, a point has the coordinates
//
//	y(x) = W^-1/2 U' (k(l, x) - K 1 / n)
//
// up to the centering of U, so that training points have mean 0 and variances W / n.
//
// The fields are the parameters of the method.
type KPCA struct {
	Dims    int     `json:"dims" param:"dims" default:"20" zero:"all" help:"number of leading directions"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a direction counts as constant"`
	Whiten  bool    `json:"whiten,omitempty" param:"whiten" help:"true scales every direction to variance 1"`
}

// KPCALearner finds the directions of the points, which must not all coincide, and ignores links.
// The result has the type *[KPCAModel]. Its zero Kernel means DefaultKernel, or spectrum:k=3 for
// sequences. Cost: the kernel matrix, and its leading eigenpairs (all of them, n^3, for dims = 0).
type KPCALearner = learner.Learner[KPCA]

// Rules returns what the method requires of its input.
func (KPCA) Rules() learner.Rules {
	return learner.Rules{About: algorithms.About{
		Name: KPCAMethod, Title: "KPCA",
		Summary: "kernel principal component analysis; ignores links: the baseline of other methods",
		Paper: "Schölkopf, Smola & Müller, Nonlinear component analysis as a kernel eigenvalue " +
			"problem, Neural Computation 10, 1998",
		DefaultKernel: KPCADefaultKernel,
		Baseline:      true, LinksOptional: true,
	}}
}

// Learn fits the method.
func (p KPCA) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	k, err := input.Kernel(ctx, f.Eng, f.Kernel, f.X, KPCADefaultKernel)
	if err != nil {
		return nil, err
	}
	f.Report(algorithms.Progress{Stage: "kernel matrix and its directions", Total: 1})
	axes, err := linear.NewKernelAxes(ctx, f.Eng, k, f.X, p.Dims, p.RankTol)
	if err != nil {
		return nil, err
	}
	if p.Whiten {
		axes.Whiten(f.Eng)
	}
	return &KPCAModel{fitted.New(axes.Map(KPCAMethod), p, f.Direct()), axes.Variances}, nil
}

// KPCAModel is a map into the directions. It is immutable and safe for concurrent use. Embed, Gram
// and Distances, documented at [algorithms.Model], cost the kernel values of a point with the n
// training points and 2 n Dim flops.
type KPCAModel struct {
	*fitted.Model[KPCA]
	variances []float64
}

const kpcaTensorVariances = "kpca.variances" // [dims]

// Spectra returns the variances of the directions.
func (m *KPCAModel) Spectra() []algorithms.Spectrum {
	return []algorithms.Spectrum{{Name: "variances of the directions", Values: slices.Clone(m.variances)}}
}

// Describe returns the statistics of the model.
func (m *KPCAModel) Describe() []algorithms.Statistic {
	return []algorithms.Statistic{
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "points", Value: m.Support()},
		{Name: "dim", Value: m.Dim()},
		{Name: "variances of the directions", Value: m.variances},
	}
}

// Encode stores the model in f.
func (m *KPCAModel) Encode(f *model.File) error {
	f.SetFloat64s(kpcaTensorVariances, m.variances)
	return m.Model.Encode(f)
}

// DecodeKPCA rebuilds the model that [KPCAModel.Encode] stored. An invalid tensor or header is a
// *fault.DataError.
func DecodeKPCA(f *model.File) (*KPCAModel, error) {
	m, err := fitted.Decode[KPCA](KPCAMethod, f, fitted.ReadCentered)
	if err != nil {
		return nil, err
	}
	variances, err := fitted.ReadFinite(f, kpcaTensorVariances, -1)
	return &KPCAModel{m, variances}, err
}
