package outofsample

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
)

// NystromRule holds what the coordinates are computed from: they are V' Turn, where the rows of V
// are the eigenvectors.
type NystromRule struct {
	Vectors    blas.Matrix // r x n, the eigenvectors as rows
	Values     []float64   // their eigenvalues
	Turn       blas.Matrix // r x dim
	Degrees    []float64   // degrees of the training points in the graph
	Neighbors  int
	Similarity graphkernel.Similarity
	Normalized bool
}

// NystromExtension holds the coordinates of training points and computes those of new points by
// Nystrom's formula (Bengio et al. 2004). Let a new point have edges of weights s_j to its nearest
// training points, and let d be their sum. The value of an eigenvector v of D - S with eigenvalue
// mu at the new point is
//
//	v(x) = sum_j s_j v_j / (d - mu)
//
// and that of an eigenvector of I - D^-1/2 S D^-1/2 is sum_j s_j v_j / sqrt(d d_j) / (1 - mu). A
// divisor d - mu below d/10, or 1 - mu below 1/10, amplifies noise more than the eigenvector: it is
// replaced by that bound. An Extension is immutable and safe for concurrent use. Embedding costs n
// kernel values per point for n training points.
type NystromExtension struct {
	fitted.Table
	NystromRule
}

// minDivisor is the lower bound of the divisor, relative to the degree.
const minDivisor = 0.1

// NewNystrom extends the eigenvectors of a graph Laplacian to new points, which it joins to
// their nearest training points (Nystrom's formula).
//
// NewNystrom returns the map of the named method for the training points x. Their neighbors are
// searched in the feature space of k.
func NewNystrom(eng *engine.Engine, method string, k kernel.Kernel, x points.Points,
	r NystromRule) *fitted.Map {
	p := eng.NewMatrix(r.Vectors.Cols, r.Turn.Cols)
	eng.Backend().Gemm(true, false, 1, r.Vectors, r.Turn, 0, p)
	t := fitted.NewTable(k, x, p)
	return fitted.Extended(method, t, &NystromExtension{t, r})
}

// Begin returns the function that embeds a block of points.
func (e *NystromExtension) Begin(ctx context.Context, eng *engine.Engine) (fitted.Block, error) {
	return func(x points.Points, to blas.Matrix) error { return e.embed(ctx, eng, x, to) }, nil
}

// embed writes the coordinates of new points. A point at distance 0 from a training point gets the
// coordinates of that training point.
func (e *NystromExtension) embed(ctx context.Context, eng *engine.Engine, x points.Points,
	to blas.Matrix) error {
	near, err := graph.NearestBetween(ctx, eng, e.Kernel, x, e.Support, e.Neighbors)
	if err != nil {
		return err
	}
	return eng.For(ctx, x.Len(), 256, func(lo, hi int) error {
		values := make([]float64, len(e.Values))
		for i := lo; i < hi; i++ {
			index, squared := near.Of(i)
			if squared[0] == 0 {
				copy(to.Row(i), e.Coordinates.Row(int(index[0])))
				continue
			}
			e.evaluate(values, index, squared)
			clear(to.Row(i))
			for c, v := range values {
				eng.Backend().Kernels().Axpy(v, e.Turn.Row(c), to.Row(i))
			}
		}
		return nil
	})
}

// evaluate writes the values of the eigenvectors at a point with these neighbors.
func (e *NystromExtension) evaluate(values []float64, index []int32, squared []float64) {
	clear(values)
	degree := 0.0
	for a := range index {
		degree += e.Similarity.Weight(squared[a])
	}
	if degree == 0 { // the point is so far away that all weights underflow to 0
		return
	}
	for a, j := range index {
		s := e.Similarity.Weight(squared[a]) / degree
		if d := e.Degrees[j]; e.Normalized && d > 0 {
			s *= math.Sqrt(degree / d)
		}
		for c := range values {
			values[c] += s * e.Vectors.At(c, int(j))
		}
	}
	for c, mu := range e.Values {
		if !e.Normalized {
			mu /= degree
		}
		values[c] /= max(minDivisor, 1-mu)
	}
}

// nystromAbout holds the members of the header.
type nystromAbout struct {
	Neighbors  int                     `json:"nystrom_neighbors,omitempty"`
	Normalized bool                    `json:"nystrom_normalized,omitempty"`
	Similarity *graphkernel.Similarity `json:"nystrom_similarity,omitempty"`
	fitted.MapHeader
}

