// Package maps holds the maps from points to coordinates that models consist of: embedding, Gram
// matrix, distances and storage. There are four kinds: linear, y = W (x - mean); an expansion over
// stored points, y = V k(l, x) - c; a table of the coordinates of training rows with an
// out-of-sample extension; and a function of single points. An expansion can be the projection of a
// learned kernel, whose Gram matrices and distances it then has.
package maps

import (
	"context"
	"errors"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Map maps points to coordinates. The squared Euclidean distance of coordinates is the learned one,
// or a projection of it for a map of [Corrected].
// It is immutable and safe for concurrent use.
type Map struct {
	form
	method string
}

// form is one of the four kinds of maps.
type form interface {
	// Dim returns the number of columns of Embed.
	Dim() int
	// InputDim returns the number of features (or reference objects) of its input points.
	InputDim() int
	// Alphabet returns the letters of its input sequences, "" for other points.
	Alphabet() string
	// Kernel returns the kernel, with a number as its bandwidth. For a linear map it is the linear
	// kernel if the method takes kernels, and the zero Kernel otherwise.
	Kernel() kernel.Kernel
	check(method string, x points.Points) error
	// embed writes the coordinates of points that passed check.
	embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error
	single(ctx context.Context, eng *engine.Engine, method string, x *points.Single) (blas.Matrix32, error)
	// encode returns the members of the header, nil for none.
	encode(f *model.File, method string) any
	// formula returns the map as data, or why there is none.
	formula(method string) (formula.Map, error)
}

// Reader reads the map of a method from a file. An unusable tensor or member of the header is a
// *fault.DataError.
type Reader func(method string, f *model.File) (*Map, error)

// Method returns the name of the method that made the map.
func (m *Map) Method() string { return m.method }

// Check returns the error of points that are not of the kind that the map takes, or not finite.
func (m *Map) Check(x points.Points) error { return m.check(m.method, x) }

// Embed maps n points to n x Dim coordinates.
func (m *Map) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	if err := m.check(m.method, x); err != nil {
		return blas.Matrix{}, err
	}
	if err := checkMemory(eng, x.Len(), m.Dim(), 1); err != nil {
		return blas.Matrix{}, err
	}
	y := eng.NewMatrix(x.Len(), m.Dim())
	err := m.embed(ctx, eng, x, y)
	if err == nil {
		err = eng.For(ctx, y.Rows, 4096, func(lo, hi int) error {
			return finite(lo, hi, y.Row, "not representable: want smaller values (standardize the data)")
		})
	}
	if err != nil {
		return blas.Matrix{}, input.Canceled(ctx, m.method+":", err)
	}
	return y, nil
}

// EmbedSingle is [Map.Embed] in single precision, as algorithms.SingleEmbedder specifies. It is for
// linear maps and expansions; for a table it returns a *fault.ParamError.
func (m *Map) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	return m.single(ctx, eng, m.method, x)
}

// checkMemory checks the memory of an embedding against the limit. Its values take 1/part of the
// bytes of float64.
func checkMemory(eng *engine.Engine, n, dim, part int) error {
	return eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", n, dim), engine.MatrixBytes(n, dim)/int64(part), "embed fewer points at a time")
}

// finite returns a *fault.DataError for the first row from lo to hi - 1 with a value that is not
// finite.
func finite[F float32 | float64](lo, hi int, row func(i int) []F, what string) error {
	for i := lo; i < hi; i++ {
		for _, v := range row(i) {
			if v-v != 0 {
				return &fault.DataError{Row: i, Err: errors.New("coordinates " + what)}
			}
		}
	}
	return nil
}

// Gram evaluates the learned kernel, |x| x |y|: the inner products of embedded points, or the
// kernel itself for a map of [Corrected]. A nil y means x, and then the result is exactly
// symmetric.
func (m *Map) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if err := m.check(m.method, x); err != nil {
		return blas.Matrix{}, err
	}
	if c, is := m.form.(*corrected); is {
		return c.checkedGram(ctx, eng, m.method, x, y)
	}
	rows, cols := x.Len(), x.Len()
	if y != nil {
		cols = y.Len()
	}
	need := engine.MatrixBytes(rows, cols) + engine.MatrixBytes(rows+cols, m.Dim())
	if err := eng.Check(fmt.Sprintf("learned kernel matrix %d x %d", rows, cols), need, "take fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	a, err := m.Embed(ctx, eng, x)
	if err != nil {
		return blas.Matrix{}, err
	}
	left := &points.Dense{N: rows, D: a.Cols, Data: a.Data}
	if y == nil {
		return kernel.Linear().Gram(ctx, eng, left)
	}
	b, err := m.Embed(ctx, eng, y)
	if err != nil {
		return blas.Matrix{}, err
	}
	return kernel.Linear().Cross(ctx, eng, left, &points.Dense{N: cols, D: b.Cols, Data: b.Data})
}

