package operator_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/operator"
)

// symmetric returns a matrix, dense and sparse, with a third of its elements not zero.
func symmetric(n int) (blas.Matrix, *sparse.Matrix) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	a := blas.NewMatrix(n, n)
	for i := range n {
		for j := range i + 1 {
			if rng.IntN(3) == 0 {
				v := rng.NormFloat64()
				a.Set(i, j, v)
				a.Set(j, i, v)
			}
		}
	}
	m := &sparse.Matrix{Rows: n, Cols: n, Start: []int{0}}
	for i := range n {
		for j, v := range a.Row(i) {
			if v != 0 {
				m.Col, m.Val = append(m.Col, int32(j)), append(m.Val, v)
			}
		}
		m.Start = append(m.Start, len(m.Col))
	}
	return a, m
}

func operatorRandom(n, r int) blas.Matrix {
	return enginetest.Matrix(rand.New(rand.NewPCG(2, uint64(n))), n, r, 0)
}

// plain returns A X by definition.
func plain(a, x blas.Matrix) blas.Matrix {
	y := blas.NewMatrix(a.Rows, x.Cols)
	for i := range a.Rows {
		for l, v := range a.Row(i) {
			for j, u := range x.Row(l) {
				y.Row(i)[j] += v * u
			}
		}
	}
	return y
}

func operatorClose(t *testing.T, what string, got, want blas.Matrix, tolerance float64) {
	t.Helper()
	for i := range want.Rows {
		for j, v := range want.Row(i) {
			if !(math.Abs(got.At(i, j)-v) <= tolerance) {
				t.Fatalf("%s: element (%d, %d) is %v: want %v", what, i, j, got.At(i, j), v)
			}
		}
	}
}

// kernelMatrix is the kernel matrix of points, recomputed in every product and never stored.
type kernelMatrix struct {
	k kernel.Kernel
	p points.Points
}

func (k kernelMatrix) Order() int    { return k.p.Len() }
func (k kernelMatrix) Width() int    { return 24 }
func (k kernelMatrix) Cost() float64 { return 24 * float64(k.p.Len()) }

func (k kernelMatrix) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	return k.k.MultiplyTo(ctx, eng, y, k.p, k.p, x)
}

// TestProducts compares products and recurrences of all kinds of operators with those of their
// matrices.
func TestProducts(t *testing.T) {
	ctx := context.Background()
	eng := enginetest.New(t, 2)
	spec, err := kernel.Parse("rbf:sigma=2")
	if err != nil {
		t.Fatal(err)
	}
	f, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 7, 300} {
		full, m := symmetric(n)
		x := points.Dense{N: n, D: 2, Data: operatorRandom(n, 2).Data}
		gram, err := f.Gram(ctx, eng, &x)
		if err != nil {
			t.Fatal(err)
		}
		dense, err := operator.Dense(full)
		if err != nil {
			t.Fatal(err)
		}
		list, err := operator.Sparse(m)
		if err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct {
			a    operator.Operator
			full blas.Matrix
		}{
			"dense": {dense, full}, "sparse": {list, full}, "kernel": {kernelMatrix{f, &x}, gram},
		} {
			if c.a.Order() != n || c.a.Width() < 1 || !(c.a.Cost() > 0) && n > 7 {
				t.Errorf("%s: order %d, width %d, cost %v", what, c.a.Order(), c.a.Width(), c.a.Cost())
			}
			for _, r := range []int{1, 3, 8, 33} {
				x := operatorRandom(n, r)
				want, got := plain(c.full, x), blas.NewMatrix(n, r)
				if err := c.a.Multiply(ctx, eng, got, x); err != nil {
					t.Fatal(err)
				}
				operatorClose(t, what, got, want, 1e-12*float64(n))
				for _, gamma := range []float64{0, -1.5} {
					next := operatorRandom(n, r)
					for i := range want.Data {
						want.Data[i] = 0.5*got.Data[i] + 2*x.Data[i] + gamma*next.Data[i]
					}
					if gamma == 0 { // not read
						next.Data[0] = math.NaN()
					}
					if err := operator.Recur(ctx, eng, c.a, 0.5, x, 2, gamma, next); err != nil {
						t.Fatal(err)
					}
					operatorClose(t, what+", recurrence", next, want, 1e-12*float64(n))
				}
			}
		}
	}
}

