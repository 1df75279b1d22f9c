package backends

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/blas"
)

// The targets below run one operation in every backend of the build, on shapes, strides and values
// from the input, and hold the results against each other within what rounding may do.

const eps = 0x1p-52

// rivals runs f on the choices of an input, with all backends, the reference first.
func rivals(f *testing.F, check func(t *testing.T, b *asmtest.Bytes, all []blas.Backend)) {
	var all []blas.Backend
	for _, name := range Names() {
		backend, err := Open(Options{Name: name, Threads: 1})
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, backend)
	}
	for n := range 40 {
		seed := make([]byte, 40)
		for i := range seed {
			seed[i] = byte((i*i + 5*i + 3) * (2*n + 1))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) { check(t, asmtest.NewBytes(input), all) })
}

// order is mostly small; the larger ones reach blocks.
func order(b *asmtest.Bytes) int {
	if b.Below(8) == 0 {
		return b.Below(72)
	}
	return b.Below(20)
}

// matrix returns a matrix of tame values whose rows may lie apart.
func matrix(b *asmtest.Bytes, rows, cols int) blas.Matrix {
	m := blas.Matrix{Rows: rows, Cols: cols, Stride: max(1, cols) + b.Below(3)}
	m.Data = b.Tames(rows * m.Stride)
	return m
}

// op is op(m), copied.
func op(trans bool, m blas.Matrix) blas.Matrix {
	if !trans {
		return m.Clone()
	}
	out := blas.NewMatrix(m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			out.Set(j, i, v)
		}
	}
	return out
}

// full is the symmetric matrix of a lower triangle, lower the triangle with zeros above.
func full(m blas.Matrix) blas.Matrix {
	out := m.Clone()
	out.Mirror()
	return out
}

func lower(m blas.Matrix) blas.Matrix {
	out := m.Clone()
	for i := range out.Rows {
		clear(out.Row(i)[i+1:])
	}
	return out
}

// product returns A B and |A| |B| by plain loops.
func product(a, b blas.Matrix) (value, size blas.Matrix) {
	value, size = blas.NewMatrix(a.Rows, b.Cols), blas.NewMatrix(a.Rows, b.Cols)
	for i := range a.Rows {
		v, s := value.Row(i), size.Row(i)
		for l, x := range a.Row(i) {
			for j, y := range b.Row(l) {
				v[j] += x * y
				s[j] += math.Abs(x * y)
			}
		}
	}
	return value, size
}

// near fails unless |got - want| <= bound; NaN fails.
func near(t *testing.T, what string, i, j int, got, want, bound float64) {
	t.Helper()
	if !(math.Abs(got-want) <= bound) {
		t.Fatalf("%s: element (%d,%d) is %v: want %v within %.3g", what, i, j, got, want, bound)
	}
}

