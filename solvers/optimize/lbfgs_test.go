package optimize

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func table(t testing.TB) *asm.Table {
	t.Helper()
	level, err := asm.Select(asm.Best())
	if err != nil {
		t.Fatal(err)
	}
	return level
}

func vector(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// TestDirectionIsBFGS compares the two-loop recursion with the product form: the BFGS update
// applied pair by pair, oldest first, to a multiple of the identity.
func TestDirectionIsBFGS(t *testing.T) {
	k := table(t)
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n, most, steps := rapid.IntRange(1, 7).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "most"),
			rapid.IntRange(0, 6).Draw(t, "steps")
		h := NewHistory(k, most)
		var s, y [][]float64
		for range steps {
			step, change := vector(rng, n), vector(rng, n)
			if c := k.Dot(step, change); c < 0.1 { // add what makes the curvature positive
				k.Axpy((0.1-c)/k.Dot(step, step)+1, step, change)
			}
			if !h.Add(step, change) {
				t.Fatal("a step of positive curvature was refused")
			}
			s, y = append(s, step), append(y, change)
		}
		if len(s) > most {
			s, y = s[len(s)-most:], y[len(y)-most:]
		}
		// H <- (I - s y'/c) H (I - y s'/c) + s s'/c
		H := make([][]float64, n)
		scale := 1.0
		if m := len(s); m > 0 {
			scale = k.Dot(s[m-1], y[m-1]) / k.Dot(y[m-1], y[m-1])
		}
		for i := range H {
			H[i] = make([]float64, n)
			H[i][i] = scale
		}
		for p := range s {
			c := k.Dot(s[p], y[p])
			Hy := make([]float64, n)
			for i := range Hy {
				Hy[i] = k.Dot(H[i], y[p])
			}
			yHy := k.Dot(y[p], Hy)
			for i := range H {
				for j := range H {
					H[i][j] += (1+yHy/c)*s[p][i]*s[p][j]/c - (s[p][i]*Hy[j]+Hy[i]*s[p][j])/c
				}
			}
		}
		g, got := vector(rng, n), make([]float64, n)
		h.Direction(got, g)
		size := 0.0
		for i := range H {
			for j := range H {
				size = max(size, math.Abs(H[i][j]))
			}
		}
		for i := range H {
			if want := -k.Dot(H[i], g); math.Abs(got[i]-want) > 1e-10*float64(n)*size {
				t.Fatalf("direction %d is %g, want %g", i, got[i], want)
			}
		}
	})
}

func TestAddRefusesNoCurvature(t *testing.T) {
	h := NewHistory(table(t), 3)
	for _, change := range [][]float64{{-1, 0}, {0, 1}, {0, 0}, {math.NaN(), 0}} {
		if h.Add([]float64{1, 0}, change) {
			t.Errorf("change %v over a step of (1, 0) was taken", change)
		}
	}
	h.Add([]float64{1, 0}, []float64{4, 0})
	h.Reset()
	d := []float64{3, 2}
	h.Direction(d, d)
	if d[0] != -3 || d[1] != -2 {
		t.Errorf("after Reset the direction is %v, want the negative gradient", d)
	}
}
