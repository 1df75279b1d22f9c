package landmarks

import (
	"context"
	"fmt"
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
func Select(ctx context.Context, eng *engine.Engine, rule string, src Source, m int, given []int, seed uint64) ([]int, error) {
	n := src.Len()
	if m < 0 || m > n {
		return nil, &fault.ParamError{Param: "landmarks", Value: m, Want: fmt.Sprintf("a number from 0 to %d, the number of points", n)}
	}
	if len(given) > m {
		return nil, &fault.ParamError{Param: "landmarks", Value: m, Want: fmt.Sprintf("at least %d, as so many are given", len(given))}
	}
	c := &choice{eng: eng, src: src, m: m, taken: make([]bool, n), rng: rand.New(rand.NewPCG(seed, 0x6c616e646d61726b))}
	for place, i := range given {
		switch {
		case i < 0 || i >= n:
			return nil, &fault.DataError{Row: place, Err: fmt.Errorf("landmark %d does not exist: want 0 to %d", i, n-1)}
		case c.taken[i]:
			return nil, &fault.DataError{Row: place, Err: fmt.Errorf("landmark %d comes twice: want different points", i)}
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
