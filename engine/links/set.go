package links

import (
	"fmt"
	"reflect"
	"sync"
)

// maxLinks bounds the number of links that one call may create from small input (closure, sampling,
// expansion in Union): 2^25 links take 1.5 GiB.
const maxLinks = 1 << 25

// linkBytes is the memory of one Link.
var linkBytes = int64(reflect.TypeFor[Link]().Size())

// Set is an immutable set of constraints on n rows. The zero value is the empty set on no
// rows. A Set is safe for concurrent use.
type Set struct {
	n int
	// must and cannot are canonical, sorted by (I, J) and without duplicates.
	must, cannot []Link
	// cliques are disjoint sorted groups of at least two rows whose pairs are must-links, which are
	// computed only on request. If there are any, must is empty, and no cannot-link is inside one.
	cliques [][]int
	listed  []int // rows that were given as a chunklet of one row, ascending

	duplicates int
	merged     int
	remarks    []string // warnings from construction
	label      string   // the column that the links were made from, "" if it is not known

	expanded   lazy[[]Link]
	components lazy[partition]
	chunklets  lazy[[][]int]
	graph      lazy[adjacency]
	conflicts  lazy[[]Conflict]
}

// lazy is a value that is computed at most once, on first use.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(compute func() T) T {
	l.once.Do(func() { l.value = compute() })
	return l.value
}

// N returns the number of rows that the links refer to.
func (s *Set) N() int { return s.n }

// Must returns the must-links, sorted by (I, J) with I < J.
//
// A set of [FromChunklets] has all pairs of every chunklet; the first call computes them. They take
// [Set.Bytes] of memory, which may be large: check it first.
func (s *Set) Must() []Link {
	if s.cliques == nil {
		return s.must
	}
	return s.expanded.get(func() []Link { return pairsOf(s.cliques) })
}

// Cannot returns the cannot-links, sorted by (I, J) with I < J.
func (s *Set) Cannot() []Link { return s.cannot }

// Count returns the numbers of must-links and of cannot-links without computing the links.
func (s *Set) Count() (must, cannot int) {
	must = len(s.must)
	for _, c := range s.cliques {
		must += len(c) * (len(c) - 1) / 2
	}
	return must, len(s.cannot)
}

// Label returns the name of the column of labels that the links were made from, "" if it is not
// known. A metric that learns from such links must not have that column as a feature. Sets that are
// made of others keep it.
func (s *Set) Label() string { return s.label }

// WithLabel returns the links with the name of the column of labels that they were made from. Cost:
// O(1).
func (s *Set) WithLabel(column string) *Set {
	return &Set{n: s.n, must: s.must, cannot: s.cannot, cliques: s.cliques, listed: s.listed,
		duplicates: s.duplicates, merged: s.merged, remarks: s.remarks, label: column}
}

// Len returns the number of links of both signs without computing the links.
func (s *Set) Len() int {
	must, cannot := s.Count()
	return must + cannot
}

// Bytes returns the memory of all links once they are computed.
func (s *Set) Bytes() int64 { return int64(s.Len()) * linkBytes }

// Duplicates returns how many of the given links (for chunklets: rows given twice in one
// chunklet) repeated an earlier one and were dropped.
func (s *Set) Duplicates() int { return s.duplicates }

// Merged returns how many chunklets were merged into another one because they share rows.
func (s *Set) Merged() int { return s.merged }

// maxRemarks is the maximum number of warnings of one kind in full.
const maxRemarks = 10

// Warnings returns messages about legal but probably unwanted input: duplicates, duplicates that
// disagree, overlapping chunklets, chunklets of one row, and cannot-links inside a must-link
// component with the path that contradicts them. The first ten of each kind are given in full.
func (s *Set) Warnings() []string {
	var w []string
	w = append(w, s.remarks...)
	if k := len(s.listed); k > 0 {
		w = append(w, fmt.Sprintf("%s (the first is row %d)",
			plural(k, "chunklet has a single row and adds no link", "chunklets have a single row and add no link"), s.listed[0]))
	}
	total := len(s.conflicting())
	for _, c := range s.paths(s.conflicting()[:min(total, maxRemarks)]) {
		w = append(w, c.String())
	}
	if total > maxRemarks {
		w = append(w, fmt.Sprintf("%d more cannot-links contradict the must-links", total-maxRemarks))
	}
	return w
}

func plural(k int, one, many string) string {
	if k == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", k, many)
}