// TestBadMatrices checks that a matrix that is not symmetric is refused with the element, or found
// by random vectors.
func TestBadMatrices(t *testing.T) {
	change := func(f func(a blas.Matrix, m *sparse.Matrix)) (error, error) {
		a, m := symmetric(40)
		f(a, m)
		_, dense := operator.Dense(a)
		_, list := operator.Sparse(m)
		return dense, list
	}
	at := func(m *sparse.Matrix, k int) (row int) {
		for m.Start[row+1] <= k {
			row++
		}
		return row
	}
	for what, f := range map[string]func(a blas.Matrix, m *sparse.Matrix){
		"NaN": func(a blas.Matrix, m *sparse.Matrix) { a.Set(3, 5, math.NaN()); m.Val[9] = math.NaN() },
		"Inf": func(a blas.Matrix, m *sparse.Matrix) {
			a.Set(3, 5, math.Inf(-1))
			m.Val[9] = math.Inf(-1)
		},
		"skew":    func(a blas.Matrix, m *sparse.Matrix) { a.Set(3, 5, 7); m.Val[11] += 1e-6 },
		"columns": func(a blas.Matrix, m *sparse.Matrix) { m.Cols++ },
	} {
		dense, list := change(f)
		if what == "columns" {
			_, dense = operator.Dense(blas.NewMatrix(3, 4))
		}
		for _, err := range []error{dense, list} {
			if !fault.IsInput(err) {
				t.Errorf("%s: %v: want an error of input", what, err)
			}
		}
	}
	dense, list := change(func(a blas.Matrix, m *sparse.Matrix) {
		a.Set(30, 20, a.At(30, 20)+1)
		a.Set(7, 9, a.At(7, 9)+2)
		m.Val[100] += 0.5
	})
	var place *fault.DataError
	if !errors.As(dense, &place) || place.Row != 9 || place.Column != "7" {
		t.Errorf("dense: %v: want the largest difference", dense)
	}
	_, m := symmetric(40)
	if row, col := at(m, 100), int(m.Col[100]); row == col {
		t.Fatal("the test changes an element of the diagonal")
	} else if !errors.As(list, &place) || place.Row != row && place.Row != col {
		t.Errorf("sparse: %v: want row %d or %d", list, row, col)
	}
}

// TestSymmetricToRounding: elements that differ from their mirror images by rounding, order times
// eps, are symmetric; those that differ by twice as much are not.
func TestSymmetricToRounding(t *testing.T) {
	const n = 4
	for share, sound := range map[float64]bool{0.5: true, 1: true, 2: false} {
		v := 1 - share*n*0x1p-52
		a := blas.MatrixOf(n, n, []float64{1, 1, 0, 0, v, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})
		m := &sparse.Matrix{Rows: n, Cols: n, Start: []int{0, 2, 4, 5, 6}, Col: []int32{0, 1, 0, 1, 2, 3},
			Val: []float64{1, 1, v, 1, 1, 1}}
		_, dense := operator.Dense(a)
		_, list := operator.Sparse(m)
		if (dense == nil) != sound || (list == nil) != sound {
			t.Errorf("a difference of %v roundings: errors %v, %v", share, dense, list)
		}
	}
}

// TestCancel checks that a canceled context ends a product with its error.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a, m := symmetric(40)
	dense, _ := operator.Dense(a)
	list, _ := operator.Sparse(m)
	for what, op := range map[string]operator.Operator{"dense": dense, "sparse": list} {
		if err := op.Multiply(ctx, enginetest.New(t, 2), blas.NewMatrix(40, 2),
			operatorRandom(40, 2)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
