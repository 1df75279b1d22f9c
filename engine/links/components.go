package links

import "slices"

// partition numbers the connected components of the must-link graph, but only for rows in
// must-links and chunklets: every other row is a component of its own, and there may be very many
// of them.
type partition struct {
	rows  []int // ascending
	of    []int // component of rows[i]; numbered in the order of their smallest rows
	count int
}

// component returns the component of a row, -1 for a row in no must-link or chunklet.
func (p partition) component(row int) int {
	if at, ok := slices.BinarySearch(p.rows, row); ok {
		return p.of[at]
	}
	return -1
}

// Components returns the number of the must-link component of every row, 0-based and in the order
// of the components' smallest rows; a row without must-links is a component of its own. Cost: O(n +
// links).
func (s *Set) Components() []int {
	p := s.partition()
	out, number := make([]int, s.n), make([]int, p.count) // 1 + new number, 0 for none yet
	next, at := 0, 0
	for row := range out {
		if at == len(p.rows) || p.rows[at] != row {
			out[row] = next
			next++
			continue
		}
		c := p.of[at]
		if at++; number[c] == 0 {
			next++
			number[c] = next
		}
		out[row] = number[c] - 1
	}
	return out
}

// NumComponents returns the number of connected components of the must-link graph.
func (s *Set) NumComponents() int {
	p := s.partition()
	return p.count + s.n - len(p.rows)
}

func (s *Set) partition() partition {
	return s.components.get(func() partition {
		p := partition{rows: s.named()}
		f := newForest(len(p.rows))
		at := func(row int) int {
			position, _ := slices.BinarySearch(p.rows, row)
			return position
		}
		for _, l := range s.must {
			f.join(at(l.I), at(l.J))
		}
		for _, c := range s.cliques {
			for _, i := range c[1:] {
				f.join(at(c[0]), at(i))
			}
		}
		p.of, p.count = f.numbers()
		return p
	})
}

// named returns the rows in must-links and chunklets, ascending.
func (s *Set) named() []int {
	rows := slices.Clone(s.listed)
	for _, l := range s.must {
		rows = append(rows, l.I, l.J)
	}
	for _, c := range s.cliques {
		rows = append(rows, c...)
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// Chunklets returns the must-link components of at least two rows, and the single rows
// that were listed as chunklets, each ascending, ordered by smallest row.
func (s *Set) Chunklets() [][]int {
	return s.chunklets.get(func() [][]int {
		p := s.partition() // its components of one row are the listed chunklets
		size := make([]int, p.count)
		for _, c := range p.of {
			size[c]++
		}
		// The chunklets share one backing array; full slice expressions keep append from writing
		// into the next one.
		store, out := make([]int, len(p.rows)), make([][]int, p.count)
		for c, k := range size {
			out[c], store = store[0:0:k], store[k:]
		}
		for at, c := range p.of {
			out[c] = append(out[c], p.rows[at])
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

// join merges the trees of i and j.
func (f *forest) join(i, j int) {
	i, j = f.root(i), f.root(j)
	if i == j {
		return
	}
	if f.parent[i] > f.parent[j] { // i has fewer members
		i, j = j, i
	}
	f.parent[i] += f.parent[j]
	f.parent[j] = i
	f.trees--
}

// numbers numbers the trees, in the order of their smallest members.
func (f *forest) numbers() (of []int, count int) {
	of, number := make([]int, len(f.parent)), make([]int, len(f.parent)) // 1 + number, 0 for none yet
	for i := range of {
		r := f.root(i)
		if number[r] == 0 {
			count++
			number[r] = count
		}
		of[i] = number[r] - 1
	}
	return of, count
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
