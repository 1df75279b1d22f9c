package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// withSpectrum returns Q diag(w) Q' for a random orthogonal Q: a product of reflections.
func withSpectrum(rng *rand.Rand, w []float64) *points.Gram {
	n := len(w)
	a := blas.NewMatrix(n, n)
	for i, v := range w {
		a.Set(i, i, v)
	}
	for range 3 {
		u := enginetest.Normal(rng, 1, n, 0).Row(0)
		s := 0.0
		for _, v := range u {
			s += v * v
		}
		reflect := func(at func(k int) *float64) {
			dot := 0.0
			for k, v := range u {
				dot += v * *at(k)
			}
			for k, v := range u {
				*at(k) -= 2 * dot / s * v
			}
		}
		for i := range n {
			reflect(func(k int) *float64 { return &a.Data[i*n+k] })
		}
		for j := range n {
			reflect(func(k int) *float64 { return &a.Data[k*n+j] })
		}
	}
	for i := range n {
		for j := range i {
			a.Set(i, j, (a.At(i, j)+a.At(j, i))/2)
			a.Set(j, i, a.At(i, j))
		}
	}
	g := &points.Gram{N: n, M: n, Data: a.Data}
	for i := range n {
		g.Diagonal, g.Reference = append(g.Diagonal, a.At(i, i)), append(g.Reference, i)
	}
	return g
}

// A matrix with a known spectrum passes exactly if its smallest eigenvalue is not negative beyond
// the tolerance; otherwise the error reports that eigenvalue.
func TestSound(t *testing.T) {
	eng := enginetest.New(t, 0)
	propertytest.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n := rapid.IntRange(2, 40).Draw(rt, "n")
		smallest := rapid.SampledFrom([]float64{0, 1e-6, 0.5, -1e-6, -0.01, -3, -1e-14}).Draw(rt, "smallest")
		w := make([]float64, n)
		for i := range w {
			w[i] = 0.5 + rng.Float64()
		}
		w[rng.IntN(n)] = smallest
		_, err := kernel.Sound(t.Context(), eng, withSpectrum(rng, w))
		if smallest > -1e-7 {
			if err != nil {
				rt.Fatalf("smallest eigenvalue %g: error %v: want none", smallest, err)
			}
			return
		}
		var de *fault.DataError
		if !errors.As(err, &de) {
			rt.Fatalf("smallest eigenvalue %g: error %v: want a DataError", smallest, err)
		}
		var got float64
		_, after, _ := strings.Cut(err.Error(), "smallest eigenvalue is ")
		if _, serr := fmt.Sscanf(after, "%g", &got); serr != nil ||
			!(math.Abs(got-smallest) <= 1e-5*math.Abs(smallest)+1e-12) {
			rt.Fatalf("the message is %q: want the smallest eigenvalue %g", err, smallest)
		}
	})
}

