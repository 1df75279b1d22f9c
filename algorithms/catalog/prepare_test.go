package catalog_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// TestPrepareNamesTheDifference: of columns that are missing or unknown the message lists the first
// five.
func TestPrepareNamesTheDifference(t *testing.T) {
	f := &catalog.Fitted{Model: fitted(t).Model, Features: fitted(t).Features}
	own := f.Features
	if len(own) != 2 {
		t.Fatalf("the golden model has the features %q: want two", own)
	}
	with := func(names ...string) *dataset.Data {
		return &dataset.Data{Name: "new.csv", Features: names,
			Points: &points.Dense{N: 1, D: len(names), Data: make([]float64, len(names))}}
	}
	var many []string
	for i := range 7 {
		many = append(many, fmt.Sprintf("extra%d", i))
	}
	for name, c := range map[string]struct {
		data  *dataset.Data
		words []string
	}{
		"one is missing": {with(own[0]),
			[]string{"new.csv: it lacks \"" + own[1] + `"`, "the model was fitted on"}},
		"another name": {with(own[0], "age"),
			[]string{"it lacks \"" + own[1] + `"`, `not in the model: "age"`}},
		"many": {with(append(own[:1:1], many...)...),
			[]string{"it lacks \"" + own[1] + `"`, `"extra4", …`}},
	} {
		_, err := f.Prepare(c.data)
		for _, w := range c.words {
			if !fault.IsInput(err) || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %v: want an input error that holds %q", name, err, w)
			}
		}
	}
	gram := &points.Gram{N: 1, M: 3, Data: make([]float64, 3), Diagonal: make([]float64, 1),
		Reference: []int{-1}}
	var shape *fault.ShapeError
	if _, err := f.Prepare(&dataset.Data{Points: gram}); !errors.As(err, &shape) ||
		!strings.Contains(err.Error(), "number of reference objects") {
		t.Errorf("a Gram matrix: error %v", err)
	}
}

// TestColumnsAreTakenByName: another order and more columns change nothing; a model and data of
// which one has no names go by position.
func TestColumnsAreTakenByName(t *testing.T) {
	f := &catalog.Fitted{Model: fitted(t).Model, Features: []string{"a", "b"}}
	for _, c := range []struct {
		names  []string
		row    []float64
		unused string
	}{
		{[]string{"a", "b"}, []float64{1, 2}, ""},
		{[]string{"b", "a"}, []float64{2, 1}, ""},
		{[]string{"x", "b", "y", "a"}, []float64{7, 2, 8, 1}, `"x", "y"`},
		{nil, []float64{1, 2}, ""},
	} {
		x, err := f.Prepare(&dataset.Data{Features: c.names,
			Points: &points.Dense{N: 1, D: len(c.row), Data: c.row}})
		if err != nil || !slices.Equal(x.(*points.Dense).Data, []float64{1, 2}) {
			t.Errorf("columns %q: %v, %v: want 1, 2", c.names, x, err)
		}
		if got := f.Unused(c.names); got != c.unused {
			t.Errorf("columns %q: unused are %s: want %s", c.names, got, c.unused)
		}
	}
}
