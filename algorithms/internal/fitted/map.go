// Package fitted is what a fit leaves: the map from points to coordinates that a model consists of,
// and its form in a model file. There are six kinds of maps: linear, y = W (x - mean); an expansion
// over stored points, y = V k(l, x) - c; a table of the coordinates of training rows with an
// out-of-sample extension; a function of single points; a sum of other maps; and a map of the
// coordinates that an expansion gives. An expansion can be the projection of a learned kernel,
// whose Gram matrices and distances it then has. [Model] has the parameters and the status of the
// fit in addition; models with more data embed it. What is read from a file is checked to the last
// number.
package fitted

import (
	"context"
	"errors"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/internal/input"
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
		return blas.Matrix{}, input.Failed(ctx, m.method+":", err)
	}
	return y, nil
}

// EmbedSingle is [Map.Embed] in single precision, as algorithms.SingleEmbedder specifies. It is for
// linear maps and expansions; for a table it returns a *fault.ParamError.
func (m *Map) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	return m.single(ctx, eng, m.method, x)
}

// rounded returns the coordinates of points that a map computes in double precision, some rows at a
// time, rounded to single precision.
func rounded(ctx context.Context, eng *engine.Engine, f form, x *points.Single) (blas.Matrix32, error) {
	if x.D != f.InputDim() {
		return blas.Matrix32{}, WrongFeatures(x.D, f.InputDim())
	}
	if err := checkMemory(eng, x.N, f.Dim(), 2); err != nil {
		return blas.Matrix32{}, err
	}
	y := blas.NewMatrix32(x.N, f.Dim())
	rows := max(1, min(x.N, turnedBytes/8/(x.D+f.Dim())))
	from, to := make([]float64, rows*x.D), blas.NewMatrix(rows, f.Dim())
	for lo := 0; lo < x.N; lo += rows {
		part := &points.Dense{N: min(rows, x.N-lo), D: x.D}
		part.Data = from[:part.N*x.D]
		for i, v := range x.Data[lo*x.D : (lo+part.N)*x.D] {
			from[i] = float64(v)
		}
		if err := f.embed(ctx, eng, part, to); err != nil {
			return y, fault.InRows(err, lo)
		}
		for i := range part.N {
			eng.Backend().Kernels().Narrow(y.Row(lo+i), to.Row(i))
		}
	}
	return y, finite(0, y.Rows, y.Row, beyondSingle)
}

// checkMemory checks the memory of an embedding against the limit. Its values take 1/part of the
// bytes of float64.
func checkMemory(eng *engine.Engine, n, dim, part int) error {
	return eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", n, dim),
		engine.MatrixBytes(n, dim)/int64(part), "embed fewer points at a time")
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
	if err := eng.Check(fmt.Sprintf("learned kernel matrix %d x %d", rows, cols), need,
		"take fewer points at a time"); err != nil {
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
func (m *Map) Distances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	if c, is := m.form.(*corrected); is {
		if err := m.check(m.method, x); err != nil {
			return nil, err
		}
		return c.checkedDistances(ctx, eng, m.method, x, pairs)
	}
	return m.DistancesBy(eng, x, pairs, func(part points.Points) (blas.Matrix, error) {
		return m.Embed(ctx, eng, part)
	})
}

