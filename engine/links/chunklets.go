package links

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

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
		return nil, fault.Param("number of rows", n, "a number >= 0")
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
				return nil, fault.Data("", "chunklet %d of the list: row %d does not exist: want %s", c, i,
					rowRange(n))
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
		s.remarks = append(s.remarks,
			plural(s.duplicates, "row is", "rows are")+" given again in the same chunklet and dropped")
	}
	if s.merged > 0 {
		s.remarks = append(s.remarks,
			fmt.Sprintf("%s rows with another one (the first such row is %d): merged",
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

// classes groups the labeled rows by label and numbers their pairs. A random pair is a random
// number, so the n^2 pairs are never listed.
type classes struct {
	rows  []int // labeled rows, class by class, ascending within a class
	start []int // class k is rows[start[k]:start[k+1]]; classes in order of first row
	// sameUpTo[k] and differentUpTo[k] count the pairs whose first class is below k.
	sameUpTo, differentUpTo []uint64
}

func newClasses(labels []string) *classes {
	number := make(map[string]int)
	var size []int
	class := make([]int, len(labels))
	for i, label := range labels {
		if label == "" {
			class[i] = -1
			continue
		}
		k, ok := number[label]
		if !ok {
			k = len(size)
			number[label] = k
			size = append(size, 0)
		}
		class[i] = k
		size[k]++
	}
	c := &classes{start: make([]int, len(size)+1)}
	for k, q := range size {
		c.start[k+1] = c.start[k] + q
	}
	c.rows = make([]int, c.start[len(size)])
	next := append([]int(nil), c.start...)
	for i, k := range class {
		if k >= 0 {
			c.rows[next[k]] = i
			next[k]++
		}
	}
	c.sameUpTo, c.differentUpTo = make([]uint64, len(size)+1), make([]uint64, len(size)+1)
	for k, q := range size {
		c.sameUpTo[k+1] = c.sameUpTo[k] + triangle(q)
		c.differentUpTo[k+1] = c.differentUpTo[k] + uint64(q)*uint64(len(c.rows)-c.start[k+1])
	}
	return c
}

func (c *classes) count() int { return len(c.start) - 1 }

func (c *classes) members(k int) []int { return c.rows[c.start[k]:c.start[k+1]] }

func (c *classes) samePairs() uint64 { return c.sameUpTo[c.count()] }

func (c *classes) differentPairs() uint64 { return c.differentUpTo[c.count()] }

// same returns the same-class pair with the given number.
func (c *classes) same(number uint64) (i, j int) {
	k := classAt(c.sameUpTo, number)
	a, b := unrankPair(number - c.sameUpTo[k])
	m := c.members(k)
	return m[a], m[b]
}

// different returns the different-class pair with the given number: a row of some class
// and a row of a later class.
func (c *classes) different(number uint64) (i, j int) {
	k := classAt(c.differentUpTo, number)
	later := c.rows[c.start[k+1]:]
	r := number - c.differentUpTo[k]
	return c.members(k)[r/uint64(len(later))], later[r%uint64(len(later))]
}

// classAt returns the k with upTo[k] <= number < upTo[k+1].
func classAt(upTo []uint64, number uint64) int {
	return sort.Search(len(upTo), func(k int) bool { return upTo[k] > number }) - 1
}

// unrankPair returns the a < b with b(b-1)/2 + a = r.
func unrankPair(r uint64) (a, b int) {
	// The square root is accurate to a few units in the last place; the loops make the result
	// exact.
	t := uint64((1 + math.Sqrt(1+8*float64(r))) / 2)
	for t*(t-1)/2 > r {
		t--
	}
	for t*(t+1)/2 <= r {
		t++
	}
	return int(r - t*(t-1)/2), int(t)
}

// shuffle yields 0..total-1 in uniformly random order, lazily: a Fisher-Yates shuffle that stores
// only the positions that have changed, at most one per number.
type shuffle struct {
	rng         *rand.Rand
	total, done uint64
	moved       map[uint64]uint64 // position -> number there, if it is not the position itself
}

func newShuffle(total, seed, stream uint64) *shuffle {
	return &shuffle{rng: rand.New(rand.NewPCG(seed, stream)), total: total, moved: make(map[uint64]uint64)}
}

// next returns the next number; it must be called at most total times.
func (s *shuffle) next() uint64 {
	position := s.done + s.rng.Uint64N(s.total-s.done)
	drawn, head := s.at(position), s.at(s.done)
	delete(s.moved, s.done)
	if position != s.done {
		s.moved[position] = head
	}
	s.done++
	return drawn
}

func (s *shuffle) at(position uint64) uint64 {
	if v, ok := s.moved[position]; ok {
		return v
	}
	return position
}

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
	out := &Set{n: len(rows), must: renumber(s.must, number), cannot: renumber(s.cannot, number),
		label: s.label}
	kept := func(rows []int) (list []int) {
		for _, i := range rows {
			if number[i] != 0 {
				list = append(list, number[i]-1)
			}
		}
		slices.Sort(list)
		return list
	}
	out.listed = kept(s.listed)
	for _, c := range s.cliques {
		if c = kept(c); len(c) >= 2 {
			out.cliques = append(out.cliques, c)
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
		return nil, fault.Shape("number of rows of the second set of links", b.n, "%d, as in the first set",
			a.n)
	}
	if err := checkLinks("the union of two sets of links", uint64(a.Len())+uint64(b.Len()),
		"use fewer links"); err != nil {
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
