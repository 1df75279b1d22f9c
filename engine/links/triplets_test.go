package links_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

func TestCheckTriplets(t *testing.T) {
	sound := links.Triplet{I: 0, J: 1, K: 2}
	if err := links.CheckTriplets(3, []links.Triplet{sound, {I: 2, J: 0, K: 1}}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		bad          links.Triplet
		column, text string
		line         int
	}{
		{links.Triplet{I: 3, J: 1, K: 2}, "i", "triplet 1 of the list: row 3 does not exist", 0},
		{links.Triplet{I: 0, J: -1, K: 2, Line: 7}, "j", "row -1 does not exist", 7},
		{links.Triplet{I: 0, J: 1, K: 1}, "k", "row 1 is j and k", 0},
		{links.Triplet{I: 0, J: 0, K: 1}, "j", "row 0 is i and j", 0},
	} {
		err := links.CheckTriplets(3, []links.Triplet{sound, c.bad})
		de, ok := errors.AsType[*fault.DataError](err)
		if !ok || de.Column != c.column || de.Line != c.line || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v, want column %s, line %d, %q", c.bad, err, c.column, c.line, c.text)
		}
	}
}

func TestCheckQuadruplets(t *testing.T) {
	sound := links.Quadruplet{I: 0, J: 1, K: 2, L: 3}
	shared := links.Triplet{I: 0, J: 1, K: 2, Line: 5}.Quadruplet()
	if want := (links.Quadruplet{I: 0, J: 1, K: 0, L: 2, Line: 5}); shared != want {
		t.Errorf("the triplet 0, 1, 2 is %+v: want %+v", shared, want)
	}
	if err := links.CheckQuadruplets(4, []links.Quadruplet{sound, shared}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		bad          links.Quadruplet
		column, text string
	}{
		{links.Quadruplet{I: 4, J: 1, K: 2, L: 3}, "i", "quadruplet 1 of the list: row 4 does not exist"},
		{links.Quadruplet{I: 0, J: 1, K: -1, L: 3, Line: 7}, "k", "row -1 does not exist"},
		{links.Quadruplet{I: 1, J: 1, K: 2, L: 3}, "j", "row 1 is i and j"},
		{links.Quadruplet{I: 0, J: 1, K: 2, L: 2}, "l", "row 2 is k and l"},
		{links.Quadruplet{I: 0, J: 1, K: 1, L: 0}, "l", "both pairs"},
	} {
		err := links.CheckQuadruplets(4, []links.Quadruplet{sound, c.bad})
		de, ok := errors.AsType[*fault.DataError](err)
		if !ok || de.Column != c.column || de.Line != c.bad.Line || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v, want column %s, line %d, %q", c.bad, err, c.column, c.bad.Line, c.text)
		}
	}
}

// The comparisons of some rows are those whose rows are all among them, in order, renumbered.
func TestAmong(t *testing.T) {
	rows := []int{4, 0, 2, 3}
	triplets := []links.Triplet{{I: 0, J: 2, K: 4, Line: 1}, {I: 0, J: 1, K: 4}, {I: 1, J: 2, K: 3},
		{I: 3, J: 4, K: 5}, {I: 3, J: 0, K: 2, Line: 5}}
	want := []links.Triplet{{I: 1, J: 2, K: 0, Line: 1}, {I: 3, J: 1, K: 2, Line: 5}}
	if got := links.TripletsAmong(triplets, rows); !slices.Equal(got, want) {
		t.Errorf("triplets %v: want %v", got, want)
	}
	quadruplets := []links.Quadruplet{{I: 0, J: 2, K: 4, L: 3, Line: 1}, {I: 0, J: 2, K: 4, L: 1}}
	four := links.QuadrupletsAmong(quadruplets, rows)
	if want := []links.Quadruplet{{I: 1, J: 2, K: 0, L: 3, Line: 1}}; !slices.Equal(four, want) {
		t.Errorf("quadruplets %v: want %v", four, want)
	}
	if triplets[0].I != 0 || quadruplets[0].I != 0 {
		t.Error("the lists have changed")
	}
}
