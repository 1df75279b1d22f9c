package kmeans

import (
	"cmp"
	"slices"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
)

// Part is what a pass has found in some elements.
type Part struct {
	Index int64 // the first of the elements
	Rows  int64
	Cost  float64 // sum of the squared distances of rows to their centers
	// Sums is K x (Width+1): the sums of the rows of each center, less the shift, and their number.
	// In the start Width is 0.
	Sums []float64
	// Far is the row farthest from its center, FarSquared its squared distance and FarRow its
	// number; nil in the start.
	Far        []float64
	FarSquared float64
	FarRow     int64
	Drawn      rowrandom.Rows // that the start may take; their keys are u / d^2
}

// merge adds b, whose elements come after those of p. Rows are drawn up to the limit over the cost.
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

// mergeAll merges the parts, which come in any order and some perhaps twice, in the order of their
// elements.
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

// prune leaves out the rows that are not drawn any more, by the cost known now. Without a cost, as
// in the first pass, one row is drawn.
func (p *Part) prune(limit float64) {
	if limit == 0 {
		p.Drawn.Smallest(1, nil)
		return
	}
	p.Drawn.Smallest(len(p.Drawn.Keys), func(key float64) bool { return key*p.Cost <= limit })
}
