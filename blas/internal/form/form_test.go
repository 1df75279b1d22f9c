package form

import (
	"math"
	"testing"

	"github.com/mustlink/mustlink/blas"
)

// numbered returns a matrix whose elements all differ, in rows longer than needed.
func numbered(rows, cols int) blas.Matrix {
	m := blas.NewMatrix(rows, cols+3).View(0, rows, 0, cols)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, float64(100*i+j))
		}
	}
	return m
}

func TestTranspose(t *testing.T) {
	for _, n := range []int{0, 1, 2, 31, 32, 33, 65, 100} {
		m := numbered(n, n)
		Transpose(m)
		for i := range n {
			for j := range n {
				if want := float64(100*j + i); m.At(i, j) != want {
					t.Fatalf("n=%d: element (%d,%d) is %v: want %v", n, i, j, m.At(i, j), want)
				}
			}
		}
	}
}

func TestScale(t *testing.T) {
	for _, beta := range []float64{0, 1, 0.5} {
		for _, lower := range []bool{false, true} {
			m := numbered(5, 5)
			if beta == 0 {
				m.Set(3, 1, math.NaN()) // not read
			}
			if lower {
				ScaleLower(beta, m)
			} else {
				Scale(beta, m)
			}
			for i := range 5 {
				for j := range 5 {
					want := beta * float64(100*i+j)
					if lower && j > i {
						want = float64(100*i + j)
					}
					if m.At(i, j) != want {
						t.Fatalf("beta=%v,lower=%t: element (%d,%d) is %v: want %v", beta, lower, i, j,
							m.At(i, j), want)
					}
				}
			}
		}
	}
}

func TestFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for i := range 4 {
			for j := range 4 {
				m := numbered(4, 4)
				m.Set(i, j, bad)
				if Finite(m) {
					t.Errorf("%v at (%d,%d): finite", bad, i, j)
				}
				if FiniteLower(m) != (j > i) {
					t.Errorf("%v at (%d,%d): lower triangle finite is %t", bad, i, j, FiniteLower(m))
				}
			}
		}
	}
	if x := []float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64, 5e-324}; !FiniteVector(x) ||
		!FiniteVector(nil) {
		t.Errorf("%v: not finite", x)
	}
}

func TestReverseRows(t *testing.T) {
	for n := range 5 {
		w, v := make([]float64, n), numbered(n, 2)
		for i := range w {
			w[i] = float64(i)
		}
		ReverseRows(w, v)
		for i := range n {
			if r := float64(n - 1 - i); w[i] != r || v.At(i, 1) != 100*r+1 {
				t.Errorf("n=%d: row %d is %v, %v: want those of row %v", n, i, w[i], v.Row(i), r)
			}
		}
	}
}

func TestFailedPivot(t *testing.T) {
	for _, bad := range []float64{0, -1, math.NaN()} {
		m := blas.NewMatrix(4, 4)
		for i := range 4 {
			m.Set(i, i, 1)
		}
		if got := FailedPivot(m); got != -1 {
			t.Errorf("identity: %d, want -1", got)
		}
		m.Set(2, 2, bad)
		if got := FailedPivot(m); got != 2 {
			t.Errorf("%v at 2: %d", bad, got)
		}
	}
}

// Normalize multiplies by a power of 2 that leaves the largest element of the triangle below 1, and
// at least 1/2; ordinary matrices stay as they are.
func TestNormalize(t *testing.T) {
	for _, scale := range []float64{0, 1, 0x1p-99, 0x1p99, 0x1p-101, 0x1p120, 0x1p1000, 0x1p-1060} {
		m := numbered(5, 5)
		for i := range 5 {
			for j := range 5 {
				m.Set(i, j, -m.At(i, j)*scale/404)
			}
		}
		was := m.Clone()
		exponent := Normalize(m)
		ordinary := scale == 0 || scale >= 0x1p-99 && scale <= 0x1p99
		if ordinary != (exponent == 0) {
			t.Errorf("%v: exponent %d", scale, exponent)
		}
		largest := 0.0
		for i := range 5 {
			for j := range 5 {
				want := was.At(i, j)
				if j <= i {
					want = math.Ldexp(want, -exponent)
					largest = max(largest, math.Abs(m.At(i, j)))
				}
				if m.At(i, j) != want {
					t.Fatalf("%v: element (%d,%d) is %v: want %v", scale, i, j, m.At(i, j), want)
				}
			}
		}
		if !ordinary && !(largest >= 0.5 && largest < 1) {
			t.Errorf("%v: the largest element is %v", scale, largest)
		}
	}
}