// FuzzProducts: every product, C = alpha op(A) op(B) + beta C, against the plain loop.
func FuzzProducts(f *testing.F) {
	rivals(f, func(t *testing.T, b *asmtest.Bytes, all []blas.Backend) {
		m, n, k := order(b), order(b), order(b)
		kind, transA, transB, alpha, beta := b.Below(7), b.Coin(), b.Coin(), b.Tame(), b.Tame()
		shape := func(trans bool, rows, cols int) (int, int) {
			if trans {
				return cols, rows
			}
			return rows, cols
		}
		name := []string{"Gemm", "Syrk", "Symm", "Gemv", "Symv", "Trmm", "Syr"}[kind]
		triangle := false // of C only the lower one counts
		var left, right, c blas.Matrix
		var run func(backend blas.Backend, c blas.Matrix)
		switch name {
		case "Gemm":
			rows, cols := shape(transA, m, k)
			x := matrix(b, rows, cols)
			rows, cols = shape(transB, k, n)
			y := matrix(b, rows, cols)
			left, right, c = op(transA, x), op(transB, y), matrix(b, m, n)
			run = func(backend blas.Backend, c blas.Matrix) {
				backend.Gemm(transA, transB, alpha, x, y, beta, c)
			}
		case "Syrk":
			rows, cols := shape(transA, n, k)
			x := matrix(b, rows, cols)
			left, right, c, triangle = op(transA, x), op(!transA, x), matrix(b, n, n), true
			run = func(backend blas.Backend, c blas.Matrix) { backend.Syrk(transA, alpha, x, beta, c) }
		case "Symm":
			rows, cols := shape(!transA, n, m)
			s, x := matrix(b, n, n), matrix(b, rows, cols)
			if left, right = full(s), x; !transA {
				left, right = right, left
			}
			c = matrix(b, rows, cols)
			run = func(backend blas.Backend, c blas.Matrix) { backend.Symm(transA, alpha, s, x, beta, c) }
		case "Gemv", "Symv":
			if name == "Symv" {
				m, transA = n, false
			}
			rows, cols := shape(transA, m, n)
			x, v := matrix(b, rows, cols), b.Tames(n)
			if left = op(transA, x); name == "Symv" {
				left = full(x)
			}
			right = blas.MatrixOf(n, 1, v)
			c = blas.MatrixOf(m, 1, b.Tames(m))
			run = func(backend blas.Backend, c blas.Matrix) {
				if name == "Symv" {
					backend.Symv(alpha, x, v, beta, c.Data)
				} else {
					backend.Gemv(transA, alpha, x, v, beta, c.Data)
				}
			}
		case "Trmm":
			rows, cols := shape(!transA, n, m)
			l := matrix(b, n, n)
			c, alpha, beta = matrix(b, rows, cols), 1, 0
			if left, right = op(transB, lower(l)), c.Clone(); !transA {
				left, right = right, left
			}
			run = func(backend blas.Backend, c blas.Matrix) { backend.Trmm(transA, transB, l, c) }
		case "Syr":
			x := b.Tames(n)
			left, right = blas.MatrixOf(n, 1, x), blas.MatrixOf(1, n, x)
			c, triangle, beta = matrix(b, n, n), true, 1
			run = func(backend blas.Backend, c blas.Matrix) { backend.Syr(alpha, x, c) }
		}
		value, size := product(left, right)
		k = left.Cols
		for _, backend := range all {
			got := c.Clone()
			run(backend, got)
			what := fmt.Sprintf("%s, %s, %d x %d x %d, alpha=%v, beta=%v, %t, %t", backend.Name(), name,
				c.Rows, k, c.Cols, alpha, beta, transA, transB)
			for i := range c.Rows {
				for j := range c.Cols {
					want, bound := alpha*value.At(i, j)+beta*c.At(i, j),
						math.Abs(alpha)*size.At(i, j)+math.Abs(beta*c.At(i, j))
					if triangle && j > i {
						want, bound = c.At(i, j), 0
					}
					near(t, what, i, j, got.At(i, j), want, 4*float64(k+1)*eps*bound)
				}
			}
		}
	})
}

// triangleOf returns a lower triangle without zeros on its diagonal.
func triangleOf(b *asmtest.Bytes, n int) blas.Matrix {
	l := matrix(b, n, n)
	for i := range n {
		if l.At(i, i) == 0 {
			l.Set(i, i, 1)
		}
	}
	return l
}

// finite reports whether all values are.
func finite(m blas.Matrix) bool {
	for i := range m.Rows {
		for _, v := range m.Row(i) {
			if v-v != 0 || math.Abs(v) > 0x1p400 {
				return false
			}
		}
	}
	return true
}

// residual holds op(L) X against the right-hand sides, each relative to the largest element of
// |L| |X| for it.
func residual(t *testing.T, what string, left bool, value, rhs, size blas.Matrix) {
	t.Helper()
	if !left {
		value, rhs, size = op(true, value), op(true, rhs), op(true, size)
	}
	for j := range value.Cols {
		largest := 0.0
		for i := range value.Rows {
			largest = max(largest, size.At(i, j))
		}
		for i := range value.Rows {
			near(t, what+": residual of Trsm", i, j, value.At(i, j), rhs.At(i, j),
				400*float64(value.Rows+1)*eps*largest)
		}
	}
}

// FuzzTriangles: solutions leave a small residual, whatever the condition of L; so does the
// inverse, element by element, against |L| |X| |L| |X|.
func FuzzTriangles(f *testing.F) {
	rivals(f, func(t *testing.T, b *asmtest.Bytes, all []blas.Backend) {
		n, m, left, trans := order(b), order(b), b.Coin(), b.Coin()
		l := triangleOf(b, n)
		rhs := matrix(b, n, m)
		if !left {
			rhs = matrix(b, m, n)
		}
		for _, backend := range all {
			what := fmt.Sprintf("%s, n=%d, m=%d, left=%t, trans=%t", backend.Name(), n, m, left, trans)
			x := rhs.Clone()
			backend.Trsm(left, trans, l, x)
			if finite(x) { // a hopeless L makes it overflow
				y, z := op(trans, lower(l)), x
				if !left {
					y, z = z, y
				}
				value, size := product(y, z)
				residual(t, what, left, value, rhs, size)
			}
			inverse := l.Clone()
			if err := backend.TriangularInverse(inverse); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if inverse = lower(inverse); !finite(inverse) {
				continue
			}
			value, size := product(lower(l), inverse)
			_, bound := product(size, size)
			for i := range n {
				for j := range i + 1 {
					near(t, what+": L X", i, j, value.At(i, j), float64(1-min(1, i-j)),
						10*float64(n+1)*eps*bound.At(i, j))
				}
			}
		}
	})
}

