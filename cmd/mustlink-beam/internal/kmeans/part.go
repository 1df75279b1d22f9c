package kmeans

import (
	"cmp"
	"slices"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
)

// Part summarizes what a pass finds in some elements.
type Part struct {
	Index int64 // of the first of these elements
	Rows  int64
	Cost  float64 // sum of the squared distances of rows to their centers
	// Sums is K x (Width+1): for each center the sum of its rows, with the shift subtracted, and
	// their number. Width is 0 in the start.
	Sums []float64
	// Far is the row farthest from its center, FarSquared its squared distance and FarRow its
	// number. It is nil in the start.
	Far        []float64
	FarSquared float64
	FarRow     int64
	Drawn      rowrandom.Rows // candidates of the start; their keys are u / d^2
}

// merge adds b, whose elements follow those of p. Drawn rows are kept up to the limit over the
// cost.
func (p *Part) merge(b Part, limit float64) {
	p.Rows += b.Rows
	p.Cost += b.Cost
	if p.Sums == nil {
		p.Sums = make([]float64, len(b.Sums))
	}
	for i, v := range b.Sums {
		p.Sums[i] += v
	}
	if b.FarSquared > p.FarSquared {
		p.Far, p.FarSquared, p.FarRow = b.Far, b.FarSquared, b.FarRow
	}
	p.Drawn = p.Drawn.With(b.Drawn)
	p.prune(limit)
}

// mergeAll merges the parts in the order of their elements. They come in any order, and some
// perhaps twice.
func mergeAll(parts []Part, limit float64) Part {
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(a.Index, b.Index) })
	parts = slices.CompactFunc(parts, func(a, b Part) bool { return a.Index == b.Index })
	if len(parts) == 0 {
		return Part{}
	}
	out := Part{Index: parts[0].Index}
	for _, p := range parts {
		out.merge(p, limit)
	}
	return out
}

// prune removes the rows that are not drawn at the cost known now. Without a cost, as in the first
// pass, it keeps one row.
func (p *Part) prune(limit float64) {
	if limit == 0 {
		p.Drawn.Smallest(1, nil)
		return
	}
	p.Drawn.Smallest(len(p.Drawn.Keys), func(key float64) bool { return key*p.Cost <= limit })
}
