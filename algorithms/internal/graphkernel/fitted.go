package graphkernel

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Parameters are the parameters of a baseline on a graph: a struct that embeds [Settings].
type Parameters interface {
	Common() Settings
	Validate() error
}

// Fitted is the model of a fitted kernel matrix, with its extension to new points. It is immutable
// and safe for concurrent use.
type Fitted[P Parameters] struct {
	*fitted.Model[P]
	result Result
}

// Result is the objective of a kernel matrix and its gap to the optimum.
type Result struct {
	Objective float64 `json:"objective"`
	Gap       float64 `json:"gap"` // upper bound of the gap to the optimum; -1 if unknown
}

// Objective returns the objective of the kernel matrix.
func (m *Fitted[P]) Objective() float64 { return m.result.Objective }

// Gap returns an upper bound of the objective's gap to the optimum, or -1 if it is unknown.
func (m *Fitted[P]) Gap() float64 { return m.result.Gap }

// Spectra returns the eigenvalues of the kernel matrix.
func (m *Fitted[P]) Spectra() []algorithms.Spectrum { return Spectra(m.Map) }

// Describe returns the statistics of the model.
func (m *Fitted[P]) Describe() []algorithms.Statistic {
	s := m.Params().Common()
	return Describe(m.Map, m.Model.Describe(), s.Loss, s.Graph, m.result)
}

// Encode stores the model in f.
func (m *Fitted[P]) Encode(f *model.File) error { return m.EncodeWith(f, m.result) }

// DecodeFitted rebuilds the model that [Fitted.Encode] stored. An unusable tensor or member of the
// header is a *fault.DataError.
func DecodeFitted[P Parameters](method string, f *model.File) (*Fitted[P], error) {
	m := &Fitted[P]{}
	var err error
	m.Model, err = fitted.Decode[P](method, f, Read, &m.result)
	return m, err
}

// Eigenvalues returns the eigenvalues of a map's kernel matrix. The coordinates must be along its
// eigenvectors.
func Eigenvalues(m *fitted.Map) []float64 {
	p := m.Coordinates()
	out := make([]float64, p.Cols)
	for i := range p.Rows {
		for c, v := range p.Row(i) {
			out[c] += v * v
		}
	}
	return out
}

// Spectra returns the eigenvalues of a map's kernel matrix as a named spectrum.
func Spectra(m *fitted.Map) []algorithms.Spectrum {
	return []algorithms.Spectrum{{Name: "eigenvalues of the kernel matrix", Values: Eigenvalues(m)}}
}

// Describe returns the statistics of a model: loss and graph, those of its record, the objective,
// more of the method's own, the gap and the eigenvalues.
func Describe(m *fitted.Map, recorded []algorithms.Statistic, loss Loss, g Graph, r Result,
	more ...algorithms.Statistic) []algorithms.Statistic {
	gap := any(r.Gap)
	switch {
	case r.Gap < 0:
		gap = "unknown"
	case r.Gap == 0: // found up to the tolerance: the objective may differ by as little
		gap = "the tolerance"
	}
	return slices.Concat(
		[]algorithms.Statistic{{Name: "loss", Value: string(loss)}, {Name: "graph", Value: string(g)}},
		recorded,
		[]algorithms.Statistic{{Name: "objective", Value: r.Objective}}, more,
		[]algorithms.Statistic{{Name: "gap to the optimum, at most", Value: gap},
			{Name: "eigenvalues of the kernel matrix", Value: Eigenvalues(m)}})
}

// Axes returns the eigenvalues w of Z = V V' above tol times the largest one, descending, and their
// unit eigenvectors as rows. V has n rows and few columns.
func Axes(ctx context.Context, eng *engine.Engine, v blas.Matrix,
	tol float64) (rows blas.Matrix, w []float64, err error) {
	r := v.Cols
	gram, values := blas.NewMatrix(r, r), make([]float64, r)
	eng.Backend().Syrk(true, 1, v, 0, gram)
	if err := eng.SymEig(ctx, gram, values, true); err != nil {
		return rows, nil, err
	}
	for c := r - 1; c >= 0 && values[c] > tol*values[r-1]; c-- {
		w = append(w, values[c])
	}
	turn := blas.NewMatrix(len(w), r)
	rows = blas.NewMatrix(len(w), v.Rows)
	for k := range w {
		copy(turn.Row(k), gram.Row(r-1-k))
	}
	eng.Backend().Gemm(false, true, 1, turn, v, 0, rows)
	for k, s := range w {
		eng.Backend().Kernels().Scale(1/math.Sqrt(s), rows.Row(k))
	}
	return rows, w, ctx.Err()
}

// OnAxes rotates coordinates, n x r, to the eigenvectors of their kernel matrix that [Axes] keeps,
// in the order of descending eigenvalues. Without any it returns one column of zeros.
func OnAxes(ctx context.Context, eng *engine.Engine, v blas.Matrix, tol float64) (blas.Matrix, error) {
	rows, w, err := Axes(ctx, eng, v, tol)
	if err != nil {
		return blas.Matrix{}, err
	}
	return linear.Coordinates(rows, w), nil
}

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
			return fault.Row(i,
				"not a training point: a model of given similarities embeds only training points")
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

// Read is the [fitted.Reader] of the maps that [Task.Map] returns, for methods whose parameters
// have the members of [Settings].
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
