package prepare

import "math"

// sortFloats sorts values, none of which is NaN, with as many values of scratch: by 11 bits at a
// time, and not at all by bits in which all agree, as the low ones of whole numbers do. It returns
// the slice that has the result. Cost: O(n), a third of the time of comparisons for a million.
func sortFloats(values, scratch []float64) []float64 {
	const width, size = 11, 1 << 11
	var counts [6][size]int
	for _, v := range values {
		key := sortKey(v)
		for pass := range counts {
			counts[pass][key>>(pass*width)&(size-1)]++
		}
	}
	scratch = scratch[:len(values)]
	for pass := range counts {
		counted := &counts[pass]
		if len(values) == 0 || counted[sortKey(values[0])>>(pass*width)&(size-1)] == len(values) {
			continue
		}
		sum := 0
		for d, c := range counted {
			counted[d] = sum
			sum += c
		}
		for _, v := range values {
			digit := sortKey(v) >> (pass * width) & (size - 1)
			scratch[counted[digit]] = v
			counted[digit]++
		}
		values, scratch = scratch, values
	}
	return values
}

// sortKey returns bits that have the order of the numbers.
func sortKey(v float64) uint64 {
	bits := math.Float64bits(v)
	return bits ^ (uint64(int64(bits)>>63) | 1<<63)
}
