package npkl

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
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

// Model is a fitted kernel matrix and its extension to new points. It is immutable and safe for
// concurrent use.
type Model struct {
	params  Params
	kernel  kernel.Kernel
	status  algorithms.Status
	support points.Points
	degrees []float64   // of the graph, length n
	places  blas.Matrix // n x Dim; Z is its product with its transpose
	trace   []float64
	about   about

	joined blas.Matrix // n x (Dim + 1): D^-1/2 places, and 1
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
	_ algorithms.Objective = (*Model)(nil)
	_ algorithms.Trace     = (*Model)(nil)
	_ algorithms.Spectral  = (*Model)(nil)
)

// about is what the header holds beside parameters and kernel.
type about struct {
	similarity
	InputDim  int     `json:"input_dim"`
	Alphabet  string  `json:"alphabet,omitempty"`
	Certified bool    `json:"certified"`
	Gap       float64 `json:"gap"` // -1: unknown
}

const (
	tensorPlaces  = "npkl.places"  // [n, dim]
	tensorDegrees = "npkl.degrees" // [n]
	tensorTrace   = "npkl.trace"   // [sweeps]
)

// finish turns the places to the axes of the kernel matrix, the largest eigenvalue first.
func (m *Model) finish(ctx context.Context, eng *engine.Engine, f *fit) error {
	m.trace = f.d.trace
	m.about.Certified, m.about.Gap = f.certified, f.gap
	if math.IsNaN(f.gap) {
		m.about.Gap = -1
	}
	rows, w, _, err := basis(ctx, eng, f.d.v)
	if err != nil {
		return err
	}
	m.places = blas.NewMatrix(f.d.v.Rows, max(1, len(w)))
	for k, s := range w {
		root := math.Sqrt(s)
		for i, u := range rows.Row(k) {
			m.places.Set(i, k, root*u)
		}
	}
	m.prepare()
	return nil
}

// prepare makes what embedding needs.
func (m *Model) prepare() {
	m.joined = blas.NewMatrix(m.places.Rows, m.places.Cols+1)
	for i := range m.places.Rows {
		to := m.joined.Row(i)
		if d := m.degrees[i]; d > 0 {
			for c, v := range m.places.Row(i) {
				to[c] = v / math.Sqrt(d)
			}
		}
		to[m.places.Cols] = 1
	}
}

// Method returns "npkl".
func (m *Model) Method() string { return Method }

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

// Kernel returns the kernel in whose feature space neighbours are near, without bandwidth rules.
func (m *Model) Kernel() kernel.Kernel { return m.kernel }

// Dim returns the number of columns of Embed: the rank of the kernel matrix.
func (m *Model) Dim() int { return m.places.Cols }

// InputDim returns the number of features (or reference objects) of the points that it takes.
func (m *Model) InputDim() int { return m.support.Dim() }

// Alphabet returns the letters of the sequences that it takes, "" for other points.
func (m *Model) Alphabet() string { return stored.Alphabet(m.support) }

// Trace returns the objective after every sweep. It falls, but where a dimension was added.
func (m *Model) Trace() []float64 { return slices.Clone(m.trace) }

// Objective returns the last objective.
func (m *Model) Objective() float64 { return m.trace[len(m.trace)-1] }

// Certified says whether the kernel matrix was shown to be the optimum among all, to rounding and the
// tolerance.
func (m *Model) Certified() bool { return m.about.Certified }

// Places returns the training points' places, n x Dim: the kernel matrix is their inner products. They
// are shared: do not change them.
func (m *Model) Places() blas.Matrix { return m.places }

// Spectra returns the eigenvalues of the kernel matrix.
func (m *Model) Spectra() []algorithms.Spectrum {
	return []algorithms.Spectrum{{Name: "eigenvalues of the kernel matrix", Values: m.eigenvalues()}}
}

func (m *Model) eigenvalues() []float64 {
	out := make([]float64, m.places.Cols)
	for i := range m.places.Rows {
		for c, v := range m.places.Row(i) {
			out[c] += v * v
		}
	}
	return out
}

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	gap := any(m.about.Gap)
	if m.about.Gap < 0 {
		gap = "unknown"
	}
	return []algorithms.Figure{
		{Name: "loss", Value: string(m.params.Loss)},
		{Name: "graph", Value: string(m.params.Graph)},
		{Name: "kernel", Value: m.kernel.String()},
		{Name: "points", Value: m.places.Rows},
		{Name: "dim", Value: m.Dim()},
		{Name: "objective", Value: m.Objective()},
		{Name: "certified optimum", Value: m.about.Certified},
		{Name: "gap to the optimum, at most", Value: gap},
		{Name: "eigenvalues of the kernel matrix", Value: m.eigenvalues()},
	}
}

// embedRows is the number of points that are joined to the graph at a time.
const embedRows = 16384

