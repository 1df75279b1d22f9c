// Package rowrandom computes random numbers that belong to rows: every worker that processes a row,
// however often, draws the same number. [Rows] are rows drawn in this way.
package rowrandom

import "math"

// Uniform returns a pseudorandom number between 0 and 1, both exclusive, for a row of the set.
// Other seeds and streams give other numbers. It has 53 random bits.
func Uniform(seed, stream uint64, row int64) float64 {
	h := mix(mix(mix(seed)+stream) + uint64(row))
	return (float64(h>>11) + 0.5) * 0x1p-53
}

// Exponential returns a number that is distributed exponentially with mean 1/weight, +Inf for a
// weight of 0. The rows of the m smallest numbers are a sample without replacement, with chances
// proportional to the weights (Efraimidis & Spirakis 2006).
func Exponential(seed, stream uint64, row int64, weight float64) float64 {
	return -math.Log(Uniform(seed, stream, row)) / weight
}

// mix is SplitMix64 (Steele, Lea & Flood 2014): a bijection that looks random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
