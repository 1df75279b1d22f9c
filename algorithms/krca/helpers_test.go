package krca

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// forms are all forms.
var forms = []string{string(FormAuto), string(FormCholesky), string(FormSpectral)}

// testingTB is what *testing.T and *rapid.T have in common.
type testingTB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// gaussian returns n standard normal vectors of d features.
func gaussian(n, d int, seed uint64) *points.Dense {
	return enginetest.Normal(rand.New(rand.NewPCG(seed, 7)), n, d, 0)
}

// chunkletSet makes a set of chunklets.
func chunkletSet(t testingTB, n int, chunklets ...[]int) *links.Set {
	t.Helper()
	s, err := links.FromChunklets(n, chunklets)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runs returns chunklets of the given sizes over rows 0, stride, 2 stride, … mod n.
func runs(n, stride int, sizes ...int) [][]int {
	var out [][]int
	at := 0
	for _, q := range sizes {
		var c []int
		for range q {
			c = append(c, at%n)
			at += stride
		}
		out = append(out, c)
	}
	return out
}

// withKernel returns a learner with absolute eps and all directions.
func withKernel(t testingTB, k string, eps float64) Learner {
	return Learner{Kernel: enginetest.Spec(t, k), Params: Params{Eps: eps}, Seed: 1}
}

func gramOf(t testingTB, eng *engine.Engine, m *Model, x, y points.Points) blas.Matrix {
	t.Helper()
	k, err := m.Gram(context.Background(), eng, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// kernelOf evaluates the unlearned kernel.
func kernelOf(t testingTB, eng *engine.Engine, text string, x, y points.Points) blas.Matrix {
	t.Helper()
	k, err := kernel.New(enginetest.Spec(t, text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := k.Cross(context.Background(), eng, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func toMat(m blas.Matrix) *mat.Dense {
	d := mat.NewDense(m.Rows, m.Cols, nil)
	for i := range m.Rows {
		d.SetRow(i, m.Row(i))
	}
	return d
}

// explicitH returns blockdiag(I - 11'/n_c) for chunklets laid out one after another.
func explicitH(f helmert) *mat.Dense {
	n := f.points()
	h := mat.NewDense(n, n, nil)
	for c := range f.chunklets() {
		lo, hi := f.start[c], f.start[c+1]
		for i := lo; i < hi; i++ {
			for j := lo; j < hi; j++ {
				h.Set(i, j, -1/float64(hi-lo))
			}
			h.Set(i, i, h.At(i, i)+1)
		}
	}
	return h
}

// printed evaluates equation (7) of the paper as it stands, with an explicit H and a
// general inverse: kt = K/eps - K_xc B K_cy, B = H (I + K H/(n eps))^-1 / (n eps^2).
func printed(t testingTB, k, kxc, kc *mat.Dense, f helmert, eps float64) *mat.Dense {
	t.Helper()
	n := float64(f.points())
	h := explicitH(f)
	var inner, inverse, b, left, out mat.Dense
	inner.Mul(kc, h)
	inner.Scale(1/(n*eps), &inner)
	for i := range f.points() {
		inner.Set(i, i, inner.At(i, i)+1)
	}
	if err := inverse.Inverse(&inner); err != nil {
		t.Fatal(err)
	}
	b.Mul(h, &inverse)
	b.Scale(1/(n*eps*eps), &b)
	left.Mul(kxc, &b)
	out.Mul(&left, kxc.T())
	out.Sub(scaled(1/eps, k), &out)
	return &out
}

func scaled(a float64, m mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Scale(a, m)
	return &out
}

func maxAbs(m mat.Matrix) float64 {
	r, c := m.Dims()
	largest := 0.0
	for i := range r {
		for j := range c {
			v := math.Abs(m.At(i, j))
			if math.IsNaN(v) {
				return math.NaN()
			}
			largest = max(largest, v)
		}
	}
	return largest
}

// difference returns max|a-b| / max|b|.
func difference(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return maxAbs(&d) / maxAbs(b)
}

// within fails unless max|a-b| <= tol max|b|; a NaN fails.
func within(t testingTB, what string, a, b mat.Matrix, tol float64) {
	t.Helper()
	if d := difference(a, b); !(d <= tol) {
		t.Fatalf("%s: relative difference %.2e, want at most %.0e", what, d, tol)
	}
}

// smallestEigenvalue returns the smallest eigenvalue of a symmetric matrix and the largest
// magnitude.
func smallestEigenvalue(t testingTB, m *mat.Dense) (smallest, scale float64) {
	t.Helper()
	n, _ := m.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, false) {
		t.Fatal("no convergence")
	}
	w := e.Values(nil)
	return w[0], max(math.Abs(w[0]), math.Abs(w[n-1]))
}

func sameBits(t testing.TB, what string, a, b blas.Matrix) {
	t.Helper()
	if a.Rows != b.Rows || a.Cols != b.Cols {
		t.Fatalf("%s: %dx%d, want %dx%d", what, a.Rows, a.Cols, b.Rows, b.Cols)
	}
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			if math.Float64bits(v) != math.Float64bits(b.At(i, j)) {
				t.Fatalf("%s: element (%d,%d) is %v, want the bits of %v", what, i, j, v, b.At(i, j))
			}
		}
	}
}
