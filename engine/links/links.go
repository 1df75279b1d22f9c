// Package links represents pairwise constraints: must-link and cannot-link pairs and chunklets,
// validated once, with transitive closure, components and sampling from labels.
//
// [New] makes a [Set] from pairs, [FromChunklets] from groups, and the Sample functions from
// labels; it never changes afterwards. Its derived views (components, chunklets, conflicts, pairs
// of chunklets) are computed on first use and kept; all are safe for concurrent use.
//
// Errors and warnings:
//
//   - a row out of range, a pair of a row with itself, an unusable weight or bound, and a
//     pair with both signs are errors that name the line;
//   - the same pair given again, also reversed, is collapsed and counted: the first one
//     keeps its weight, bound and line, and a later one that disagrees gets a warning;
//   - a cannot-link inside a must-link component is legal but soft: [Set.Conflicts] lists
//     each with a shortest path of must-links that contradicts it, [Set.Consistent] makes
//     an error of the first.
//
// Slices that a Set returns are shared and must not be changed.
package links

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/engine/fault"
)

// Sign is the kind of a link: must-link or cannot-link.
type Sign int8

const (
	Must   Sign = +1 // the two objects belong together
	Cannot Sign = -1 // the two objects do not
)

func (s Sign) String() string {
	if s == Cannot {
		return "cannot"
	}
	return "must"
}

// Link is one constraint on the unordered pair {I, J}.
type Link struct {
	I, J   int // 0-based rows, I != J
	Sign   Sign
	Weight float64 // > 0; 0 means 1
	// Bound is the target for the squared distance, > 0; with NaN the method chooses it. 0 means
	// NaN, as no method can use 0 as a target (a must-link at distance 0 makes the metric singular,
	// and a cannot-link at distance 0 has no effect).
	Bound float64
	Line  int // 1-based line of its file, 0 if none
}

// NewLink returns a link of weight 1 without bound or line.
func NewLink(i, j int, sign Sign) Link {
	return Link{I: i, J: j, Sign: sign, Weight: 1, Bound: math.NaN()}
}

// canonical returns l with I < J and with explicit defaults of Weight and Bound.
func (l Link) canonical() Link {
	if l.I > l.J {
		l.I, l.J = l.J, l.I
	}
	l.Weight, l.Bound = cmp.Or(l.Weight, 1), cmp.Or(l.Bound, math.NaN())
	return l
}

// sameTarget reports whether two canonical links have the same weight and bound.
func (l Link) sameTarget(m Link) bool {
	return l.Weight == m.Weight && (l.Bound == m.Bound || math.IsNaN(l.Bound) && math.IsNaN(m.Bound))
}

// comparePairs orders canonical links by (I, J).
func comparePairs(a, b Link) int {
	if a.I != b.I {
		return a.I - b.I // rows are not negative, so this cannot overflow
	}
	return a.J - b.J
}

// pairText writes "3-7 (line 4)", or "3-7" for a link without a line.
func pairText(from, to, line int) string {
	if line > 0 {
		return fmt.Sprintf("%d-%d (line %d)", from, to, line)
	}
	return fmt.Sprintf("%d-%d", from, to)
}

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

// String says how many links there are: "20 must-links and 30 cannot-links of 150 rows".
func (s *Set) String() string {
	must, cannot := s.Count()
	return Numbers(must, cannot) + " of " + fault.Count(s.n, "row")
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
			plural(k, "chunklet has a single row and adds no link",
				"chunklets have a single row and add no link"), s.listed[0]))
	}
	total := len(s.conflicting())
	for _, c := range s.paths(s.conflicting()[:min(total, maxRemarks)]) {
		w = append(w, c.String())
	}
	if total > maxRemarks {
		w = append(w, plural(total-maxRemarks, "more cannot-link contradicts",
			"more cannot-links contradict")+" the must-links")
	}
	return w
}

// Numbers writes the numbers of links of the two kinds: "1 must-link and 2 cannot-links".
func Numbers(must, cannot int) string {
	return fault.Count(must, "must-link") + " and " + fault.Count(cannot, "cannot-link")
}

func plural(k int, one, many string) string {
	if k == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", k, many)
}

// New returns the set of the given links on the rows 0..n-1. ls is copied.
//
// The first problem in the order of ls is returned as a *fault.DataError with the link's Line (the
// reader of the file adds File): a row out of range, a pair of a row with itself, a weight or bound
// that is negative or not finite, a sign other than [Must] and [Cannot], a pair with both signs. A
// negative n is a *fault.ParamError. Of duplicates, also reversed ones, the first is kept with its
// weight, bound and line. Cost: O(len(ls) log len(ls)).
func New(n int, ls []Link) (*Set, error) {
	s, problems := build(n, ls)
	if len(problems) > 0 {
		return nil, problems[0]
	}
	return s, nil
}

