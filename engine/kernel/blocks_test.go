package kernel_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// someKernels cover every map, and a composition.
var someKernels = []string{"linear", "rbf:sigma=1.5", "exp:width=2", "poly:degree=3,coef=1,scale=0.5",
	"cosine", "sigmoid:scale=0.1,coef=0", "rbf:sigma=1@cosine"}

// collect gathers blocks into a matrix, and fails if an element occurs twice.
func collect(t *testing.T, rows, cols int) (blas.Matrix, func(b kernel.Block) error) {
	m := blas.NewMatrix(rows, cols)
	for i := range m.Data {
		m.Data[i] = math.NaN()
	}
	var mu sync.Mutex
	return m, func(b kernel.Block) error {
		mu.Lock()
		defer mu.Unlock()
		for r := range b.Matrix.Rows {
			row, to := b.Matrix.Row(r), m.Row(b.Row + r)[b.Col:]
			for c, v := range row {
				if !math.IsNaN(to[c]) {
					t.Errorf("element (%d,%d) occurs twice", b.Row+r, b.Col+c)
				}
				to[c] = v
				row[c] = math.Inf(1) // the callback may change the block
			}
		}
		return nil
	}
}

// Blocks are bit-identical to the stored matrices: the lower triangle for the Gram matrix, all
// elements for the cross matrix, in whole rows for CrossRows.
func TestBlocks(t *testing.T) {
	eng := enginetest.New(t, 3)
	rng := rand.New(rand.NewPCG(1, 2))
	dense, other := enginetest.Normal(rng, 301, 5, 3), enginetest.Normal(rng, 250, 5, 3)
	for _, sets := range [][2]points.Points{{dense, other}, {other, dense},
		{enginetest.Sparse(dense), enginetest.Sparse(other)}, {enginetest.Sparse(dense), other}} {
		x, y := sets[0], sets[1]
		for _, text := range someKernels {
			k := enginetest.Kernel(t, text)
			want := gramOf(t, k, eng, x)
			m, f := collect(t, x.Len(), x.Len())
			if err := k.GramBlocks(t.Context(), eng, x, f); err != nil {
				t.Fatal(err)
			}
			for i := range m.Rows {
				if !slices.Equal(m.Row(i)[:i+1], want.Row(i)[:i+1]) {
					t.Fatalf("%s, %T: row %d of the blocks differs from the Gram matrix", text, x, i)
				}
			}
			want = crossOf(t, k, eng, x, y)
			for _, rows := range []int{-1, 0, 1, 17, 1000} {
				m, f := collect(t, x.Len(), y.Len())
				var err error
				if rows < 0 {
					err = k.CrossBlocks(t.Context(), eng, x, y, f)
				} else {
					err = k.CrossRows(t.Context(), eng, x, y, rows, func(b kernel.Block) error {
						if b.Col != 0 || b.Matrix.Cols != y.Len() || rows > 0 && b.Matrix.Rows > rows {
							t.Errorf("a block of %d x %d from column %d: want whole rows, at most %d",
								b.Matrix.Rows, b.Matrix.Cols, b.Col, rows)
						}
						return f(b)
					})
				}
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(m.Data, want.Data) {
					t.Fatalf("%s, %T with %T, %d rows: the blocks differ from the cross matrix", text, x, y,
						rows)
				}
			}
		}
	}
}

