package fitted

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// doubled maps a point to twice its first feature. It refuses a negative feature and maps 0 to NaN.
type doubled struct{}

func (doubled) Begin(context.Context, *engine.Engine) (Block, error) {
	return func(x points.Points, to blas.Matrix) error {
		for i := range to.Rows {
			v := x.(*points.Dense).Row(i)[0]
			if v < 0 {
				return &fault.DataError{Row: i, Err: errors.New("negative")}
			}
			to.Set(i, 0, 2*v+0*math.Log(v))
		}
		return nil
	}, nil
}

func (doubled) Encode(_ *model.File, _ string, about MapHeader) any { return about }

// A table embeds block by block. The error of a block, and that of a coordinate that is not finite,
// name the row among all points.
func TestTableByBlocks(t *testing.T) {
	n := rows + 100
	x := &points.Dense{N: n, D: 1, Data: make([]float64, n)}
	for i := range x.Data {
		x.Data[i] = float64(i + 1)
	}
	m := Extended("test", Table{Kernel: kernel.Linear(), Support: x, Dim: 1}, doubled{})
	ctx, eng := context.Background(), enginetest.New(t, 2)
	y, err := m.Embed(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range y.Data {
		if v != 2*x.Data[i] {
			t.Fatalf("row %d is %v, want %v", i, v, 2*x.Data[i])
		}
	}
	for _, bad := range []float64{-1, 0} {
		x.Data[rows+3] = bad
		_, err := m.Embed(ctx, eng, x)
		if e, is := errors.AsType[*fault.DataError](err); !is || e.Row != rows+3 {
			t.Errorf("a value %v in row %d: error %v", bad, rows+3, err)
		}
	}
}

// Only a linear map has a transformation, only a table has coordinates of training rows and an
// extension, and a linear map has a kernel only if its method takes kernels. A composed map has the
// kernel of the first and the rest of the second.
func TestKinds(t *testing.T) {
	one := blas.MatrixOf(1, 1, []float64{2})
	x := &points.Dense{N: 1, D: 1, Data: []float64{3}}
	flat := NewLinear("test", []float64{1}, one)
	bent := NewExpansion("test", kernel.Linear(), x, one, nil)
	both := NewLinear("test", []float64{1}, one) // 2 (6 x - 1)
	Compose(both, bent)
	table := Extended("test", NewTable(kernel.Linear(), x, one), doubled{})
	for _, c := range []struct {
		name          string
		m             *Map
		linear, table bool
		support       int
		kernel        string
		inSingle      bool
		want          float64 // the coordinate of 3, which a table stores
	}{
		{"linear", flat, true, false, 0, "", true, 4},
		{"linear with kernels", WithKernel(flat), true, false, 0, "linear", true, 4},
		{"expansion", bent, false, false, 1, "linear", true, 18},
		{"sum", Sum(flat, bent), false, false, 1, "linear", true, 22},
		{"composed", both, false, false, 0, "linear", false, 34},
		{"table", table, false, true, 0, "linear", false, 2},
	} {
		ctx, eng := context.Background(), enginetest.New(t, 1)
		w, _ := c.m.Transform()
		if (w.Data != nil) != c.linear || (c.m.Coordinates().Data != nil) != c.table ||
			(c.m.Extension() != nil) != c.table || c.m.Support() != c.support ||
			c.m.Kernel().String() != c.kernel {
			t.Errorf("%s: transformation %v, coordinates %v, %d points, kernel %s", c.name, w.Data,
				c.m.Coordinates().Data, c.m.Support(), c.m.Kernel())
		}
		y, err := c.m.Embed(ctx, eng, x)
		if err != nil || y.At(0, 0) != c.want {
			t.Errorf("%s: coordinate %v, want %v (%v)", c.name, y.Data, c.want, err)
		}
		z, err := c.m.EmbedSingle(ctx, eng, &points.Single{N: 1, D: 1, Data: []float32{3}})
		if c.inSingle && (err != nil || float64(z.Row(0)[0]) != c.want) || !c.inSingle &&
			!fault.IsInput(err) {
			t.Errorf("%s: %v in single precision, want %v (%v)", c.name, z.Data, c.want, err)
		}
	}
	if _, err := flat.Embed(context.Background(), enginetest.New(t, 1), nil); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "dense vectors for test") {
		t.Errorf("no points: %v", err)
	}
}
