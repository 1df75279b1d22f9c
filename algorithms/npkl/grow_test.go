package npkl

import (
	"math"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
)

// TestRankGrows puts a strong cannot-link between any two of n points. The optimum is a regular
// simplex: K = n I - 11', whose off-diagonal elements are the targets -1 and which has n-1 equal
// eigenvalues n. The fit must find all n-1 dimensions although it begins with fewer, and certify
// the optimum.
func TestRankGrows(t *testing.T) {
	const n = 24
	x, _, _ := enginetest.Bands(t, n, 4, 1, 1)
	var list []links.Link
	for i := range n {
		for j := range i {
			list = append(list, links.NewLink(j, i, links.Cannot))
		}
	}
	set, err := links.New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	if n-1 <= firstRank {
		t.Fatalf("a simplex of %d points fits in the %d dimensions that a fit begins with", n, firstRank)
	}
	l := Learner{Params: DefaultParams()}
	l.Params.C = 1000
	m := fittest.Fit[*Model](t, l, x, set)
	if m.Dim() != n-1 || !m.Status().Converged || m.Status().Message != "certified global optimum" {
		t.Fatalf("%d dimensions, status %+v: want %d and a certificate", m.Dim(), m.Status(), n-1)
	}
	coordinates := m.Coordinates()
	for i := range n {
		for j := range i {
			squared := 0.0
			for c := range coordinates.Cols {
				d := coordinates.At(i, c) - coordinates.At(j, c)
				squared += d * d
			}
			if math.Abs(squared-2*n) > 0.01*2*n {
				t.Errorf("points %d and %d are %.4g apart, squared: want %d within a hundredth", j, i,
					squared, 2*n)
			}
		}
	}
}