// An error of the callback ends the evaluation and is returned; so does cancellation.
func TestBlocksStop(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, k := enginetest.Normal(rand.New(rand.NewPCG(3, 4)), 600, 3, 0), enginetest.Kernel(t, "rbf:sigma=1")
	enough := errors.New("enough")
	var mu sync.Mutex
	calls := 0
	err := k.GramBlocks(t.Context(), eng, x, func(kernel.Block) error {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return enough
	})
	if !errors.Is(err, enough) || calls > 2 {
		t.Errorf("%v after %d calls: want the callback's error after one call a worker", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = k.CrossBlocks(ctx, eng, x, x, func(kernel.Block) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want context.Canceled", err)
	}
}

// multiplied returns K(x, y) v.
func multiplied(t *testing.T, k kernel.Kernel, eng *engine.Engine, x, y points.Points,
	v blas.Matrix) (blas.Matrix, error) {
	dst := blas.NewMatrix(x.Len(), v.Cols)
	return dst, k.MultiplyTo(t.Context(), eng, dst, x, y, v)
}

// plainProduct returns the product of an n x m and an m x p matrix by plain loops, and the sums of
// the absolute values of its terms, to which errors are relative. The race detector does not watch
// these loops, which no other goroutine shares and which would take most of a test's time there.
//
//go:norace
func plainProduct[T float32 | float64](n, m, p int, a, b []T) (value, size []float64) {
	value, size = make([]float64, n*p), make([]float64, n*p)
	for i := range n {
		row, sizes := value[i*p:(i+1)*p], size[i*p:(i+1)*p]
		for j, x := range a[i*m : (i+1)*m] {
			for c, y := range b[j*p : (j+1)*p] {
				term := float64(x) * float64(y)
				row[c] += term
				sizes[c] += math.Abs(term)
			}
		}
	}
	return value, size
}

// The product equals that of the stored matrix, up to the rounding of its sums, for every number of
// columns. It is bit-identical for any number of workers and any other rows in the batch.
func TestMultiply(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x, y := enginetest.Normal(rng, 200, 4, 0), enginetest.Normal(rng, 1300, 4, 0)
	for _, text := range someKernels {
		k := enginetest.Kernel(t, text)
		full := crossOf(t, k, enginetest.New(t, 3), x, y)
		for _, r := range []int{0, 1, 3, 4, 30} {
			v := blas.NewMatrix(y.N, r)
			for i := range v.Data {
				v.Data[i] = rng.NormFloat64()
			}
			var first blas.Matrix
			for _, workers := range []int{1, 3} {
				eng := enginetest.New(t, workers)
				got, err := multiplied(t, k, eng, x, y, v)
				if err != nil {
					t.Fatal(err)
				}
				want, size := plainProduct(x.N, y.N, r, full.Data, v.Data)
				for at, w := range want {
					if d := math.Abs(got.Data[at] - w); !(d <= 2*0x1p-52*float64(y.N)*size[at]) {
						t.Fatalf("%s, %d columns: element (%d,%d) is off by %g", text, r, at/r, at%r, d)
					}
				}
				if first.Data == nil {
					first = got
				} else if !slices.Equal(first.Data, got.Data) {
					t.Fatalf("%s, %d columns: the bits differ with %d workers", text, r, workers)
				}
				part, err := multiplied(t, k, eng, x.Select([]int{150, 7}), y, v)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(part.Row(0), got.Row(150)) || !slices.Equal(part.Row(1), got.Row(7)) {
					t.Fatalf("%s, %d columns: the bits of rows differ in another batch", text, r)
				}
			}
		}
	}
	eng := enginetest.New(t, 0)
	none, err := multiplied(t, enginetest.Kernel(t, "linear"), eng, x, y.Select(nil), blas.NewMatrix(0, 2))
	if err != nil || slices.ContainsFunc(none.Data, func(v float64) bool { return v != 0 }) {
		t.Errorf("the product with no points is %v, %v: want zeros", none.Data, err)
	}
}

// Error bounds the rounding error of the expansion, with and without an offset; if it is 0, the
// distances are exact.
func TestBlockError(t *testing.T) {
	eng := enginetest.New(t, 0)
	rng := rand.New(rand.NewPCG(11, 12))
	squared := enginetest.Kernel(t, "linear").Squared()
	whole := enginetest.Normal(rng, 150, 30, 0)
	for i, v := range whole.Data {
		whole.Data[i] = math.Trunc(v)
	}
	for what, x := range map[string]points.Points{
		"near": enginetest.Normal(rng, 150, 30, 0), "far": enginetest.Normal(rng, 150, 30, 1e6),
		"sparse": enginetest.Sparse(enginetest.Normal(rng, 150, 30, 0)),
		"whole":  enginetest.Sparse(whole),
	} {
		err := squared.GramBlocks(t.Context(), eng, x, func(b kernel.Block) error {
			if (b.Error == 0) != (what == "whole") {
				t.Errorf("%s: the error is %v", what, b.Error)
			}
			for r := range b.Matrix.Rows {
				for c, v := range b.Matrix.Row(r) {
					want := kernel.SquaredDistance(x, x, b.Row+r, b.Col+c)
					if !(math.Abs(v-want) <= b.Error) {
						t.Errorf("%s: |x%d - x%d|^2 is %v: want %v within %v", what, b.Row+r, b.Col+c, v,
							want, b.Error)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestBlockErrorPrunes measures the error that Error bounds, for pairs of any distance far from the
// origin: the bound holds, and is tight enough for a search for neighbors to prune.
func TestBlockErrorPrunes(t *testing.T) {
	eng, rng, squared := enginetest.New(t, 0), rand.New(rand.NewPCG(2, 2)),
		enginetest.Kernel(t, "linear").Squared()
	worst := 0.0
	for range 3000 {
		d := 1 + rng.IntN(60)
		x, y := &points.Dense{N: 1, D: d, Data: make([]float64, d)},
			&points.Dense{N: 2, D: d, Data: make([]float64, 2*d)}
		size := math.Exp(rng.NormFloat64() * 3)
		for j := range d {
			shift := 10 * rng.NormFloat64()
			x.Data[j], y.Data[j] = shift+rng.NormFloat64(), shift+size*rng.NormFloat64()
			y.Data[d+j] = shift - size*rng.NormFloat64()
		}
		err := squared.CrossBlocks(t.Context(), eng, x, y, func(b kernel.Block) error {
			for c, v := range b.Matrix.Row(0) {
				worst = max(worst, math.Abs(v-points.SquaredDistance(x.Row(0), y.Row(b.Col+c)))/b.Error)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if worst > 1 {
		t.Errorf("error is %.3g times its bound", worst)
	}
	if worst < 1e-3 {
		t.Errorf("error is only %.3g of its bound: the bound prunes nothing", worst)
	}
}
