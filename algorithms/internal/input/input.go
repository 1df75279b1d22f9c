// Package input holds what methods share in looking at what they are given: checks, the kernel for
// a kind of points, and what a cancelled context makes of an error.
package input

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Check validates the points of a fit, and that the links are about as many rows.
func Check(x points.Points, set *links.Set) error {
	switch {
	case x == nil:
		return &fault.ParamError{Param: "points", Value: nil, Want: "points to learn from"}
	case set == nil:
		return &fault.ParamError{Param: "links", Value: nil, Want: "links between the points, perhaps none, as links.New makes them"}
	}
	if err := Points(x); err != nil {
		return err
	}
	switch {
	case x.Len() == 0:
		return fault.Data("", "there are no points: want at least one")
	case x.Dim() == 0:
		return fault.Data("", "the points have no features: want at least one")
	}
	if err := distinguishable(x); err != nil {
		return err
	}
	if set.N() != x.Len() {
		return &fault.ShapeError{What: "number of rows that the links refer to", Got: set.N(), Want: fmt.Sprintf("%d, the number of points", x.Len())}
	}
	return nil
}

// CheckPairs is Check for a method that learns from every pair: of chunklets it writes all of them out, which is priced first.
func CheckPairs(eng *engine.Engine, x points.Points, set *links.Set) error {
	if err := Check(x, set); err != nil {
		return err
	}
	return PricePairs(eng, set)
}

// PricePairs is what CheckPairs does besides Check.
func PricePairs(eng *engine.Engine, set *links.Set) error {
	return eng.Check(fmt.Sprintf("all %d pairs of the chunklets", set.Len()), set.Bytes(), "give links, fewer of them, in place of chunklets")
}

// Kernel returns the kernel that was asked for or, if that is the zero Spec, the one for the kind
// of points: linear for a Gram matrix, spectrum:k=3 for sequences, fallback for vectors. Its bandwidth
// rules are resolved on x.
func Kernel(ctx context.Context, eng *engine.Engine, asked kernel.Spec, x points.Points, fallback string) (kernel.Kernel, error) {
	spec, err := specFor(asked, x, fallback)
	if err != nil {
		return kernel.Kernel{}, err
	}
	if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
		return kernel.Kernel{}, err
	}
	k, err := kernel.New(spec)
	if err != nil {
		return k, err
	}
	return k, moderate(ctx, eng, k, x)
}

func specFor(asked kernel.Spec, x points.Points, fallback string) (kernel.Spec, error) {
	if asked != (kernel.Spec{}) {
		return asked, nil
	}
	switch x.(type) {
	case *points.Gram:
		return kernel.Parse("linear")
	case *points.Sequences:
		return kernel.Parse("spectrum:k=3")
	}
	return kernel.Parse(fallback)
}

// Vectors returns x as dense vectors, an error if it is something else.
func Vectors(method string, x points.Points) (*points.Dense, error) {
	dense, ok := x.(*points.Dense)
	if !ok {
		return nil, &fault.ParamError{Param: "points", Value: "not dense vectors", Want: "dense vectors for " + method + " (krca with a linear kernel takes sparse rows and Gram matrices)"}
	}
	return dense, nil
}

// Dense is [Check] of a linear method: it validates the parameters first, and returns the points as dense vectors.
func Dense(method string, params interface{ Validate() error }, x points.Points, set *links.Set) (*points.Dense, error) {
	if err := params.Validate(); err != nil {
		return nil, err
	}
	dense, err := Vectors(method, x)
	if err != nil {
		return nil, err
	}
	return dense, Check(x, set)
}

// Pairs returns a *fault.DataError, whose row is the number of the pair, for one with a point
// beyond the n that there are.
func Pairs(n int, pairs [][2]int) error {
	for p, pair := range pairs {
		for side, i := range pair {
			if i < 0 || i >= n {
				return &fault.DataError{Row: p, Column: strconv.Itoa(side), Err: fmt.Errorf("point %d does not exist: want 0 to %d", i, n-1)}
			}
		}
	}
	return nil
}

// Cancelled returns err or, if the context is done, that error of the context, as what the
// method was doing when it was cancelled.
func Cancelled(ctx context.Context, doing string, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%s cancelled: %w", doing, ctx.Err())
	}
	return err
}

// NoLinks says that a method has nothing to learn from.
func NoLinks(method string) error {
	return fault.Data("", "%s learns from links: want at least one, got none", method)
}
