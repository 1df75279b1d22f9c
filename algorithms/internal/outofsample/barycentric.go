package outofsample

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
)

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
