package links

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func mustSet(s *Set, err error) *Set {
	if err != nil {
		panic(err)
	}
	return s
}

// fataler has the methods of both *testing.T and *rapid.T that the tests use.
type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func equal(t fataler, what string, got, want any) {
	t.Helper()
	if none(want) && none(got) {
		return
	}
	if diff := difftest.Diff(want, got); diff != "" {
		t.Fatalf("%s: %s", what, diff)
	}
}

// none reports whether a list is empty, nil or not.
func none(list any) bool {
	v := reflect.ValueOf(list)
	return v.Kind() == reflect.Slice && v.Len() == 0
}

// random draws a valid list of links on up to 12 rows: a pair has only one sign, but may occur
// several times and in either order.
func random(t *rapid.T) (n int, ls []Link) {
	n = rapid.IntRange(2, 12).Draw(t, "n")
	sign := make(map[[2]int]Sign)
	for k := range rapid.IntRange(0, 20).Draw(t, "links") {
		i := rapid.IntRange(0, n-1).Draw(t, "i")
		j := (i + rapid.IntRange(1, n-1).Draw(t, "step")) % n
		at := [2]int{min(i, j), max(i, j)}
		if sign[at] == 0 {
			sign[at] = rapid.SampledFrom([]Sign{Must, Must, Cannot}).Draw(t, "sign")
		}
		l := NewLink(i, j, sign[at])
		l.Line = k + 2
		ls = append(ls, l)
	}
	return n, ls
}

