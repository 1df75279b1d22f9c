package kbeta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/places"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Model is the learned metric: the landmarks with their places. It is immutable and safe for
// concurrent use.
type Model struct {
	params  Params
	kernel  kernel.Kernel
	support points.Points // the landmarks
	mu      []float64     // eigenvalues of their centred kernel matrix, descending
	v       blas.Matrix   // q x m, their eigenvectors
	d, beta []float64     // D_rr and the weights
	means   []float64     // of the rows of the kernel matrix
	between blas.Matrix   // squared distances of landmarks that are rows of a Gram matrix
	far     []FarPair
	status  algorithms.Status
	rows    []int      // of the landmarks among the training points, ascending
	links   *links.Set // that it has learned; nil, as rows are, from a file that does not hold them

	// Derived.
	p         blas.Matrix // m x q, places of the landmarks: V diag(beta)
	order     []int       // directions by weight, the largest first
	extension blas.Matrix // m x q, V diag(beta / mu)
	offset    []float64   // means' map

	lock      sync.Mutex
	distances blas.Matrix // of few landmarks, once they were needed
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Objective = (*Model)(nil)
	_ algorithms.Spectral  = (*Model)(nil)
	_ algorithms.Linker    = (*Model)(nil)
)

// prepare computes what follows from the rest.
func (m *Model) prepare() {
	count, q := m.support.Len(), len(m.mu)
	m.p, m.extension = blas.NewMatrix(count, q), blas.NewMatrix(count, q)
	m.offset, m.order = make([]float64, q), make([]int, q)
	for r := range q {
		m.order[r] = r
		for i, v := range m.v.Row(r) {
			m.p.Set(i, r, m.beta[r]*v)
			m.extension.Set(i, r, m.beta[r]/m.mu[r]*v)
			m.offset[r] += m.beta[r] / m.mu[r] * v * m.means[i]
		}
	}
	slices.SortStableFunc(m.order, func(a, b int) int { return cmp.Compare(m.beta[b], m.beta[a]) })
}

// Method returns "kbeta".
func (m *Model) Method() string { return Method }

// Params returns the parameters it was fitted with.
func (m *Model) Params() Params { return m.params }

// Kernel returns the kernel with its bandwidth as a number.
func (m *Model) Kernel() kernel.Kernel { return m.kernel }

// Spectrum returns copies of the eigenvalues mu of the landmarks' centred kernel matrix, in
// descending order, of the weights beta and of D.
func (m *Model) Spectrum() (mu, beta, d []float64) {
	return slices.Clone(m.mu), slices.Clone(m.beta), slices.Clone(m.d)
}

// Spectra returns mu, beta and D, as [Model.Spectrum] does.
func (m *Model) Spectra() []algorithms.Spectrum {
	mu, beta, d := m.Spectrum()
	return []algorithms.Spectrum{{Name: "eigenvalue mu", Values: mu}, {Name: "weight beta", Values: beta}, {Name: "must-link spread D", Values: d}}
}

// Far returns the must-links that stay farthest, the farthest first.
func (m *Model) Far() []FarPair { return slices.Clone(m.far) }

// Status says how the fit ended. The method is direct: it always converges.
func (m *Model) Status() algorithms.Status { return m.status }

// Objective returns the mean squared learned distance of the must-links.
func (m *Model) Objective() float64 {
	sum := 0.0
	for r, b := range m.beta {
		sum += b * b * m.d[r]
	}
	return sum
}

// Dim returns the number of columns of Embed: Params.Dims, or of all directions.
func (m *Model) Dim() int {
	if m.params.Dims == 0 {
		return len(m.beta)
	}
	return min(m.params.Dims, len(m.beta))
}

// InputDim returns the number of features (or reference objects) of the points that it takes.
func (m *Model) InputDim() int { return m.support.Dim() }