// DistancesBy is [Map.Distances] in the coordinates that embed returns for rows of x.
func (m *Map) DistancesBy(
	eng *engine.Engine, x points.Points, pairs [][2]int, embed func(points.Points) (blas.Matrix, error),
) ([]float64, error) {
	if err := m.check(m.method, x); err != nil {
		return nil, err
	}
	if err := input.Pairs(x.Len(), pairs); err != nil {
		return nil, err
	}
	rows, at := input.RowsOf(pairs)
	y, err := embed(x.Select(rows))
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
func (b *basis) Alphabet() string      { return Alphabet(b.support) }
func (b *basis) Kernel() kernel.Kernel { return b.kernel }
func (b *basis) stored() points.Points { return b.support }

// Stored returns the points that the map stores, nil if it stores none, or only rows of a Gram
// matrix.
func (m *Map) Stored() points.Points {
	if b, is := m.form.(interface{ stored() points.Points }); is {
		if _, gram := b.stored().(*points.Gram); !gram {
			return b.stored()
		}
	}
	return nil
}

func (b *basis) check(_ string, x points.Points) error {
	if err := CheckPoints(x, b.support); err != nil {
		return err
	}
	return input.Points(x)
}

// MapHeader holds the members of the header that describe stored points.
type MapHeader struct {
	InputDim int    `json:"input_dim"`
	Alphabet string `json:"alphabet,omitempty"`
	Centered bool   `json:"kernel_centered,omitempty"` // the file has a center of the kernel
}

// encode stores the points and the kernel.
func (b *basis) encode(f *model.File) MapHeader {
	SetKernel(f, b.kernel)
	StorePoints(f, b.support)
	return MapHeader{b.InputDim(), b.Alphabet(), b.kernel.Origin() != nil}
}

// ReadSupport reads the kernel and the stored points. Unusable ones are a *fault.DataError.
func ReadSupport(f *model.File, about MapHeader) (k kernel.Kernel, x points.Points, err error) {
	if k, err = ReadKernel(f); err != nil {
		return k, nil, err
	}
	if x, err = ReadPoints(f, about.InputDim, about.Alphabet); err != nil {
		return k, nil, err
	}
	if about.Centered {
		k, err = ReadCenter(f, k, x)
	}
	return k, x, err
}

// linear is the map y = W (x - mean).
type linear struct {
	mean   []float64     // length d
	w      blas.Matrix   // Dim x d
	kernel kernel.Kernel // linear if the method also takes kernels, else zero
}

// NewLinear returns the map y = W (x - mean) of the named method, which is exact for any points. It
// keeps mean (length d) and w (Dim x d). Embedding n points costs 2 n d Dim flops.
func NewLinear(method string, mean []float64, w blas.Matrix) *Map {
	return &Map{&linear{mean: mean, w: w}, method}
}

// WithKernel returns the linear map m of a method that also takes kernels: its kernel is linear.
func WithKernel(m *Map) *Map {
	l := *m.form.(*linear)
	l.kernel = kernel.Linear()
	return &Map{&l, m.method}
}

// Transform returns W (Dim x d) and the mean (length d) of a linear map, and no data for another
// map. They are shared: do not change them.
func (m *Map) Transform() (w blas.Matrix, mean []float64) {
	if l, is := m.form.(*linear); is {
		return l.w, l.mean
	}
	return w, nil
}

func (l *linear) Dim() int              { return l.w.Rows }
func (l *linear) InputDim() int         { return len(l.mean) }
func (l *linear) Alphabet() string      { return "" }
func (l *linear) Kernel() kernel.Kernel { return l.kernel }

func (l *linear) check(method string, x points.Points) error {
	dense, err := input.Vectors(method, x)
	if err != nil {
		return err
	}
	if dense.D != len(l.mean) {
		return WrongFeatures(dense.D, len(l.mean))
	}
	return input.Points(dense)
}

func (l *linear) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	dense := x.(*points.Dense)
	return eng.For(ctx, dense.N, 1024, func(lo, hi int) error {
		rows := eng.GetMatrix(hi-lo, dense.D)
		defer eng.PutMatrix(rows)
		for i := lo; i < hi; i++ {
			row := rows.Row(i - lo)
			for j, v := range dense.Row(i) {
				row[j] = v - l.mean[j]
			}
		}
		eng.Backend().Gemm(false, true, 1, rows, l.w, 0, y.View(lo, hi, 0, y.Cols))
		return nil
	})
}

// single computes x - mean in double precision and rounds it once.
func (l *linear) single(ctx context.Context, eng *engine.Engine, method string,
	x *points.Single) (blas.Matrix32, error) {
	return l.multiplySingle(ctx, eng, method, x, l.center, nil)
}

// center subtracts the mean from x.
func (l *linear) center(x []float64) {
	for j, v := range l.mean {
		x[j] -= v
	}
}

// multiplySingle returns after(W before(x)), or W before(x) if after is nil: before and after
// compute in double precision, in place, and the product is one in single precision.
func (l *linear) multiplySingle(ctx context.Context, eng *engine.Engine, method string, x *points.Single,
	before, after func(row []float64)) (blas.Matrix32, error) {
	if x.D != len(l.mean) {
		return blas.Matrix32{}, WrongFeatures(x.D, len(l.mean))
	}
	w, err := points.Narrow(&points.Dense{N: l.w.Rows, D: l.w.Cols, Data: l.w.Clone().Data})
	if err != nil {
		return blas.Matrix32{},
			fmt.Errorf("%s: the model's transformation in single precision: %w", method, err)
	}
	need := engine.MatrixBytes(x.N, l.w.Rows+x.D) / 2
	if err := eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", x.N, l.w.Rows), need,
		"embed fewer points at a time"); err != nil {
		return blas.Matrix32{}, err
	}
	t, wide := eng.Backend().Kernels(), make([]float64, max(x.D, l.w.Rows))
	each := func(to, from []float32, change func(row []float64)) {
		row := wide[:len(from)]
		for j, v := range from {
			row[j] = float64(v)
		}
		change(row)
		t.Narrow(to, row)
	}
	from := &points.Single{N: x.N, D: x.D, Data: make([]float32, x.N*x.D)}
	for i := range x.N {
		each(from.Row(i), x.Row(i), before)
	}
	y := blas.NewMatrix32(x.N, l.w.Rows)
	if err := kernel.Linear().CrossSingle(ctx, eng, y, from, w); err != nil {
		return blas.Matrix32{}, input.Failed(ctx, method+":", err)
	}
	for i := 0; after != nil && i < x.N; i++ {
		each(y.Row(i), y.Row(i), after)
	}
	return y, finite(0, y.Rows, y.Row, beyondSingle)
}