// hops returns the lengths of shortest must-link paths, far if there is none, by the algorithm of
// Floyd and Warshall.
func hops(n int, ls []Link) [][]int {
	d := make([][]int, n)
	for i := range d {
		d[i] = slices.Repeat([]int{far}, n)
		d[i][i] = 0
	}
	for _, l := range ls {
		if l.Sign == Must {
			d[l.I][l.J], d[l.J][l.I] = 1, 1
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

const far = 1 << 20

func TestComponentsMatchFloydWarshall(t *testing.T) { propertytest.Check(t, componentsProperty) }

func componentsProperty(t *rapid.T) {
	n, ls := random(t)
	s := mustSet(New(n, ls))
	d, of := hops(n, ls), s.Components()
	seen := -1
	for i := range n {
		for j := range n {
			if (d[i][j] < far) != (of[i] == of[j]) {
				t.Fatalf("rows %d and %d: %d hops, components %d and %d", i, j, d[i][j], of[i], of[j])
			}
		}
		if of[i] > seen+1 {
			t.Fatalf("component numbers %v: want them in order of the smallest row", of)
		}
		seen = max(seen, of[i])
	}
	if s.NumComponents() != seen+1 {
		t.Fatalf("%d components, numbers go to %d", s.NumComponents(), seen)
	}
}

func TestChunkletsPartition(t *testing.T) { propertytest.Check(t, chunkletsProperty) }

func chunkletsProperty(t *rapid.T) {
	n, ls := random(t)
	s := mustSet(New(n, ls))
	of, size, last := s.Components(), make(map[int]int), -1
	for _, c := range of {
		size[c]++
	}
	covered := make(map[int]bool)
	for _, c := range s.Chunklets() {
		if len(c) < 2 || !slices.IsSorted(c) || c[0] <= last || len(c) != size[of[c[0]]] {
			t.Fatalf("chunklets %v of components %v: want whole components of 2 and more, sorted",
				s.Chunklets(), of)
		}
		last = c[0]
		for _, i := range c {
			if of[i] != of[c[0]] || covered[i] {
				t.Fatalf("chunklets %v of components %v: row %d is misplaced", s.Chunklets(), of, i)
			}
			covered[i] = true
		}
	}
	for i := range n {
		if covered[i] != (size[of[i]] >= 2) {
			t.Fatalf("chunklets %v of components %v: row %d", s.Chunklets(), of, i)
		}
	}
}

// The set must contain the first link of every pair, in canonical form and sorted.
func TestNewKeepsFirstOfEachPair(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n, ls := random(t)
		for k := range ls {
			ls[k].Weight = rapid.SampledFrom([]float64{0, 1, 2}).Draw(t, "weight")
			ls[k].Bound = rapid.SampledFrom([]float64{0, math.NaN(), 3}).Draw(t, "bound")
		}
		s := mustSet(New(n, ls))
		first := make(map[[2]int]Link)
		for _, l := range ls {
			at := [2]int{min(l.I, l.J), max(l.I, l.J)}
			if _, ok := first[at]; ok {
				continue
			}
			l.I, l.J = at[0], at[1]
			if l.Weight == 0 {
				l.Weight = 1
			}
			if l.Bound == 0 {
				l.Bound = math.NaN()
			}
			first[at] = l
		}
		if s.Duplicates() != len(ls)-len(first) || s.Len() != len(first) {
			t.Fatalf("%d links and %d duplicates of %d links on %d pairs", s.Len(), s.Duplicates(), len(ls),
				len(first))
		}
		for sign, side := range map[Sign][]Link{Must: s.Must(), Cannot: s.Cannot()} {
			if !slices.IsSortedFunc(side, comparePairs) {
				t.Fatalf("%v-links %v are not sorted", sign, side)
			}
			for _, l := range side {
				if l.Sign != sign {
					t.Fatalf("%v among the %v-links", l, sign)
				}
				equal(t, "link", l, first[[2]int{l.I, l.J}])
			}
		}
	})
}

func TestClosure(t *testing.T) { propertytest.Check(t, closureProperty) }

func closureProperty(t *rapid.T) {
	n, ls := random(t)
	s := mustSet(New(n, ls))
	d := hops(n, ls)
	consistent := true
	want := make(map[[2]int]Sign)
	for i := range n {
		for j := i + 1; j < n; j++ {
			if d[i][j] < far {
				want[[2]int{i, j}] = Must
			}
		}
	}
	for _, l := range ls {
		if l.Sign != Cannot {
			continue
		}
		consistent = consistent && d[l.I][l.J] == far
		for i := range n {
			for j := range n {
				if d[l.I][i] < far && d[l.J][j] < far {
					want[[2]int{min(i, j), max(i, j)}] = Cannot
				}
			}
		}
	}
	closed, err := s.Closure()
	if (err == nil) != consistent || (s.Consistent() == nil) != consistent {
		t.Fatalf("closure error %v, Consistent %v, the links are consistent: %v", err, s.Consistent(),
			consistent)
	}
	if err != nil {
		var conflict *ConflictError
		if !errors.As(err, &conflict) || conflict.Count != len(s.Conflicts()) {
			t.Fatalf("error %v, want a *ConflictError counting %d", err, len(s.Conflicts()))
		}
		return
	}
	got := make(map[[2]int]Sign)
	for _, l := range append(slices.Clone(closed.Must()), closed.Cannot()...) {
		got[[2]int{l.I, l.J}] = l.Sign
	}
	equal(t, "closure", got, want)
	again := mustSet(closed.Closure())
	equal(t, "must-links of the closure's closure", again.Must(), closed.Must())
	equal(t, "cannot-links of the closure's closure", again.Cannot(), closed.Cannot())
	equal(t, "components of the closure", closed.Components(), s.Components())
	for _, l := range append(slices.Clone(s.Must()), s.Cannot()...) {
		if !slices.ContainsFunc(append(slices.Clone(closed.Must()), closed.Cannot()...), func(m Link) bool {
			return difftest.Diff(l, m) == ""
		}) {
			t.Fatalf("given link %+v is not in the closure as it was", l)
		}
	}
}

func TestConflictsHaveShortestPaths(t *testing.T) { propertytest.Check(t, conflictsProperty) }

func conflictsProperty(t *rapid.T) {
	n, ls := random(t)
	s := mustSet(New(n, ls))
	d := hops(n, ls)
	var want []Link
	for _, l := range s.Cannot() {
		if d[l.I][l.J] < far {
			want = append(want, l)
		}
	}
	var got []Link
	for _, c := range s.Conflicts() {
		got = append(got, c.Link)
		checkPath(t, s, c.Link.I, c.Link.J, c.Path, d[c.Link.I][c.Link.J])
	}
	equal(t, "conflicting links", got, want)
	chunklets := mustSet(FromChunklets(n, s.Chunklets()))
	for i := range n {
		for j := range n {
			if path := s.Path(i, j); d[i][j] < far {
				checkPath(t, s, i, j, path, d[i][j])
				checkPath(t, chunklets, i, j, chunklets.Path(i, j), min(d[i][j], 1))
			} else if path != nil || chunklets.Path(i, j) != nil {
				t.Fatalf("there is a path %v from %d to %d", path, i, j)
			}
		}
	}
}

// checkPath checks that a path of so many must-links leads from row i to row j.
func checkPath(t *rapid.T, s *Set, i, j int, path []Link, steps int) {
	t.Helper()
	at := i
	for _, l := range path {
		if l.Sign != Must || (l.I != at && l.J != at) || !slices.ContainsFunc(s.Must(),
			func(m Link) bool { return m.Line == l.Line && comparePairs(m, l) == 0 }) {
			t.Fatalf("path %v from %d to %d: bad step %v", path, i, j, l)
		}
		at = l.I + l.J - at
	}
	if at != j || len(path) != steps {
		t.Fatalf("path %v from %d ends at %d after %d steps, want %d after %d", path, i, at, len(path), j, steps)
	}
}

func TestConflictText(t *testing.T) {
	ls := []Link{
		{I: 7, J: 3, Sign: Must, Line: 4}, {I: 7, J: 12, Sign: Must, Line: 9}, {I: 0, J: 1, Sign: Must},
		{I: 12, J: 3, Sign: Cannot, Line: 20}, {I: 1, J: 2, Sign: Must}, {I: 2, J: 0, Sign: Cannot},
	}
	s := mustSet(New(13, ls))
	equal(t, "warnings", s.Warnings(), []string{
		"cannot-link 0-2 contradicts the must-links 0-1, 1-2",
		"cannot-link 3-12 (line 20) contradicts the must-links 3-7 (line 4), 7-12 (line 9)",
	})
	err := s.Consistent()
	if !fault.IsInput(err) {
		t.Errorf("Consistent() = %v, want an input error", err)
	}
	equal(t, "error", err.Error(),
		"cannot-link 0-2 contradicts the must-links 0-1, 1-2 (the first of 2 such cannot-links)")
}

func TestNewErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		n      int
		ls     []Link
		line   int
		column string
		text   string
	}{
		{"range", 10, []Link{{I: 1, J: 2, Sign: Must, Line: 2}, {I: 3, J: 10, Sign: Must, Line: 3}}, 3, "j",
			"row 10 does not exist: want 0 to 9"},
		{"negative", 10, []Link{{I: -1, J: 2, Sign: Must, Line: 2}}, 2, "i",
			"row -1 does not exist: want 0 to 9"},
		{"no rows", 0, []Link{{I: 0, J: 1, Sign: Must}}, 0, "i",
			"link 0 of the list: row 0 does not exist: want no link, as there are no rows"},
		{"self-pair", 10, []Link{{I: 4, J: 4, Sign: Must, Line: 7}}, 7, "",
			"row 4 is paired with itself: want two different rows"},
		{"sign", 10, []Link{{I: 4, J: 5, Line: 7}}, 7, "link", "sign is 0: want 1 (must) or -1 (cannot)"},
		{"weight", 10, []Link{{I: 4, J: 5, Sign: Must, Weight: -1, Line: 7}}, 7, "weight",
			"weight is -1: want a finite number > 0"},
		{"weight", 10, []Link{{I: 4, J: 5, Sign: Must, Weight: nan, Line: 7}}, 7, "weight",
			"weight is NaN: want a finite number > 0"},
		{"bound", 10, []Link{{I: 4, J: 5, Sign: Must, Bound: inf, Line: 7}}, 7, "bound",
			"bound is +Inf: want a finite squared distance > 0"},
		{"bound", 10, []Link{{I: 4, J: 5, Sign: Must, Bound: -2, Line: 7}}, 7, "bound",
			"bound is -2: want a finite squared distance > 0"},
		{"both signs", 10, []Link{{I: 3, J: 7, Sign: Must, Line: 4}, {I: 7, J: 3, Sign: Cannot, Line: 9}}, 9,
			"",
			"pair 3,7 is a cannot-link here and a must-link on line 4: want one of the two"},
		{"both signs, no lines", 10, []Link{{I: 3, J: 7, Sign: Cannot}, {I: 3, J: 7, Sign: Must}}, 0, "",
			"link 1 of the list: pair 3,7 is a must-link here and a cannot-link on link 0 of the list: " +
				"want one of the two"},
		{"the first of several", 10,
			[]Link{{I: 8, J: 9, Sign: Must, Line: 2}, {I: 9, J: 8, Sign: Cannot, Line: 3},
				{I: 0, J: 0, Sign: Must, Line: 4}}, 3, "",
			"pair 8,9 is a cannot-link here and a must-link on line 2: want one of the two"},
	} {
		s, err := New(c.n, c.ls)
		var data *fault.DataError
		if !errors.As(err, &data) || s != nil {
			t.Errorf("%s: set %v, error %v, want a *fault.DataError", c.name, s, err)
			continue
		}
		if data.Line != c.line || data.Column != c.column || data.Row != -1 || data.Err.Error() != c.text {
			t.Errorf("%s: line %d, column %q, row %d: %v\nwant line %d, column %q, row -1: %s", c.name,
				data.Line, data.Column, data.Row, data.Err, c.line, c.column, c.text)
		}
	}
	var param *fault.ParamError
	if _, err := New(-1, nil); !errors.As(err, &param) {
		t.Errorf("-1 rows: error %v, want a *fault.ParamError", err)
	}
}

