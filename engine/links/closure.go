package links

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	groups, joined := s.closureGroups()
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

// closureGroups returns the components that links name, each ascending, and the pairs of them that
// a cannot-link joins, each once. Rows that no link names take no memory.
func (s *Set) closureGroups() (groups [][]int, joined [][2]int) {
	groups = slices.Clip(s.Chunklets())
	p, single := s.partition(), map[int]int{} // rows in cannot-links alone
	component := func(row int) int {
		c := p.component(row)
		if c >= 0 {
			return c
		}
		c, known := single[row]
		if !known {
			c = len(groups)
			single[row] = c
			groups = append(groups, []int{row})
		}
		return c
	}
	joined = make([][2]int, len(s.cannot))
	for k, l := range s.cannot {
		a, b := component(l.I), component(l.J)
		joined[k] = [2]int{min(a, b), max(a, b)}
	}
	slices.SortFunc(joined, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	return groups, slices.Compact(joined)
}

func checkClosure(groups [][]int, joined [][2]int) error {
	var total uint64 // below n*(n-1)/2
	for _, g := range groups {
		total += triangle(len(g))
	}
	for _, ab := range joined {
		total += uint64(len(groups[ab[0]])) * uint64(len(groups[ab[1]]))
	}
	return checkLinks("the closure of the links", total,
		"use chunklets, which need no closure, or fewer links")
}

// checkLinks returns a *fault.MemoryError if k links are too many to store.
func checkLinks(what string, k uint64, hint string) error {
	if k <= maxLinks {
		return nil
	}
	return &fault.MemoryError{What: fmt.Sprintf("%s (%d links)", what, k), Need: int64(min(k, 1<<56)) *
		linkBytes, Limit: maxLinks * linkBytes, Hint: hint}
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

func newForest(n int) *forest { return &forest{parent: slices.Repeat([]int{-1}, n), trees: n} }

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

// Conflict is a cannot-link between two rows of one must-link component.
type Conflict struct {
	Link Link   // the cannot-link
	Path []Link // a shortest chain of must-links from Link.I to Link.J
}

// String names the cannot-link and writes the path as "3-7 (line 4), 7-12 (line 9)".
func (c Conflict) String() string {
	return fmt.Sprintf("cannot-link %s contradicts the must-links %s",
		pairText(c.Link.I, c.Link.J, c.Link.Line), c.PathString())
}

// PathString writes the path from Link.I to Link.J: "3-7 (line 4), 7-12 (line 9)".
func (c Conflict) PathString() string {
	var b strings.Builder
	at := c.Link.I
	for k, l := range c.Path {
		if k > 0 {
			b.WriteString(", ")
		}
		next := l.I + l.J - at
		b.WriteString(pairText(at, next, l.Line))
		at = next
	}
	return b.String()
}

// ConflictError reports a set whose must-links and cannot-links cannot all be satisfied.
type ConflictError struct {
	First Conflict
	Count int // number of cannot-links inside a must-link component, >= 1
}

func (e *ConflictError) Error() string {
	if e.Count == 1 {
		return e.First.String()
	}
	return fmt.Sprintf("%s (the first of %d such cannot-links)", e.First, e.Count)
}

// InputFault marks the error as caused by input.
func (e *ConflictError) InputFault() {}

// Consistent returns nil if all links can be satisfied, and a *[ConflictError] if a cannot-link is
// inside a must-link component. Cost: O(n + links).
func (s *Set) Consistent() error {
	bad := s.conflicting()
	if len(bad) == 0 {
		return nil
	}
	return &ConflictError{First: s.paths(bad[:1])[0], Count: len(bad)}
}

// Conflicts returns the cannot-links inside a must-link component, in the order of [Set.Cannot],
// each with a shortest path of must-links between its rows. Cost: O(n + links) and, for every
// distinct first row of a conflict, one breadth-first search of its component.
func (s *Set) Conflicts() []Conflict {
	return s.conflicts.get(func() []Conflict { return s.paths(s.conflicting()) })
}

// Path returns a shortest path of must-links from row i to row j, nil if there is none. Cost: O(n +
// links); among links of [FromChunklets] O(log n).
func (s *Set) Path(i, j int) []Link {
	p := s.partition()
	if c := p.component(i); i == j || c < 0 || c != p.component(j) {
		return nil
	}
	if s.cliques != nil {
		return []Link{NewLink(min(i, j), max(i, j), Must)}
	}
	return s.paths([]Link{NewLink(i, j, Cannot)})[0].Path
}

// conflicting returns the cannot-links inside a must-link component.
func (s *Set) conflicting() []Link {
	if len(s.cannot) == 0 {
		return nil
	}
	var out []Link
	p := s.partition()
	for _, l := range s.cannot {
		if c := p.component(l.I); c >= 0 && c == p.component(l.J) {
			out = append(out, l)
		}
	}
	return out
}

// paths finds a shortest path for each of the given conflicting links, which are sorted by their
// first row so that one search finds the paths of all links that share it. Among shortest paths it
// takes the first one of a search in ascending order of rows, so the result is deterministic.
func (s *Set) paths(bad []Link) []Conflict {
	if len(bad) == 0 {
		return nil
	}
	g := s.adjacency()
	via := make([]int, s.n) // 1 + number of the must-link to the row, 0 if none
	out := make([]Conflict, len(bad))
	var queue []int
	for k, l := range bad {
		if k == 0 || bad[k-1].I != l.I {
			for _, i := range queue {
				via[i] = 0
			}
			queue = g.search(l.I, via, queue[:0])
		}
		var path []Link
		for at := l.J; at != l.I; {
			step := s.must[via[at]-1]
			path = append(path, step)
			at = step.I + step.J - at
		}
		slices.Reverse(path)
		out[k] = Conflict{Link: l, Path: path}
	}
	return out
}

// adjacency is the must-link graph in compressed rows: row i has the neighbors
// row[start[i]:start[i+1]], ascending, through the must-links link[...].
type adjacency struct {
	start, row, link []int
}

func (s *Set) adjacency() adjacency {
	return s.graph.get(func() adjacency {
		g := adjacency{start: make([]int, s.n+1), row: make([]int, 2*len(s.must)),
			link: make([]int, 2*len(s.must))}
		for _, l := range s.must {
			g.start[l.I+1]++
			g.start[l.J+1]++
		}
		for i := range s.n {
			g.start[i+1] += g.start[i]
		}
		next := append([]int(nil), g.start...)
		put := func(from, to, k int) {
			g.row[next[from]], g.link[next[from]] = to, k
			next[from]++
		}
		// The links are sorted by (I, J): writing the lower neighbors of every row first
		// and the higher ones second leaves every list ascending.
		for k, l := range s.must {
			put(l.J, l.I, k)
		}
		for k, l := range s.must {
			put(l.I, l.J, k)
		}
		return g
	})
}

// search traverses the component of root breadth first, sets via for every row that it reaches (the
// root gets -1) and returns these rows in the order of the search.
func (g adjacency) search(root int, via, queue []int) []int {
	queue = append(queue, root)
	via[root] = -1
	for head := 0; head < len(queue); head++ {
		i := queue[head]
		for e := g.start[i]; e < g.start[i+1]; e++ {
			if j := g.row[e]; via[j] == 0 {
				via[j] = g.link[e] + 1
				queue = append(queue, j)
			}
		}
	}
	return queue
}
