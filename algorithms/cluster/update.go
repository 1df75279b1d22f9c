package cluster

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/points"
)

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
