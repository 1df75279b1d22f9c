package heldout

import (
	"regexp"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// Every linked point is in one fold. A link is held out in the folds of its points and part of the
// fit in the others. No link of a fit has a point of the fold, and the closure of the fit has no
// held-out link.
func TestDeal(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n, count := rapid.IntRange(20, 60).Draw(t, "points"), rapid.IntRange(2, 5).Draw(t, "folds")
		labels := make([]string, n)
		for i := range labels {
			labels[i] = string(rune('a' + i%rapid.IntRange(2, 4).Draw(t, "classes")))
		}
		labels[0], labels[1], labels[2] = "a", "a", "b"
		must, cannot := rapid.IntRange(1, 30).Draw(t, "must"), rapid.IntRange(0, 30).Draw(t, "cannot")
		set, err := links.SampleByCount(labels, must, cannot, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Skip("fewer pairs")
		}
		folds, err := Deal(set, count, 1)
		if fault.IsInput(err) {
			return // too few links
		}
		if err != nil {
			t.Fatal(err)
		}
		in := map[int]int{}
		for f, d := range folds {
			held := map[int]bool{}
			for _, i := range d.Points {
				held[i] = true
				if _, twice := in[i]; twice {
					t.Fatalf("point %d is in two folds", i)
				}
				in[i] = f
			}
			closed, err := d.Fit.Closure()
			if err != nil {
				t.Fatal(err)
			}
			implied := map[[2]int]bool{}
			for _, l := range slices.Concat(closed.Must(), closed.Cannot()) {
				if held[l.I] || held[l.J] {
					t.Fatalf("fold %d: link %v says something of a point that is held out", f, l)
				}
				implied[[2]int{l.I, l.J}] = true
			}
			for k, p := range d.Links.List {
				if !held[p[0]] && !held[p[1]] {
					t.Fatalf("fold %d holds out %v, of whose points it has none", f, p)
				}
				if implied[p] {
					t.Fatalf("fold %d: what is fitted on implies %v", f, p)
				}
				if k < d.Links.Must && labels[p[0]] != labels[p[1]] {
					t.Fatalf("pair %v is no must-link", p)
				}
			}
			for k, p := range d.Among.List {
				if !held[p[0]] || !held[p[1]] {
					t.Fatalf("fold %d: pair %v is not one of two points of the fold", f, p)
				}
				if same := labels[p[0]] == labels[p[1]]; same != (k < d.Among.Must) {
					t.Fatalf("fold %d: pair %v, %d of %d must-links", f, p, k, d.Among.Must)
				}
			}
			if len(set.Cannot()) > 0 && d.Fit.Len()+len(d.Links.List) != set.Len() {
				t.Fatalf("fold %d: %d fitted and %d held out of %d", f, d.Fit.Len(), len(d.Links.List), set.Len())
			}
		}
		for _, l := range slices.Concat(set.Must(), set.Cannot()) {
			for _, i := range []int{l.I, l.J} {
				if _, there := in[i]; !there {
					t.Fatalf("point %d is in no fold", i)
				}
			}
		}
	})
}

// A fold with many points counts the pairs of some of them, the same ones in every call.
func TestPairsOfLargeFolds(t *testing.T) {
	_, labels, _ := enginetest.Bands(t, 3000, 2, 10, 1)
	set := enginetest.Drawn(t, labels, 1500, 1500, 2)
	folds, err := Deal(set, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Deal(set, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	for f, held := range folds {
		in := map[int]bool{}
		for k, p := range held.Among.List {
			in[p[0]], in[p[1]] = true, true
			if (labels[p[0]] == labels[p[1]]) != (k < held.Among.Must) {
				t.Fatalf("fold %d: pair %v at %d of %d must-links", f+1, p, k, held.Among.Must)
			}
		}
		if len(held.Points) < 2*mostAmong || len(in) == 0 || len(in) > mostAmong {
			t.Errorf("fold %d: pairs of %d of %d points, want at most %d", f+1, len(in), len(held.Points), mostAmong)
		}
		if !slices.Equal(held.Among.List, again[f].Among.List) {
			t.Errorf("fold %d has other pairs in the second call", f+1)
		}
	}
}

// The error of too few links names the largest number of folds for which they are enough.
func TestFoldsThatSuffice(t *testing.T) {
	for seed := range uint64(8) {
		set := enginetest.Links(t, 60, enginetest.Mixed(60, 3, 24, seed))
		_, err := Deal(set, 40, seed)
		if !fault.IsInput(err) {
			t.Fatalf("40 folds of 24 links: error %v", err)
		}
		folds := 0
		if m := regexp.MustCompile(`or take (\d+) folds, for which they are enough`).FindStringSubmatch(err.Error()); m != nil {
			if folds, err = strconv.Atoi(m[1]); err != nil {
				t.Fatal(err)
			}
			if _, err := Deal(set, folds, seed); err != nil {
				t.Errorf("%d folds should suffice: %v", folds, err)
			}
		}
		for more := max(2, folds+1); more < 40; more++ {
			if _, err := Deal(set, more, seed); err == nil {
				t.Errorf("%d folds suffice, the error says %d", more, folds)
			}
		}
	}
}
