package entities

import (
	"math"
	"math/bits"
	"slices"
)

// weights are the log odds between m parts: symmetric, the diagonal 0, -Inf for parts that may not
// be together.
type weights struct {
	m    int
	sums []float64
}

func (w weights) row(a int) []float64 { return w.sums[a*w.m : (a+1)*w.m] }

// within returns the sum of the weights within groups.
func (w weights) within(of []int) (sum float64) {
	for a := range w.m {
		for b, v := range w.row(a)[:a] {
			if of[a] == of[b] {
				sum += v
			}
		}
	}
	return sum
}

// best returns the groups with the largest sum within. The sum of a set of parts is the largest
// over its subsets with the first part, as a group, and the rest.
func (w weights) best() []int {
	size := 1 << w.m
	group, best, take := make([]float64, size), make([]float64, size), make([]int, size)
	for s := 1; s < size; s++ {
		first := bits.TrailingZeros(uint(s))
		rest := s &^ (1 << first)
		group[s] = group[rest]
		for t := rest; t > 0; t &= t - 1 {
			group[s] += w.row(first)[bits.TrailingZeros(uint(t))]
		}
		best[s], take[s] = best[rest], 1<<first
		for t := -rest & rest; t > 0; t = (t - rest) & rest { // of equal ones the smaller group
			if v := group[t|1<<first] + best[rest&^t]; v > best[s]+rounding {
				best[s], take[s] = v, t|1<<first
			}
		}
	}
	of := make([]int, w.m)
	for s, g := size-1, 0; s > 0; s, g = s&^take[s], g+1 {
		for t := take[s]; t > 0; t &= t - 1 {
			of[bits.TrailingZeros(uint(t))] = g
		}
	}
	return of
}

// rounding is how much a change must raise a sum.
const rounding = 1e-9

// merge merges groups, those with the largest sum between them first, until none is positive. A nil
// of begins with each part alone. A group has the number of one of its parts.
func (w weights) merge(of []int) []int {
	between := slices.Clone(w.sums)
	row := func(a int) []float64 { return between[a*w.m : (a+1)*w.m] }
	alive := make([]bool, w.m)
	join := func(a, b int) {
		alive[b] = false
		for c, v := range row(b) {
			row(a)[c] += v
			row(c)[a] = row(a)[c]
		}
	}
	for a := range alive {
		alive[a] = true
	}
	if of == nil {
		of = make([]int, w.m)
		for a := range of {
			of[a] = a
		}
	} else {
		head := map[int]int{}
		for a, g := range of {
			if first, there := head[g]; there {
				join(first, a)
				of[a] = first
			} else {
				head[g], of[a] = a, a
			}
		}
	}
	next := make([]int, w.m) // the group with the largest sum, of each
	find := func(a int) {
		next[a] = -1
		for b, v := range row(a) {
			if b != a && alive[b] && (next[a] < 0 || v > row(a)[next[a]]) {
				next[a] = b
			}
		}
	}
	for a := range next {
		find(a)
	}
	for {
		best := -1
		for a, b := range next {
			if alive[a] && b >= 0 && row(a)[b] > rounding && (best < 0 || row(a)[b] > row(best)[next[best]]) {
				best = a
			}
		}
		if best < 0 {
			return of
		}
		a, b := min(best, next[best]), max(best, next[best])
		join(a, b)
		for c, g := range of {
			if g == b {
				of[c] = a
			}
		}
		find(a)
		for c := range next {
			if !alive[c] || c == a {
				continue
			}
			if next[c] == a || next[c] == b {
				find(c)
			} else if next[c] >= 0 && row(c)[a] > row(c)[next[c]] {
				next[c] = a
			}
		}
	}
}

// improve moves parts to other groups, and merges groups, while this raises the sum within.
func (w weights) improve(of []int) []int {
	const rounds = 100
	for range rounds {
		moved := false
		for range rounds {
			any := false
			for a := range w.m {
				any = w.move(of, a) || any
			}
			moved = moved || any
			if !any {
				break
			}
		}
		if !moved {
			return of
		}
		of = w.merge(of)
	}
	return of
}

// move moves a part to the group, or alone, where it raises the sum most. One part of that group
// leaves it, if it alone keeps the part out.
func (w weights) move(of []int, a int) bool {
	sum := make(map[int]float64, 8) // with each group, but for parts that keep out
	barred := map[int][]int{}
	var groups []int
	for b, v := range w.row(a) {
		if b == a {
			continue
		}
		if _, there := sum[of[b]]; !there {
			groups, sum[of[b]] = append(groups, of[b]), 0
		}
		if math.IsInf(v, -1) {
			barred[of[b]] = append(barred[of[b]], b)
		} else {
			sum[of[b]] += v
		}
	}
	own := sum[of[a]]
	gain, to, leaves := -own, -1, -1 // alone
	for _, g := range groups {
		if g == of[a] || len(barred[g]) > 1 {
			continue
		}
		v, out := sum[g]-own, -1
		if len(barred[g]) == 1 {
			out = barred[g][0]
			v -= w.with(of, out)
		}
		if v > gain {
			gain, to, leaves = v, g, out
		}
	}
	if gain <= rounding {
		return false
	}
	if to < 0 {
		to = unused(of)
	}
	of[a] = to
	if leaves >= 0 {
		of[leaves] = unused(of)
	}
	return true
}

// with returns the sum of a part with the others of its group.
func (w weights) with(of []int, a int) (sum float64) {
	for b, v := range w.row(a) {
		if b != a && of[b] == of[a] {
			sum += v
		}
	}
	return sum
}

// unused returns a number that no group has: of m parts in at most m groups, the other numbers up
// to m.
func unused(of []int) int {
	seen := make([]bool, len(of)+1)
	for _, g := range of {
		seen[g] = true
	}
	return slices.Index(seen, false)
}