func TestValidateFindsEveryProblem(t *testing.T) {
	var lines []int
	for _, err := range Validate(5, []Link{
		{I: 0, J: 1, Sign: Must, Line: 2}, {I: 2, J: 2, Sign: Must, Line: 3},
		{I: 1, J: 0, Sign: Cannot, Line: 4},
		{I: 3, J: 4, Sign: Must, Line: 5}, {I: 0, J: 9, Sign: Must, Line: 6},
		{I: 0, J: 1, Sign: Cannot, Line: 7},
	}) {
		var data *fault.DataError
		if !errors.As(err, &data) {
			t.Fatalf("%v is not a *fault.DataError", err)
		}
		lines = append(lines, data.Line)
	}
	equal(t, "lines", lines, []int{3, 4, 6, 7})
}

func TestWarnings(t *testing.T) {
	s := mustSet(New(5, []Link{
		{I: 0, J: 1, Sign: Must, Line: 2}, {I: 1, J: 0, Sign: Must, Line: 3},
		{I: 0, J: 1, Sign: Must, Weight: 2, Line: 4}, {I: 2, J: 3, Sign: Must, Line: 5},
	}))
	equal(t, "warnings", s.Warnings(), []string{
		"2 links repeat earlier ones and were dropped",
		"line 4: pair 0,1 has another weight or bound than on line 2: the first is kept",
	})
	s = mustSet(FromChunklets(9, [][]int{{1, 2, 1}, {4}, {2, 3}, {5, 6}, {8}}))
	equal(t, "warnings", s.Warnings(), []string{
		"1 row is given again in the same chunklet and dropped",
		"1 chunklet shares rows with another one (the first such row is 2): merged",
		"2 chunklets have a single row and add no link (the first is row 4)",
	})
	if w := mustSet(New(3, []Link{NewLink(0, 1, Must), NewLink(1, 2, Cannot)})).Warnings(); len(w) != 0 {
		t.Errorf("warnings on valid links: %q", w)
	}

	// A clique of 8 rows with 20 contradictions: the first ten are given in full.
	var ls []Link
	for i := range 20 {
		ls = append(ls, NewLink(i, i+1, Must))
		if i > 0 {
			ls = append(ls, NewLink(0, i+1, Cannot))
		}
	}
	w := mustSet(New(21, ls)).Warnings()
	if len(w) != maxRemarks+1 || w[maxRemarks] != "9 more cannot-links contradict the must-links" {
		t.Errorf("%d warnings, the last %q, want %d and a count of 9", len(w), w[len(w)-1], maxRemarks+1)
	}
}