func TestSoundOtherGrams(t *testing.T) {
	eng := enginetest.New(t, 0)
	zero, err := points.NewGram(3, 3, make([]float64, 9), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := points.NewGram(1, 2, []float64{5, 5}, []float64{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*points.Gram{"zeros": zero, "rectangular": rows} {
		if _, err := kernel.Sound(t.Context(), eng, g); err != nil {
			t.Errorf("%s: error %v: want none", name, err)
		}
	}
	// Inner products of x = 1e8 + {0, 1, 2} are 1e16, of which float64 has multiples of 2.
	far := []float64{1e8, 1e8 + 1, 1e8 + 2}
	lost, err := points.NewGram(3, 3, make([]float64, 9), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range far {
		for j, u := range far {
			lost.Data[3*i+j] = v * u
		}
		lost.Diagonal[i] = v * v
	}
	if _, err := kernel.Sound(t.Context(), eng, lost); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "rounding") {
		t.Errorf("error %v of a matrix of rounding", err)
	}
	small := enginetest.With(t, engine.Options{MemoryLimit: 10})
	var me *fault.MemoryError
	if _, err := kernel.Sound(t.Context(), small, zero); !errors.As(err, &me) {
		t.Errorf("error %v: want a MemoryError", err)
	}
}

// objects returns the Gram matrix of objects with these inner products.
func objects(t *testing.T, m blas.Matrix) *points.Gram {
	t.Helper()
	g, err := points.NewGram(m.Rows, m.Rows, m.Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A matrix of rank 3 has eigenvalues below 0 when its entries are rounded. It passes in single
// precision and with six digits, and a negative eigenvalue of the same size in double precision
// does not.
func TestSoundRounded(t *testing.T) {
	eng := enginetest.New(t, 0)
	for _, n := range []int{40, 150} {
		x := enginetest.Matrix(rand.New(rand.NewPCG(uint64(n), 1)), n, 3, 2)
		exact := blas.NewMatrix(n, n)
		eng.Backend().Gemm(false, true, 1, x, x, 0, exact)
		eng.Mirror(exact)
		rounded := func(by func(v float64) float64) *points.Gram {
			m := exact.Clone()
			for k, v := range m.Data {
				m.Data[k] = by(v)
			}
			return objects(t, m)
		}
		digits := func(format string) func(v float64) float64 {
			return func(v float64) (out float64) {
				if _, err := fmt.Sscan(fmt.Sprintf(format, v), &out); err != nil {
					t.Fatal(err)
				}
				return out
			}
		}
		for name, g := range map[string]*points.Gram{
			"double": objects(t, exact), "single": rounded(func(v float64) float64 {
				return float64(float32(v))
			}),
			"6 digits": rounded(digits("%.6g")), "9 digits": rounded(digits("%.9g")),
			"6 decimals": rounded(digits("%.6f")),
		} {
			w := make([]float64, n)
			if err := eng.SymEig(t.Context(), blas.MatrixOf(n, n, g.Data).Clone(), w, false); err != nil {
				t.Fatal(err)
			}
			x, err := kernel.Sound(t.Context(), eng, g)
			if err != nil {
				t.Errorf("%s, n = %d: %v: want none, the smallest eigenvalue is %.2g", name, n, err, w[0])
				continue
			}
			sound := x.(*points.Gram)
			if !sound.Semidefinite || g.Semidefinite || sound.Noise < -w[0] && name != "double" ||
				(name == "double") != (sound.Noise == 0) {
				t.Errorf("%s, n = %d: marked %v, noise %g: want more than %g", name, n, sound.Semidefinite,
					sound.Noise, -w[0])
			}
		}
		// u'u = 1 is orthogonal to the points: -1e-8 of the largest eigenvalue along it.
		w, v, err := eng.SymEigTop(t.Context(), exact.Clone(), 0)
		if err != nil {
			t.Fatal(err)
		}
		u := v.Row(n - 1)
		for i := range n {
			for j := range n {
				exact.Set(i, j, exact.At(i, j)-1e-8*w[0]*(u[i]*u[j]))
			}
		}
		eng.Mirror(exact)
		if _, err := kernel.Sound(t.Context(), eng, objects(t, exact)); err == nil {
			t.Errorf("n = %d: an eigenvalue of -1e-8 of the largest passes in double precision", n)
		}
	}
}

// parts returns the parts of a symmetric matrix with positive and with negative eigenvalues.
func parts(t *testing.T, eng *engine.Engine, m blas.Matrix) (plus, minus blas.Matrix) {
	t.Helper()
	vectors, w := m.Clone(), make([]float64, m.Rows)
	if err := eng.SymEig(t.Context(), vectors, w, true); err != nil {
		t.Fatal(err)
	}
	plus, minus = blas.NewMatrix(m.Rows, m.Rows), blas.NewMatrix(m.Rows, m.Rows)
	for k, v := range w {
		to := plus
		if v < 0 {
			to = minus
		}
		for i := range m.Rows {
			for j := range m.Rows {
				to.Set(i, j, to.At(i, j)+v*vectors.At(k, i)*vectors.At(k, j))
			}
		}
	}
	return plus, minus
}

// A correction leaves the part of positive eigenvalues, and adds that of negative ones with the
// other sign to flip. New rows that equal rows of the fit get their inner products, with themselves
// too.
func TestCorrect(t *testing.T) {
	eng := enginetest.New(t, 0)
	propertytest.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n := rapid.IntRange(3, 30).Draw(rt, "n")
		w := make([]float64, n)
		for i := range w {
			w[i] = rng.Float64() + 0.5
		}
		for k := range rapid.IntRange(0, n/3).Draw(rt, "negative") {
			w[k] *= -0.1
		}
		g := withSpectrum(rng, w)
		plus, minus := parts(t, eng, blas.MatrixOf(n, n, g.Data))
		for name, sign := range map[string]float64{points.Clip: 0, points.Flip: -1} {
			c, err := kernel.Correct(t.Context(), eng, name, g)
			if err != nil || (c == nil) != (w[0] > 0) {
				rt.Fatalf("%s: correction %v, error %v", name, c, err)
			}
			if c == nil {
				continue
			}
			if err := c.Validate(); err != nil {
				rt.Fatal(err)
			}
			again, err := c.Apply(g)
			if err != nil {
				rt.Fatal(err)
			}
			other := *g
			other.Reference = make([]int, n)
			for i := range n {
				other.Reference[i] = -1
			}
			fresh, err := c.Apply(other.Select([]int{n - 1, 0}))
			if err != nil {
				rt.Fatal(err)
			}
			a, b := again.(*points.Gram), fresh.(*points.Gram)
			near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-12*float64(n) }
			for i := range n {
				for j := range n {
					if want := plus.At(i, j) + sign*minus.At(i, j); !near(a.Row(i)[j], want) {
						rt.Fatalf("%s: entry (%d, %d) is %g: want %g", name, i, j, a.Row(i)[j], want)
					}
				}
				if !near(b.Row(1)[i], a.Row(0)[i]) {
					rt.Fatalf("%s: a new row has %g: want %g", name, b.Row(1)[i], a.Row(0)[i])
				}
			}
			if !near(b.Diagonal[0], a.Diagonal[n-1]) {
				rt.Fatalf("%s: a new row has %g with itself: want %g", name, b.Diagonal[0], a.Diagonal[n-1])
			}
			a.Semidefinite = false
			if _, err := kernel.Sound(t.Context(), eng, a); err != nil {
				rt.Fatalf("%s: %v", name, err)
			}
		}
	})
}

// TestCorrectRounding: next to a negative eigenvalue, one that is rounding stays, and one that is
// more goes.
func TestCorrectRounding(t *testing.T) {
	for share, count := range map[float64]int{0.5: 1, 2: 2} {
		w := []float64{1, -0.5, -share * 3 * 1e-13}
		c, err := kernel.Correct(t.Context(), enginetest.New(t, 1), points.Clip,
			withSpectrum(rand.New(rand.NewPCG(1, 1)), w))
		if err != nil || len(c.Values) != count || c.Vectors.Rows != count {
			t.Errorf("spectrum %v: correction of %v, error %v: want %d values", w, c, err, count)
		}
	}
}

func TestCorrectBadInput(t *testing.T) {
	eng := enginetest.New(t, 1)
	g := withSpectrum(rand.New(rand.NewPCG(1, 1)), []float64{-1, 1, 2})
	c, err := kernel.Correct(t.Context(), eng, points.Clip, g)
	if err != nil {
		t.Fatal(err)
	}
	var pe *fault.ParamError
	var se *fault.ShapeError
	var de *fault.DataError
	if _, err := kernel.Correct(t.Context(), eng, "cut", g); !errors.As(err, &pe) {
		t.Errorf("error %v: want a ParamError", err)
	}
	if _, err := kernel.Correct(t.Context(), eng, points.Clip,
		g.Select([]int{0, 1}).(*points.Gram)); !errors.As(err, &de) {
		t.Errorf("error %v: want a DataError", err)
	}
	if _, err := c.Apply(&points.Dense{N: 1, D: 3, Data: make([]float64, 3)}); !errors.As(err, &pe) {
		t.Errorf("error %v: want a ParamError", err)
	}
	if _, err := c.Apply(&points.Gram{N: 1, M: 2, Data: make([]float64, 2), Diagonal: []float64{1},
		Reference: []int{-1}}); !errors.As(err, &se) {
		t.Errorf("error %v: want a ShapeError", err)
	}
	for name, broken := range map[string]*kernel.Correction{
		"none": {}, "positive": {Vectors: c.Vectors, Values: []float64{1}},
		"NaN":  {Vectors: c.Vectors, Values: []float64{math.NaN()}},
		"long": {Vectors: blas.MatrixOf(1, 2, []float64{2, 0}), Values: []float64{-1}},
	} {
		if err := broken.Validate(); !errors.As(err, &de) {
			t.Errorf("%s: error %v: want a DataError", name, err)
		}
	}
}

// Only kernels with a sigmoid may have matrices with negative eigenvalues.
func TestDefinite(t *testing.T) {
	eng := enginetest.New(t, 0)
	x := enginetest.Normal(rand.New(rand.NewPCG(3, 1)), 40, 3, 0)
	for _, text := range []string{"linear", "rbf:sigma=2", "exp:width=1", "cauchy:width=1",
		"poly:degree=3,coef=0", "cosine", "sigmoid:scale=2", "rbf:sigma=1@sigmoid",
		"poly:degree=1@sigmoid:scale=3"} {
		k := enginetest.Kernel(t, text)
		m, err := k.Gram(t.Context(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		err = k.CheckMatrix(t.Context(), eng, m)
		if k.Definite() == strings.Contains(text, "sigmoid") || k.Definite() && err != nil {
			t.Errorf("%s: definite %v, error %v", text, k.Definite(), err)
		}
		var pe *fault.ParamError
		if strings.HasPrefix(text, "sigmoid") && !errors.As(err, &pe) {
			t.Errorf("%s: error %v: want a ParamError", text, err)
		}
	}
}
