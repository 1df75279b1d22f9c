// Package kbeta re-weights the spectrum of a kernel so that similar pairs come close: scalable
// kernel metric learning (Yeung, Chang & Dai, "A scalable kernel-based semi-supervised metric
// learning algorithm with out-of-sample generalization ability", Neural Computation 20, 2008).
//
// # Basic form
//
// The centered kernel matrix is sum_r mu_r v_r v_r'. The learned kernel matrix is
//
//	sum_r beta_r^2 v_r v_r',   beta_r = c / D_rr / sum_q 1/D_qq,   c = sum_r sqrt(mu_r)
//
// where D_rr is the mean of (v_r(i) - v_r(j))^2 over the must-links (i, j). Of all weights with the
// same sum, these minimize the mean squared distance of the must-links. The weights depend on the
// eigenvectors that are kept, and hardly on the eigenvalues: directions of noise get nearly as much
// weight as the others. The number of directions ([Params].Rank) is therefore a parameter of the
// model.
//
// # Landmarks
//
// With landmarks, the kernel matrix is that of m points, which include all points of must-links.
// Any other point x is replaced by w(x), the combination of its nearest landmarks that reconstructs
// it best (as in locally linear embedding); its coordinates are diag(beta) V'w(x). So a fit costs
// O(m^3) for any number of points, and a new point costs k landmarks. Iterations search for the
// nearest landmarks, and reconstruct, in the learned space; beta and the coordinates of the
// landmarks are fixed points of the iteration. A point that equals a landmark has the coordinates
// of the landmark.
//
// # Beyond the paper
//
// Dissimilar pairs can be used, too ([Params].Cannot). With E_rr the mean of (v_r(i) - v_r(j))^2
// over the cannot-links, the constraint becomes sum_r e_r beta_r = c with e_r = 1 - t + t
// sqrt(E_rr/mean E), and beta_r is proportional to e_r / D_rr: directions that separate
// cannot-links count more. On five small data sets this changed the balanced Rand index of k-means
// by at most 0.013 (it rose where classes overlap), so it is off by default. Rules other than
// uniform choice of landmarks gained nothing on the paper's data. Nystrom's extension of the
// eigenvectors can replace the reconstruction ([Params].Extension).
//
// # Adding links and points
//
// Links affect only D. [Model.AddLinks] sums D from scratch over all links between landmarks, from
// the stored eigenvectors, so its result is bit-identical to a fit; a [Path] does the same for many
// values of reg_d. New points require no new fit: Model.Embed computes their coordinates from the
// landmarks, and the metric does not change.
package kbeta

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// Method is the name of this method in the catalog and in model files.
const Method = "kbeta"

// DefaultKernel is the kernel that a Learner without one uses.
const DefaultKernel = "rbf:sigma=mean"

// Extension is the out-of-sample extension: how points that are not landmarks get their
// coordinates.
type Extension string

const (
	Reconstruction Extension = "lle"     // from their nearest landmarks, as in the paper
	Nystrom        Extension = "nystrom" // from the kernel values with all landmarks
)

// About describes the method.
var About = algorithms.About{
	Name: Method, Title: "KBeta",
	Summary: "scalable kernel metric learning: re-weights the spectrum of a kernel on landmarks",
	Paper: "Yeung, Chang & Dai, A scalable kernel-based semi-supervised metric learning " +
		"algorithm with out-of-sample generalization ability, Neural Computation 20, 2008",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true, Pairwise: true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	// Landmarks is raised, with a notice, to the number of points in must-links if it is below. 0
	// is the basic form.
	Landmarks int `json:"landmarks" param:"landmarks" zero:"all points" file:"their row numbers, one a line" help:"number of points that carry the metric, including those of must-links"`
	// LandmarkRows, if not empty, are the landmarks, in addition to the points of must-links.
	LandmarkRows []int  `json:"-" param:"-"`
	Rule         string `json:"rule" param:"rule" default:"uniform" choices:"uniform,kmeans++,farthest,leverage" zero:"uniform" help:"how landmarks that are not in must-links are chosen"`
	Neighbors    int    `json:"neighbors" param:"neighbors" default:"5" range:">= 1" help:"number of landmarks that reconstruct a point"`
	// Iterations has a limit because every embedding repeats them, also with a model file from an
	// untrusted source.
	Iterations int     `json:"iterations" param:"iterations" default:"1" range:">= 1, <= 1000" help:"iterations for the coordinates of points that are not landmarks (3 in the paper's tables)"`
	Rank       int     `json:"rank" param:"rank" default:"root" named:"root=-1: the square root of the landmarks, rounded up" zero:"no limit" help:"maximum number of directions"`
	RankTol    float64 `json:"rank_tol" param:"rank_tol" default:"1e-06" range:">= 0, < 1" help:"eigenvalue, relative to the largest, up to which a direction is dropped"`
	RegD       float64 `json:"reg_d" param:"reg_d" default:"1e-06" range:">= 0" help:"added to the spread of must-links in every direction, relative to the mean"`
	RegG       float64 `json:"reg_g" param:"reg_g" default:"0.001" range:">= 0" help:"added to local Gram matrices, relative to their traces"`
	// Dims limits the embedding only: distances and kernel values use all directions.
	Dims      int       `json:"dims" param:"dims" zero:"all" help:"columns of the embedding: the directions of the largest weights"`
	Cannot    float64   `json:"cannot" param:"cannot" range:">= 0, <= 1" help:"influence t of cannot-links (0 in the paper, which ignores them)"`
	Extension Extension `json:"extension" param:"extension" default:"lle" choices:"lle,nystrom" help:"how points that are not landmarks get their coordinates"`
}

