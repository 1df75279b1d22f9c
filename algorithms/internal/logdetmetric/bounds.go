// Package logdetmetric is the common part of the methods that learn a metric or a kernel by LogDet
// projections: bounds of distances, the constraints of links, and the extension of the learned
// kernel from linked points to all points.
package logdetmetric

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/quickselect"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// BoundRules are the rules for the bounds of squared distances: "p5" is the fifth percentile over
// all pairs of points that are apart, "0.5" is a value. Pairs at distance 0 do not count, so copies
// of all points change nothing, and where many points are equal, a percentile is above 0. Of more
// than 632 points, 200,000 pairs are drawn by the numbers of rows, so that rows in another order
// change percentiles a little.
type BoundRules struct {
	Upper  string `json:"upper" param:"upper" default:"p5" help:"maximum squared distance of must-links: p5 is a percentile of all pairs of different points, 0.5 a value"`
	Lower  string `json:"lower" param:"lower" default:"p95" help:"minimum squared distance of cannot-links, in the same form"`
	Margin string `json:"margin" param:"margin" default:"p5" help:"minimum difference of the two squared distances of a triplet, in the same form"`
}

// Check returns a *fault.ParamError for the first invalid rule.
func (t BoundRules) Check() error {
	for _, b := range t.all() {
		if _, _, err := b.parse(); err != nil {
			return err
		}
	}
	return nil
}

type namedBound struct{ name, text string }

func (t BoundRules) all() []namedBound {
	return []namedBound{{"upper", t.Upper}, {"lower", t.Lower}, {"margin", t.Margin}}
}

func (b namedBound) parse() (v float64, percentile bool, err error) {
	digits, percentile := strings.CutPrefix(b.text, "p")
	v, err = strconv.ParseFloat(digits, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) || percentile && v > 100 {
		return 0, false, &fault.ParamError{Param: b.name, Value: b.text,
			Want: "a finite number > 0, or p and a percentile up to 100, such as p5"}
	}
	return v, percentile, nil
}

// Bounds are bounds of squared distances.
type Bounds struct {
	Upper float64 `json:"upper"` // maximum of must-links
	Lower float64 `json:"lower"` // minimum of cannot-links
	// Margin is the minimum difference in triplets, 0 without triplets.
	Margin float64 `json:"margin,omitempty"`
}

// maxPairs is the maximum number of pairs of points that percentiles are computed from.
const maxPairs = 200_000

// rounding is the largest squared distance, relative to the maximum, that counts as 0.
const rounding = 1e-12

// Bounds returns the bounds for the distances between the points x in the feature space of k. It
// computes the margin only if there are triplets. A percentile that is 0 up to rounding, relative
// to the distance of an outlier, is a *fault.DataError.
func (t BoundRules) Bounds(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	triplets bool, seed uint64) (out Bounds, err error) {
	var squared []quickselect.Key // distances of pairs, computed for the first percentile
	var largest float64           // of them
	for n, b := range t.all() {
		v, percentile, err := b.parse()
		if err != nil {
			return out, err
		}
		to := []*float64{&out.Upper, &out.Lower, &out.Margin}[n]
		if to == &out.Margin && !triplets {
			continue
		}
		if *to = v; !percentile {
			continue
		}
		if squared == nil {
			if squared, err = distances(ctx, eng, k, x, seed); err != nil {
				return out, err
			}
			largest = quantile(squared, 1)
		}
		if *to = quantile(squared, v/100); !(*to > rounding*largest) {
			return out, b.unusable(*to, largest)
		}
	}
	return out, nil
}

// unusable is the error of a percentile that is 0 up to rounding.
func (b namedBound) unusable(v, largest float64) error {
	if largest == 0 {
		return fault.Data("",
			"%s: the percentile %s is that of distances above 0, but no two points are apart: want points "+
				"that differ, or a value, such as %s=0.5", b.name, b.text, b.name)
	}
	return fault.Data("",
		"%s: the percentile %s of the squared distances is %.2g, which is 0 up to rounding relative to the "+
			"largest, %.2g: want a higher percentile, such as %s=p50, a value, or data without outliers",
		b.name, b.text, v, largest, b.name)
}

// Notices returns a notice if the bounds contradict each other.
func (b Bounds) Notices() []string {
	if b.Upper < b.Lower {
		return nil
	}
	return []string{fmt.Sprintf(
		"upper, the bound of must-links, is %.4g and lower, that of cannot-links, is %.4g: want upper < lower", b.Upper, b.Lower)}
}

