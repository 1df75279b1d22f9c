package graphkernel

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
)

// Similarities are symmetric up to n eps of the largest, and finite numbers >= 0. The error names
// the row and the column.
func TestCheckSimilarities(t *testing.T) {
	const n, largest = 4, 8.0
	ulps := n * 0x1p-52 * largest
	for name, c := range map[string]struct {
		i, j  int
		v     float64
		wrong bool
	}{
		"as it is":              {0, 0, 1, false},
		"rounding":              {2, 1, 1 + ulps, false},
		"more than rounding":    {2, 1, 1 + 2*ulps, true},
		"less, above":           {1, 2, 1 - 2*ulps, true},
		"negative":              {2, 1, -1, true},
		"negative on diagonal":  {3, 3, -0x1p-1074, true},
		"not a number":          {2, 1, math.NaN(), true},
		"infinite, both places": {2, 2, math.Inf(1), true},
	} {
		s := blas.NewMatrix(n, n)
		for i := range s.Data {
			s.Data[i] = 1
		}
		s.Set(3, 3, largest)
		s.Set(c.i, c.j, c.v)
		err := CheckSimilarities(s)
		if !c.wrong {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		cell, ok := errors.AsType[*fault.DataError](err)
		if !ok {
			t.Errorf("%s: error %v", name, err)
		} else if row := max(c.i, c.j); cell.Row != row {
			t.Errorf("%s: row %d: want %d", name, cell.Row, row)
		}
	}
}

// The graph of similarities has those below the diagonal in both places and none on it, whether
// there are few or many. Very large ones and very small ones become moderate ones, in proportion.
func TestTake(t *testing.T) {
	const n = 9
	rng := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0.1, 0.9} {
		for _, unit := range []float64{1, 0x1p400, 0x1p-400} {
			s := blas.NewMatrix(n, n)
			for i := range n {
				s.Set(i, i, unit)
				for j := range i {
					if rng.Float64() < share {
						v := unit * (0.1 + rng.Float64()/2)
						s.Set(i, j, v)
						s.Set(j, i, v*(1+0x1p-52))
					}
				}
			}
			a, err := Take(s, n)
			if err != nil {
				t.Fatal(err)
			}
			if (a.Sparse != nil) != (share < maxSparse) || a.Len() != n {
				t.Fatalf("a share of %v: sparse is %v, %d points", share, a.Sparse != nil, a.Len())
			}
			factor := 1 / unit
			if unit != 1 {
				factor /= 2 // the largest is in [1/2, 1)
			}
			for i := range n {
				got := make([]float64, n)
				a.Each(i, func(j int, w float64) { got[j] = w })
				for j, v := range got {
					want := factor * s.At(max(i, j), min(i, j))
					if i == j {
						want = 0
					}
					if v != want {
						t.Fatalf("unit %v: edge (%d, %d) has the weight %v: want %v", unit, i, j, v, want)
					}
				}
			}
		}
	}
	if _, err := Take(blas.NewMatrix(n, n), n+1); !fault.IsInput(err) {
		t.Errorf("similarities of fewer points: %v", err)
	}
}