func TestFromChunklets(t *testing.T) {
	s := mustSet(FromChunklets(10, [][]int{{9, 7}, {4}, {2, 0}, {3, 2, 2}}))
	equal(t, "chunklets", s.Chunklets(), [][]int{{0, 2, 3}, {4}, {7, 9}})
	equal(t, "must-links", s.Must(),
		[]Link{NewLink(0, 2, Must), NewLink(0, 3, Must), NewLink(2, 3, Must), NewLink(7, 9, Must)})
	equal(t, "components", s.Components(), []int{0, 1, 0, 0, 2, 3, 4, 5, 6, 5})
	if s.Duplicates() != 1 || s.Merged() != 1 || s.Len() != 4 || s.NumComponents() != 7 {
		t.Errorf("%d duplicates, %d merged, %d links, %d components, want 1, 1, 4, 7", s.Duplicates(),
			s.Merged(), s.Len(), s.NumComponents())
	}
	closed := mustSet(s.Closure())
	equal(t, "closure", closed.Must(), s.Must())
	equal(t, "chunklets of the closure", closed.Chunklets(), s.Chunklets())
}

// Chunklets and the same groups as chains of links must be the same constraints.
func TestChunkletsEqualChains(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		groups := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 5), 0, 5).Draw(t, "groups")
		s := mustSet(FromChunklets(n, groups))
		var chain []Link
		for _, g := range groups {
			for k := 1; k < len(g); k++ {
				if g[k] != g[k-1] {
					chain = append(chain, NewLink(g[k-1], g[k], Must))
				}
			}
		}
		c := mustSet(mustSet(New(n, chain)).Closure())
		equal(t, "components", s.Components(), c.Components())
		equal(t, "must-links", s.Must(), c.Must())
		if !slices.IsSortedFunc(s.Must(), comparePairs) {
			t.Fatalf("must-links %v are not sorted", s.Must())
		}
		listed := slices.DeleteFunc(slices.Clone(s.Chunklets()), func(g []int) bool { return len(g) == 1 })
		equal(t, "chunklets of two and more", listed, c.Chunklets())
		named := make(map[int]bool)
		for _, g := range groups {
			for _, i := range g {
				named[i] = true
			}
		}
		total := 0
		for _, g := range s.Chunklets() {
			total += len(g)
		}
		if total != len(named) || s.Len() != len(s.Must()) ||
			s.Bytes() != int64(len(s.Must()))*int64(reflect.TypeFor[Link]().Size()) {
			t.Fatalf("chunklets %v cover %d rows of %d, Len %d, Bytes %d", s.Chunklets(), total, len(named),
				s.Len(), s.Bytes())
		}
	})
}

