package links

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

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
		return nil, []error{&fault.ParamError{Param: "number of rows", Value: n, Want: "a number >= 0"}}
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
				found[sound[hi].at] = bothSigns(again, sound[hi].at, first, sound[lo].at)
				continue
			}
			s.duplicates++
			if !again.sameTarget(first) {
				if disagree++; disagree <= maxRemarks {
					s.remarks = append(s.remarks, fmt.Sprintf("%s: pair %d,%d has another weight or bound than on %s: the first is kept",
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
		text := plural(s.duplicates, "link repeats an earlier one and was", "links repeat earlier ones and were") + " dropped"
		s.remarks = slices.Insert(s.remarks, 0, text)
	}
	if disagree > maxRemarks {
		s.remarks = append(s.remarks, fmt.Sprintf("%d more duplicates disagree in weight or bound", disagree-maxRemarks))
	}
	return s, inOrder(found)
}

func inOrder(found map[int]error) []error {
	problems := make([]error, 0, len(found))
	for _, k := range slices.Sorted(maps.Keys(found)) {
		problems = append(problems, found[k])
	}
	return problems
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

func bothSigns(again Link, k int, first Link, firstK int) error {
	return linkError(again, k, "", "pair %d,%d is a %s-link here and a %s-link on %s: want one of the two",
		first.I, first.J, again.Sign, first.Sign, origin(first, firstK))
}

// origin names the line or the list index of link number k.
func origin(l Link, k int) string {
	if l.Line > 0 {
		return fmt.Sprintf("line %d", l.Line)
	}
	return fmt.Sprintf("link %d of the list", k)
}
