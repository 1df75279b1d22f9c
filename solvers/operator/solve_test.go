package operator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/operator"
)

// grid returns the Laplacian of a square grid plus delta I, with eigenvalues from delta to 8 +
// delta.
func grid(t testing.TB, side int, delta float64) operator.Operator {
	t.Helper()
	m := &sparse.Matrix{Rows: side * side, Cols: side * side, Start: []int{0}}
	for i := range m.Rows {
		x, y := i%side, i/side
		degree := delta
		var row []int32
		for _, at := range [][2]int{{x, y - 1}, {x - 1, y}, {x + 1, y}, {x, y + 1}} {
			if at[0] >= 0 && at[0] < side && at[1] >= 0 && at[1] < side {
				row = append(row, int32(at[1]*side+at[0]))
				degree++
			}
		}
		row = append(row, int32(i))
		slices.Sort(row)
		for _, j := range row {
			m.Col = append(m.Col, j)
			if int(j) == i {
				m.Val = append(m.Val, degree)
			} else {
				m.Val = append(m.Val, -1)
			}
		}
		m.Start = append(m.Start, len(m.Col))
	}
	a, err := operator.Sparse(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func linearRandom(n, r int, seed uint64) blas.Matrix {
	return enginetest.Matrix(rand.New(rand.NewPCG(seed, 1)), n, r, 0)
}

// dense returns the matrix of an operator.
func dense(t *testing.T, eng *engine.Engine, a operator.Operator) blas.Matrix {
	t.Helper()
	n := a.Order()
	id, full := blas.NewMatrix(n, n), blas.NewMatrix(n, n)
	for i := range n {
		id.Set(i, i, 1)
	}
	if err := a.Multiply(context.Background(), eng, full, id); err != nil {
		t.Fatal(err)
	}
	return full
}

// TestAgainstCholesky compares solutions with Cholesky's method, for more right-hand sides than are
// solved together, one of which is 0, and checks that few iterations are enough if the condition
// number implies it.
func TestAgainstCholesky(t *testing.T) {
	const side, r, delta = 20, 40, 0.3
	eng := enginetest.New(t, 2)
	a := grid(t, side, delta)
	n := a.Order()
	b := linearRandom(n, r, 1)
	for i := range n {
		b.Set(i, 5, 0)
	}
	full := dense(t, eng, a)
	if err := eng.Cholesky(context.Background(), full); err != nil {
		t.Fatal(err)
	}
	want := b.Clone()
	eng.Backend().Trsm(true, false, full, want)
	eng.Backend().Trsm(true, true, full, want)
	for _, tolerance := range []float64{1e-4, 1e-12} {
		t.Run(fmt.Sprint(tolerance), func(t *testing.T) {
			res, err := operator.Solve(context.Background(), eng, a, b,
				operator.SolveOptions{Tolerance: tolerance})
			if err != nil {
				t.Fatal(err)
			}
			// |x - x*| <= |A^-1| |r|
			for j := range r {
				var off, size float64
				for i := range n {
					off += math.Pow(res.X.At(i, j)-want.At(i, j), 2)
					size += b.At(i, j) * b.At(i, j)
				}
				if !(math.Sqrt(off) <= (2*tolerance+1e-14)*math.Sqrt(size)/delta) && size > 0 {
					t.Errorf("column %d is off by %g", j, math.Sqrt(off/size))
				}
				if size == 0 && off > 0 {
					t.Errorf("column %d is not 0", j)
				}
				if res.Residuals[j] > 2*tolerance {
					t.Errorf("residual %d is %g", j, res.Residuals[j])
				}
			}
			// 2 ((sqrt(k) - 1)/(sqrt(k) + 1))^m bounds the error in the norm of A.
			k := math.Sqrt((8 + delta) / delta)
			most := math.Log(tolerance/k/2/20)/math.Log((k-1)/(k+1)) + 2
			if float64(res.Iterations) > most {
				t.Errorf("%d iterations: want at most %.0f", res.Iterations, most)
			}
		})
	}
}

// TestLinearSameBits checks that the result is bit-identical for any number of workers, and that a
// column does not depend on the other columns.
func TestLinearSameBits(t *testing.T) {
	a := grid(t, 60, 0.1)
	b := linearRandom(a.Order(), 40, 2)
	var want *operator.Solution
	for workers := 1; workers <= 3; workers++ {
		res, err := operator.Solve(context.Background(), enginetest.New(t, workers), a, b,
			operator.SolveOptions{Tolerance: 1e-8})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = res
		}
		if !slices.Equal(res.X.Data, want.X.Data) {
			t.Fatalf("%d workers give other bits", workers)
		}
	}
}

func TestLinearErrors(t *testing.T) {
	eng := enginetest.New(t, 1)
	ctx := context.Background()
	a := grid(t, 20, 0.1)
	n := a.Order()
	b := linearRandom(n, 2, 3)
	bad := b.Clone()
	bad.Set(7, 1, math.Inf(1))
	for what, c := range map[string]struct {
		b blas.Matrix
		o operator.SolveOptions
	}{
		"rows":       {b: linearRandom(n-1, 2, 1)},
		"tolerance":  {b, operator.SolveOptions{Tolerance: -1}},
		"iterations": {b, operator.SolveOptions{Iterations: -1}},
		"not finite": {b: bad},
		"memory":     {b: b},
		"indefinite": {b: b},
	} {
		e, operand := eng, a
		switch what {
		case "memory":
			e, _ = engine.New(engine.Options{MemoryLimit: 1000})
		case "indefinite":
			operand = grid(t, 20, -2.9)
		}
		res, err := operator.Solve(ctx, e, operand, c.b, c.o)
		if !fault.IsInput(err) || res != nil {
			t.Errorf("%s: %v: want an error of input", what, err)
		}
	}
	var place *fault.DataError
	if _, err := operator.Solve(ctx, eng, a, bad, operator.SolveOptions{}); !errors.As(err, &place) ||
		place.Row != 7 || place.Column != "1" {
		t.Errorf("not finite: %v: want its row and column", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := operator.Solve(done, eng, a, b, operator.SolveOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for _, r := range []int{0, 1} {
		res, err := operator.Solve(ctx, eng, a, blas.NewMatrix(n, r), operator.SolveOptions{})
		if err != nil || res.X.Cols != r || !res.Converged || res.Iterations != 0 {
			t.Errorf("%d right-hand sides of 0: %+v, %v", r, res, err)
		}
	}
}

// TestLinearNoConvergence checks that too few iterations give the best solution so far with the
// error.
func TestLinearNoConvergence(t *testing.T) {
	a := grid(t, 30, 0.01)
	_, err := operator.Solve(context.Background(), enginetest.New(t, 1), a, linearRandom(a.Order(), 3, 4),
		operator.SolveOptions{Iterations: 5})
	var bound *operator.NoSolutionError
	if !errors.As(err, &bound) {
		t.Fatal(err)
	}
	if bound.Best.Converged || len(bound.Best.Residuals) != 3 || bound.Error() == "" {
		t.Errorf("%+v", bound.Best)
	}
}

func BenchmarkSolve(bench *testing.B) {
	a := grid(bench, 300, 0.2)
	b := linearRandom(a.Order(), 32, 1)
	eng := enginetest.New(bench, 0)
	iterations := 0
	for bench.Loop() {
		res, err := operator.Solve(context.Background(), eng, a, b, operator.SolveOptions{Tolerance: 1e-8})
		if err != nil {
			bench.Fatal(err)
		}
		iterations = res.Iterations
	}
	bench.ReportMetric(float64(iterations), "iterations")
}