// TakeRows makes the rows that a file lists the landmarks.
func (p *Params) TakeRows(rows []int) { p.LandmarkRows = rows }

// RankRoot, as Params.Rank, means the square root of the number of landmarks, rounded up.
const RankRoot = -1

// DefaultParams returns the basic form with a rank of sqrt(n), 5 neighbors and 1 iteration. The
// paper's tables have no limit on the rank, RankTol 1e-6 and 3 iterations.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error { return param.Validate(p) }

// rank returns the maximum number of directions for m landmarks.
func (p Params) rank(m int) int {
	switch p.Rank {
	case RankRoot:
		return min(m, int(math.Ceil(math.Sqrt(float64(m)))))
	case 0:
		return m
	}
	return min(m, p.Rank)
}

// Model is the learned metric: the landmarks with their coordinates. It is immutable and safe for
// concurrent use. Embed maps points to their coordinates in the Params.Dims directions of the
// largest weights; Gram and Distances use all directions. Cost of an embedding, for k neighbors
// among m landmarks and q directions: m distances, and O(k^3 + k q) per point and iteration. The
// method is direct: it always converges.
type Model struct {
	*fitted.Model[Params]
	*metric
	all *fitted.Map // into all directions
}

var _ algorithms.Linker = (*Model)(nil)

// Links returns the links that the model was fitted on.
func (m *Model) Links() *links.Set { return m.links }

// Spectrum returns copies of the eigenvalues mu of the landmarks' centered kernel matrix, in
// descending order, of the weights beta, and of D.
func (m *Model) Spectrum() (mu, beta, d []float64) {
	return slices.Clone(m.mu), slices.Clone(m.beta), slices.Clone(m.d)
}

// Spectra returns mu, beta and D, like [Model.Spectrum].
func (m *Model) Spectra() []algorithms.Spectrum {
	mu, beta, d := m.Spectrum()
	return []algorithms.Spectrum{{Name: "eigenvalue mu", Values: mu}, {Name: "weight beta", Values: beta},
		{Name: "must-link spread D", Values: d}}
}

// DistantMustLinks returns the must-links whose points stay farthest from each other, the farthest
// first.
func (m *Model) DistantMustLinks() []DistantMustLink { return slices.Clone(m.far) }

// Objective returns the mean squared learned distance of the must-links.
func (m *Model) Objective() float64 {
	sum := 0.0
	for r, b := range m.beta {
		sum += b * b * m.d[r]
	}
	return sum
}

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	far := make([]string, len(m.far))
	for i, f := range m.far {
		far[i] = fmt.Sprintf("%d-%d (%.2g)", f.I, f.J, f.Ratio)
	}
	return []algorithms.Statistic{
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "landmarks", Value: m.support.Len()},
		{Name: "rank", Value: len(m.mu)},
		{Name: "dim", Value: m.Dim()},
		{Name: "extension", Value: string(m.params.Extension)},
		{Name: "mu", Value: m.mu},
		{Name: "beta", Value: m.beta},
		{Name: "D", Value: m.d},
		{Name: "must-links that stay far (of the mean squared distance)", Value: far},
	}
}

