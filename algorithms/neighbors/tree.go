package neighbors

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/quickselect"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Sizes of the tree. The result of a search does not depend on them.
const (
	partRows       = 128   // largest number of rows of a part
	mostDirections = 16    // principal directions that boxes are in
	sampledRows    = 20000 // rows whose covariance has the directions
	mostColumns    = 256   // columns with the largest variances, in which the directions are
	forBlock       = 4096  // rows of a block of parallel work
)

// tree divides rows at medians, depth times, into parts of nearly equal size. Node k of level l has
// the rows [n k / 2^l, n (k+1) / 2^l) in the order of the tree, and a box around them in a few
// principal directions: a distance in these is not larger than that of the rows.
type tree struct {
	n, depth, parts int
	order           []int32     // row at each place
	y               blas.Matrix // rows less their mean, in the principal directions, in this order
	narrow, wide    panels      // of y, and if it has fewer columns than the rows, of all columns
	boxes           []float64   // of all nodes, level by level: lower bounds, then upper bounds
	slack           float64     // bounds the rounding of a distance in the directions
}

// treeBytes returns the memory of a tree, and of a search in it.
func treeBytes(n, d int) int64 { return engine.MatrixBytes(n, d+d/8+66) + 64<<20 }

// newTree divides the rows of x.
func newTree(ctx context.Context, eng *engine.Engine, x blas.Matrix) (*tree, error) {
	t := &tree{n: x.Rows, parts: 1}
	for ; t.n > t.parts*partRows; t.parts *= 2 {
		t.depth++
	}
	mean, err := meanRow(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	directions, columns, err := principal(eng, x, mean)
	if err != nil {
		return nil, err
	}
	y := eng.NewMatrix(t.n, directions.Rows)
	err = eng.For(ctx, t.n, forBlock, func(lo, hi int) error {
		row := eng.GetMatrix(hi-lo, len(columns))
		defer eng.PutMatrix(row)
		for i := lo; i < hi; i++ {
			for k, c := range columns {
				row.Set(i-lo, k, x.At(i, c)-mean[c])
			}
		}
		t.multiply(row, directions, y.View(lo, hi, 0, y.Cols))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := t.divide(ctx, eng, y); err != nil {
		return nil, err
	}
	if err := t.place(ctx, eng, x, mean, y); err != nil {
		return nil, err
	}
	return t, t.bound(ctx, eng, x.Cols)
}

// multiply writes the inner products of rows and directions, on this goroutine: it is called for
// many blocks at a time.
func (t *tree) multiply(rows, directions, to blas.Matrix) {
	for i := range rows.Rows {
		for k := range directions.Rows {
			sum := 0.0
			for l, v := range directions.Row(k) {
				sum += v * rows.At(i, l)
			}
			to.Set(i, k, sum)
		}
	}
}

// meanRow returns the mean of the rows, in blocks. A mean or a distance that overflows is an error.
func meanRow(ctx context.Context, eng *engine.Engine, x blas.Matrix) ([]float64, error) {
	blocks := (x.Rows + forBlock - 1) / forBlock
	sums, largest := blas.NewMatrix(blocks, x.Cols), make([]float64, blocks)
	err := eng.For(ctx, x.Rows, forBlock, func(lo, hi int) error {
		b := lo / forBlock
		sum := sums.Row(b)
		for i := lo; i < hi; i++ {
			for c, v := range x.Row(i) {
				sum[c] += v / float64(x.Rows)
				largest[b] = max(largest[b], math.Abs(v))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if most := slices.Max(largest); most > math.Sqrt(math.MaxFloat64/float64(16*max(1, x.Cols))) {
		return nil, fault.Data("", "the largest value is %g: %w", most, errOverflow)
	}
	mean := make([]float64, x.Cols)
	for b := range blocks {
		for c, v := range sums.Row(b) {
			mean[c] += v
		}
	}
	return mean, nil
}

// principal returns the leading principal directions of a sample of the rows, as rows, and the
// columns that they refer to.
func principal(eng *engine.Engine, x blas.Matrix,
	mean []float64) (directions blas.Matrix, columns []int, err error) {
	rows := min(x.Rows, sampledRows)
	sampled := func(k int) []float64 { return x.Row(int(int64(k) * int64(x.Rows) / int64(rows))) }
	variance := make([]float64, x.Cols)
	for k := range rows {
		for c, v := range sampled(k) {
			variance[c] += (v - mean[c]) * (v - mean[c]) / float64(rows)
		}
	}
	columns = points.UpTo(x.Cols)
	slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(variance[b], variance[a]) })
	columns = columns[:min(len(columns), mostColumns)]
	if len(columns) == 0 || !(variance[columns[0]] > 0) {
		return blas.NewMatrix(0, len(columns)), columns, nil
	}
	scale := 1 / math.Sqrt(variance[columns[0]]*float64(rows))
	sample := blas.NewMatrix(rows, len(columns))
	for k := range rows {
		for l, c := range columns {
			sample.Set(k, l, (sampled(k)[c]-mean[c])*scale)
		}
	}
	covariance := blas.NewMatrix(len(columns), len(columns))
	eng.Backend().Syrk(true, 1, sample, 0, covariance)
	directions = blas.NewMatrix(min(mostDirections, len(columns)), len(columns))
	if err := eng.Backend().SymEigTop(covariance, make([]float64, directions.Rows), directions); err != nil {
		return blas.Matrix{}, nil, err
	}
	return directions, columns, nil
}

// bounds returns the ends of node k of a level.
func (t *tree) bounds(level, k int) (lo, hi int) {
	return int(int64(t.n) * int64(k) >> level), int(int64(t.n) * int64(k+1) >> level)
}

// partBounds returns the ends of a part.
func (t *tree) partBounds(part int) (lo, hi int) { return t.bounds(t.depth, part) }

// divide orders the rows: at every node, by the median of the direction with the largest variance.
func (t *tree) divide(ctx context.Context, eng *engine.Engine, y blas.Matrix) error {
	t.order = make([]int32, t.n)
	for i := range t.order {
		t.order[i] = int32(i)
	}
	if y.Cols == 0 {
		return nil
	}
	keys := make([]quickselect.Key, t.n)
	for level := range t.depth {
		err := eng.For(ctx, 1<<level, 1, func(k, _ int) error {
			lo, hi := t.bounds(level, k)
			middle, _ := t.bounds(level+1, 2*k+1)
			rows, keys := t.order[lo:hi], keys[lo:hi]
			c := widest(y, rows)
			for at, i := range rows {
				keys[at] = quickselect.Key{Value: y.At(int(i), c), Row: i}
			}
			quickselect.First(keys, middle-lo)
			for at, k := range keys {
				rows[at] = k.Row
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// widest returns the column of y with the largest variance among the rows, estimated from at most
// 4096 of them.
func widest(y blas.Matrix, rows []int32) int {
	var sum, square [mostDirections]float64
	step := max(1, len(rows)/4096)
	count := 0.0
	for at := 0; at < len(rows); at += step {
		count++
		for c, v := range y.Row(int(rows[at])) {
			sum[c] += v
			square[c] += v * v
		}
	}
	best, most := 0, -1.0
	for c := range y.Cols {
		if v := square[c] - sum[c]*sum[c]/count; v > most {
			best, most = c, v
		}
	}
	return best
}

// place stores the rows in the order of the tree.
func (t *tree) place(ctx context.Context, eng *engine.Engine, x blas.Matrix, mean []float64,
	y blas.Matrix) (err error) {
	t.y = eng.NewMatrix(t.n, y.Cols)
	if err := eng.Each(ctx, t.n, forBlock, func(at int) {
		copy(t.y.Row(at), y.Row(int(t.order[at])))
	}); err != nil {
		return err
	}
	if t.narrow, err = t.panels(ctx, eng, y, make([]float64, y.Cols)); err == nil && x.Cols > y.Cols {
		t.wide, err = t.panels(ctx, eng, x, mean)
	}
	return err
}

// panels are the rows of each part as the columns of matrices, of so many columns as are
// multiplied at a time: coordinates, half the squared length, and 1. Columns without a row are
// infinitely long.
type panels struct {
	depth, width, packed int
	data                 []float64
	longest              float64 // squared length
}

func (p panels) of(part int) []float64 { return p.data[part*p.depth*p.width:][:p.depth*p.width] }

// column returns a part from the first element of column r on, and the distance of the next one.
func (p panels) column(part []float64, r int) (from []float64, step int) {
	begin := r / p.packed * p.packed
	return part[begin*p.depth+r-begin:], min(p.packed, p.width-begin)
}

// panels stores rows less their mean. A squared length is less by more than a product of two rows
// can be off: (d + 4) eps times those of both. The factor is generous.
func (t *tree) panels(ctx context.Context, eng *engine.Engine, rows blas.Matrix,
	mean []float64) (panels, error) {
	d, kernels := rows.Cols, eng.Backend().Kernels()
	p := panels{depth: d + 2, packed: kernels.NR,
		width: ((t.n+t.parts-1)/t.parts + kernels.Lanes - 1) / kernels.Lanes * kernels.Lanes}
	p.data = make([]float64, t.parts*p.depth*p.width)
	eps := 16 * float64(d+16) * 0x1p-53
	longest := make([]float64, t.parts)
	err := eng.Each(ctx, t.parts, 16, func(k int) {
		lo, hi := t.partBounds(k)
		for r := range p.width {
			column, step := p.column(p.of(k), r)
			square := math.Inf(1)
			if lo+r < hi {
				square = 0
				for c, v := range rows.Row(int(t.order[lo+r])) {
					column[c*step] = v - mean[c]
					square += (v - mean[c]) * (v - mean[c])
				}
				longest[k] = max(longest[k], square)
			}
			column[d*step], column[(d+1)*step] = square/2*(1-eps), 1
		}
	})
	p.longest = slices.Max(longest)
	return p, err
}

// bound computes the boxes, and how far rounding may have moved a row in them: an inner product
// with a unit vector by less than (d + 2) eps |z|, and the directions are orthonormal to a small
// multiple of d eps. The factor is generous.
func (t *tree) bound(ctx context.Context, eng *engine.Engine, d int) error {
	m := t.y.Cols
	t.boxes = make([]float64, (2*t.parts-1)*2*m)
	err := eng.Each(ctx, t.parts, 16, func(k int) {
		lo, hi := t.partBounds(k)
		lower, upper := t.box(t.depth, k)
		enclose(lower, upper, t.y.View(lo, hi, 0, m))
	})
	if err != nil {
		return err
	}
	for level := t.depth - 1; level >= 0; level-- {
		for k := range 1 << level {
			lower, upper := t.box(level, k)
			l0, u0 := t.box(level+1, 2*k)
			l1, u1 := t.box(level+1, 2*k+1)
			for c := range lower {
				lower[c], upper[c] = min(l0[c], l1[c]), max(u0[c], u1[c])
			}
		}
	}
	t.slack = 32 * float64(d+16) * 0x1p-53 * math.Sqrt(max(t.narrow.longest, t.wide.longest))
	return nil
}

// box returns the bounds of node k of a level.
func (t *tree) box(level, k int) (lower, upper []float64) {
	m := t.y.Cols
	at := (1<<level - 1 + k) * 2 * m
	return t.boxes[at : at+m : at+m], t.boxes[at+m : at+2*m : at+2*m]
}

// enclose writes the smallest box around rows.
func enclose(lower, upper []float64, rows blas.Matrix) {
	copy(lower, rows.Row(0))
	copy(upper, rows.Row(0))
	for i := 1; i < rows.Rows; i++ {
		for c, v := range rows.Row(i) {
			lower[c], upper[c] = min(lower[c], v), max(upper[c], v)
		}
	}
}

// gap returns the squared distance of a point from a box, or a part of it that is above limit.
func gap(point, lower, upper []float64, limit float64) float64 {
	lower, upper = lower[:len(point)], upper[:len(point)]
	sum := 0.0
	for c, v := range point {
		if below := lower[c] - v; below > 0 {
			sum += below * below
		} else if above := v - upper[c]; above > 0 {
			sum += above * above
		} else {
			continue
		}
		if sum > limit {
			break
		}
	}
	return sum
}

// squared returns the squared distance of two rows of x.
func squared(x blas.Matrix, i, j int32) float64 {
	return points.SquaredDistance(x.Row(int(i)), x.Row(int(j)))
}