// Embed gives training points their places and new points those that minimise the energy of the graph
// which their neighbours join them to. Cost for n training points: n kernel values a point.
func (m *Model) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	if err := m.check(x); err != nil {
		return blas.Matrix{}, err
	}
	if err := eng.Check("embedding", engine.MatrixBytes(x.Len(), m.Dim()), "embed fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	out := eng.NewMatrix(x.Len(), m.Dim())
	for lo := 0; lo < x.Len(); lo += embedRows {
		hi := min(lo+embedRows, x.Len())
		if err := m.join(ctx, eng, points.Slice(x, lo, hi), out.View(lo, hi, 0, out.Cols)); err != nil {
			return blas.Matrix{}, input.Cancelled(ctx, Method+":", err)
		}
	}
	return out, nil
}

func (m *Model) check(x points.Points) error {
	if err := stored.Check(x, m.support); err != nil {
		return err
	}
	return x.Validate()
}

// join writes the places of some points.
func (m *Model) join(ctx context.Context, eng *engine.Engine, x points.Points, to blas.Matrix) error {
	count := 1
	if m.params.Graph == KNN {
		count = m.params.Neighbors
	}
	near, err := graph.NearestBetween(ctx, eng, m.kernel, x, m.support, count)
	if err != nil {
		return err
	}
	sums := eng.GetMatrix(x.Len(), m.joined.Cols)
	defer eng.PutMatrix(sums)
	if m.params.Graph == KNN {
		m.near(near, sums)
	} else if err := m.all(ctx, eng, x, sums); err != nil {
		return err
	}
	for i := range to.Rows {
		index, squared := near.Of(i)
		row, sum := to.Row(i), sums.Row(i)
		if squared[0] == 0 {
			copy(row, m.places.Row(int(index[0])))
			continue
		}
		clear(row)
		if degree := sum[len(row)]; degree > 0 {
			for c := range row {
				row[c] = sum[c] / (math.Sqrt(degree) * (1 + m.params.Delta))
			}
		}
	}
	return ctx.Err()
}

// near adds up the neighbours.
func (m *Model) near(near *graph.Neighbors, sums blas.Matrix) {
	for i := range sums.Rows {
		index, squared := near.Of(i)
		row := sums.Row(i)
		clear(row)
		for a, j := range index {
			w := m.about.weight(squared[a])
			for c, v := range m.joined.Row(int(j)) {
				row[c] += w * v
			}
		}
	}
}

// all adds up all training points: products with a Gaussian kernel on top of the kernel.
func (m *Model) all(ctx context.Context, eng *engine.Engine, x points.Points, sums blas.Matrix) error {
	d := m.kernel.Squared()
	return d.CrossRows(ctx, eng, x, m.support, 0, func(b kernel.Block) error {
		for k := range b.Matrix.Rows {
			row := sums.Row(b.Row + k)
			clear(row)
			for j, squared := range b.Matrix.Row(k) {
				w := m.about.weight(squared)
				for c, v := range m.joined.Row(j) {
					row[c] += w * v
				}
			}
		}
		return nil
	})
}

// Gram returns the inner products of places, |x| x |y|. A nil y means x.
func (m *Model) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if err := m.check(x); err != nil {
		return blas.Matrix{}, err
	}
	return places.Gram(ctx, eng, x, y, m.Dim(), func(x points.Points) (blas.Matrix, error) { return m.Embed(ctx, eng, x) })
}

// Distances returns the squared distance of the places of each pair of rows of x. A row out of range is
// a *fault.DataError whose Row is the number of the pair.
func (m *Model) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	if err := m.check(x); err != nil {
		return nil, err
	}
	return places.Distances(eng, x, pairs, func(x points.Points) (blas.Matrix, error) { return m.Embed(ctx, eng, x) })
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	f.Header.Kernel = m.kernel.String()
	about := m.about
	about.InputDim, about.Alphabet = m.InputDim(), m.Alphabet()
	stored.Encode(f, m.support)
	stored.SetMatrix(f, tensorPlaces, m.places)
	f.SetFloat64s(tensorDegrees, m.degrees)
	f.SetFloat64s(tensorTrace, m.trace)
	return stored.SetHeader(f, Method, m.params, m.status, about)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot be
// used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	err := stored.Header(f, Method, &m.params, &m.status, &m.about)
	if err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	if s := m.about.Sigma; !(s >= 0) || math.IsInf(s, 0) {
		return nil, stored.InHeader(fault.Data("", "sigma is %v: want a finite number >= 0", s))
	}
	if m.kernel, err = stored.Kernel(f); err != nil {
		return nil, err
	}
	if m.support, err = stored.Decode(f, m.about.InputDim, m.about.Alphabet); err != nil {
		return nil, err
	}
	count := m.support.Len()
	if m.params.Neighbors >= count {
		return nil, fault.Data("", "%d training points: want more than the %d neighbours", count, m.params.Neighbors)
	}
	data, err := stored.Finite(f, tensorPlaces, count, -1)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, stored.Empty(tensorPlaces)
	}
	dim := len(data) / count
	m.places = blas.Matrix{Rows: count, Cols: dim, Stride: dim, Data: data}
	if m.degrees, err = stored.Finite(f, tensorDegrees, count); err != nil {
		return nil, err
	}
	if m.trace, err = stored.Finite(f, tensorTrace, -1); err != nil {
		return nil, err
	}
	if len(m.trace) == 0 {
		return nil, stored.Empty(tensorTrace)
	}
	m.prepare()
	return m, nil
}