// distances returns the squared distances above 0 that percentiles are computed from, as keys whose
// rows are the numbers of the pairs: of all pairs of points, or a random sample if they are more
// than maxPairs.
func distances(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	seed uint64) ([]quickselect.Key, error) {
	n, count := x.Len(), maxPairs
	all := n < 1000 && n*(n-1)/2 <= maxPairs // below 1000, it does not overflow
	if all {
		count = n * (n - 1) / 2
	}
	const pairBytes = 24 // two rows and a distance, then the distance and a key
	if err := eng.Check("percentiles of squared distances", pairBytes*int64(count),
		"give upper and lower of itml or gml as values"); err != nil {
		return nil, err
	}
	lengths, err := k.Diagonal(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	rounded := roundingOf(k, x)
	positive := func(i, j int, v float64) float64 {
		if v <= rounded*(lengths[i]+lengths[j]) {
			return 0
		}
		return v
	}
	var values []float64
	if all {
		values = make([]float64, count)
		err = k.Squared().GramBlocks(ctx, eng, x, func(b kernel.Block) error {
			for r := range b.Matrix.Rows {
				i := b.Row + r
				for c, v := range b.Matrix.Row(r)[:max(0, min(b.Matrix.Cols, i-b.Col))] {
					values[i*(i-1)/2+b.Col+c] = positive(i, b.Col+c, v)
				}
			}
			return nil
		})
	} else {
		pairs := sample(n, seed)
		values, err = k.Squared().Pairs(ctx, eng, x, pairs)
		for p, v := range values {
			values[p] = positive(pairs[p][0], pairs[p][1], v)
		}
	}
	keys := make([]quickselect.Key, 0, len(values))
	for p, v := range values {
		if v > 0 {
			keys = append(keys, quickselect.Key{Value: v, Row: int32(p)})
		}
	}
	return keys, err
}

// roundingOf bounds the rounding error of a squared distance of equal points, in units of k(x, x) +
// k(y, y): a difference of kernel values has more than a sum of squared differences.
func roundingOf(k kernel.Kernel, x points.Points) float64 {
	if _, isGram := x.(*points.Gram); k.IsLinear() && !isGram {
		return 1e-28
	}
	return 1e-14
}

// sample draws maxPairs pairs of n points.
func sample(n int, seed uint64) [][2]int {
	rng := rand.New(rand.NewPCG(seed, 0x69746d6c)) // one stream on one core: maxPairs do not grow
	out := make([][2]int, maxPairs)
	for k := range out {
		out[k] = sampling.Pair(rng, n)
	}
	return out
}

// quantile returns the quantile q of the values of keys with linear interpolation, and 0 for no
// keys. It changes their order, on one core: there are at most maxPairs.
func quantile(keys []quickselect.Key, q float64) float64 {
	if len(keys) == 0 {
		return 0
	}
	position := q * float64(len(keys)-1)
	i := min(int(position), len(keys)-1)
	quickselect.First(keys, i+1)
	at := slices.MaxFunc(keys[:i+1], quickselect.Key.Compare).Value
	if i == len(keys)-1 {
		return at
	}
	next := slices.MinFunc(keys[i+1:], quickselect.Key.Compare).Value
	return at + (position-float64(i))*(next-at)
}

// Constraints returns the constraints of the links and the triplets, with the bounds b unless a
// link has its own bound. It replaces each row by its index; a nil index leaves the rows.
func (b Bounds) Constraints(w Supervision, index map[int]int) []logdet.Constraint {
	var out []logdet.Constraint
	add := func(l links.Link, kind logdet.Kind, otherwise float64) {
		c := logdet.Constraint{Kind: kind, I: l.I, J: l.J, Bound: l.Bound, Weight: l.Weight}
		if math.IsNaN(l.Bound) {
			c.Bound = otherwise
		}
		out = append(out, c)
	}
	for _, l := range w.Links.Must() {
		add(l, logdet.AtMost, b.Upper)
	}
	cannot := w.Links.Cannot()
	for at, l := range cannot {
		if !w.impossible[at] {
			add(l, logdet.AtLeast, b.Lower)
		}
	}
	for at, t := range w.Triplets {
		if !w.impossible[len(cannot)+at] {
			out = append(out, logdet.Constraint{Kind: logdet.Nearer, I: t.I, J: t.J, K: t.K, Bound: b.Margin,
				Weight: 1})
		}
	}
	for n := range out {
		if c := &out[n]; index != nil {
			c.I, c.J, c.K = index[c.I], index[c.J], index[c.K]
		}
	}
	return out
}

// Supervision holds the links and triplets that a method learns from.
type Supervision struct {
	Links      *links.Set
	Triplets   []links.Triplet
	impossible map[int]bool // indices of cannot-links, followed by triplets, that no metric can satisfy
}

// Check returns an error if there are neither links nor triplets, or if a triplet has a row that is
// not among n points.
func (w Supervision) Check(method string, n int) error {
	if w.Links.Len() == 0 && len(w.Triplets) == 0 {
		return input.NoLinks(method)
	}
	return links.CheckTriplets(n, w.Triplets)
}

// Drop leaves out what no metric can satisfy: cannot-links between points at distance 0 in the
// feature space of k, and triplets whose far point is at distance 0 from the first. It returns a
// notice that names their rows, if there are any.
func (w *Supervision) Drop(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) ([]string, error) {
	var pairs [][2]int
	for _, l := range w.Links.Cannot() {
		pairs = append(pairs, [2]int{l.I, l.J})
	}
	for _, t := range w.Triplets {
		pairs = append(pairs, [2]int{t.I, t.K})
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	squared, err := k.Squared().Pairs(ctx, eng, x, pairs)
	if err != nil {
		return nil, err
	}
	largest := slices.Max(squared)
	var named []string
	w.impossible = map[int]bool{}
	for at, d := range squared {
		if d > rounding*largest {
			continue
		}
		w.impossible[at] = true
		if len(named) < 5 {
			named = append(named, fmt.Sprintf("%d and %d", pairs[at][0], pairs[at][1]))
		}
	}
	switch count := len(w.impossible); {
	case count == 0:
		return nil, nil
	case count > len(named):
		named = append(named, "…")
	}
	return []string{fmt.Sprintf(
		"cannot-links or triplets left out (%d), since no metric separates points at distance 0: rows %s",
		len(w.impossible), strings.Join(named, ", "))}, nil
}

// Dropped returns the number of links and triplets that [Supervision.Drop] has left out.
func (w Supervision) Dropped() int { return len(w.impossible) }

// Linked returns the rows that occur in links or triplets, ascending.
func (w Supervision) Linked() []int {
	linked := map[int]bool{}
	for _, l := range slices.Concat(w.Links.Must(), w.Links.Cannot()) {
		linked[l.I], linked[l.J] = true, true
	}
	for _, t := range w.Triplets {
		linked[t.I], linked[t.J], linked[t.K] = true, true, true
	}
	return slices.Sorted(maps.Keys(linked))
}