// Gram returns the learned kernel, |x| x |y|: inner products of coordinates. A nil y means x. Cost:
// an embedding of x and y, and 2 |x| |y| q flops. Errors are those of Embed.
func (m *Model) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	return m.all.Gram(ctx, eng, x, y)
}

// Distances returns the squared learned distance of each pair of rows of x. A row out of range is a
// *fault.DataError whose Row is the number of the pair. Cost: an embedding of x, and q flops per
// pair.
func (m *Model) Distances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	return m.all.Distances(ctx, eng, x, pairs)
}

// EmbedSingle is Model.Embed in single precision, see algorithms.SingleEmbedder, for the extension
// nystrom; any other extension is a *fault.ParamError. Cost: 2 n m (d + Dim) flops for m landmarks.
func (m *Model) EmbedSingle(ctx context.Context, eng *engine.Engine,
	x *points.Single) (blas.Matrix32, error) {
	if m.Params().Extension != Nystrom {
		return blas.Matrix32{},
			fault.Param("precision", "single",
				"double for models of kbeta with extension=lle (single for those with extension=nystrom)")
	}
	turned, center := extension{m.metric, m.order[:m.Dim()]}.chosen()
	return fitted.EmbedSingle(ctx, eng, Method, m.kernel, m.support, turned, center, x)
}

// These are the names of tensors in a model file, in addition to those of points.
const (
	tensorMu      = "kbeta.mu"      // [q]
	tensorVectors = "kbeta.vectors" // [q, m]
	tensorD       = "kbeta.d"       // [q]
	tensorBeta    = "kbeta.beta"    // [q]
	tensorMeans   = "kbeta.means"   // [m]
	tensorBetween = "kbeta.between" // [m, m], with rows of a Gram matrix
	// tensorRows has the row of each landmark among the training points, [m]. It is stored with
	// links, and missing in files of earlier versions.
	tensorRows = "kbeta.rows"
)

// extra is what the header has in addition to parameters and kernel.
type extra struct {
	fitted.MapHeader
	DistantMustLinks []DistantMustLink `json:"far,omitempty"`
	Points           int               `json:"points,omitempty"` // number of training points
}

// Encode stores the metric, which is the same for all directions.
func (m extension) Encode(f *model.File, _ string, table fitted.MapHeader) any {
	head := extra{table, m.far, 0}
	if m.links != nil {
		head.Points = m.links.N()
		f.SetInt64s(tensorRows, fitted.Int64s(m.rows))
		fitted.SetLinks(f, Method, m.links)
	}
	f.SetFloat64s(tensorMu, m.mu)
	fitted.SetMatrix(f, tensorVectors, m.v)
	f.SetFloat64s(tensorD, m.d)
	f.SetFloat64s(tensorBeta, m.beta)
	f.SetFloat64s(tensorMeans, m.means)
	if m.between.Data != nil {
		fitted.SetMatrix(f, tensorBetween, m.between)
	}
	return head
}

// Decode rebuilds a model from its file. A tensor that is missing, misshapen, out of range or not
// finite is a *fault.DataError. The model shares the tensors' memory.
func Decode(f *model.File) (*Model, error) {
	var head extra
	r, err := fitted.DecodeHeader[Params](Method, f, &head)
	if err != nil {
		return nil, err
	}
	m := &metric{params: r.Params(), far: head.DistantMustLinks}
	if m.kernel, m.support, err = fitted.ReadSupport(f, head.MapHeader); err != nil {
		return nil, err
	}
	if err := m.decodeSpectrum(f); err != nil {
		return nil, err
	}
	m.prepare()
	return m.model(r.Status()), m.decodeLinks(f, head.Points)
}

// decodeLinks reads the links that the fit used, between n points, and the rows of the landmarks,
// if the file has them.
func (m *metric) decodeLinks(f *model.File, n int) error {
	if !f.Has(tensorRows) {
		return nil
	}
	rows, err := fitted.ReadIndices(f, tensorRows, n)
	if err != nil {
		return err
	}
	if len(rows) != m.support.Len() {
		return fault.Data("", "tensor %s has %d values: want %d, one for each landmark", tensorRows,
			len(rows), m.support.Len())
	}
	for p := 1; p < len(rows); p++ {
		if rows[p] <= rows[p-1] {
			return fault.Data("", "tensor %s: element %d is %d after %d: want increasing rows", tensorRows, p,
				rows[p], rows[p-1])
		}
	}
	m.rows = rows
	m.links, err = fitted.ReadLinks(f, Method, n)
	if err != nil {
		return err
	}
	return m.checkLandmarks(m.links)
}

