// Package landmarks (internal: may change) chooses a few points that represent all points in
// low-rank approximations of a kernel matrix.
//
// The rules are uniform draws; k-means++, which prefers points far from the landmarks so far
// (Arthur & Vassilvitskii 2007), in the feature space of the kernel; farthest point, which always
// takes the farthest (Gonzalez 1985: within twice the best covering radius); and approximate ridge
// leverage scores (Alaoui & Mahoney 2015), which draw points by how much they add to the kernel
// matrix's range above the ridge.
package landmarks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Source is a kernel matrix that is evaluated on demand.
type Source interface {
	// Len returns the number of points.
	Len() int
	// Diagonal returns k(x_i, x_i) for all points.
	Diagonal(ctx context.Context) ([]float64, error)
	// Columns writes k(x_c, x_i), for c in which and lo <= i < hi, to dst, one row for each c.
	Columns(ctx context.Context, which []int, lo, hi int, dst blas.Matrix) error
}

// These are the names of the rules.
const (
	Uniform  = "uniform"
	KMeans   = "kmeans++"
	Farthest = "farthest"
	Leverage = "leverage"
)

// Rules returns the names of the rules.
func Rules() []string { return []string{Uniform, KMeans, Farthest, Leverage} }

// Select returns m different points: the given ones, in their order, followed by points that the
// rule chooses, in the order of choice. All random choices come from seed; the same arguments give
// the same points for any number of workers.
//
// Errors: a *fault.ParamError for an unknown rule, m above the number of points, or more than m
// given points; a *fault.DataError for a given point that does not exist or is repeated, with its
// index in given as the row; those of the source.
//
// Cost: uniform O(n); kmeans++ and farthest m columns of the kernel matrix; leverage about 2m
// columns, and a Cholesky decomposition and solution of that order, O(n m^2).
func Select(ctx context.Context, eng *engine.Engine, rule string, src Source, m int, given []int,
	seed uint64) ([]int, error) {
	n := src.Len()
	if m < 0 || m > n {
		return nil, fault.Param("landmarks", m, "a number from 0 to %d, the number of points", n)
	}
	if len(given) > m {
		return nil, fault.Param("landmarks", m, "at least %d, as so many are given", len(given))
	}
	c := &choice{eng: eng, src: src, m: m, taken: make([]bool, n),
		rng: rand.New(rand.NewPCG(seed, 0x6c616e646d61726b))}
	for place, i := range given {
		switch {
		case i < 0 || i >= n:
			return nil, fault.Row(place, "landmark %d does not exist: want 0 to %d", i, n-1)
		case c.taken[i]:
			return nil, fault.Row(place, "landmark %d comes twice: want different points", i)
		}
		c.take(i)
	}
	if !slices.Contains(Rules(), rule) {
		return nil, fault.Unknown("landmark rule", rule, Rules())
	}
	if len(c.list) == m {
		return c.list, ctx.Err()
	}
	var err error
	switch rule {
	case Uniform:
		c.uniform()
	case KMeans, Farthest:
		err = c.spread(ctx, rule == KMeans)
	case Leverage:
		err = c.leverage(ctx)
	}
	if err != nil {
		return nil, err
	}
	return c.list, nil
}

// choice is the state of a selection.
type choice struct {
	eng   *engine.Engine
	src   Source
	m     int
	list  []int
	taken []bool
	rng   *rand.Rand
}

func (c *choice) take(i int) {
	c.taken[i] = true
	c.list = append(c.list, i)
}

// uniform draws from all remaining points: the beginning of a random permutation, stored as the
// positions that differ from the original order.
func (c *choice) uniform() {
	given := slices.Clone(c.list)
	slices.Sort(given)
	moved := map[int]int{} // the point at a position of the list of remaining points, if moved
	at := func(place int) int {
		if other, ok := moved[place]; ok {
			return other
		}
		return place
	}
	left := len(c.taken) - len(given)
	for k := 0; len(c.list) < c.m; k++ {
		other := k + c.rng.IntN(left-k)
		chosen := at(other)
		moved[other] = at(k)
		// The index of a point among those not given: every given point at or before it shifts it
		// by one.
		c.take(chosen + sort.Search(len(given), func(at int) bool { return given[at]-at > chosen }))
	}
}

// block is the number of points whose columns are evaluated at a time.
const block = 8192

// OfKernel returns the kernel matrix of x as a source.
func OfKernel(eng *engine.Engine, k kernel.Kernel, x points.Points) Source {
	return ofKernel{eng, k, x}
}

type ofKernel struct {
	eng *engine.Engine
	k   kernel.Kernel
	x   points.Points
}

func (s ofKernel) Len() int { return s.x.Len() }

func (s ofKernel) Diagonal(ctx context.Context) ([]float64, error) {
	return s.k.Diagonal(ctx, s.eng, s.x)
}