// nystromHeader has these members in an entry of their own. Those of the table are on both levels,
// because earlier versions read them there.
type nystromHeader struct {
	fitted.MapHeader
	Nystrom *nystromAbout `json:"nystrom,omitempty"`
}

// Encode stores the rule.
func (e *NystromExtension) Encode(f *model.File, method string, table fitted.MapHeader) any {
	fitted.SetMatrix(f, method+".vectors", e.Vectors)
	fitted.SetMatrix(f, method+".turn", e.Turn)
	f.SetFloat64s(method+".values", e.Values)
	f.SetFloat64s(method+".degrees", e.Degrees)
	return nystromHeader{Nystrom: &nystromAbout{e.Neighbors, e.Normalized, &e.Similarity, table}}
}

// ReadNystrom is the [fitted.Reader] of the maps that [NewNystrom] returns. It returns nil for a
// file that holds a map of another kind.
func ReadNystrom(method string, f *model.File) (*fitted.Map, error) {
	var head nystromHeader
	if err := fitted.ReadExtra(f, method, &head); err != nil || head.Nystrom == nil {
		return nil, err
	}
	about := *head.Nystrom
	t, err := fitted.ReadTable(method, f, about.MapHeader)
	if err != nil {
		return nil, err
	}
	n, r := t.Coordinates.Rows, NystromRule{Neighbors: about.Neighbors, Normalized: about.Normalized}
	if about.Neighbors < 1 || about.Neighbors > n || about.Similarity == nil {
		return nil, fitted.InHeader(fault.Data("",
			"%d neighbors of %d points: want 1 to %d, and the weights of their edges", about.Neighbors, n, n))
	}
	r.Similarity = *about.Similarity
	if r.Values, err = fitted.ReadFinite(f, method+".values", -1); err != nil {
		return nil, err
	}
	rank := len(r.Values)
	if r.Degrees, err = fitted.ReadFinite(f, method+".degrees", n); err != nil {
		return nil, err
	}
	if r.Vectors, err = fitted.ReadMatrix(f, method+".vectors", rank, n); err != nil {
		return nil, err
	}
	r.Turn, err = fitted.ReadMatrix(f, method+".turn", rank, t.Dim)
	return fitted.Extended(method, t, &NystromExtension{t, r}), err
}

// BarycentricRule holds the settings of the reconstruction.
type BarycentricRule struct {
	Kernel    kernel.Kernel          // its feature space is where neighbors are searched
	Neighbors int                    // number of nearest neighbors that reconstruct a point
	Reg       float64                // times its trace, is added to the diagonal of each local Gram matrix
	Apart     func(a, b int) float64 // squared distance of two support points
}

// Reconstruct writes W P to y. Row i of W sums to 1 and reconstructs point i of x from its nearest
// support points; the rows of P are the coordinates of the support points. A point whose squared
// distance to its nearest support point is at most same[i] (0 if same is nil) gets the coordinates
// of that support point.
func (r BarycentricRule) Reconstruct(ctx context.Context, eng *engine.Engine, x, support points.Points,
	p blas.Matrix, same []float64, y blas.Matrix) error {
	near, err := graph.NearestBetween(ctx, eng, r.Kernel, x, support, r.Neighbors)
	if err != nil {
		return err
	}
	coincides := func(i int) bool { // with a support point
		_, squared := near.Of(i)
		return squared[0] == 0 || same != nil && squared[0] <= same[i]
	}
	// <x - a, x - b> = (|x - a|^2 + |x - b|^2 - |a - b|^2) / 2
	gram := func(i int, g []float64, stride int) {
		index, squared := near.Of(i)
		if coincides(i) { // its weights are not used and may not exist: any definite matrix is enough
			for a := range index {
				for b := range a {
					g[(a*r.Neighbors+b)*stride] = 0
				}
				g[(a*r.Neighbors+a)*stride] = 1
			}
			return
		}
		for a, j := range index {
			g[(a*r.Neighbors+a)*stride] = squared[a]
			for b := range a {
				g[(a*r.Neighbors+b)*stride] = 0.5 * (squared[a] + squared[b] - r.Apart(int(j), int(index[b])))
			}
		}
	}
	w, err := lle.Weights(ctx, eng, x.Len(), r.Neighbors, gram, r.Reg)
	if err != nil {
		return err
	}
	t := eng.Backend().Kernels()
	return eng.Each(ctx, x.Len(), 1024, func(i int) {
		index, _ := near.Of(i)
		to := y.Row(i)
		if coincides(i) {
			copy(to, p.Row(int(index[0])))
			return
		}
		clear(to)
		for a, j := range index {
			t.Axpy(w.At(i, a), p.Row(int(j)), to)
		}
	})
}

