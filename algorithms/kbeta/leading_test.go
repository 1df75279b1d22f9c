package kbeta

import (
	"math"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestLeading: where few eigenvalues are above the tolerance, few are computed, and they are those
// of the whole decomposition. The matrix is H diag(2^-i) H with the reflection H = I - 2uu', whose
// rows are the eigenvectors.
func TestLeading(t *testing.T) {
	const n, q = 400, 100
	u, sum := make([]float64, n), 0.0
	for i := range u {
		u[i] = 1 / math.Sqrt(n)
		sum += math.Ldexp(1, -i) / n
	}
	k := blas.NewMatrix(n, n)
	for i := range n {
		for j := range n {
			v := u[i] * u[j] * (4*sum - 2*math.Ldexp(1, -i) - 2*math.Ldexp(1, -j))
			if i == j {
				v += math.Ldexp(1, -i)
			}
			k.Set(i, j, v)
		}
	}
	before := k.Clone()
	for tolerance, want := range map[float64]int{1e-6: 32, 0: q} {
		m := &metric{params: Params{RankTol: tolerance}}
		mu, v, err := m.leading(t.Context(), enginetest.New(t, 2), k.Clone(), q)
		if err != nil || len(mu) != want || v.Rows != want {
			t.Fatalf("tolerance %g: %d eigenvalues, %d vectors, error %v: want %d", tolerance, len(mu), v.Rows, err,
				want)
		}
		for r := range min(want, 20) {
			if exact := math.Ldexp(1, -r); math.Abs(mu[r]-exact) > 1e-13 {
				t.Errorf("eigenvalue %d is %v: want %v", r, mu[r], exact)
			}
			product := 0.0
			for i := range n {
				h := -2 * u[i] * u[r]
				if i == r {
					h++
				}
				product += h * v.At(r, i)
			}
			if math.Abs(math.Abs(product)-1) > 1e-7 {
				t.Errorf("eigenvector %d has the product %v with the exact one", r, product)
			}
		}
	}
	for i, v := range before.Data {
		if v != k.Data[i] {
			t.Fatal("the matrix has changed")
		}
	}
}
