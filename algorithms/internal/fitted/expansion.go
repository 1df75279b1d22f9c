package fitted

import (
	"context"
	"fmt"
	"sync"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// expansion is the map y = V k(l, x) - c over m stored points l.
type expansion struct {
	basis
	v      blas.Matrix // Dim x m
	center []float64   // c, nil for 0

	once       sync.Once
	transposed blas.Matrix // m x Dim: V', after turned
}

// NewExpansion returns the map y = V k(l, x) - c of the named method over the given points l. It
// keeps v (Dim x m) and center (Dim values, or nil for 0). Embedding costs m kernel values and
// 2 m Dim flops per point.
func NewExpansion(method string, k kernel.Kernel, support points.Points, v blas.Matrix,
	center []float64) *Map {
	return &Map{expand(basis{k, StripPoints(support)}, v, center), method}
}

func expand(b basis, v blas.Matrix, center []float64) *expansion {
	return &expansion{basis: b, v: v, center: center}
}

// turned returns V', which the first call computes; on one core without an engine.
func (e *expansion) turned(eng *engine.Engine) blas.Matrix {
	e.once.Do(func() {
		if eng != nil {
			e.transposed = eng.Transposed(e.v)
			return
		}
		e.transposed = blas.NewMatrix(e.v.Cols, e.v.Rows)
		e.v.TransposeTo(e.transposed)
	})
	return e.transposed
}

// Support returns the number of support points of an expansion, and 0 for another map.
func (m *Map) Support() int {
	if e, is := m.Inner().form.(interface{ count() int }); is {
		return e.count()
	}
	return 0
}

func (e *expansion) count() int { return e.v.Cols }

// Changed returns the expansion m with change(V) instead of V, and without its center.
func Changed(m *Map, change func(v blas.Matrix) blas.Matrix) *Map {
	e := m.expansion()
	return &Map{expand(e.basis, change(e.v), nil), m.method}
}

// expansion returns the expansion that m is, with or without a correction.
func (m *Map) expansion() *expansion {
	if c, is := m.form.(*corrected); is {
		return c.expansion
	}
	return m.form.(*expansion)
}

func (e *expansion) Dim() int { return e.v.Rows }

func (e *expansion) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	if err := e.kernel.MultiplyTo(ctx, eng, y, x, e.support, e.turned(eng)); err != nil {
		return err
	}
	if e.center == nil {
		return nil
	}
	t := eng.Backend().Kernels()
	return eng.Each(ctx, y.Rows, 1024, func(i int) { t.Axpy(-1, e.center, y.Row(i)) })
}

func (e *expansion) single(ctx context.Context, eng *engine.Engine, method string,
	x *points.Single) (blas.Matrix32, error) {
	return EmbedSingle(ctx, eng, method, e.kernel, e.support, e.turned(eng), e.center, x)
}

// beyondSingle is the message of finite in single precision.
const beyondSingle = "beyond single precision: want smaller values (standardize the data), or double precision"

// EmbedSingle returns y = V k(l, x) - c in single precision for n points, n x dims. The matrix
// transposed is V' (m x dims); center is c, or nil for 0. Support points that are not dense vectors
// are a *fault.ParamError. Cost: 2 n m (d + dims) flops, and rounding m (d + dims) numbers.
func EmbedSingle(ctx context.Context, eng *engine.Engine, method string, k kernel.Kernel,
	support points.Points, transposed blas.Matrix, center []float64, x *points.Single) (blas.Matrix32,
	error) {
	dense, ok := support.(*points.Dense)
	if !ok {
		return blas.Matrix32{},
			fault.Param("precision", "single", "double for a model whose points are not dense vectors")
	}
	if x.D != dense.D {
		return blas.Matrix32{}, WrongFeatures(x.D, dense.D)
	}
	if o := k.Origin(); o != nil { // less the center in double precision
		dense, x, k = o.Moved(dense), o.MovedSingle(x), k.At(nil)
	}
	narrow, err := points.Narrow(dense)
	if err != nil {
		return blas.Matrix32{}, fmt.Errorf("%s: the model's points in single precision: %w", method, err)
	}
	v := blas.NewMatrix32(transposed.Rows, transposed.Cols)
	for l := range transposed.Rows {
		eng.Backend().Kernels().Narrow(v.Row(l), transposed.Row(l))
	}
	if err := checkMemory(eng, x.N, v.Cols, 2); err != nil {
		return blas.Matrix32{}, err
	}
	y := blas.NewMatrix32(x.N, v.Cols)
	if err := k.MultiplySingle(ctx, eng, y, x, narrow, v); err != nil {
		return blas.Matrix32{}, input.Failed(ctx, method+":", err)
	}
	for i := range y.Rows {
		row := y.Row(i)
		for c, shift := range center {
			row[c] -= float32(shift)
		}
	}
	return y, finite(0, y.Rows, y.Row, beyondSingle)
}

