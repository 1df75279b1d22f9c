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
		if _, serr := fmt.Sscanf(after, "%g", &got); serr != nil || !(math.Abs(got-smallest) <= 1e-5*math.Abs(smallest)+1e-12) {
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
	small := enginetest.With(t, engine.Options{MemoryLimit: 10})
	var me *fault.MemoryError
	if _, err := kernel.Sound(t.Context(), small, zero); !errors.As(err, &me) {
		t.Errorf("error %v: want a MemoryError", err)
	}
}
