package input

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Methods multiply squares of values by squares. Sums of fourth powers of values up to Largest do
// not overflow, and fourth powers of differences from 1/Largest on do not underflow. Inner products
// are squares already: their limit is largestProduct.
const (
	Largest        = 1e75
	largestProduct = Largest * Largest
)

// Points validates points: all values must be finite and at most Largest in absolute value.
func Points(x points.Points) error {
	if p, ok := x.(*points.Dense); ok && p.D > 0 && len(p.Data)%p.D == 0 && len(p.Data)/p.D == p.N &&
		within(p.Data, Largest) {
		return nil // the common case takes one pass
	}
	if err := x.Validate(); err != nil {
		return err
	}
	switch p := x.(type) {
	case *points.Mixed:
		return fault.Param("points", "columns of a table",
			"rows of numbers, which a preparation makes of them")
	case *points.Dense:
		if k := beyond(p.Data, Largest); k >= 0 {
			return tooLarge(k/p.D, k%p.D, p.Data[k], Largest)
		}
	case *points.CSR:
		if k := beyond(p.Val, Largest); k >= 0 {
			row := 0
			for p.Start[row+1] <= k {
				row++
			}
			return tooLarge(row, int(p.Col[k]), p.Val[k], Largest)
		}
	case *points.Gram:
		if k := beyond(p.Data, largestProduct); k >= 0 {
			return tooLarge(k/p.M, k%p.M, p.Data[k], largestProduct)
		}
		if i := beyond(p.Diagonal, largestProduct); i >= 0 {
			return tooLarge(i, i, p.Diagonal[i], largestProduct)
		}
	}
	return nil
}

// within reports whether all values are at most limit in absolute value. It is false for NaN.
func within(data []float64, limit float64) bool {
	for _, v := range data {
		if !(math.Abs(v) <= limit) {
			return false
		}
	}
	return true
}

// beyond returns the index of the first value above limit in absolute value, -1 for none.
func beyond(data []float64, limit float64) int {
	for k, v := range data {
		if math.Abs(v) > limit {
			return k
		}
	}
	return -1
}

func tooLarge(row, column int, v, limit float64) error {
	return fault.Cell(row, strconv.Itoa(column), "value is %g: want at most %g in absolute value, since "+
		"fourth powers overflow; standardize the data, or leave the row or column out", v, limit)
}

// distinguishable returns an error for points that differ so little that fourth powers of their
// differences underflow. In most cases it ends at the second point.
func distinguishable(x points.Points) error {
	if p, ok := x.(*points.Dense); ok && spread(p) >= 1/Largest {
		return nil // the common case allocates nothing
	}
	return apart(x)
}

func apart(x points.Points) error {
	largest, limit := 0.0, 1/Largest
	if _, ok := x.(*points.Gram); ok {
		limit = 1 / largestProduct
	}
	for size := range sizes(x) {
		if largest = max(largest, size); largest >= limit {
			return nil
		}
	}
	if largest > 0 {
		return fault.Data("",
			"the points differ by at most %g: want differences from %g on, since fourth powers underflow; "+
				"standardize the data, or multiply them", largest, limit)
	}
	return nil
}

// spread returns a lower bound of the largest absolute difference of dense points from the first
// point: that of the first point that has one of at least 1/Largest.
func spread(p *points.Dense) (largest float64) {
	for i := range p.N {
		first := p.Row(0)
		for j, v := range p.Row(i) {
			if largest = max(largest, math.Abs(v-first[j])); largest >= 1/Largest {
				return largest
			}
		}
	}
	return largest
}

// sizes yields the absolute differences of dense points from the first point, and the absolute
// values of other points.
func sizes(x points.Points) iter.Seq[float64] {
	var values []float64
	switch p := x.(type) {
	case *points.Dense:
		return func(yield func(float64) bool) {
			for i := range p.N {
				first := p.Row(0)
				for j, v := range p.Row(i) {
					if !yield(math.Abs(v - first[j])) {
						return
					}
				}
			}
		}
	case *points.CSR:
		values = p.Val
	case *points.Gram:
		values = p.Data
	}
	return func(yield func(float64) bool) {
		for _, v := range values {
			if !yield(math.Abs(v)) {
				return
			}
		}
	}
}

// definitePoints is the number of points that a kernel which need not be positive semidefinite is
// tried on: all points, or so many of them.
const definitePoints = 2000

// definite returns an error for a kernel whose matrix on x, or on 2000 points of it, has negative
// eigenvalues beyond rounding. Only kernels that need not be positive semidefinite cost anything: a
// matrix of order m = min(n, 2000), and m^3/3 flops.
func definite(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) error {
	if k.Definite() {
		return nil
	}
	some := x.Select(sampling.Some(x.Len(), definitePoints, 1))
	what := fmt.Sprintf("matrix of kernel %s", k)
	if err := eng.Check(what, engine.MatrixBytes(some.Len(), some.Len()),
		"raise the memory limit"); err != nil {
		return err
	}
	m, err := k.GramScratch(ctx, eng, some)
	if err != nil {
		return err
	}
	defer eng.PutMatrix(m)
	return k.CheckMatrix(ctx, eng, m)
}

// moderate returns an error for a kernel with values on x above largestProduct. For points in the
// accepted range, only polynomial kernels can have such values.
func moderate(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) error {
	if !k.Grows() {
		return nil
	}
	diagonal, err := k.Diagonal(ctx, eng, x)
	if err != nil {
		return err
	}
	if i := beyond(diagonal, largestProduct); i >= 0 {
		return fault.Row(i, "the value of kernel %s is %g: want at most %g; standardize the data, or use a "+
			"lower degree", k, diagonal[i], largestProduct)
	}
	return nil
}