// Suffixes of the tensors that hold V and c.
const (
	tensorExpansion = ".expansion"
	tensorCenter    = ".center"
	earlierCenter   = ".centre" // its name in the first files
)

func (e *expansion) encode(f *model.File, method string) any {
	SetMatrix(f, method+tensorExpansion, e.v)
	if e.center != nil {
		f.SetFloat64s(method+tensorCenter, e.center)
	}
	return e.basis.encode(f)
}

// ReadExpansion is the [Reader] of expansions.
func ReadExpansion(method string, f *model.File) (*Map, error) {
	var about MapHeader
	if err := ReadExtra(f, method, &about); err != nil {
		return nil, err
	}
	k, support, err := ReadSupport(f, about)
	if err != nil {
		return nil, err
	}
	count := support.Len()
	data, err := ReadFinite(f, method+tensorExpansion, -1, count)
	if err != nil {
		return nil, err
	}
	if count == 0 || len(data) == 0 {
		return nil, fault.Data("", "an expansion of %d values over %d points: want at least one of each",
			len(data), count)
	}
	v, center := blas.MatrixOf(len(data)/count, count, data), []float64(nil)
	for _, name := range []string{tensorCenter, earlierCenter} {
		if center == nil && f.Has(method+name) {
			if center, err = ReadFinite(f, method+name, v.Rows); err != nil {
				return nil, err
			}
		}
	}
	return readCorrection(&Map{expand(basis{k, support}, v, center), method}, f)
}

// ReadCentered is the [Reader] of expansions that always have a center.
func ReadCentered(method string, f *model.File) (*Map, error) {
	m, err := ReadExpansion(method, f)
	if err != nil {
		return nil, err
	}
	if m.expansion().center == nil {
		return nil, fault.Data("", "tensor %q is missing: want the center of the coordinates",
			method+tensorCenter)
	}
	return m, nil
}

// ReadEither is the [Reader] of methods whose map is an expansion with a kernel, and linear without
// one.
func ReadEither(method string, f *model.File) (*Map, error) {
	if f.Header.Kernel != "" {
		return ReadExpansion(method, f)
	}
	m, err := ReadLinear(method, f)
	if err != nil {
		return nil, err
	}
	return WithKernel(m), nil
}

// sum is the sum of a linear map and an expansion.
type sum struct {
	*expansion
	linear *linear
}

// Sum returns the sum of a linear map and an expansion, which must have the same numbers of
// directions and of features.
func Sum(flat, bent *Map) *Map {
	return &Map{&sum{bent.form.(*expansion), flat.form.(*linear)}, flat.method}
}

func (s *sum) check(method string, x points.Points) error { return s.linear.check(method, x) }

func (s *sum) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	if err := s.linear.embed(ctx, eng, x, y); err != nil {
		return err
	}
	z := eng.NewMatrix(y.Rows, y.Cols)
	if err := s.expansion.embed(ctx, eng, x, z); err != nil {
		return err
	}
	eng.Backend().Kernels().Axpy(1, z.Data, y.Data)
	return nil
}

func (s *sum) single(ctx context.Context, eng *engine.Engine, method string,
	x *points.Single) (blas.Matrix32, error) {
	y, err := s.linear.single(ctx, eng, method, x)
	if err != nil {
		return y, err
	}
	z, err := s.expansion.single(ctx, eng, method, x)
	for i, v := range z.Data {
		y.Data[i] += v
	}
	return y, err
}

func (s *sum) encode(f *model.File, method string) any {
	s.linear.encode(f, method)
	return s.expansion.encode(f, method)
}

// ReadSum is the [Reader] of sums.
func ReadSum(method string, f *model.File) (*Map, error) {
	flat, err := ReadLinear(method, f)
	if err != nil {
		return nil, err
	}
	bent, err := ReadCentered(method, f)
	if err != nil {
		return nil, err
	}
	if a, b := flat.Dim(), bent.Dim(); a != b || flat.InputDim() != bent.InputDim() {
		return nil, fault.Data("",
			"the linear part has %d directions of %d features, the expansion %d of %d: want the same numbers",
			a, flat.InputDim(), b, bent.InputDim())
	}
	return Sum(flat, bent), nil
}
