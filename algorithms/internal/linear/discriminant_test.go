package linear

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// The discriminant b of the nearest rows solves (S + ridge) b = c (m - n), for their means m and n
// and the scatter S around them.
func TestLocal(t *testing.T) {
	const n, q, size = 30, 3, 6
	rng, eng := rand.New(rand.NewPCG(2, 3)), enginetest.New(t, 1)
	z := blas.NewMatrix(n, q)
	for i := range z.Data {
		z.Data[i] = rng.NormFloat64()
	}
	own, others := []int{0, 2, 4, 5, 7, 9, 10, 11, 12}, []int{1, 3, 13, 14}
	out := blas.NewMatrix(1, q)
	if err := LocalDiscriminant(eng, z, out, 4, own, others, size); err != nil {
		t.Fatal(err)
	}
	distance := func(i int) (sum float64) {
		for c := range q {
			sum += (z.At(i, c) - z.At(4, c)) * (z.At(i, c) - z.At(4, c))
		}
		return sum
	}
	near := slices.Clone(own)
	slices.SortFunc(near, func(a, b int) int { return int(math.Copysign(1, distance(a)-distance(b))) })
	means, groups := [2][q]float64{}, [][]int{near[:size], others}
	for g, rows := range groups {
		for _, i := range rows {
			for c := range q {
				means[g][c] += z.At(i, c) / float64(len(rows))
			}
		}
	}
	s, trace := blas.NewMatrix(q, q), 0.0
	for g, rows := range groups {
		for _, i := range rows {
			for a := range q {
				for b := range q {
					s.Set(a, b, s.At(a, b)+(z.At(i, a)-means[g][a])*(z.At(i, b)-means[g][b])/(size+4))
				}
			}
		}
	}
	for a := range q {
		trace += s.At(a, a)
	}
	var got [q]float64
	norm := 0.0
	for a := range q {
		for b := range q {
			got[a] += s.At(a, b) * out.At(0, b)
		}
		got[a] += (0.1*trace/q + 1e-6) * out.At(0, a)
		norm += out.At(0, a) * out.At(0, a)
	}
	factor := got[0] / (means[0][0] - means[1][0])
	for a := range q {
		if want := factor * (means[0][a] - means[1][a]); math.Abs(got[a]-want) > 1e-12 || factor <= 0 ||
			math.Abs(norm-1) > 1e-14 {
			t.Errorf("element %d is %g, want %g; the squared length %g", a, got[a], want, norm)
		}
	}
}

// Rows of zeros remain zero, and rows of any other size get length 1.
func TestUnit(t *testing.T) {
	m := blas.NewMatrix(3, 2)
	copy(m.Data, []float64{0, 0, 3e-200, 4e-200, -3e200, 4e200})
	UnitRows(enginetest.New(t, 1), m)
	for i, want := range []float64{0, 0, 0.6, 0.8, -0.6, 0.8} {
		if math.Abs(m.Data[i]-want) > 1e-15 {
			t.Errorf("element %d is %g, want %g", i, m.Data[i], want)
		}
	}
}