func TestFromChunkletsErrors(t *testing.T) {
	for _, c := range []struct {
		n    int
		list [][]int
		text string
	}{
		{5, [][]int{{0, 1}, {2, 5}}, "chunklet 1 of the list: row 5 does not exist: want 0 to 4"},
		{5, [][]int{{-1}}, "chunklet 0 of the list: row -1 does not exist: want 0 to 4"},
		{5, [][]int{{1}, {}}, "chunklet 1 of the list is empty: want at least one row"},
		{-2, nil, "number of rows is -2: want a number >= 0"},
	} {
		if _, err := FromChunklets(c.n, c.list); !fault.IsInput(err) || err.Error() != c.text {
			t.Errorf("FromChunklets(%d, %v): error %v, want %s", c.n, c.list, err, c.text)
		}
	}
}

// The closure of a million rows in one component must be refused, not attempted.
func TestClosureRefusesHugeResults(t *testing.T) {
	const n = 1_000_000
	chain := make([]Link, n-1)
	for i := range chain {
		chain[i] = NewLink(i, i+1, Must)
	}
	var memory *fault.MemoryError
	if _, err := mustSet(New(n, chain)).Closure(); !errors.As(err, &memory) {
		t.Errorf("closure of a chain of %d: error %v, want a *fault.MemoryError", n, err)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	s := mustSet(FromChunklets(n, [][]int{all}))
	if got, want := s.Len(), n*(n-1)/2; got != want {
		t.Errorf("one chunklet of %d rows has %d links, want %d", n, got, want)
	}
	if _, err := Union(s, s); !errors.As(err, &memory) {
		t.Errorf("union of huge chunklets: error %v, want a *fault.MemoryError", err)
	}
	mustSet(s.Closure())

	// Two components of 5000 have 25e6 pairs, which is below the limit; a cannot-link between them
	// implies 25e6 more.
	var two []Link
	for i := range 9999 {
		if i != 4999 {
			two = append(two, NewLink(i, i+1, Must))
		}
	}
	if _, err := mustSet(New(10_000, append(two, NewLink(0, 9999, Cannot)))).Closure(); !errors.As(err,
		&memory) {
		t.Errorf("closure of two joined components of 5000: error %v, want a *fault.MemoryError", err)
	}
}

func TestRestrict(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n, ls := random(t)
		s := mustSet(New(n, ls))
		order := rapid.Permutation(slices.Collect(rangeTo(n))).Draw(t, "order")
		rows := order[:rapid.IntRange(0, n).Draw(t, "kept")]
		got := mustSet(s.Restrict(rows))
		var kept []Link
		for _, l := range append(slices.Clone(s.Must()), s.Cannot()...) {
			l.I, l.J = slices.Index(rows, l.I), slices.Index(rows, l.J)
			if l.I >= 0 && l.J >= 0 {
				kept = append(kept, l)
			}
		}
		want := mustSet(New(len(rows), kept))
		equal(t, "must-links", got.Must(), want.Must())
		equal(t, "cannot-links", got.Cannot(), want.Cannot())
		equal(t, "components", got.Components(), want.Components())
		if got.N() != len(rows) {
			t.Fatalf("%d rows, want %d", got.N(), len(rows))
		}
	})
}

func rangeTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func TestRestrictChunklets(t *testing.T) {
	s := mustSet(FromChunklets(10, [][]int{{0, 1, 2}, {4}, {5, 6}, {8}, {7, 9}}))
	r := mustSet(s.Restrict([]int{9, 7, 6, 4, 2, 0}))
	// {5, 6} shrinks to one row and is dropped; {4} was given as one row and stays.
	equal(t, "chunklets", r.Chunklets(), [][]int{{0, 1}, {3}, {4, 5}})
	equal(t, "must-links", r.Must(), []Link{NewLink(0, 1, Must), NewLink(4, 5, Must)})
	equal(t, "warnings", mustSet(s.Restrict([]int{8, 3, 4})).Warnings(), []string{
		"2 chunklets have a single row and add no link (the first is row 0)",
	})
	equal(t, "warnings", mustSet(s.Restrict([]int{3, 8, 4})).Warnings(), []string{
		"2 chunklets have a single row and add no link (the first is row 1)",
	})
	equal(t, "warnings", mustSet(s.Restrict([]int{5, 8})).Warnings(), []string{
		"1 chunklet has a single row and adds no link (the first is row 1)",
	})
	for _, rows := range [][]int{{10}, {-1}, {3, 3}} {
		if _, err := s.Restrict(rows); !fault.IsInput(err) {
			t.Errorf("Restrict(%v): error %v, want an input error", rows, err)
		}
	}
}

func TestUnion(t *testing.T) {
	a := mustSet(FromChunklets(8, [][]int{{0, 1, 2}, {4}, {5}}))
	b := mustSet(New(8, []Link{{I: 1, J: 0, Sign: Must, Line: 3}, {I: 5, J: 6, Sign: Must},
		{I: 0, J: 7, Sign: Cannot}}))
	u := mustSet(Union(a, b))
	equal(t, "chunklets", u.Chunklets(), [][]int{{0, 1, 2}, {4}, {5, 6}})
	equal(t, "cannot-links", u.Cannot(), []Link{NewLink(0, 7, Cannot)})
	equal(t, "warnings", u.Warnings(), []string{
		"1 link repeats an earlier one and was dropped",
		"1 chunklet has a single row and adds no link (the first is row 4)",
	})
	if u.Duplicates() != 1 || u.Must()[0].Line != 0 {
		t.Errorf("%d duplicates, first link %+v, want 1 and the first set's link", u.Duplicates(),
			u.Must()[0])
	}
	if _, err := Union(a, mustSet(New(8, []Link{NewLink(0, 2, Cannot)}))); !fault.IsInput(err) {
		t.Errorf("union with a contradicting sign: error %v, want an input error", err)
	}
	var shape *fault.ShapeError
	if _, err := Union(a, mustSet(New(7, nil))); !errors.As(err, &shape) {
		t.Errorf("union on different rows: error %v, want a *fault.ShapeError", err)
	}
}