// symmetric returns a symmetric matrix, both triangles, of a chosen structure and size.
func symmetric(b *asmtest.Bytes, n int) blas.Matrix {
	a := blas.NewMatrix(n, n)
	values := b.Tames(n * n)
	structure := b.Below(6)
	for i := range n {
		for j := range i + 1 {
			v := values[i*n+j]
			switch {
			case structure == 1 && i != j, structure == 2 && i-j > 1, structure == 3 && (i-j)%3 != 0:
				v = 0 // diagonal, tridiagonal, in three parts
			case structure == 4:
				v = values[j] // equal rows, as far as they go
			case structure == 5:
				v *= math.Ldexp(1, -3*(i+j)) // graded
			}
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
	}
	return a
}

// norm is the largest sum of sizes in a row.
func norm(a blas.Matrix) (largest float64) {
	for i := range a.Rows {
		sum := 0.0
		for _, v := range a.Row(i) {
			sum += math.Abs(v)
		}
		largest = max(largest, sum)
	}
	return largest
}

// FuzzSymEig: eigenvalues of all backends agree, vectors are orthonormal, residuals are small; the
// few largest are those of all.
func FuzzSymEig(f *testing.F) {
	rivals(f, func(t *testing.T, b *asmtest.Bytes, all []blas.Backend) {
		n := order(b)
		a := symmetric(b, n)
		if bad := b.Below(16); bad == 1 && n > 0 {
			i, j := b.Below(n), b.Below(n)
			notFinite(t, a, max(i, j), min(i, j), all)
			return
		}
		tolerance := 20 * float64(max(n, 8)) * eps
		bound := tolerance * norm(a)
		first := make([]float64, n)
		for at, backend := range all {
			what := fmt.Sprintf("%s, n=%d", backend.Name(), n)
			v, w := a.Clone(), make([]float64, n)
			if err := backend.SymEig(v, w, true); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if at == 0 {
				copy(first, w)
			}
			for i := range w {
				near(t, what+": eigenvalues", 0, i, w[i], first[i], bound)
				if i > 0 && w[i] < w[i-1] {
					t.Fatalf("%s: eigenvalue %d is %v after %v", what, i, w[i], w[i-1])
				}
			}
			eigenvectors(t, what, a, w, v, bound, tolerance)
			only := make([]float64, n)
			if err := backend.SymEig(a.Clone(), only, false); err != nil {
				t.Fatalf("%s, values only: %v", what, err)
			}
			k := b.Below(n + 1)
			top, rows := make([]float64, k), blas.NewMatrix(k, n)
			if err := backend.SymEigTop(a.Clone(), top, rows); err != nil {
				t.Fatalf("%s, top %d: %v", what, k, err)
			}
			for i := range w {
				near(t, what+": eigenvalues without vectors", 0, i, only[i], w[i], bound)
				if i < k {
					near(t, what+": largest eigenvalues", 0, i, top[i], w[n-1-i], bound)
				}
			}
			eigenvectors(t, fmt.Sprintf("%s, top %d", what, k), a, top, rows, bound, tolerance)
		}
	})
}

// eigenvectors checks A v = w v and V V' = I.
func eigenvectors(t *testing.T, what string, a blas.Matrix, w []float64, v blas.Matrix, bound,
	tolerance float64) {
	t.Helper()
	av, _ := product(v, a)
	vv, _ := product(v, op(true, v))
	for i := range v.Rows {
		for j := range v.Cols {
			near(t, what+": A v", i, j, av.At(i, j), w[i]*v.At(i, j), bound)
		}
		for j := range v.Rows {
			near(t, what+": V V'", i, j, vv.At(i, j), float64(1-min(1, max(i, j)-min(i, j))), tolerance)
		}
	}
}

// notFinite: an element that is no number is refused by all.
func notFinite(t *testing.T, a blas.Matrix, i, j int, all []blas.Backend) {
	t.Helper()
	for _, v := range []float64{math.NaN(), math.Inf(-1)} {
		a.Set(i, j, v)
		for _, backend := range all {
			if err := backend.SymEig(a.Clone(), make([]float64, a.Rows), true); !isNoConvergence(err) {
				t.Fatalf("%s: %v at (%d,%d) gives error %v", backend.Name(), v, i, j, err)
			}
			if err := backend.SymEigTop(a.Clone(), make([]float64, 1),
				blas.NewMatrix(1, a.Rows)); !isNoConvergence(err) {
				t.Fatalf("%s, top: %v at (%d,%d) gives error %v", backend.Name(), v, i, j, err)
			}
		}
	}
}

func isNoConvergence(err error) bool {
	_, ok := errors.AsType[*blas.NoConvergenceError](err)
	return ok
}

// FuzzCholesky: Gram matrices with something added to or taken from the diagonal. Where the
// matrix is definite beyond rounding (its correlation matrix, by Demmel) all backends succeed with
// a small residual; where it is indefinite beyond that all fail; in between each may do either.
func FuzzCholesky(f *testing.F) {
	rivals(f, func(t *testing.T, b *asmtest.Bytes, all []blas.Backend) {
		n, rank := order(b), order(b)
		x := matrix(b, n, rank)
		a, _ := product(x, op(true, x))
		shift := b.Tame()
		for i := range n {
			if v := a.At(i, i) * (1 + shift); v > 0 {
				a.Set(i, i, v)
			} else {
				a.Set(i, i, 1)
			}
		}
		scaled := blas.NewMatrix(n, n)
		for i := range n {
			for j := range n {
				scaled.Set(i, j, a.At(i, j)/math.Sqrt(a.At(i, i))/math.Sqrt(a.At(j, j)))
			}
		}
		w := make([]float64, n+1)
		if err := all[0].SymEig(scaled.Clone(), w[:n], false); err != nil {
			t.Fatal(err)
		}
		smallest, doubt := w[0], 20*float64(n+1)*float64(n+1)*eps
		for _, backend := range all {
			what := fmt.Sprintf("%s, n=%d, rank %d, shift %v", backend.Name(), n, rank, shift)
			l := a.Clone()
			err := backend.Cholesky(l)
			if npd, ok := errors.AsType[*blas.NotPositiveDefiniteError](err); err != nil &&
				(!ok || npd.Pivot < 0 || npd.Pivot >= n) {
				t.Fatalf("%s: error %v", what, err)
			}
			if n == 0 || err != nil {
				if err != nil && smallest > doubt {
					t.Fatalf("%s: %v, but the smallest eigenvalue of the correlations is %.3g", what, err,
						smallest)
				}
				continue
			}
			if smallest < -doubt {
				t.Fatalf("%s: it succeeds, but the smallest eigenvalue of the correlations is %.3g", what,
					smallest)
			}
			value, _ := product(lower(l), op(true, lower(l)))
			for i := range n {
				for j := range i + 1 {
					near(t, what+": L L'", i, j, value.At(i, j), a.At(i, j),
						30*float64(n)*eps*math.Sqrt(a.At(i, i))*math.Sqrt(a.At(j, j)))
				}
			}
		}
	})
}

// FuzzQR: Q is orthonormal to rounding and Q L' = A, whatever the rank; L is the same in all
// backends as far as the columns are independent.
func FuzzQR(f *testing.F) {
	rivals(f, func(t *testing.T, b *asmtest.Bytes, all []blas.Backend) {
		n := order(b)
		m := n + order(b)
		a := matrix(b, m, n)
		bound := 20 * float64(m+1) * eps
		for _, backend := range all {
			what := fmt.Sprintf("%s, %d x %d", backend.Name(), m, n)
			q, l := a.Clone(), blas.NewMatrix(n, n)
			backend.QR(q, l)
			value, _ := product(q, op(true, lower(l)))
			gram, _ := product(op(true, q), q)
			for j := range n {
				if !(l.At(j, j) >= 0) {
					t.Fatalf("%s: element %d of the diagonal is %v", what, j, l.At(j, j))
				}
				length := 0.0
				for i := range m {
					length = math.Hypot(length, a.At(i, j))
				}
				for i := range m {
					near(t, what+": Q L'", i, j, value.At(i, j), a.At(i, j), bound*length)
				}
				for i := range n {
					near(t, what+": Q'Q", i, j, gram.At(i, j), float64(1-min(1, max(i, j)-min(i, j))), bound)
				}
			}
		}
	})
}
