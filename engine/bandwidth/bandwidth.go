// Package bandwidth (engine room: may change) computes the bandwidths that kernels state as rules
// ("rbf:sigma=median") from data.
//
// Let d_ij be the distance between points i and j in the feature space of the inner kernel
// (Euclidean if there is none). The rules are
//
//	mean    mean of d_ij over pairs i < j
//	median  median of d_ij over pairs i < j (mean of the two middle ones)
//	knn10   mean over points of the mean distance to the 10 nearest others (all others if fewer)
//	msq     sqrt(0.4 m), m the mean of d_ij^2 over pairs i < j, so that 2 sigma^2 = 0.8 m
//	lle     3 sum_{i<j} d_ij / (n(n+1)), that is 1.5 mean (n-1)/(n+1)
//
// times the factor before the rule. mean, median and msq are statistics of pairs; above 4096 points
// they use a sample of 4096 points spread evenly over the rows, and knn10 averages over 1024 such
// points with neighbors among all points. msq of vectors is exact for any number of points, in
// O(nd). No rule draws random numbers.
package bandwidth

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Resolve returns s with every bandwidth rule replaced by its value on x, innermost first. A Spec
// without rules is returned unchanged.
//
// Errors: a single point, or a rule that gives 0 because points coincide, is a *fault.DataError
// that names the cause; other errors are those of kernel.Gram. The value is deterministic and the
// same for any number of workers. Cost for n points: min(n, 4096)^2 d/2 flops (knn10: 1024 n d
// above 4096 points); median and knn10 also take 8 min(n, 4096)^2 bytes.
func Resolve(ctx context.Context, eng *engine.Engine, s kernel.Spec, x points.Points) (kernel.Spec, error) {
	if !s.NeedsData() {
		return s, nil
	}
	key := func() engine.CacheKey { return engine.KeyOf("bandwidth", points.Digest(x), s) }
	size := func(kernel.Spec) int64 { return specBytes }
	return engine.Cached(ctx, eng, key, size, func() (kernel.Spec, error) {
		return resolve(ctx, eng, s, x, defaultLimits)
	})
}

// specBytes is the approximate size of a Spec in a cache.
const specBytes = 256

func resolve(ctx context.Context, eng *engine.Engine, s kernel.Spec, x points.Points, limit limits) (kernel.Spec, error) {
	for {
		rule, inner, open := s.Open()
		if !open {
			return s, nil
		}
		if err := ctx.Err(); err != nil {
			return kernel.Spec{}, err
		}
		if x.Len() < 2 {
			return kernel.Spec{}, fault.Data("", "%s of kernel %s: rule %s needs pairs of points, got %d: want at least 2 points, or a number instead of the rule", rule.Parameter, rule.Kernel, rule.Name, x.Len())
		}
		k, err := kernel.New(inner)
		if err != nil {
			return kernel.Spec{}, err
		}
		m := measurement{eng: eng, k: k, x: x, limit: limit}
		v, err := m.rule(ctx, rule.Name)
		if err != nil {
			return kernel.Spec{}, err
		}
		noise, err := m.rounding(ctx)
		if err != nil {
			return kernel.Spec{}, err
		}
		if v <= noise {
			return kernel.Spec{}, m.explainZero(ctx, rule, noise)
		}
		if s, err = s.Resolve(rule.Factor * v); err != nil {
			return kernel.Spec{}, err
		}
	}
}

// measurement is the input of a rule: n >= 2 points under an inner kernel.
type measurement struct {
	eng   *engine.Engine
	k     kernel.Kernel
	x     points.Points
	limit limits
}

// rule returns the value of a rule, without its factor.
func (m *measurement) rule(ctx context.Context, name string) (float64, error) {
	switch name {
	case "mean":
		return m.pairMean(ctx, math.Sqrt)
	case "lle":
		n := float64(m.x.Len())
		mean, err := m.pairMean(ctx, math.Sqrt)
		return 1.5 * mean * (n - 1) / (n + 1), err
	case "median":
		return m.median(ctx)
	case "msq":
		square, err := m.meanSquare(ctx)
		return math.Sqrt(0.4 * square), err
	case "knn10":
		return m.nearest(ctx, 10)
	default:
		panic(fmt.Sprintf("bandwidth: no rule %q", name)) // kernel.Parse accepts only the same five
	}
}

// rounding returns the distance that rounding may give to coinciding points: 0 for vectors, for
// which it is exact, and otherwise the square root of the error of K_ii + K_jj - 2 K_ij.
func (m *measurement) rounding(ctx context.Context) (float64, error) {
	if _, isGram := m.x.(*points.Gram); m.k.IsLinear() && !isGram {
		return 0, nil
	}
	diagonal, err := m.k.Diagonal(ctx, m.eng, m.x)
	if err != nil {
		return 0, err
	}
	// 1e-13 allows for some hundred roundings in each term.
	return math.Sqrt(1e-13 * slices.Max(diagonal)), nil
}

// explainZero returns the error for a rule that gave 0 or only rounding error.
func (m *measurement) explainZero(ctx context.Context, rule kernel.Rule, noise float64) error {
	what := "most points coincide"
	square, err := m.meanSquare(ctx)
	if err != nil {
		return err
	}
	if math.Sqrt(square) <= noise {
		what = "all points coincide (the data are constant)"
	}
	return fault.Data("", "%s of kernel %s: %s, so rule %s gives 0: want points that differ, or a number instead of the rule", rule.Parameter, rule.Kernel, what, rule.Name)
}
