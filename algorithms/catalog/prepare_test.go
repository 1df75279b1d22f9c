package catalog_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// TestPrepareNamesTheDifference: of columns that are missing or unknown the message lists the first
// five, and of columns in another order it says where the right one is.
func TestPrepareNamesTheDifference(t *testing.T) {
	f := &catalog.Fitted{Model: fitted(t).Model, Features: fitted(t).Features}
	own := f.Features
	if len(own) != 2 {
		t.Fatalf("the golden model has the features %q: want two", own)
	}
	with := func(names ...string) *dataset.Data {
		return &dataset.Data{Name: "new.csv", Features: names, Points: &points.Dense{N: 1, D: len(names), Data: make([]float64, len(names))}}
	}
	var many []string
	for i := range 7 {
		many = append(many, fmt.Sprintf("extra%d", i))
	}
	for name, c := range map[string]struct {
		data  *dataset.Data
		words []string
	}{
		"one is missing":  {with(own[0]), []string{"new.csv", "2, as the model was fitted on", "missing: \"" + own[1] + `"`}},
		"one is too many": {with(own[0], own[1], "age"), []string{`not in the model: "age"`}},
		"many":            {with(append(own[:1:1], many...)...), []string{"missing: \"" + own[1] + `"`, `"extra4", …`}},
		"a Gram matrix": {&dataset.Data{Points: &points.Gram{N: 1, M: 3, Data: make([]float64, 3), Diagonal: make([]float64, 1), Reference: []int{-1}}},
			[]string{"number of reference objects"}},
	} {
		_, err := f.Prepare(c.data)
		var shape *fault.ShapeError
		for _, w := range c.words {
			if !errors.As(err, &shape) || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %v: want a ShapeError that holds %q", name, err, w)
			}
		}
	}
	var data *fault.DataError
	if _, err := f.Prepare(with(own[1], own[0])); !errors.As(err, &data) || !strings.Contains(err.Error(), "which is column 1 here") {
		t.Errorf("the other order: error %v", err)
	}
	if _, err := f.Prepare(with(own[0], "other")); !errors.As(err, &data) || data.Column != "other" || data.File != "new.csv" {
		t.Errorf("another name: error %v", err)
	}
}
