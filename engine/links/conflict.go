package links

import (
	"fmt"
	"slices"
	"strings"
)

// Conflict is a cannot-link between two rows of one must-link component.
type Conflict struct {
	Link Link   // the cannot-link
	Path []Link // a shortest chain of must-links from Link.I to Link.J
}

// String names the cannot-link and writes the path as "3-7 (line 4), 7-12 (line 9)".
func (c Conflict) String() string {
	return fmt.Sprintf("cannot-link %s contradicts the must-links %s", pairText(c.Link.I, c.Link.J, c.Link.Line), c.PathString())
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
		g := adjacency{start: make([]int, s.n+1), row: make([]int, 2*len(s.must)), link: make([]int, 2*len(s.must))}
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
