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