// Distances returns the squared learned distance of each pair of rows of x: that of the
// coordinates, or of the learned kernel itself for a map of [Corrected]. It looks only at the rows
// that occur in pairs. A row out of range is a *fault.DataError whose Row is the number of the
// pair.
func (m *Map) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	if c, is := m.form.(*corrected); is {
		if err := m.check(m.method, x); err != nil {
			return nil, err
		}
		return c.checkedDistances(ctx, eng, m.method, x, pairs)
	}
	return m.distances(eng, x, pairs, func(rows []int) (blas.Matrix, error) {
		if t, is := m.form.(*table); is {
			if own, is := t.training(x); is {
				return own.Select(rows), nil
			}
		}
		return m.Embed(ctx, eng, x.Select(rows))
	})
}

// DistancesBy is [Map.Distances] in the coordinates that embed returns.
func (m *Map) DistancesBy(eng *engine.Engine, x points.Points, pairs [][2]int, embed func(points.Points) (blas.Matrix, error)) ([]float64, error) {
	return m.distances(eng, x, pairs, func(rows []int) (blas.Matrix, error) { return embed(x.Select(rows)) })
}

// distances finds those of pairs in the coordinates that embed returns for rows of x.
func (m *Map) distances(eng *engine.Engine, x points.Points, pairs [][2]int, embed func(rows []int) (blas.Matrix, error)) ([]float64, error) {
	if err := m.check(m.method, x); err != nil {
		return nil, err
	}
	if err := input.Pairs(x.Len(), pairs); err != nil {
		return nil, err
	}
	rows, at := input.RowsOf(pairs)
	y, err := embed(rows)
	if err != nil {
		return nil, err
	}
	t, out := eng.Backend().Kernels(), make([]float64, len(pairs))
	for p, pair := range pairs {
		out[p] = t.SquaredDistance(y.Row(at[pair[0]]), y.Row(at[pair[1]]))
		if out[p]-out[p] != 0 {
			return nil, notFinite(p, pair, out[p])
		}
	}
	return out, nil
}

// Encode stores the map in f, in tensors named after the method, and returns the map's members of
// the header, nil for none.
func (m *Map) Encode(f *model.File) any { return m.encode(f, m.method) }

// basis is a kernel and the points with which a map evaluates it.
type basis struct {
	kernel  kernel.Kernel
	support points.Points
}

func (b *basis) InputDim() int         { return b.support.Dim() }
func (b *basis) Alphabet() string      { return stored.Alphabet(b.support) }
func (b *basis) Kernel() kernel.Kernel { return b.kernel }

func (b *basis) check(_ string, x points.Points) error {
	if err := stored.Check(x, b.support); err != nil {
		return err
	}
	return input.Points(x)
}

// About holds the members of the header that describe stored points.
type About struct {
	InputDim int    `json:"input_dim"`
	Alphabet string `json:"alphabet,omitempty"`
	Centered bool   `json:"kernel_centered,omitempty"` // the file has a center of the kernel
}

// encode stores the points and the kernel.
func (b *basis) encode(f *model.File) About {
	stored.SetKernel(f, b.kernel)
	stored.Encode(f, b.support)
	return About{b.InputDim(), b.Alphabet(), b.kernel.Origin() != nil}
}

// ReadSupport reads the kernel and the stored points. Unusable ones are a *fault.DataError.
func ReadSupport(f *model.File, about About) (k kernel.Kernel, x points.Points, err error) {
	if k, err = stored.Kernel(f); err != nil {
		return k, nil, err
	}
	if x, err = stored.Decode(f, about.InputDim, about.Alphabet); err != nil {
		return k, nil, err
	}
	if about.Centered {
		k, err = stored.Centered(f, k, x)
	}
	return k, x, err
}