// Validate returns all problems for which [New] would refuse the links, in the order of ls.
func Validate(n int, ls []Link) []error {
	_, problems := build(n, ls)
	return problems
}

// position is a pair i < j and its index in the given list.
type position struct{ i, j, at int }

func comparePositions(a, b position) int {
	switch {
	case a.i != b.i:
		return a.i - b.i
	case a.j != b.j:
		return a.j - b.j
	}
	return a.at - b.at
}

func build(n int, ls []Link) (*Set, []error) {
	if n < 0 {
		return nil, []error{fault.Param("number of rows", n, "a number >= 0")}
	}
	found := make(map[int]error)
	sound := make([]position, 0, len(ls)) // links without a problem of their own
	for k, l := range ls {
		if err := checkLink(n, l, k); err != nil {
			found[k] = err
			continue
		}
		sound = append(sound, position{min(l.I, l.J), max(l.I, l.J), k})
	}
	slices.SortFunc(sound, comparePositions)

	s := &Set{n: n}
	disagree := 0
	for lo := 0; lo < len(sound); {
		first := ls[sound[lo].at].canonical()
		hi := lo + 1
		for ; hi < len(sound) && sound[hi].i == first.I && sound[hi].j == first.J; hi++ {
			again := ls[sound[hi].at].canonical()
			if again.Sign != first.Sign {
				found[sound[hi].at] = linkError(again, sound[hi].at, "",
					"pair %d,%d is a %s-link here and a %s-link on %s: want one of the two", first.I, first.J,
					again.Sign, first.Sign, origin(first, sound[lo].at))
				continue
			}
			s.duplicates++
			if !again.sameTarget(first) {
				if disagree++; disagree <= maxRemarks {
					s.remarks = append(s.remarks,
						fmt.Sprintf("%s: pair %d,%d has another weight or bound than on %s: the first is kept",
							origin(again, sound[hi].at), first.I, first.J, origin(first, sound[lo].at)))
				}
			}
		}
		if first.Sign == Must {
			s.must = append(s.must, first)
		} else {
			s.cannot = append(s.cannot, first)
		}
		lo = hi
	}
	s.must, s.cannot = slices.Clip(s.must), slices.Clip(s.cannot)
	if s.duplicates > 0 {
		text := plural(s.duplicates, "link repeats an earlier one and was",
			"links repeat earlier ones and were") + " dropped"
		s.remarks = slices.Insert(s.remarks, 0, text)
	}
	if disagree > maxRemarks {
		s.remarks = append(s.remarks,
			fmt.Sprintf("%d more duplicates disagree in weight or bound", disagree-maxRemarks))
	}
	problems := make([]error, 0, len(found))
	for _, k := range slices.Sorted(maps.Keys(found)) {
		problems = append(problems, found[k])
	}
	return s, problems
}

// checkLink returns the problem of link number k alone, or nil.
func checkLink(n int, l Link, k int) error {
	switch {
	case l.I < 0 || l.I >= n:
		return linkError(l, k, "i", "row %d does not exist: want %s", l.I, rowRange(n))
	case l.J < 0 || l.J >= n:
		return linkError(l, k, "j", "row %d does not exist: want %s", l.J, rowRange(n))
	case l.I == l.J:
		return linkError(l, k, "", "row %d is paired with itself: want two different rows", l.I)
	case l.Sign != Must && l.Sign != Cannot:
		return linkError(l, k, "link", "sign is %d: want 1 (must) or -1 (cannot)", l.Sign)
	case !(l.Weight >= 0) || math.IsInf(l.Weight, 0):
		return linkError(l, k, "weight", "weight is %v: want a finite number > 0", l.Weight)
	case l.Bound < 0 || math.IsInf(l.Bound, 0):
		return linkError(l, k, "bound", "bound is %v: want a finite squared distance > 0", l.Bound)
	}
	return nil
}

func rowRange(n int) string {
	if n == 0 {
		return "no link, as there are no rows"
	}
	return fmt.Sprintf("0 to %d", n-1)
}

func linkError(l Link, k int, column, format string, args ...any) error {
	return lineError(l.Line, "link", k, column, fmt.Errorf(format, args...))
}

// lineError is the error of a line, or of an element of a list that has no file.
func lineError(line int, what string, at int, column string, err error) error {
	if line <= 0 {
		err = fmt.Errorf("%s %d of the list: %w", what, at, err)
	}
	return &fault.DataError{Line: max(line, 0), Row: -1, Column: column, Err: err}
}

// origin names the line or the list index of link number k.
func origin(l Link, k int) string {
	if l.Line > 0 {
		return fmt.Sprintf("line %d", l.Line)
	}
	return fmt.Sprintf("link %d of the list", k)
}
