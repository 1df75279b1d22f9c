package landmarks

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
)

// spread chooses points far from the landmarks so far. It draws with the squared distance to the
// nearest landmark as weight, or always takes the farthest point, the first of equally far ones. If
// all remaining points coincide with landmarks, it draws uniformly.
func (c *choice) spread(ctx context.Context, drawn bool) error {
	n := c.src.Len()
	diagonal, err := c.src.Diagonal(ctx)
	if err != nil {
		return err
	}
	distance := make([]float64, n) // squared, to the nearest landmark
	for i := range distance {
		distance[i] = math.Inf(1)
	}
	for _, i := range c.list {
		if err := c.approach(ctx, i, diagonal, distance); err != nil {
			return err
		}
	}
	for len(c.list) < c.m {
		next := -1
		switch {
		case len(c.list) == 0:
			next = c.rng.IntN(n)
		case drawn:
			next = c.draw(distance)
		default:
			next = farthest(distance)
		}
		if next < 0 {
			c.uniform()
			return ctx.Err()
		}
		c.take(next)
		if err := c.approach(ctx, next, diagonal, distance); err != nil {
			return err
		}
	}
	return nil
}

// approach lowers the distances to those to landmark l. Landmarks themselves have distance 0.
func (c *choice) approach(ctx context.Context, l int, diagonal, distance []float64) error {
	column := c.eng.GetMatrix(1, block)
	defer c.eng.PutMatrix(column)
	for lo := 0; lo < len(distance); lo += block {
		hi := min(lo+block, len(distance))
		part := blas.MatrixOf(1, hi-lo, column.Data[:hi-lo])
		if err := c.src.Columns(ctx, []int{l}, lo, hi, part); err != nil {
			return err
		}
		for i, k := range part.Data {
			distance[lo+i] = min(distance[lo+i], max(0, diagonal[l]+diagonal[lo+i]-2*k))
		}
	}
	distance[l] = 0
	return nil
}

// farthest returns the first point at the maximum distance, or -1 if all distances are 0.
func farthest(distance []float64) int {
	best, at := 0.0, -1
	for i, d := range distance {
		if d > best {
			best, at = d, i
		}
	}
	return at
}

// draw returns a point with probability proportional to weight, or -1 if no weight is positive.
func (c *choice) draw(weight []float64) int {
	total := 0.0
	for _, w := range weight {
		total += w
	}
	if !(total > 0) {
		return -1
	}
	left, last := c.rng.Float64()*total, -1
	for i, w := range weight {
		if w > 0 {
			last = i
			if left -= w; left < 0 {
				break
			}
		}
	}
	return last
}
