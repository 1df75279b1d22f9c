// Package draw draws some of many things, for methods that learn from fewer than there are.
package draw

import (
	"math/rand/v2"
	"slices"
)

// Pair returns two different numbers below n.
func Pair(rng *rand.Rand, n int) [2]int {
	i, j := rng.IntN(n), rng.IntN(n-1)
	if j >= i {
		j++
	}
	return [2]int{i, j}
}

// Some returns limit different numbers below total, ascending and drawn by the seed, or all if
// there are no more.
func Some(total, limit int, seed uint64) []int {
	if total <= limit {
		all := make([]int, max(0, total))
		for k := range all {
			all[k] = k
		}
		return all
	}
	rng := rand.New(rand.NewPCG(seed, 0x736f6d65))
	taken, out := make(map[int]bool, limit), make([]int, 0, limit)
	for k := total - limit; k < total; k++ { // Floyd: every subset is as likely
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
