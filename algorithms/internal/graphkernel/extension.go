package graphkernel

import (
	"context"
	"errors"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/placed"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Extension is the places of training points, whose inner products are the kernel matrix, and those
// that the energy of the graph gives to new points: training points keep their places, and new points get
// those of least energy on the graph which their neighbours join them to. It is immutable and safe for
// concurrent use. Cost of embedding for n training points: n kernel values a point.
type Extension struct {
	*placed.Table
	around  Neighbourhood
	diag    float64 // 1 + delta
	weights Similarity
	degrees []float64   // of the graph, length n
	joined  blas.Matrix // n x (Dim + 1): D^-1/2 places, and 1
}

// prepare makes what embedding needs.
func (e *Extension) prepare() {
	p := e.Places()
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
	e.Begin = func(ctx context.Context, eng *engine.Engine) (placed.Block, error) {
		return func(x points.Points, to blas.Matrix) error { return e.join(ctx, eng, x, to) }, nil
	}
}

// Eigenvalues returns those of the kernel matrix, for places along its axes.
func (e *Extension) Eigenvalues() []float64 {
	p := e.Places()
	out := make([]float64, p.Cols)
	for i := range p.Rows {
		for c, v := range p.Row(i) {
			out[c] += v * v
		}
	}
	return out
}

// join writes the places of some points.
func (e *Extension) join(ctx context.Context, eng *engine.Engine, x points.Points, to blas.Matrix) error {
	count := 1 // finds the training points
	if e.around.Graph == KNN {
		count = e.around.Neighbors
	}
	near, err := graph.NearestBetween(ctx, eng, e.Kernel(), x, e.Support(), count)
	if err != nil {
		return err
	}
	sums := eng.GetMatrix(x.Len(), e.joined.Cols)
	defer eng.PutMatrix(sums)
	switch e.around.Graph {
	case KNN:
		e.near(near, sums)
	case Given:
		err = e.known(near)
	default:
		err = e.all(ctx, eng, x, sums)
	}
	if err != nil {
		return err
	}
	for i := range to.Rows {
		index, squared := near.Of(i)
		row, sum := to.Row(i), sums.Row(i)
		if squared[0] == 0 {
			copy(row, e.Places().Row(int(index[0])))
			continue
		}
		clear(row)
		if degree := sum[len(row)]; degree > 0 {
			for c := range row {
				row[c] = sum[c] / (math.Sqrt(degree) * e.diag)
			}
		}
	}
	return ctx.Err()
}

// near adds up the neighbours.
func (e *Extension) near(near *graph.Neighbors, sums blas.Matrix) {
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

// known refuses new points: given similarities do not say what is near them.
func (e *Extension) known(near *graph.Neighbors) error {
	for i := range near.N {
		if _, squared := near.Of(i); squared[0] != 0 {
			return &fault.DataError{Row: i, Err: errors.New("no training point: a model of given similarities has places for those only")}
		}
	}
	return nil
}

// all adds up all training points by their distances.
func (e *Extension) all(ctx context.Context, eng *engine.Engine, x points.Points, sums blas.Matrix) error {
	d, limit := e.Kernel().Squared(), math.Inf(1)
	if e.around.Graph == Within {
		limit = e.around.Radius * e.around.Radius
	}
	return d.CrossRows(ctx, eng, x, e.Support(), 0, func(b kernel.Block) error {
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

// About is what the header has to hold to read an extension.
type About struct {
	Similarity
	placed.About
}

// Encode stores the extension in f, in tensors named after the method, and returns what the header has to
// hold.
func (e *Extension) Encode(f *model.File) About {
	f.SetFloat64s(e.Method()+".degrees", e.degrees)
	return About{e.weights, e.Table.Encode(f)}
}

// Decode returns the extension that [Extension.Encode] stored. A tensor or a part of the header that
// cannot be used is a *fault.DataError.
func Decode(method string, f *model.File, about About, around Neighbourhood, diag float64) (*Extension, error) {
	e := &Extension{around: around, diag: diag, weights: about.Similarity}
	if s := about.Sigma; !(s >= 0) || math.IsInf(s, 0) {
		return nil, stored.InHeader(fault.Data("", "sigma is %v: want a finite number >= 0", s))
	}
	var err error
	if e.Table, err = placed.Decode(method, f, about.About); err != nil {
		return nil, err
	}
	count := e.Places().Rows
	if err := around.Check(count); err != nil {
		return nil, stored.InHeader(err)
	}
	if e.degrees, err = stored.Finite(f, method+".degrees", count); err != nil {
		return nil, err
	}
	e.prepare()
	return e, nil
}
