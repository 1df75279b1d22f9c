package kbeta

import (
	"context"
	"fmt"
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
	"github.com/mustlink/mustlink/engine/points"
)

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
			&fault.ParamError{Param: "precision", Value: "single",
				Want: "double for models of kbeta with extension=lle (single for those with " +
					"extension=nystrom)"}
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
		return nil, &fault.ParamError{Param: "extension of the model", Value: string(e.params.Extension),
			Want: "nystrom for a formula for new rows: fit kbeta again with extension=nystrom"}
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
