// Package sampling draws random samples, for methods that learn from a part of the data.
package sampling

import (
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/engine/points"
)

// Pair draws two different numbers below n.
func Pair(rng *rand.Rand, n int) [2]int {
	i, j := rng.IntN(n), rng.IntN(n-1)
	if j >= i {
		j++
	}
	return [2]int{i, j}
}

// Some draws limit different numbers below total and returns them in ascending order. It returns
// all numbers if total is at most limit.
func Some(total, limit int, seed uint64) []int {
	if total <= limit {
		return points.UpTo(total)
	}
	rng := rand.New(rand.NewPCG(seed, 0x736f6d65))
	taken, out := make(map[int]bool, limit), make([]int, 0, limit)
	for k := total - limit; k < total; k++ { // Floyd's algorithm: all subsets are equally likely
		at := rng.IntN(k + 1)
		if taken[at] {
			at = k
		}
		taken[at] = true
		out = append(out, at)
	}
	slices.Sort(out)
	return out
}
