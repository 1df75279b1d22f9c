package label

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// TestDoubts: answers that the calibration finds wrong are asked again once, then the near pairs of
// which it is least sure, and then what active selection asks, as without a calibration.
func TestDoubts(t *testing.T) {
	const n = 60
	o := blobs(t, n, filepath.Join(t.TempDir(), "links.csv"))
	distance := func(p pair) float64 {
		return math.Sqrt(points.SquaredDistance(o.Coordinates.Row(p[0]), o.Coordinates.Row(p[1])))
	}
	var pairs []pair
	var distances []float64
	var match []bool
	for i := range n {
		for j := range i {
			pairs = append(pairs, pair{j, i})
			distances, match = append(distances, distance(pair{j, i})), append(match, i%3 == j%3)
		}
	}
	c, err := calibration.Fit(distances, match)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(pairs, func(p, q pair) int { return cmp.Compare(distance(p), distance(q)) })
	alike := func(p pair) bool { return p[0]%3 == p[1]%3 }
	near := pairs[slices.IndexFunc(pairs, alike)]
	slices.Reverse(pairs)
	far := pairs[slices.IndexFunc(pairs, func(p pair) bool {
		return !alike(p) && !slices.Contains(near[:], p[0]) && !slices.Contains(near[:], p[1])
	})]
	line := func(p pair, word string) string {
		return strconv.Itoa(p[0]) + "," + strconv.Itoa(p[1]) + "," + word + "\n"
	}
	text := "i,j,link\n" + line(near, cannot) + line(far, must)
	if err := os.WriteFile(o.File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := start(t, o)
	if len(plain.plan.first) > 0 || len(plain.again) > 0 {
		t.Errorf("first %v without a calibration", plain.plan.first)
	}
	usual, _, _ := plain.next("ann")
	plain.Close()

	o.Calibration = c
	s := start(t, o)
	before := content(t, o.File)
	for range 2 {
		p, _, err := s.next("ann")
		at := pairOf(p.I, p.J)
		if q := s.question(p.I, p.J); err != nil || at != near && at != far || !q.Again || q.Known == "" {
			t.Fatalf("the question is %v: %+v, %v: want %v or %v", p, q, err, near, far)
		}
		give(t, s, "ann", reply{p.I, p.J, s.question(p.I, p.J).Known})
	}
	if got := content(t, o.File); got != before {
		t.Errorf("answers that were confirmed changed the file: %s", got)
	}
	// The nearest of both rows of a pair, by brute force.
	var want []pair
	for i := range n {
		list := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return !slices.Contains(p[:], i) })
		slices.SortFunc(list, func(p, q pair) int { return cmp.Compare(distance(p), distance(q)) })
		want = append(want, list[:nearest]...)
	}
	off := func(p pair) float64 { return math.Abs(c.Probability(distance(p)) - 0.5) }
	slices.SortFunc(want, func(p, q pair) int {
		return cmp.Or(cmp.Compare(off(p), off(q)), slices.Compare(p[:], q[:]))
	})
	want = slices.DeleteFunc(slices.Compact(want), func(p pair) bool {
		return off(p) >= wrong-0.5 || p == near || p == far
	})
	want = want[:min(len(want), mostDoubtful)]
	if len(want) < 5 {
		t.Fatalf("only %d doubtful pairs", len(want))
	}
	for _, p := range want {
		if s.groups.known(p[0], p[1]) != "" {
			continue // an answer implies it
		}
		q, _, err := s.next("ann")
		if err != nil || pairOf(q.I, q.J) != p || s.question(q.I, q.J).Again {
			t.Fatalf("the question is %v, %v: want %v", q, err, p)
		}
		if err := s.skip(q); err != nil {
			t.Fatal(err)
		}
	}
	if p, ok, err := s.next("ann"); err != nil || ok && s.again[pairOf(p.I, p.J)] {
		t.Errorf("asked again twice: %v, %v", p, err)
	}
	set, err := links.New(n, []links.Link{links.NewLink(near[0], near[1], links.Cannot),
		links.NewLink(far[0], far[1], links.Must)})
	if err != nil {
		t.Fatal(err)
	}
	reference, err := activelearning.New(o.Coordinates, set, activelearning.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if first, _ := reference.Next(); usual != first {
		t.Errorf("without a calibration the question is %v: want %v", usual, first)
	}
}

// skip answers that nobody can say, which implies nothing about others.
func (s *Session) skip(p activelearning.Pair) error {
	_, err := s.answer("ann", []reply{{p.I, p.J, unknown}})
	return err
}

// TestFirst: pairs that are given are asked in their order, but not those that links imply; rows
// that do not exist are refused.
func TestFirst(t *testing.T) {
	o := blobs(t, 30, filepath.Join(t.TempDir(), "links.csv"))
	o.First = [][2]int{{9, 2}, {4, 11}, {2, 9}, {1, 2}}
	s := start(t, o)
	for _, want := range []pair{{2, 9}, {4, 11}, {1, 2}} {
		p, ok, err := s.next("ann")
		if err != nil || !ok || pairOf(p.I, p.J) != want {
			t.Fatalf("the question is %v, %v: want %v", p, err, want)
		}
		give(t, s, "ann", reply{p.I, p.J, cannot})
	}
	s.Close()
	for _, bad := range [][2]int{{3, 3}, {0, 30}, {-1, 2}} {
		o.First = [][2]int{bad}
		if s, err := New(t.Context(), o); err == nil {
			s.Close()
			t.Errorf("%v is accepted", bad)
		}
	}
}
