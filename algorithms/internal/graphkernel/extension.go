package graphkernel

import (
	"context"
	"errors"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// extension holds the coordinates of training points, whose inner products are the kernel matrix.
// It joins a new point to the graph by its neighbors and gives it the coordinates of minimal
// energy. Embedding costs n kernel values per point for n training points.
type extension struct {
	fitted.Table
	settings Settings
	weights  Similarity
	degrees  []float64   // degrees of the training points, length n
	joined   blas.Matrix // n x (Dim + 1): D^-1/2 coordinates, and 1
}

// extendedMap prepares the extension and returns its map for the named method.
func (e *extension) extendedMap(method string) *fitted.Map {
	p := e.Coordinates
	e.joined = blas.NewMatrix(p.Rows, p.Cols+1)
	for i := range p.Rows {
		to := e.joined.Row(i)
		if d := e.degrees[i]; d > 0 {
			for c, v := range p.Row(i) {
				to[c] = v / math.Sqrt(d)
			}
		}
		to[p.Cols] = 1
	}
	return fitted.Extended(method, e.Table, e)
}

// Begin returns the function that embeds a block of points.
func (e *extension) Begin(ctx context.Context, eng *engine.Engine) (fitted.Block, error) {
	return func(x points.Points, to blas.Matrix) error { return e.embed(ctx, eng, x, to) }, nil
}

// embed writes the coordinates of the points x.
func (e *extension) embed(ctx context.Context, eng *engine.Engine, x points.Points, to blas.Matrix) error {
	count := 1 // enough to recognize training points
	if e.settings.Graph == KNN {
		count = e.settings.Neighbors
	}
	near, err := graph.NearestBetween(ctx, eng, e.Kernel, x, e.Support, count)
	if err != nil {
		return err
	}
	sums := eng.GetMatrix(x.Len(), e.joined.Cols)
	defer eng.PutMatrix(sums)
	switch e.settings.Graph {
	case KNN:
		e.sumNeighbors(near, sums)
	case Given:
		err = e.refuseNew(near)
	default:
		err = e.sumAll(ctx, eng, x, sums)
	}
	if err != nil {
		return err
	}
	for i := range to.Rows {
		index, squared := near.Of(i)
		row, sum := to.Row(i), sums.Row(i)
		if squared[0] == 0 {
			copy(row, e.Coordinates.Row(int(index[0])))
			continue
		}
		clear(row)
		if degree := sum[len(row)]; degree > 0 {
			for c := range row {
				row[c] = sum[c] / (math.Sqrt(degree) * (1 + e.settings.Delta))
			}
		}
	}
	return ctx.Err()
}

// sumNeighbors writes to each row of sums the weighted sum over the point's nearest neighbors.
func (e *extension) sumNeighbors(near *graph.Neighbors, sums blas.Matrix) {
	for i := range sums.Rows {
		index, squared := near.Of(i)
		row := sums.Row(i)
		clear(row)
		for a, j := range index {
			w := e.weights.Weight(squared[a])
			for c, v := range e.joined.Row(int(j)) {
				row[c] += w * v
			}
		}
	}
}

// refuseNew returns an error for a point that is not a training point: given similarities do not
// cover new points.
func (e *extension) refuseNew(near *graph.Neighbors) error {
	for i := range near.N {
		if _, squared := near.Of(i); squared[0] != 0 {
			return &fault.DataError{Row: i, Err: errors.New("not a training point: a model of given similarities embeds only training points")}
		}
	}
	return nil
}

// sumAll writes to each row of sums the weighted sum over all training points within the radius, if
// the graph has one.
func (e *extension) sumAll(ctx context.Context, eng *engine.Engine, x points.Points, sums blas.Matrix) error {
	d, limit := e.Kernel.Squared(), math.Inf(1)
	if e.settings.Graph == Within {
		limit = e.settings.Radius * e.settings.Radius
	}
	return d.CrossRows(ctx, eng, x, e.Support, 0, func(b kernel.Block) error {
		for k := range b.Matrix.Rows {
			row := sums.Row(b.Row + k)
			clear(row)
			for j, squared := range b.Matrix.Row(k) {
				if squared > limit {
					continue
				}
				w := e.weights.Weight(squared)
				for c, v := range e.joined.Row(j) {
					row[c] += w * v
				}
			}
		}
		return nil
	})
}

// about holds the members of the header.
type about struct {
	Similarity
	fitted.MapHeader
}

// Encode stores the degrees and returns the members of the header.
func (e *extension) Encode(f *model.File, method string, table fitted.MapHeader) any {
	f.SetFloat64s(method+".degrees", e.degrees)
	return about{e.weights, table}
}

// Read is the [maps.Reader] of the maps that [Task.Map] returns, for methods whose parameters have
// the members of [Settings].
func Read(method string, f *model.File) (*fitted.Map, error) {
	var head about
	e := &extension{}
	if err := fitted.ReadParams(f, &e.settings); err != nil {
		return nil, err
	}
	if err := fitted.ReadExtra(f, method, &head); err != nil {
		return nil, err
	}
	if s := head.Sigma; !(s >= 0) || math.IsInf(s, 0) {
		return nil, fitted.InHeader(fault.Data("", "sigma is %v: want a finite number >= 0", s))
	}
	e.weights = head.Similarity
	var err error
	if e.Table, err = fitted.ReadTable(method, f, head.MapHeader); err != nil {
		return nil, err
	}
	count := e.Coordinates.Rows
	if err := e.settings.Check(count); err != nil {
		return nil, fitted.InHeader(err)
	}
	if e.degrees, err = fitted.ReadFinite(f, method+".degrees", count); err != nil {
		return nil, err
	}
	return e.extendedMap(method), nil
}
