package links

import "slices"

// partition numbers the connected components of the must-link graph.
type partition struct {
	of    []int // component of each row
	count int
}

// Components returns the number of the must-link component of every row, 0-based and in
// the order of the components' smallest rows; a row without must-links is a component of
// its own. Cost O(n + links).
func (s *Set) Components() []int { return s.partition().of }

// NumComponents returns the number of connected components of the must-link graph.
func (s *Set) NumComponents() int { return s.partition().count }

func (s *Set) partition() partition {
	return s.components.get(func() partition {
		f := newForest(s.n)
		for _, l := range s.must {
			f.join(l.I, l.J)
		}
		for _, c := range s.cliques {
			for _, i := range c[1:] {
				f.join(c[0], i)
			}
		}
		return f.partition()
	})
}

// Chunklets returns the must-link components of at least two rows, and the single rows
// that were listed as chunklets, each ascending, ordered by smallest row.
func (s *Set) Chunklets() [][]int {
	return s.chunklets.get(func() [][]int {
		p := s.partition()
		size := make([]int, p.count)
		for _, c := range p.of {
			size[c]++
		}
		keep := make([]bool, p.count)
		total, groups := 0, 0
		for c := range size {
			keep[c] = size[c] >= 2
		}
		for _, i := range s.listed {
			keep[p.of[i]] = true
		}
		for c, k := range keep {
			if k {
				total += size[c]
				groups++
			}
		}
		// One backing array, cut into pieces that cannot grow into each other.
		store := make([]int, total)
		group := make([][]int, p.count)
		for c, k := range keep {
			if k {
				group[c], store = store[0:0:size[c]], store[size[c]:]
			}
		}
		for i, c := range p.of {
			if keep[c] {
				group[c] = append(group[c], i)
			}
		}
		out := make([][]int, 0, groups)
		for c, k := range keep {
			if k {
				out = append(out, group[c])
			}
		}
		return out
	})
}

// forest is a union-find structure with path halving and union by size.
type forest struct {
	parent []int // of a root: minus the size of its tree
	trees  int
}

func newForest(n int) *forest {
	f := &forest{parent: make([]int, n), trees: n}
	for i := range f.parent {
		f.parent[i] = -1
	}
	return f
}

func (f *forest) root(i int) int {
	for f.parent[i] >= 0 {
		if up := f.parent[f.parent[i]]; up >= 0 {
			f.parent[i] = up
		}
		i = f.parent[i]
	}
	return i
}

// join merges the trees of i and j and reports whether they were different.
func (f *forest) join(i, j int) bool {
	i, j = f.root(i), f.root(j)
	if i == j {
		return false
	}
	if f.parent[i] > f.parent[j] { // i has fewer members
		i, j = j, i
	}
	f.parent[i] += f.parent[j]
	f.parent[j] = i
	f.trees--
	return true
}

func (f *forest) partition() partition {
	p := partition{of: make([]int, len(f.parent)), count: 0}
	number := make([]int, len(f.parent))
	for i := range number {
		number[i] = -1
	}
	for i := range p.of {
		r := f.root(i)
		if number[r] < 0 {
			number[r] = p.count
			p.count++
		}
		p.of[i] = number[r]
	}
	return p
}

// pairsOf returns all pairs of each of the disjoint sorted groups, sorted by (I, J).
func pairsOf(groups [][]int) []Link {
	total := 0
	for _, g := range groups {
		total += len(g) * (len(g) - 1) / 2
	}
	out := make([]Link, 0, total)
	for _, g := range groups {
		for a, i := range g {
			for _, j := range g[a+1:] {
				out = append(out, NewLink(i, j, Must))
			}
		}
	}
	slices.SortFunc(out, comparePairs)
	return out
}
