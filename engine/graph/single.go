package graph

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// NearestSingle is [Nearest] for points in single precision and the linear kernel. Products are in single precision, but what they leave in
// doubt is decided by distances in double precision: the neighbours, their order and their distances are exactly those of the points. Errors
// are those of [Nearest] and [kernel.Kernel.GramSingle].
func NearestSingle(ctx context.Context, eng *engine.Engine, x *points.Single, count int) (*Neighbors, error) {
	if count < 1 || count >= x.N {
		return nil, &fault.ParamError{Param: "neighbors", Value: count, Want: fmt.Sprintf("a number from 1 to %d, one less than there are points", x.N-1)}
	}
	s, err := newSearch(eng, x.N, x.N, count, betweenSingle(x, x))
	if err != nil {
		return nil, err
	}
	return s.found, kernel.SingleBlocks(ctx, eng, x, x, s.symmetric)
}

// NearestBetweenSingle is [NearestBetween] for points in single precision, as [NearestSingle] is [Nearest].
func NearestBetweenSingle(ctx context.Context, eng *engine.Engine, x, y *points.Single, count int) (*Neighbors, error) {
	if count < 1 || count > y.N {
		return nil, &fault.ParamError{Param: "neighbors", Value: count, Want: fmt.Sprintf("a number from 1 to %d, the number of points to choose from", y.N)}
	}
	s, err := newSearch(eng, x.N, y.N, count, betweenSingle(x, y))
	if err != nil {
		return nil, err
	}
	if x == y { // blocks of a set with itself would be half of them
		same := *y
		y = &same
	}
	return s.found, kernel.SingleBlocks(ctx, eng, x, y, s.rectangular)
}

func betweenSingle(x, y *points.Single) func(i, j int) float64 {
	return func(i, j int) float64 { return x.SquaredDistance(i, y, j) }
}
