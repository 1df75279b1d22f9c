package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
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
// A row is skipped when its own center is closer than the lower bound of all others
// (Hamerly 2010): then its label cannot change. The rest is gathered and multiplied with
// the centers. dist is up to date afterwards for all rows.
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
		r.s.x.SelectTo(rows, active)
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

// nearest returns the center closest to row i, ties to the lower number, and sets the
// row's distance and bound. dots holds x_i'c for every center.
func (r *start) nearest(i int, dots []float64, maxNorm float64) int {
	arg, dist, bound := nearestCenter(r.s.x.Row(i), dots, r.s.norm[i], r.centers, r.norm, maxNorm)
	r.dist[i] = dist
	r.lower[i] = math.Sqrt(bound) * (1 - boundMargin)
	return arg
}

// nearestCenter returns the center closest to x, ties to the lower number, its squared distance by
// the direct sum, and a lower bound of the squared distances of the others. dots holds x'c for
// every center, xNorm and norm are squared norms.
func nearestCenter(x, dots []float64, xNorm float64, centers blas.Matrix, norm []float64,
	maxNorm float64) (arg int, dist, bound float64) {
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

// nearestDirect decides among the centers whose expanded distance (less |x|^2) is at most
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
// centers, by direct sums.
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

// Assigner gives rows to the nearest of fixed centers, a block of rows at a time. It is immutable,
// and safe for concurrent use.
type Assigner struct {
	centers blas.Matrix // K x d, less shift
	norm    []float64   // their squared norms
	shift   []float64   // what is subtracted from rows, so that they are near the origin
}

// NewAssigner returns the assigner to the rows of centers (K x d), which are copied. A value that
// is not finite is a *fault.DataError, no center a *fault.ShapeError.
func NewAssigner(centers blas.Matrix) (*Assigner, error) {
	if centers.Rows < 1 || centers.Cols < 1 {
		return nil, fault.Shape("number of centers", centers.Rows, "at least 1, of at least one value")
	}
	if err := checkFinite(centers); err != nil {
		return nil, err
	}
	shift := middleOf(centers)
	return newAssigner(moved(centers, shift), shift), nil
}

// newAssigner returns an assigner to centers that are less shift already.
func newAssigner(centers blas.Matrix, shift []float64) *Assigner {
	a := &Assigner{centers: centers, norm: make([]float64, centers.Rows), shift: shift}
	a.prepare()
	return a
}

// prepare must follow a change of the centers.
func (a *Assigner) prepare() { setNorms(a.norm, a.centers) }

// Centers returns the centers, K x d.
func (a *Assigner) Centers() blas.Matrix { return movedBack(a.centers, a.shift) }

// Assign writes the number of the nearest center of every row of x (n x d) into labels, ties to the
// lower number, and its squared distance into distances. Both have length n. The result of a row is
// bit-identical for any other rows in the call.
//
// Errors: *fault.ShapeError, *fault.DataError (a value that is not finite, or whose distances
// overflow), ctx.Err(), wrapped. Cost: 2ndK flops. Memory: a copy of x.
func (a *Assigner) Assign(ctx context.Context, eng *engine.Engine, x blas.Matrix, labels []int,
	distances []float64) error {
	if x.Cols != a.centers.Cols {
		return columnsError(x.Cols, a.centers.Cols)
	}
	if len(labels) != x.Rows || len(distances) != x.Rows {
		return fault.Shape("length of labels and distances", min(len(labels), len(distances)),
			"%d, the number of rows", x.Rows)
	}
	rows := eng.GetMatrix(x.Rows, x.Cols)
	defer eng.PutMatrix(rows)
	move(rows, x, a.shift)
	if err := a.assign(ctx, eng, rows, labels, distances); err != nil {
		return err
	}
	return checkDistances(x, distances, 0)
}

// assign is Assign for rows that are less shift already, and not checked.
func (a *Assigner) assign(ctx context.Context, eng *engine.Engine, rows blas.Matrix, labels []int,
	distances []float64) error {
	most, zero := slices.Max(a.norm), make([]float64, rows.Cols)
	err := eng.For(ctx, rows.Rows, assignBlock, func(lo, hi int) error {
		dots := eng.GetMatrix(hi-lo, a.centers.Rows)
		defer eng.PutMatrix(dots)
		eng.Backend().Gemm(false, true, 1, rows.View(lo, hi, 0, rows.Cols), a.centers, 0, dots)
		for i := lo; i < hi; i++ {
			row := rows.Row(i)
			norm := points.SquaredDistance(row, zero)
			labels[i], distances[i], _ = nearestCenter(row, dots.Row(i-lo), norm, a.centers, a.norm, most)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cluster: assignment: %w", err)
	}
	return nil
}

// checkDistances reports the first row of x, numbered from first, that is too far from all centers,
// or nowhere.
func checkDistances(x blas.Matrix, distances []float64, first int) error {
	for i, v := range distances {
		if v-v == 0 {
			continue
		}
		if err := checkFiniteFrom(x.View(i, i+1, 0, x.Cols), first+i); err != nil {
			return err
		}
		return &fault.DataError{Row: first + i, Err: errTooLarge()}
	}
	return nil
}

func columnsError(got, want int) error {
	return fault.Shape("number of columns of a block of rows", got, "%d, as the centers have", want)
}

// update sets every center to the weighted mean of its cluster, leaves the centers of empty
// clusters where they are, and sets drift. Partial sums over fixed chunks are added in order.
func (r *start) update() error {
	m, k, d := r.s.rows(), r.p.K, r.s.x.Cols
	chunk := updateChunk(m, k)
	chunks := (m + chunk - 1) / chunk
	sums := r.eng.GetMatrix(chunks*k, d+1) // the last column holds the weights
	defer r.eng.PutMatrix(sums)
	err := loop(r.ctx, r.eng, r.parallel, m, chunk, func(lo, hi int) error {
		part := sums.View(lo/chunk*k, lo/chunk*k+k, 0, d+1)
		for c := range k {
			clear(part.Row(c))
		}
		for i := lo; i < hi; i++ {
			addRow(part.Row(r.labels[i]), r.s.x.Row(i), r.s.weight.of(i))
		}
		return nil
	})
	if err != nil {
		return err
	}
	total := sums.View(0, k, 0, d+1)
	for q := 1; q < chunks; q++ {
		for c := range k {
			for j, v := range sums.Row(q*k + c) {
				total.Row(c)[j] += v
			}
		}
	}
	r.moveCenters(total)
	return nil
}

// updateChunk returns the number of rows of a partial sum, such that there are at most 64 partial
// sums, of at most a quarter of the size of the data.
func updateChunk(n, k int) int { return max(1024, 4*k, (n+63)/64) }

// addRow adds w x and w to a row of sums.
func addRow(sum, x []float64, w float64) {
	sum[len(x)] += w
	if w == 1 {
		for j, v := range x {
			sum[j] += v
		}
		return
	}
	for j, v := range x {
		sum[j] += float64(w * v)
	}
}

// moveCenters divides the sums (K x (d+1), weights last) and notes how far the centers
// other than each one move.
func (r *start) moveCenters(sums blas.Matrix) {
	far, farthest, second := 0.0, 0, 0.0
	d := r.centers.Cols
	mean := make([]float64, d)
	for c := range r.p.K {
		sum := sums.Row(c)
		if sum[d] == 0 {
			continue
		}
		for j := range mean {
			mean[j] = sum[j] / sum[d]
		}
		moved := math.Sqrt(points.SquaredDistance(mean, r.centers.Row(c)))
		copy(r.centers.Row(c), mean)
		if moved > far {
			far, farthest, second = moved, c, far
		} else if moved > second {
			second = moved
		}
	}
	for c := range r.drift {
		r.drift[c] = far
	}
	r.drift[farthest] = second
}

// refill gives each empty cluster the row that contributes most to the objective. It stops when
// the largest contribution is 0: there are fewer distinct rows than clusters. dist is spoilt
// until the next assignment. No other row is in an empty cluster, so cannot-links stay
// satisfied.
func (r *start) refill() {
	cost := func(i int) float64 { return r.s.weight.of(i) * r.dist[i] }
	refill(r.labels, sizesOf(r.labels, r.p.K), 0, cost, func(far int) {
		r.lower[far] = 0
		x := r.s.x.Row(far) // the next empty cluster must not take an equal row
		for i := range r.dist {
			r.dist[i] = min(r.dist[i], points.SquaredDistance(r.s.x.Row(i), x))
		}
		// The center itself moves in update, which counts the jump in drift.
	})
}

// refill gives each empty cluster, in order, the row of the largest cost above least (ties: the
// lower row) out of a cluster that keeps another row, and calls taken with it. It stops when
// there is none.
func refill(labels, size []int, least float64, cost func(i int) float64, taken func(row int)) {
	for c := range size {
		if size[c] > 0 {
			continue
		}
		far, most := -1, least
		for i, own := range labels {
			if v := cost(i); v > most && size[own] > 1 {
				far, most = i, v
			}
		}
		if far < 0 {
			return
		}
		size[labels[far]]--
		labels[far], size[c] = c, 1
		taken(far)
	}
}

// sizesOf counts the rows of each of k clusters.
func sizesOf(labels []int, k int) []int {
	sizes := make([]int, k)
	for _, c := range labels {
		sizes[c]++
	}
	return sizes
}
