package clustering

import (
	"cmp"
	"slices"
)

// Part is what a pass has found in some elements.
type Part struct {
	Index int64 // the first of the elements
	Rows  int64
	Cost  float64 // sum of the squared distances of rows to their centres
	// Sums is K x (Width+1): the sums of the rows of each centre, less the shift, and their number. In the start Width is 0.
	Sums []float64
	// Far is the row farthest from its centre, FarSquared its squared distance and FarRow its number; nil in the start.
	Far        []float64
	FarSquared float64
	FarRow     int64
	// Drawn are rows that the start may take, by their keys.
	Keys    []float64 // u / d^2, ascending
	Numbers []int64   // of the rows
	Drawn   []float64 // the rows themselves, one after another
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
	p.Keys, p.Numbers, p.Drawn = append(p.Keys, b.Keys...), append(p.Numbers, b.Numbers...), append(p.Drawn, b.Drawn...)
	p.prune(limit)
}

// mergeAll merges the parts, which come in any order and some perhaps twice, in the order of their elements.
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

// prune leaves out the rows that are not drawn any more, by the cost known now. Without a cost, as in the first pass, one row is drawn.
func (p *Part) prune(limit float64) {
	if len(p.Keys) == 0 {
		return
	}
	width := len(p.Drawn) / len(p.Keys)
	order := make([]int, 0, len(p.Keys))
	for i, key := range p.Keys {
		if limit == 0 || key*p.Cost <= limit {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.Keys[a], p.Keys[b]), cmp.Compare(p.Numbers[a], p.Numbers[b]))
	})
	if limit == 0 {
		order = order[:1]
	}
	keys, numbers, drawn := make([]float64, len(order)), make([]int64, len(order)), make([]float64, 0, len(order)*width)
	for to, from := range order {
		keys[to], numbers[to] = p.Keys[from], p.Numbers[from]
		drawn = append(drawn, p.Drawn[from*width:(from+1)*width]...)
	}
	p.Keys, p.Numbers, p.Drawn = keys, numbers, drawn
}
