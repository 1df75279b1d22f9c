package krca

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// rotation is an orthonormal basis Q = [F1 H] of the vectors over m reference points. F1 are the
// columns of F that are over reference points alone. H are the groups of points that these columns
// join, scaled to unit length: most have one point.
type rotation struct {
	points  []int // of each group one after another
	start   []int // of each group in points, and their number
	joined  int   // groups of more than one point, which come first
	columns []int // F1: of each vector, its column of F
}

// newRotation returns that for m points, of which anchor a is number at[a], or none if that is -1.
// A column of F is over a point and those before it in its chunklet, so a group ends before the
// first that is no reference point. A basis that grew is not taken apart.
func newRotation(m int, f helmert, at []int) rotation {
	q, taken := rotation{start: []int{0}}, make([]bool, m)
	for c := 0; at != nil && f.columns == nil && c < f.chunklets(); c++ {
		lo, hi := f.start[c], f.start[c]
		for hi < f.start[c+1] && at[hi] >= 0 {
			hi++
		}
		if hi < lo+2 {
			continue
		}
		for a := lo; a < hi; a++ {
			taken[at[a]] = true
			if a > lo {
				q.columns = append(q.columns, a-1-c)
			}
		}
		q.points = append(q.points, at[lo:hi]...)
		q.start = append(q.start, len(q.points))
	}
	q.joined = len(q.start) - 1
	for i, is := range taken {
		if !is {
			q.points = append(q.points, i)
			q.start = append(q.start, len(q.points))
		}
	}
	return q
}

// groups returns their number.
func (q *rotation) groups() int { return len(q.start) - 1 }

// apply returns Q'x, on one core: few flops for each element, where a product with K takes 2 m.
func (q *rotation) apply(x blas.Matrix) blas.Matrix {
	y, g, out := blas.NewMatrix(x.Rows, x.Cols), len(q.columns), 0
	for c := range q.groups() {
		lo, hi := q.start[c], q.start[c+1]
		sum, length := y.Row(g+c), 1/math.Sqrt(float64(hi-lo))
		copy(sum, x.Row(q.points[lo]))
		for i := lo + 1; i < hi; i++ {
			j, to, v := i-lo, y.Row(out), x.Row(q.points[i])
			for k, s := range sum {
				to[k] = (s - float64(j)*v[k]) * norm(j)
				sum[k] += v[k]
			}
			out++
		}
		for k := range sum {
			sum[k] *= length
		}
	}
	return y
}

// expand returns Q y, on one core as apply.
func (q *rotation) expand(y blas.Matrix) blas.Matrix {
	x, g, in := blas.NewMatrix(y.Rows, y.Cols), len(q.columns), 0
	for c := range q.groups() {
		lo, hi := q.start[c], q.start[c+1]
		rest := x.Row(q.points[lo])
		blas.AddScaled(rest, 1/math.Sqrt(float64(hi-lo)), y.Row(g+c))
		in += hi - lo - 1
		for i := hi - 1; i > lo; i-- { // columns over more points first
			j, v, to := i-lo, y.Row(in-hi+i), x.Row(q.points[i])
			copy(to, rest)
			blas.AddScaled(to, -float64(j)*norm(j), v)
			blas.AddScaled(rest, norm(j), v)
		}
	}
	return x
}

// rotated returns [B C] = H'K [F H], where K on the left is of the reference points x, and on the
// right of the anchors and the reference points. It is scratch memory of eng.
func (m *metric) rotated(ctx context.Context, eng *engine.Engine, x points.Points, at []int,
	q *rotation) (blas.Matrix, error) {
	// The kernel values of x with the anchors, and with those of x that are none; and where those
	// of each point of x are.
	n, r, place := m.f.points(), m.f.order(), make([]int, x.Len())
	for a, i := range at {
		if i >= 0 {
			place[i] = a + 1
		}
	}
	var rest []int
	for i, is := range place {
		if place[i]--; is == 0 {
			place[i] = n + len(rest)
			rest = append(rest, i)
		}
	}
	others, ordered := x.Select(rest), x.Select(q.points)
	values := func(dst blas.Matrix, lo, hi int) error {
		block := points.Slice(ordered, lo, hi)
		if err := m.kernel.CrossTo(ctx, eng, dst.View(0, hi-lo, 0, n), block, m.anchors); err != nil {
			return err
		}
		return m.kernel.CrossTo(ctx, eng, dst.View(0, hi-lo, n, dst.Cols), block, others)
	}
	// H'K. The groups of one point are last.
	width := n + len(rest)
	k := eng.GetMatrix(q.groups(), max(width, r+q.groups()))
	some, group := q.start[q.joined], 0
	scratch := eng.GetMatrix(min(rowBlock, some), width)
	defer eng.PutMatrix(scratch)
	err := values(k.View(q.joined, k.Rows, 0, width), some, x.Len())
	for lo := 0; lo < some && err == nil; lo += rowBlock {
		hi, first := min(lo+rowBlock, some), group
		if err = values(scratch.View(0, hi-lo, 0, width), lo, hi); err != nil {
			break
		}
		err = eng.For(ctx, width, 128, func(from, to int) error {
			for i, c := lo, first; i < hi; i++ {
				if i == q.start[c+1] {
					c++
				}
				sum := k.Row(c)[from:to]
				if i == q.start[c] {
					clear(sum)
				}
				size := float64(q.start[c+1] - q.start[c])
				blas.AddScaled(sum, 1/math.Sqrt(size), scratch.Row(i - lo)[from:to])
			}
			return nil
		})
		for group < q.joined && q.start[group+1] <= hi {
			group++
		}
	}
	if err == nil { // from the right, in place
		err = eng.For(ctx, k.Rows, 16, func(lo, hi int) error {
			means := eng.GetMatrix(1, q.groups())
			defer eng.PutMatrix(means)
			for i := lo; i < hi; i++ {
				row := k.Row(i)
				for c := range means.Data {
					sum := 0.0
					for _, p := range q.points[q.start[c]:q.start[c+1]] {
						sum += row[place[p]]
					}
					means.Data[c] = sum / math.Sqrt(float64(q.start[c+1]-q.start[c]))
				}
				m.f.apply(row[:n])
				copy(row[r:], means.Data)
			}
			return nil
		})
	}
	if err != nil {
		eng.PutMatrix(k)
	}
	return k, err
}
