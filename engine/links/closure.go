package links

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// Closure returns the set with all implied links: must-links between all pairs of every component,
// and cannot-links between all rows of two components that a cannot-link joins. Given links keep
// weight, bound and line; implied ones have weight 1 and neither bound nor line. The closure of a
// closure is the closure itself.
//
// A set that is not [Set.Consistent] gives a *[ConflictError]; a closure of more than 2^25 links a
// *fault.MemoryError. Cost: O(n + m log m) for m links in the result.
func (s *Set) Closure() (*Set, error) {
	if err := s.Consistent(); err != nil {
		return nil, err
	}
	if len(s.must) == 0 && len(s.cannot) == 0 {
		return s, nil // chunklets already have all implied links
	}
	groups := s.members()
	joined := s.joinedComponents()
	if err := checkClosure(groups, joined); err != nil {
		return nil, err
	}
	out := &Set{n: s.n, listed: s.listed, duplicates: s.duplicates, merged: s.merged, remarks: s.remarks,
		label: s.label}
	out.must = mergeGiven(s.must, pairsOf(groups))
	var implied []Link
	for _, ab := range joined {
		for _, i := range groups[ab[0]] {
			for _, j := range groups[ab[1]] {
				implied = append(implied, NewLink(min(i, j), max(i, j), Cannot))
			}
		}
	}
	slices.SortFunc(implied, comparePairs)
	out.cannot = mergeGiven(s.cannot, implied)
	return out, nil
}

// members returns the rows of every component, ascending.
func (s *Set) members() [][]int {
	groups := make([][]int, s.NumComponents())
	for i, c := range s.Components() {
		groups[c] = append(groups[c], i)
	}
	return groups
}

// joinedComponents returns the pairs of components that a cannot-link joins, each once.
func (s *Set) joinedComponents() [][2]int {
	of := s.Components()
	joined := make([][2]int, len(s.cannot))
	for k, l := range s.cannot {
		a, b := of[l.I], of[l.J]
		joined[k] = [2]int{min(a, b), max(a, b)}
	}
	slices.SortFunc(joined, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	return slices.Compact(joined)
}

func checkClosure(groups [][]int, joined [][2]int) error {
	var total uint64 // below n*(n-1)/2
	for _, g := range groups {
		total += triangle(len(g))
	}
	for _, ab := range joined {
		total += uint64(len(groups[ab[0]])) * uint64(len(groups[ab[1]]))
	}
	return checkLinks("the closure of the links", total, "use chunklets, which need no closure, or fewer links")
}

// checkLinks returns a *fault.MemoryError if k links are too many to store.
func checkLinks(what string, k uint64, hint string) error {
	if k <= maxLinks {
		return nil
	}
	return &fault.MemoryError{What: fmt.Sprintf("%s (%d links)", what, k), Need: int64(min(k, 1<<56)) * linkBytes, Limit: maxLinks * linkBytes, Hint: hint}
}

// triangle returns the number of unordered pairs of k elements.
func triangle(k int) uint64 {
	if k < 2 {
		return 0
	}
	a, b := uint64(k), uint64(k-1)
	if a%2 == 0 {
		return a / 2 * b
	}
	return a * (b / 2)
}

// mergeGiven replaces links in all by those of given; all contains every pair of given. Both are
// sorted; all is changed and returned.
func mergeGiven(given, all []Link) []Link {
	at := 0
	for _, l := range given {
		for comparePairs(all[at], l) < 0 {
			at++
		}
		all[at] = l
	}
	return all
}