func (m *metric) decodeSpectrum(f *model.File) (err error) {
	if m.mu, err = fitted.ReadFinite(f, tensorMu, -1); err != nil {
		return err
	}
	count, q := m.support.Len(), len(m.mu)
	if m.params.Neighbors >= count && m.params.Extension == Reconstruction || q == 0 {
		return fault.Data("",
			"a model of %d landmarks and %d directions: want more than %d landmarks, the number of "+
				"neighbors, and at least one direction", count, q, m.params.Neighbors)
	}
	if m.v, err = fitted.ReadMatrix(f, tensorVectors, q, count); err != nil {
		return err
	}
	if m.d, err = fitted.ReadFinite(f, tensorD, q); err != nil {
		return err
	}
	if m.beta, err = fitted.ReadFinite(f, tensorBeta, q); err != nil {
		return err
	}
	for r := range m.beta {
		if !(m.mu[r] > 0) || !(m.beta[r] >= 0) || !(m.d[r] >= 0) {
			return fault.Data("",
				"tensors %s, %s and %s: element %d is %g, %g and %g: want mu > 0, others >= 0", tensorMu,
				tensorBeta, tensorD, r, m.mu[r], m.beta[r], m.d[r])
		}
	}
	if m.means, err = fitted.ReadFinite(f, tensorMeans, count); err != nil {
		return err
	}
	m.between = blas.Matrix{}
	if _, isGram := m.support.(*points.Gram); isGram {
		m.between, err = fitted.ReadMatrix(f, tensorBetween, count, count)
	}
	return err
}

// AddLinks returns the model of the links of m and those of set, with the landmarks of m. It
// computes D from all links and the stored eigenvectors, and the rest from D; the result is
// bit-identical to a fit with these landmarks. x are the points that m was fitted on. Cost: O(q)
// for each link, and no kernel value.
//
// These are a *fault.DataError: other points; a link between points that are not landmarks (in the
// basic form, landmarks = 0, all points are); a link that contradicts one of m; a model whose file
// does not store its links, like files of earlier versions.
func (m *Model) AddLinks(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	begin := time.Now()
	all, err := input.AddedLinks(eng, Method, x, m.links, set)
	if err != nil {
		return nil, err
	}
	if err := m.checkLandmarks(all); err != nil {
		return nil, err
	}
	out := m.again()
	var notices []string
	if cannot := all.Cannot(); m.params.Cannot == 0 && len(cannot) > 0 {
		notices = append(notices, ignored(len(cannot)))
	}
	notices = append(notices, out.learn(all)...)
	if err := ctx.Err(); err != nil {
		return nil, input.Failed(ctx, Method+": new links", err)
	}
	return out.model(algorithms.Status{Converged: true, Notices: notices, Elapsed: time.Since(begin)}), nil
}

// checkLandmarks refuses links that would be used between points that are not landmarks.
func (m *metric) checkLandmarks(set *links.Set) error {
	list := set.Must()
	if m.params.Cannot > 0 {
		list = slices.Concat(list, set.Cannot())
	}
	for _, l := range list {
		for _, i := range []int{l.I, l.J} {
			if _, is := slices.BinarySearch(m.rows, i); !is {
				err := fmt.Errorf("row %d is not one of the %d landmarks: want links between landmarks, or "+
					"a fit with all links", i, len(m.rows))
				return &fault.DataError{Row: -1, Line: l.Line, Err: err}
			}
		}
	}
	return nil
}

// Formula returns the map with Nystrom's extension as data; any other extension is a
// *fault.ParamError.
func (e extension) Formula() (formula.Map, error) {
	if e.params.Extension != Nystrom {
		return nil, fault.Param("extension of the model", string(e.params.Extension),
			"nystrom for a formula for new rows: fit kbeta again with extension=nystrom")
	}
	v, center := e.chosen()
	return formula.Centered(&formula.Expansion{Kernel: e.kernel, Support: e.support, V: v, Center: center})
}

// chosen returns the columns of V diag(beta / mu), and the offsets, of some directions.
func (e extension) chosen() (v blas.Matrix, center []float64) {
	v, center = blas.NewMatrix(e.metric.extension.Rows, len(e.directions)), make([]float64, len(e.directions))
	for c, r := range e.directions {
		center[c] = e.offset[r]
		for l := range v.Rows {
			v.Set(l, c, e.metric.extension.At(l, r))
		}
	}
	return v, center
}