// barycentricExtension gives a new point the combination of its neighbors' coordinates that
// reconstructs the point from these neighbors.
type barycentricExtension struct {
	fitted.Table
	neighbors int
	// squared distances of training points, where these are rows of a Gram matrix and not stored
	between blas.Matrix
}

// reg times its trace is added to the diagonal of each local Gram matrix.
const reg = 1e-3

// NewBarycentric computes the coordinates of new points from those of their nearest neighbors,
// with the weights that reconstruct each point from these neighbors.
//
// NewBarycentric returns the map of the named method. The rows of p are the coordinates of the
// points x; the map reconstructs a new point from its nearest neighbors among x, in the feature
// space of k. If x are rows of a Gram matrix, the map keeps n^2 values. Embedding costs n kernel
// values per point.
func NewBarycentric(ctx context.Context, eng *engine.Engine, method string, k kernel.Kernel, neighbors int,
	x points.Points, p blas.Matrix) (*fitted.Map, error) {
	e := &barycentricExtension{Table: fitted.NewTable(k, x, p), neighbors: neighbors}
	if _, isGram := x.(*points.Gram); isGram {
		var err error
		if e.between, err = k.SquaredDistances(ctx, eng, x); err != nil {
			return nil, err
		}
	}
	return fitted.Extended(method, e.Table, e), nil
}

// WithCoordinates returns m with other coordinates of the same training points.
func WithCoordinates(m *fitted.Map, p blas.Matrix) *fitted.Map {
	e := *m.Extension().(*barycentricExtension)
	e.Coordinates, e.Dim = p, p.Cols
	return fitted.Extended(m.Method(), e.Table, &e)
}

// Begin prepares the squared distances of training points and returns the function that embeds a
// block.
func (e *barycentricExtension) Begin(ctx context.Context, eng *engine.Engine) (fitted.Block, error) {
	rule := BarycentricRule{Kernel: e.Kernel, Neighbors: e.neighbors, Reg: reg, Apart: e.between.At}
	if e.between.Data == nil {
		var err error
		if rule.Apart, err = e.Kernel.Squared().Values(ctx, eng, e.Support); err != nil {
			return nil, err
		}
	}
	return func(x points.Points, to blas.Matrix) error {
		return rule.Reconstruct(ctx, eng, x, e.Support, e.Coordinates, nil, to)
	}, nil
}

// barycentricAbout holds the members of the header.
type barycentricAbout struct {
	Neighbors int `json:"extension_neighbors,omitempty"`
	fitted.MapHeader
}

// between is the suffix of the tensor with the squared distances of training points.
const between = ".between" // [n, n]

// Encode stores the squared distances of training points, if the map keeps them.
func (e *barycentricExtension) Encode(f *model.File, method string, table fitted.MapHeader) any {
	if e.between.Data != nil {
		fitted.SetMatrix(f, method+between, e.between)
	}
	return barycentricAbout{e.neighbors, table}
}

// ReadBarycentric is the [fitted.Reader] of the maps that [NewBarycentric] returns.
func ReadBarycentric(method string, f *model.File) (*fitted.Map, error) {
	var head barycentricAbout
	if err := fitted.ReadExtra(f, method, &head); err != nil {
		return nil, err
	}
	t, err := fitted.ReadTable(method, f, head.MapHeader)
	if err != nil {
		return nil, err
	}
	count := t.Coordinates.Rows
	if head.Neighbors < 1 || head.Neighbors > count {
		return nil, fitted.InHeader(fault.Data("", "%d neighbors of %d points: want 1 to %d", head.Neighbors,
			count, count))
	}
	e := &barycentricExtension{Table: t, neighbors: head.Neighbors}
	if _, isGram := t.Support.(*points.Gram); isGram {
		if e.between, err = fitted.ReadMatrix(f, method+between, count, count); err != nil {
			return nil, err
		}
	}
	return fitted.Extended(method, t, e), nil
}
