package links

import (
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// FromChunklets returns the set in which the rows of each chunklet are linked pairwise.
//
// Chunklets that share a row are merged, since the formulas of RCA need disjoint ones; [Set.Merged]
// and a warning report this. A chunklet of one row adds no link but stays in
// [Set.Chunklets]: it counts as an observation. The same row twice in one chunklet is
// collapsed and counted. A row outside 0..n-1 or an empty chunklet is a *fault.DataError that names
// the position of the chunklet in the list. The pairs are computed only when [Set.Must] is called.
// Cost: O(n + rows given).
func FromChunklets(n int, chunklets [][]int) (*Set, error) {
	if n < 0 {
		return nil, &fault.ParamError{Param: "number of rows", Value: n, Want: "a number >= 0"}
	}
	f := newForest(n)
	member := make([]int, n) // 1 + the last chunklet with the row, 0 if none
	s := &Set{n: n}
	firstShared := -1
	for c, rows := range chunklets {
		if len(rows) == 0 {
			return nil, fault.Data("", "chunklet %d of the list is empty: want at least one row", c)
		}
		for _, i := range rows {
			if i < 0 || i >= n {
				return nil, fault.Data("", "chunklet %d of the list: row %d does not exist: want %s", c, i, rowRange(n))
			}
			switch member[i] {
			case 0:
			case c + 1:
				s.duplicates++
			default:
				if firstShared < 0 {
					firstShared = i
				}
			}
			member[i] = c + 1
			f.join(rows[0], i)
		}
	}
	s.group(f, member)
	s.merged = len(chunklets) - len(s.cliques) - len(s.listed)
	if s.duplicates > 0 {
		s.remarks = append(s.remarks, plural(s.duplicates, "row is", "rows are")+" given again in the same chunklet and dropped")
	}
	if s.merged > 0 {
		s.remarks = append(s.remarks, fmt.Sprintf("%s rows with another one (the first such row is %d): merged",
			plural(s.merged, "chunklet shares", "chunklets share"), firstShared))
	}
	return s, nil
}

// group fills cliques and listed from the trees of f that contain a row with named[i] != 0.
func (s *Set) group(f *forest, named []int) {
	of, count := f.numbers()
	groups := make([][]int, count)
	for i, c := range of {
		if named[i] != 0 {
			groups[c] = append(groups[c], i)
		}
	}
	for _, g := range groups {
		switch len(g) {
		case 0:
		case 1:
			s.listed = append(s.listed, g[0])
		default:
			s.cliques = append(s.cliques, slices.Clip(g))
		}
	}
}
