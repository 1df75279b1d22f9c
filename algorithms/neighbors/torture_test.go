package neighbors

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// Points times a power of two have the same neighbors, with squared distances times its square, or
// are refused. Overflow and underflow of squares never lead to other neighbors.
func TestNeighborsAtAnyScale(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(4, 9))
	for _, where := range []string{"normal", "lattice", "one place", "one far", "small column"} {
		x := blas.NewMatrix(40, 3)
		for i := range x.Data {
			switch x.Data[i] = rng.NormFloat64(); {
			case where == "lattice":
				x.Data[i] = float64(rng.IntN(3))
			case where == "one place":
				x.Data[i] = 3
			case where == "small column" && i%3 == 1:
				x.Data[i] *= 1e-200
			}
		}
		if where == "one far" {
			x.Set(7, 2, 1e12)
		}
		index, dist2, err := Search(context.Background(), eng, x, x, 5, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, power := range []int{-1070, -1000, -600, -520, -400, -100, 100, 400, 500, 520, 1000} {
			y, refused := x.Clone(), false
			for i, v := range y.Data {
				y.Data[i] = math.Ldexp(v, power)
			}
			i2, d2, err := Search(context.Background(), eng, y, y, 5, true)
			what := fmt.Sprintf("%s times 2^%d", where, power)
			if refused = err != nil; refused {
				if !fault.IsInput(err) || power > -400 && power < 400 {
					t.Errorf("%s: error %v", what, err)
				}
				continue
			}
			if !slices.Equal(i2, index) && where != "small column" {
				t.Errorf("%s: other neighbors", what)
			}
			for k, v := range d2 {
				if want := math.Ldexp(dist2[k], 2*power); !(math.Abs(v-want) <= 1e-9*want+0x1p-1060) {
					t.Errorf("%s: squared distance %g, want %g", what, v, want)
					break
				}
			}
		}
	}
}
