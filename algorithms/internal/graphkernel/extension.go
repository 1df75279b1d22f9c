package graphkernel

import (
	"context"
	"errors"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/places"
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
// that the energy of the graph gives to new points. It is immutable and safe for concurrent use.
type Extension struct {
	method  string
	around  Neighbourhood
	diag    float64 // 1 + delta
	kernel  kernel.Kernel
	support points.Points
	weights Similarity
	degrees []float64   // of the graph, length n
	places  blas.Matrix // n x Dim
	joined  blas.Matrix // n x (Dim + 1): D^-1/2 places, and 1
}

// prepare makes what embedding needs.
func (e *Extension) prepare() {
	e.joined = blas.NewMatrix(e.places.Rows, e.places.Cols+1)
	for i := range e.places.Rows {
		to := e.joined.Row(i)
		if d := e.degrees[i]; d > 0 {
			for c, v := range e.places.Row(i) {
				to[c] = v / math.Sqrt(d)
			}
		}
		to[e.places.Cols] = 1
	}
}

// Kernel returns the kernel in whose feature space neighbours are near, without bandwidth rules.
func (e *Extension) Kernel() kernel.Kernel { return e.kernel }

// Dim returns the number of columns of Embed: the rank of the kernel matrix.
func (e *Extension) Dim() int { return e.places.Cols }

// InputDim returns the number of features (or reference objects) of the points that it takes.
func (e *Extension) InputDim() int { return e.support.Dim() }

// Alphabet returns the letters of the sequences that it takes, "" for other points.
func (e *Extension) Alphabet() string { return stored.Alphabet(e.support) }

// Places returns the training points' places, n x Dim: the kernel matrix is their inner products. They
// are shared: do not change them.
func (e *Extension) Places() blas.Matrix { return e.places }

// Eigenvalues returns those of the kernel matrix, for places along its axes.
func (e *Extension) Eigenvalues() []float64 {
	out := make([]float64, e.places.Cols)
	for i := range e.places.Rows {
		for c, v := range e.places.Row(i) {
			out[c] += v * v
		}
	}
	return out
}

// embedRows is the number of points that are joined to the graph at a time.
const embedRows = 16384

// Embed gives training points their places and new points those that minimise the energy of the graph
// which their neighbours join them to. Cost for n training points: n kernel values a point.
func (e *Extension) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	if err := e.check(x); err != nil {
		return blas.Matrix{}, err
	}
	if err := eng.Check("embedding", engine.MatrixBytes(x.Len(), e.Dim()), "embed fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	out := eng.NewMatrix(x.Len(), e.Dim())
	for lo := 0; lo < x.Len(); lo += embedRows {
		hi := min(lo+embedRows, x.Len())
		if err := e.join(ctx, eng, points.Slice(x, lo, hi), out.View(lo, hi, 0, out.Cols)); err != nil {
			return blas.Matrix{}, input.Cancelled(ctx, e.method+":", err)
		}
	}
	return out, nil
}

func (e *Extension) check(x points.Points) error {
	if err := stored.Check(x, e.support); err != nil {
		return err
	}
	return x.Validate()
}

// join writes the places of some points.
func (e *Extension) join(ctx context.Context, eng *engine.Engine, x points.Points, to blas.Matrix) error {
	count := 1 // finds the training points
	if e.around.Graph == KNN {
		count = e.around.Neighbors
	}
	near, err := graph.NearestBetween(ctx, eng, e.kernel, x, e.support, count)
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
			copy(row, e.places.Row(int(index[0])))
			continue
		}
		clear(row)
		if degree := sum[len(row)]; degree > 0 {
			for c := range row {
				row[c] = sum[c] / (math.Sqrt(degree) * (e.diag))
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
	d, limit := e.kernel.Squared(), math.Inf(1)
	if e.around.Graph == Within {
		limit = e.around.Radius * e.around.Radius
	}
	return d.CrossRows(ctx, eng, x, e.support, 0, func(b kernel.Block) error {
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

// Gram returns the inner products of places, |x| x |y|. A nil y means x.
func (e *Extension) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if err := e.check(x); err != nil {
		return blas.Matrix{}, err
	}
	return places.Gram(ctx, eng, x, y, e.Dim(), func(x points.Points) (blas.Matrix, error) { return e.Embed(ctx, eng, x) })
}

// Distances returns the squared distance of the places of each pair of rows of x. A row out of range is
// a *fault.DataError whose Row is the number of the pair.
func (e *Extension) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	if err := e.check(x); err != nil {
		return nil, err
	}
	return places.Distances(eng, x, pairs, func(x points.Points) (blas.Matrix, error) { return e.Embed(ctx, eng, x) })
}

// About is what the header has to hold to read an extension.
type About struct {
	Similarity
	InputDim int    `json:"input_dim"`
	Alphabet string `json:"alphabet,omitempty"`
}

// Encode stores the extension in f, in tensors named after the method, and returns what the header has to
// hold.
func (e *Extension) Encode(f *model.File) About {
	f.Header.Kernel = e.kernel.String()
	stored.Encode(f, e.support)
	stored.SetMatrix(f, e.method+".places", e.places)
	f.SetFloat64s(e.method+".degrees", e.degrees)
	return About{e.weights, e.InputDim(), e.Alphabet()}
}

// Decode returns the extension that [Extension.Encode] stored. A tensor or a part of the header that
// cannot be used is a *fault.DataError.
func Decode(method string, f *model.File, about About, around Neighbourhood, diag float64) (*Extension, error) {
	e := &Extension{method: method, around: around, diag: diag, weights: about.Similarity}
	if s := about.Sigma; !(s >= 0) || math.IsInf(s, 0) {
		return nil, stored.InHeader(fault.Data("", "sigma is %v: want a finite number >= 0", s))
	}
	var err error
	if e.kernel, err = stored.Kernel(f); err != nil {
		return nil, err
	}
	if e.support, err = stored.Decode(f, about.InputDim, about.Alphabet); err != nil {
		return nil, err
	}
	count := e.support.Len()
	if err := around.Check(count); err != nil {
		return nil, stored.InHeader(err)
	}
	data, err := stored.Finite(f, method+".places", count, -1)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, stored.Empty(method + ".places")
	}
	dim := len(data) / count
	e.places = blas.Matrix{Rows: count, Cols: dim, Stride: dim, Data: data}
	if e.degrees, err = stored.Finite(f, method+".degrees", count); err != nil {
		return nil, err
	}
	e.prepare()
	return e, nil
}
