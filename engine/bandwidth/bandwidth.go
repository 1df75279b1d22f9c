// Package bandwidth (internal: may change) computes the bandwidths that kernels state as rules
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

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
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

func resolve(ctx context.Context, eng *engine.Engine, s kernel.Spec, x points.Points,
	limit limits) (kernel.Spec, error) {
	for {
		rule, inner, open := s.Open()
		if !open {
			return s, nil
		}
		if err := ctx.Err(); err != nil {
			return kernel.Spec{}, err
		}
		if x.Len() < 2 {
			return kernel.Spec{},
				fault.Data("", "%s of kernel %s: rule %s needs pairs of points, got %d: want at least 2 "+
					"points, or a number instead of the rule", rule.Parameter, rule.Kernel, rule.Name,
					x.Len())
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
	return fault.Data("",
		"%s of kernel %s: %s, so rule %s gives 0: want points that differ, or a number instead of the rule",
		rule.Parameter, rule.Kernel, what, rule.Name)
}

// limits are the numbers of points beyond which rules use a sample.
type limits struct {
	pairs   int // for the rules over pairs
	queries int // points whose neighbors are searched, above the limit of pairs
}

// defaultLimits: 4096 points have 8.4 million pairs, and the mean distance of 1024 points to their
// neighbors is precise to about one percent.
var defaultLimits = limits{pairs: 4096, queries: 1024}

// sample returns x if it has at most limit points, and otherwise limit of them: one from each of
// limit equal stretches of rows. Its position in the stretch follows the golden ratio, so that rows
// in periodic order (class 0, class 1, class 0, …) are all represented.
func sample(x points.Points, limit int) points.Points {
	if x.Len() <= limit {
		return x
	}
	return x.Select(spread(x.Len(), limit))
}

// Rows returns the rows, ascending, that the rules over pairs use among n points: all of them, or a
// sample. On these points alone mean and median are bit-identical to those of all points; lle
// differs by its factor (n-1)/(n+1), and msq and knn10, which use all points, become estimates.
func Rows(n int) []int {
	if n > defaultLimits.pairs {
		return spread(n, defaultLimits.pairs)
	}
	return points.UpTo(n)
}

// spread returns limit different rows of n > limit, ascending.
func spread(n, limit int) []int {
	const golden = 0.6180339887498949 // (sqrt 5 - 1)/2: its multiples are spread evenly modulo 1
	rows := make([]int, limit)
	for i := range rows {
		lo, hi := stretch(i, n, limit), stretch(i+1, n, limit)
		_, u := math.Modf(float64(i) * golden)
		rows[i] = lo + int(u*float64(hi-lo))
	}
	return rows
}

// stretch returns floor(i n / limit) without overflow for i <= limit.
func stretch(i, n, limit int) int { return i*(n/limit) + i*(n%limit)/limit }

// meanSquare returns the mean squared distance over pairs, in closed form for vectors.
func (m *measurement) meanSquare(ctx context.Context) (float64, error) {
	if m.k.IsLinear() {
		switch p := m.x.(type) {
		case *points.Dense:
			return meanSquareDense(p)
		case *points.CSR:
			if err := m.eng.Check("means of features", 40*int64(len(p.Col)),
				"use fewer points, another rule or a number, or raise the memory limit"); err != nil {
				return 0, err
			}
			return meanSquareSparse(p)
		}
	}
	return m.pairMean(ctx, func(d2 float64) float64 { return d2 })
}

// pairMean returns the mean of f(d_ij^2) over pairs i < j: row sums, each in the order of its
// columns, then their sum in order. Only blocks of distances are in memory.
func (m *measurement) pairMean(ctx context.Context, f func(float64) float64) (float64, error) {
	x := sample(m.x, m.limit.pairs)
	n := x.Len()
	sums := make([]float64, n)
	err := m.k.Squared().GramBlocks(ctx, m.eng, x, func(b kernel.Block) error {
		for r := range b.Matrix.Rows {
			i := b.Row + r
			for _, v := range b.Matrix.Row(r)[:max(0, min(b.Matrix.Cols, i-b.Col))] {
				sums[i] += f(v)
			}
		}
		return nil
	})
	total := 0.0
	for _, s := range sums {
		// The division comes before the sum: sums of large squares could overflow.
		total += s / (float64(n) * float64(n-1) / 2)
	}
	return total, err
}

// median returns the median distance over pairs.
func (m *measurement) median(ctx context.Context) (float64, error) {
	d2, err := m.k.SquaredDistances(ctx, m.eng, sample(m.x, m.limit.pairs))
	if err != nil {
		return 0, err
	}
	pairs := d2.Rows * (d2.Rows - 1) / 2
	lower := selectBelow(d2, (pairs-1)/2)
	upper := lower
	if pairs%2 == 0 {
		upper = selectBelow(d2, pairs/2)
	}
	return (math.Sqrt(lower) + math.Sqrt(upper)) / 2, ctx.Err()
}

// selectBelow returns the element of rank k (from 0) among those below the diagonal of m, all >= 0.
// The bits of floats >= 0 sort like the floats, so four counting passes of 16 bits each find it:
// O(n^2) for any values, and nothing is moved.
func selectBelow(m blas.Matrix, k int) float64 {
	var prefix uint64
	counts := make([]int, 1<<16)
	for shift := 48; shift >= 0; shift -= 16 {
		clear(counts)
		for i := range m.Rows {
			for _, v := range m.Row(i)[:i] {
				// A shift by 64 (the first pass) gives 0: every value belongs.
				if b := math.Float64bits(v); (b^prefix)>>(shift+16) == 0 {
					counts[b>>shift&0xffff]++
				}
			}
		}
		digit := 0
		for ; counts[digit] <= k; digit++ {
			k -= counts[digit]
		}
		prefix |= uint64(digit) << shift
	}
	return math.Float64frombits(prefix)
}

// meanSquareDense returns 2/(n-1) sum_i |x_i - mean|^2. Means are relative to the first point, so
// that constant features contribute exactly 0.
func meanSquareDense(p *points.Dense) (float64, error) {
	first, means := p.Row(0), make([]float64, p.D)
	for i := range p.N {
		for c, v := range p.Row(i) {
			means[c] += (v - first[c]) / float64(p.N)
		}
	}
	s := 0.0
	for i := range p.N {
		row := 0.0
		for c, v := range p.Row(i) {
			d := v - first[c] - means[c]
			row += d * d
		}
		s += row / float64(p.N-1)
	}
	return checked(2*s, p)
}

// meanSquareSparse is like meanSquareDense, but counts the zeros of each feature instead of
// visiting them. Features that do not occur contribute exactly 0.
func meanSquareSparse(p *points.CSR) (float64, error) {
	p, _ = p.Compact()
	zeros := slices.Repeat([]float64{float64(p.N)}, p.D) // points without the feature
	first, means := make([]float64, p.D), make([]float64, p.D)
	for k := len(p.Col) - 1; k >= 0; k-- {
		zeros[p.Col[k]]--
		first[p.Col[k]] = p.Val[k]
	}
	for c, z := range zeros {
		if z > 0 {
			first[c] = 0 // differences are relative to zero
		}
	}
	for k, c := range p.Col {
		means[c] += (p.Val[k] - first[c]) / float64(p.N)
	}
	s := 0.0
	for k, c := range p.Col {
		d := p.Val[k] - first[c] - means[c]
		s += d * d / float64(p.N-1)
	}
	for c, z := range zeros {
		s += z * means[c] * means[c] / float64(p.N-1)
	}
	return checked(2*s, p)
}

// checked returns v, or a DataError if it overflowed; the error names a bad value of x if there is
// one.
func checked(v float64, x points.Points) (float64, error) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v, nil
	}
	if err := x.Validate(); err != nil {
		return 0, err
	}
	return 0, fault.Data("", "mean squared distance is %v: want smaller values; standardize the data", v)
}

// nearest returns the mean over points of the mean distance to the k nearest others, or to all
// others if there are fewer. With many points it averages over a sample.
func (m *measurement) nearest(ctx context.Context, k int) (float64, error) {
	n := m.x.Len()
	if k = min(k, n-1); k < 1 {
		return 0, ctx.Err()
	}
	if n <= m.limit.pairs {
		found, err := graph.Nearest(ctx, m.eng, m.k, m.x, k)
		if err != nil {
			return 0, err
		}
		return meanDistance(found.Squared), nil
	}
	rows := spread(n, m.limit.queries)
	found, err := graph.NearestBetween(ctx, m.eng, m.k, m.x.Select(rows), m.x, k+1)
	if err != nil {
		return 0, err
	}
	var squared []float64
	for q, i := range rows {
		index, d2 := found.Of(q)
		self := slices.Index(index, int32(i))
		if self < 0 { // the point has so many copies that it is not listed itself
			self = k
		}
		squared = append(append(squared, d2[:self]...), d2[self+1:]...)
	}
	return meanDistance(squared), nil
}

func meanDistance(squared []float64) float64 {
	mean := 0.0
	for _, v := range squared {
		mean += math.Sqrt(v) / float64(len(squared))
	}
	return mean
}
