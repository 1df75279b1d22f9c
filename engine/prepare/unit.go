package prepare

import "slices"

// sameUnit reports whether columns of numbers share a unit, so that their scales mean something:
// all are whole numbers from 0 to one bound, as pixels and counts are, or their standard deviations
// agree within a factor of ten. The largest and the smallest tenth of these are not looked at.
func sameUnit(columns []*finding) bool {
	var scales []float64
	whole, bound := true, 0.0
	for _, g := range columns {
		c := &g.numbers
		whole = whole && c.whole && c.low >= 0
		bound = max(bound, c.high)
		if c.scale > 0 {
			scales = append(scales, c.scale)
		}
	}
	if len(scales) < 2 {
		return false
	}
	slices.Sort(scales)
	n := len(scales)
	return scales[n-1-n/10] <= 10*scales[n/10]
}
