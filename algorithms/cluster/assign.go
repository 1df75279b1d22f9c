package cluster

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/points"
)

// assignBlock is the number of rows whose distances are computed by one multiplication: a
// block of 256 x 32 features stays in the L2 cache.
const assignBlock = 256

// boundMargin covers the rounding in the bounds of distances, far above n u for any d that
// fits in memory and far below anything that would cost a skip.
const boundMargin = 1e-9

// slack bounds the error of the difference of two squared distances from one row, computed
// by expansion, against the same difference by direct sums. Expansion with any order of
// summation errs by (d+2)u(|x|^2 + |c|^2 + 2|x||c|) <= 2(d+2)u(|x|^2 + |c|^2), the direct
// sum by less, and both happen twice: 8(d+2)u(...), u = 2^-53; d+8 leaves room for the
// roundings of the norms.
func slack(d int, xNorm, cNorm float64) float64 {
	return 8 * float64(d+8) * 0x1p-53 * (xNorm + cNorm)
}

// assignRows assigns the rows [lo, hi) and returns how many labels changed.
//
// A row is skipped when its own centre is closer than the lower bound of all others
// (Hamerly 2010): then its label cannot change. The rest is gathered and multiplied with
// the centres. dist is up to date afterwards for all rows.
func (r *start) assignRows(lo, hi int, first bool) (changed int) {
	var space [assignBlock]int // of the stack: there are many blocks
	active := space[:0]
	for i := lo; i < hi; i++ {
		c := r.labels[i]
		if !first {
			r.dist[i] = points.SquaredDistance(r.s.x.Row(i), r.centers.Row(c))
			r.lower[i] -= r.drift[c] * (1 + boundMargin)
			if math.Sqrt(r.dist[i])*(1+boundMargin) < r.lower[i] {
				continue
			}
		}
		active = append(active, i)
	}
	if len(active) == 0 {
		return 0
	}
	rows := r.s.x.View(lo, hi, 0, r.s.x.Cols)
	if len(active) < hi-lo {
		rows = r.eng.GetMatrix(len(active), r.s.x.Cols)
		defer r.eng.PutMatrix(rows)
		for a, i := range active {
			copy(rows.Row(a), r.s.x.Row(i))
		}
	}
	dots := r.eng.GetMatrix(len(active), r.p.K)
	defer r.eng.PutMatrix(dots)
	r.eng.Backend().Gemm(false, true, 1, rows, r.centers, 0, dots)
	maxNorm := slices.Max(r.norm)
	for a, i := range active {
		c := r.nearest(i, dots.Row(a), maxNorm)
		if first || c != r.labels[i] {
			r.labels[i] = c
			changed++
		}
	}
	return changed
}

// nearest returns the centre closest to row i, ties to the lower number, and sets the
// row's distance and bound. dots holds x_i'c for every centre.
func (r *start) nearest(i int, dots []float64, maxNorm float64) int {
	arg, dist, bound := nearestCenter(r.s.x.Row(i), dots, r.s.norm[i], r.centers, r.norm, maxNorm)
	r.dist[i] = dist
	r.lower[i] = math.Sqrt(bound) * (1 - boundMargin)
	return arg
}

// nearestCenter returns the centre closest to x, ties to the lower number, its squared distance by the direct sum, and
// a lower bound of the squared distances of the others. dots holds x'c for every centre, xNorm and norm are squared norms.
func nearestCenter(x, dots []float64, xNorm float64, centers blas.Matrix, norm []float64, maxNorm float64) (arg int, dist, bound float64) {
	best, second := math.Inf(1), math.Inf(1)
	for c, dot := range dots {
		v := norm[c] - 2*dot
		if v < best {
			best, second, arg = v, best, c
		} else if v < second {
			second = v
		}
	}
	tolerance, others := slack(len(x), xNorm, maxNorm), second
	if second <= best+tolerance {
		arg, others = nearestDirect(x, dots, best+tolerance, centers, norm), best
	}
	return arg, points.SquaredDistance(x, centers.Row(arg)), max(0, others+xNorm-tolerance)
}

// nearestDirect decides among the centres whose expanded distance (less |x|^2) is at most
// limit by direct sums.
func nearestDirect(x, dots []float64, limit float64, centers blas.Matrix, norm []float64) int {
	best, arg := math.Inf(1), 0
	for c, dot := range dots {
		if norm[c]-2*dot > limit {
			continue
		}
		if d := points.SquaredDistance(x, centers.Row(c)); d < best {
			best, arg = d, c
		}
	}
	return arg
}

// distanceTable fills dst (rows of [lo, hi) x K) with weighted squared distances to the
// centres, by direct sums.
func (r *start) distanceTable(lo, hi int, dst blas.Matrix) error {
	return loop(r.ctx, r.eng, r.parallel, hi-lo, assignBlock, func(a, b int) error {
		for v := a; v < b; v++ {
			x, w := r.s.x.Row(lo+v), r.s.weight.of(lo+v)
			for c := range r.p.K {
				dst.Set(v, c, w*points.SquaredDistance(x, r.centers.Row(c)))
			}
		}
		return nil
	})
}