func (s ofKernel) Columns(ctx context.Context, which []int, lo, hi int, dst blas.Matrix) error {
	return s.k.CrossTo(ctx, s.eng, dst, s.x.Select(which), points.Slice(s.x, lo, hi))
}

// ridge is the ridge of the leverage scores relative to the trace over the number of landmarks:
// about the smallest eigenvalue that as many landmarks can be expected to resolve.
const ridge = 0.01

// leverage draws the remaining points with their approximate scores as weights, without
// replacement: the largest u_i^(1/score_i), with u_i uniform (Efraimidis & Spirakis 2006).
func (c *choice) leverage(ctx context.Context) error {
	scores, err := Scores(ctx, c.eng, c.src, c.m, c.rng.Uint64())
	if err != nil {
		return err
	}
	type key struct {
		i     int
		value float64
	}
	var keys []key
	for i, s := range scores {
		u := c.rng.Float64()
		if !c.taken[i] {
			// log u / score has the order of u^(1/score); a score of 0 comes last.
			keys = append(keys, key{i, math.Log(u) / s})
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(b.value, a.value) })
	for _, k := range keys[:c.m-len(c.list)] {
		c.take(k.i)
	}
	return nil
}

// Scores returns approximate ridge leverage scores of all points, between 0 and 1. The exact scores
// are
//
//	l_i = (K (K + r I)^-1)_ii,    r = 0.01 tr(K) / m,
//
// They are estimated from s = 2m points S drawn uniformly, each of which represents n/s points
// (Musco & Musco 2017):
//
//	(k_ii - k_iS (K_SS + r s/n I)^-1 k_Si) / r, at most 1,
//
// which is exact if S has all points. The sum of the scores is the number of directions in which
// the points extend beyond the ridge. Cost: 2m columns of the kernel matrix, a Cholesky
// decomposition of order 2m, and 4 n m^2 flops. Errors: 2m (2m + a block) values above the memory
// limit, those of the source, and ctx.Err().
func Scores(ctx context.Context, eng *engine.Engine, src Source, m int, seed uint64) ([]float64, error) {
	n := src.Len()
	s := min(n, 2*m)
	if err := eng.Check(fmt.Sprintf("%d columns for leverage scores", s), engine.MatrixBytes(s, s+block),
		"use fewer landmarks or raise the memory limit"); err != nil {
		return nil, err
	}
	scores, err := src.Diagonal(ctx)
	if err != nil {
		return nil, err
	}
	trace := blas.Sum(scores)
	if !(trace > 0) || s == 0 {
		clear(scores)
		return scores, nil
	}
	r := ridge * trace / float64(m)
	sample, err := Select(ctx, eng, Uniform, src, s, nil, seed)
	if err != nil {
		return nil, err
	}
	slices.Sort(sample)
	factor := eng.GetMatrix(s, s)
	defer eng.PutMatrix(factor)
	if err := gather(ctx, eng, src, sample, factor); err != nil {
		return nil, err
	}
	factor.Shift(r * float64(s) / float64(n))
	if err := eng.Cholesky(ctx, factor); err != nil {
		return nil, err
	}
	err = eachBlock(ctx, eng, src, sample, func(lo int, columns blas.Matrix) error {
		eng.Backend().Trsm(true, false, factor, columns)
		for j := range columns.Cols {
			scores[lo+j] /= r
		}
		for i := range s {
			for j, v := range columns.Row(i) {
				scores[lo+j] -= v * v / r
			}
		}
		return nil
	})
	for i, v := range scores {
		scores[i] = max(0, min(1, v))
	}
	return scores, err
}

// gather writes the kernel matrix of the sample, in ascending order, to dst.
func gather(ctx context.Context, eng *engine.Engine, src Source, sample []int, dst blas.Matrix) error {
	return eachBlock(ctx, eng, src, sample, func(lo int, columns blas.Matrix) error {
		for j, i := range sample {
			if i < lo || i >= lo+columns.Cols {
				continue
			}
			for c := range sample {
				dst.Set(c, j, columns.At(c, i-lo))
			}
		}
		return nil
	})
}

// eachBlock calls f with the columns of the sample, block by block of points.
func eachBlock(ctx context.Context, eng *engine.Engine, src Source, sample []int,
	f func(lo int, columns blas.Matrix) error) error {
	n := src.Len()
	columns := eng.GetMatrix(len(sample), min(n, block))
	defer eng.PutMatrix(columns)
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		part := columns.View(0, len(sample), 0, hi-lo)
		if err := src.Columns(ctx, sample, lo, hi, part); err != nil {
			return err
		}
		if err := f(lo, part); err != nil {
			return err
		}
	}
	return nil
}

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
	total := blas.Sum(weight)
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
