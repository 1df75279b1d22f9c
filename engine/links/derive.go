package links

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
)

// WithoutCannot returns the must-links and chunklets alone. Cost: O(1).
func (s *Set) WithoutCannot() *Set {
	return &Set{n: s.n, must: s.must, cliques: s.cliques, listed: s.listed, label: s.label}
}

// Restrict returns the links between the given rows, renumbered so that rows[r] becomes r: the set
// for a split or for points.Points.Select.
//
// Links to other rows are dropped, and with them the links that they imply: to keep the implied
// link between 3 and 12 through 7, take the [Set.Closure] first. Chunklets keep their remaining
// rows; one that shrinks to a single row is dropped unless it was listed with one row. Lines are
// kept. A row out of range or given twice is a *fault.DataError. Cost: O(n + links).
func (s *Set) Restrict(rows []int) (*Set, error) {
	number := make([]int, s.n) // 1 + new number, 0 if dropped
	for r, i := range rows {
		if i < 0 || i >= s.n {
			return nil, fault.Data("", "row %d does not exist: want %s", i, rowRange(s.n))
		}
		if number[i] != 0 {
			return nil, fault.Data("", "row %d is selected twice: want every row at most once", i)
		}
		number[i] = r + 1
	}
	out := &Set{n: len(rows), must: renumber(s.must, number), cannot: renumber(s.cannot, number), label: s.label}
	for _, i := range s.listed {
		if number[i] != 0 {
			out.listed = append(out.listed, number[i]-1)
		}
	}
	slices.Sort(out.listed)
	for _, c := range s.cliques {
		var kept []int
		for _, i := range c {
			if number[i] != 0 {
				kept = append(kept, number[i]-1)
			}
		}
		if len(kept) >= 2 {
			slices.Sort(kept)
			out.cliques = append(out.cliques, kept)
		}
	}
	return out, nil
}

func renumber(ls []Link, number []int) []Link {
	var out []Link
	for _, l := range ls {
		if number[l.I] != 0 && number[l.J] != 0 {
			l.I, l.J = number[l.I]-1, number[l.J]-1
			out = append(out, l.canonical())
		}
	}
	slices.SortFunc(out, comparePairs)
	return out
}

// Union returns the links of both sets, which must be on the same number of rows (else a
// *fault.ShapeError). A pair with different signs in a and b is an error as in [New]; of
// duplicates, the link of a is kept, and they are counted. Chunklets become pairs; more than 2^25
// pairs are a *fault.MemoryError.
func Union(a, b *Set) (*Set, error) {
	if a.n != b.n {
		return nil, &fault.ShapeError{What: "number of rows of the second set of links", Got: b.n, Want: strconv.Itoa(a.n) + ", as in the first set"}
	}
	if err := checkLinks("the union of two sets of links", uint64(a.Len())+uint64(b.Len()), "use fewer links"); err != nil {
		return nil, err
	}
	s, err := New(a.n, slices.Concat(a.Must(), a.Cannot(), b.Must(), b.Cannot()))
	if err != nil {
		return nil, err
	}
	s.merged = a.merged + b.merged
	s.duplicates += a.duplicates + b.duplicates
	s.remarks = slices.Concat(a.remarks, b.remarks, s.remarks)
	s.listed = s.loose(slices.Concat(a.listed, b.listed))
	s.label = cmp.Or(a.label, b.label)
	return s, nil
}

// loose returns the given rows without must-links, ascending, each once.
func (s *Set) loose(rows []int) []int {
	touched := make(map[int]bool)
	for _, l := range s.must {
		touched[l.I], touched[l.J] = true, true
	}
	rows = slices.DeleteFunc(rows, func(i int) bool { return touched[i] })
	slices.Sort(rows)
	return slices.Compact(rows)
}