// Alphabet returns the letters of the sequences that it takes, "" for other points.
func (m *Model) Alphabet() string { return stored.Alphabet(m.support) }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	far := make([]string, len(m.far))
	for i, f := range m.far {
		far[i] = fmt.Sprintf("%d-%d (%.2g)", f.I, f.J, f.Ratio)
	}
	return []algorithms.Figure{
		{Name: "kernel", Value: m.kernel.String()},
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

// Embed maps n points to an n x Dim matrix: their places in the directions of the largest weights.
// Cost for k neighbours of m landmarks and q directions: m distances, O(k^3 + k q) a point and
// iteration.
// Errors: points of another kind or dimension than those of the fit, or that are not finite; a result above
// the memory limit; ctx.Err().
func (m *Model) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	if err := m.check(x); err != nil {
		return blas.Matrix{}, err
	}
	dims := m.Dim()
	if err := eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", x.Len(), dims), engine.MatrixBytes(x.Len(), dims), "embed fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	return m.embed(ctx, eng, x, m.order[:dims])
}

// embed returns the given directions of the places.
func (m *Model) embed(ctx context.Context, eng *engine.Engine, x points.Points, directions []int) (blas.Matrix, error) {
	out := eng.NewMatrix(x.Len(), len(directions))
	err := m.places(ctx, eng, x, func(lo int, y blas.Matrix) error {
		return eng.For(ctx, y.Rows, 1024, func(from, to int) error {
			for i := from; i < to; i++ {
				row, place := out.Row(lo+i), y.Row(i)
				for c, r := range directions {
					if row[c] = place[r]; math.IsNaN(row[c]) || math.IsInf(row[c], 0) {
						return &fault.DataError{Row: lo + i, Err: errors.New("the place of this point is not representable: want smaller values (scale the data)")}
					}
				}
			}
			return nil
		})
	})
	if err != nil {
		return blas.Matrix{}, input.Cancelled(ctx, Method+":", err)
	}
	return out, nil
}

// Gram evaluates the learned kernel, |x| x |y|: inner products of places. A nil y means x.
// Cost: that of embedding x and y, and 2 |x| |y| q flops. Errors as for Embed.
func (m *Model) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if err := m.check(x); err != nil {
		return blas.Matrix{}, err
	}
	if y != nil {
		if err := m.check(y); err != nil {
			return blas.Matrix{}, err
		}
	}
	all := m.all()
	g, err := places.Gram(ctx, eng, x, y, len(all), func(x points.Points) (blas.Matrix, error) { return m.embed(ctx, eng, x, all) })
	return g, input.Cancelled(ctx, Method+":", err)
}

// all returns all directions, in their own order.
func (m *Model) all() []int {
	all := make([]int, len(m.beta))
	for r := range all {
		all[r] = r
	}
	return all
}

// Distances returns the squared learned distance of each pair of rows of x, in all directions. A
// row out of range is a *fault.DataError whose Row is the number of the pair.
// Cost: that of embedding x, and q flops a pair.
func (m *Model) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	return m.pairDistances(eng, x, pairs, m.directions(ctx, eng))
}

func (m *Model) pairDistances(eng *engine.Engine, x points.Points, pairs [][2]int, embed places.Embed) ([]float64, error) {
	if err := m.check(x); err != nil {
		return nil, err
	}
	return places.Distances(eng, x, pairs, embed)
}

// directions embeds in all directions.
func (m *Model) directions(ctx context.Context, eng *engine.Engine) places.Embed {
	return func(x points.Points) (blas.Matrix, error) {
		if err := eng.Check(fmt.Sprintf("places of %d points", x.Len()), engine.MatrixBytes(x.Len(), len(m.beta)), "ask for fewer pairs at a time"); err != nil {
			return blas.Matrix{}, err
		}
		return m.embed(ctx, eng, x, m.all())
	}
}

func (m *Model) check(x points.Points) error {
	if err := stored.Check(x, m.support); err != nil {
		return err
	}
	return input.Points(x)
}