func (l *linear) encode(f *model.File, method string) any {
	f.SetFloat64s(method+".mean", l.mean)
	SetMatrix(f, method+".transform", l.w)
	if l.kernel.String() == "" {
		return nil
	}
	return MapHeader{}
}

// ReadLinear is the [Reader] of linear maps.
func ReadLinear(method string, f *model.File) (*Map, error) {
	mean, err := ReadFinite(f, method+".mean", -1)
	if err != nil {
		return nil, err
	}
	d := len(mean)
	data, err := ReadFinite(f, method+".transform", -1, d)
	if err != nil {
		return nil, err
	}
	if d == 0 || len(data) == 0 {
		return nil, fault.Data("", "a transformation of %d features to %d values: want at least one of each",
			d, len(data))
	}
	return NewLinear(method, mean, blas.MatrixOf(len(data)/d, d, data)), nil
}

// Formula returns the map as data. A map without a formula for new rows, such as one that searches
// for their neighbors, is a *fault.ParamError.
func (m *Map) Formula() (formula.Map, error) { return m.formula(m.method) }

// Formulated is implemented by extensions and functions with a formula.
type Formulated interface{ Formula() (formula.Map, error) }

// NoFormula is the error of a map of the named method without a formula.
func NoFormula(method, why string) error {
	return &fault.ParamError{Param: "method of the model", Value: method,
		Want: "one with a formula for new rows (" + why + "), such as blend, lleratio, krca or itml"}
}

func (l *linear) formula(string) (formula.Map, error) {
	return &formula.Linear{W: l.w, Mean: l.mean}, nil
}

func (e *expansion) formula(string) (formula.Map, error) {
	return formula.Centered(&formula.Expansion{Kernel: e.kernel, Support: e.support, V: e.turned(nil),
		Center: e.center})
}

func (s *sum) formula(method string) (formula.Map, error) {
	flat, _ := s.linear.formula(method) // these two have no errors
	bent, _ := s.expansion.formula(method)
	return &formula.Sum{Terms: []formula.Map{flat, bent}}, nil
}

func (c composed) formula(method string) (formula.Map, error) {
	first, _ := c.first.formula(method) // an expansion has no error
	then, err := c.then.formula(method)
	return &formula.Chain{First: first, Then: then}, err
}

func (f function) formula(method string) (formula.Map, error) {
	if own, is := f.Function.(Formulated); is {
		return own.Formula()
	}
	return nil, NoFormula(method, method+" sends rows through trees")
}

func (t *table) formula(method string) (formula.Map, error) {
	if e, is := t.ext.(Formulated); is {
		rest, err := e.Formula()
		if err != nil || t.coordinates.Rows == 0 || t.coordinates.Rows != t.support.Len() {
			return rest, err
		}
		return &formula.Lookup{Rows: t.support, Coordinates: t.coordinates, Rest: rest}, nil
	}
	return nil, NoFormula(method, method+" takes those of new rows from the training rows nearest to them")
}

// formula is the sum of the members, each with its axes behind it.
func (t turned) formula(method string) (formula.Map, error) {
	all, first := &formula.Sum{}, 0
	for _, m := range t.members {
		own, err := m.form.formula(method)
		if err != nil {
			return nil, err
		}
		w := blas.NewMatrix(t.axes.Cols, own.Dim())
		for i := range own.Dim() {
			for c, v := range t.axes.Row(first + i) {
				w.Set(c, i, v)
			}
		}
		first += own.Dim()
		all.Terms = append(all.Terms,
			&formula.Chain{First: own, Then: &formula.Linear{W: w, Mean: make([]float64, own.Dim())}})
	}
	return all, nil
}