func TestSetIsIndependentOfInput(t *testing.T) {
	ls := []Link{NewLink(0, 1, Must), NewLink(2, 3, Cannot)}
	groups := [][]int{{0, 1}, {2}}
	s, c := mustSet(New(4, ls)), mustSet(FromChunklets(4, groups))
	ls[0], groups[0][1], groups[1][0] = NewLink(1, 3, Cannot), 3, 0
	equal(t, "must-links", s.Must(), []Link{NewLink(0, 1, Must)})
	equal(t, "chunklets", c.Chunklets(), [][]int{{0, 1}, {2}})
	// Appending to a returned slice must not overwrite the next one.
	first := c.Chunklets()[0]
	_ = append(first, 99)
	equal(t, "chunklets", c.Chunklets(), [][]int{{0, 1}, {2}})
}

func TestZeroSet(t *testing.T) {
	var s Set
	if s.N() != 0 || s.Len() != 0 || len(s.Must()) != 0 || len(s.Chunklets()) != 0 ||
		s.NumComponents() != 0 || s.Consistent() != nil || len(s.Warnings()) != 0 {
		t.Error("the zero Set is not the empty set on no rows")
	}
	mustSet(s.Closure())
}

// Several goroutines use every derived view concurrently, for the race detector.
func TestConcurrentUse(t *testing.T) {
	s := mustSet(New(6, []Link{NewLink(0, 1, Must), NewLink(1, 2, Must), NewLink(0, 2, Cannot),
		NewLink(4, 5, Must)}))
	c := mustSet(FromChunklets(6, [][]int{{0, 1, 2}, {4, 5}}))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, _, _, _ = s.Components(), s.Chunklets(), s.Conflicts(), s.Warnings()
			_, _ = c.Must(), c.Chunklets()
			if len(s.Conflicts()) != 1 || len(c.Must()) != 4 {
				t.Errorf("%d conflicts and %d links, want 1 and 4", len(s.Conflicts()), len(c.Must()))
			}
		})
	}
	group.Wait()
}

func ExampleSet_Conflicts() {
	s, err := New(13, []Link{
		{I: 3, J: 7, Sign: Must, Line: 4},
		{I: 7, J: 12, Sign: Must, Line: 9},
		{I: 3, J: 12, Sign: Cannot, Line: 11},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range s.Conflicts() {
		fmt.Println(c.PathString())
	}
	// Output: 3-7 (line 4), 7-12 (line 9)
}

func ExampleFromChunklets() {
	s, err := FromChunklets(6, [][]int{{0, 2, 4}, {5}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range s.Must() {
		fmt.Println(l.I, l.J, l.Sign)
	}
	fmt.Println(strings.Join(s.Warnings(), "\n"))
	// Output:
	// 0 2 must
	// 0 4 must
	// 2 4 must
	// 1 chunklet has a single row and adds no link (the first is row 5)
}

// TestLabel: sets that are made of others keep the column that the links were made from.
func TestLabel(t *testing.T) {
	plain, err := New(5, []Link{NewLink(0, 1, Must), NewLink(1, 2, Must), NewLink(2, 3, Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	named := plain.WithLabel("churn")
	if plain.Label() != "" || named.Label() != "churn" || named.Len() != plain.Len() ||
		named.N() != plain.N() {
		t.Errorf("labels %q and %q, %d links", plain.Label(), named.Label(), named.Len())
	}
	for name, of := range map[string]func() (*Set, error){
		"closure": named.Closure, "union": func() (*Set, error) { return Union(plain, named) },
		"rows": func() (*Set, error) { return named.Restrict([]int{1, 2, 3}) },
		"must": func() (*Set, error) { return named.WithoutCannot(), nil },
	} {
		if s, err := of(); err != nil || s.Label() != "churn" {
			t.Errorf("%s: %v, label %q", name, err, s.Label())
		}
	}
}

// FuzzSet: components, chunklets, closure and conflicts of any links agree with the algorithm of
// Floyd and Warshall.
func FuzzSet(f *testing.F) {
	for _, seed := range propertytest.Inputs(rand.New(rand.NewPCG(1, 2)), 1024) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, property := range []func(*rapid.T){componentsProperty, chunkletsProperty, closureProperty,
			conflictsProperty} {
			rapid.MakeFuzz(property)(t, input)
		}
	})
}
