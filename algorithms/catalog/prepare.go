package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Prepare checks that d has the features that the model was fitted on, by number and, when
// both have names, by name and order, and returns its points scaled as the training points
// were.
//
// A wrong number of features is a *fault.ShapeError, a wrong name a *fault.DataError; both
// name the difference.
func (f *Fitted) Prepare(d *dataset.Data) (points.Points, error) {
	if err := f.checkAlphabet(d); err != nil {
		return nil, err
	}
	if want := f.InputDim(); want >= 0 && d.Points.Dim() != want {
		return nil, f.wrongCount(d, want)
	}
	if f.Features != nil && d.Features != nil {
		if err := f.checkNames(d); err != nil {
			return nil, err
		}
	}
	if f.Scaling == nil {
		return d.Points, nil
	}
	return f.Scaling.Apply(d.Points)
}

// checkAlphabet demands sequences, over the right alphabet, exactly of models that were fitted
// on some.
func (f *Fitted) checkAlphabet(d *dataset.Data) error {
	want := ""
	if m, ok := f.Model.(interface{ Alphabet() string }); ok {
		want = m.Alphabet()
	}
	x, ok := d.Points.(*points.Sequences)
	switch {
	case ok && want == "":
		return fault.Data(d.Name, "it has sequences: want vectors or inner products, as the model was fitted on")
	case !ok && want != "":
		return fault.Data(d.Name, "it has no sequences: want sequences over the alphabet %s, as the model was fitted on", want)
	case ok && x.Alphabet != want:
		return fault.Data(d.Name, "the alphabet is %s: want %s, as the model was fitted on", x.Alphabet, want)
	}
	return nil
}

// wrongCount says how many features there are, and which are missing or unknown when that
// can be told.
func (f *Fitted) wrongCount(d *dataset.Data, want int) error {
	what := "number of features"
	if _, ok := d.Points.(*points.Gram); ok {
		what = "number of reference objects"
	}
	if d.Name != "" {
		what += " in " + d.Name
	}
	text := fmt.Sprintf("%d, as the model was fitted on", want)
	if f.Features != nil && d.Features != nil {
		var parts []string
		if missing := without(f.Features, d.Features); missing != "" {
			parts = append(parts, "missing: "+missing)
		}
		if extra := without(d.Features, f.Features); extra != "" {
			parts = append(parts, "not in the model: "+extra)
		}
		if len(parts) > 0 {
			text += " (" + strings.Join(parts, "; ") + ")"
		}
	}
	return &fault.ShapeError{What: what, Got: d.Points.Dim(), Want: text}
}

// checkNames compares the names place by place.
func (f *Fitted) checkNames(d *dataset.Data) error {
	for j, want := range f.Features {
		got := d.Features[j]
		if got == want {
			continue
		}
		err := fmt.Errorf("column %d is not the model's: want %s", j, strconv.Quote(want))
		if at := slices.Index(d.Features, want); at >= 0 {
			err = fmt.Errorf("column %d is not the model's: want %s, which is column %d here: put the columns in the model's order", j, strconv.Quote(want), at)
		}
		return &fault.DataError{File: d.Name, Row: -1, Column: got, Err: err}
	}
	return nil
}

// without lists up to five of the names that are not among others.
func without(names, others []string) string {
	known := make(map[string]bool, len(others))
	for _, name := range others {
		known[name] = true
	}
	var out []string
	for _, name := range names {
		if known[name] {
			continue
		}
		if len(out) == 5 {
			return strings.Join(out, ", ") + ", …"
		}
		out = append(out, strconv.Quote(name))
	}
	return strings.Join(out, ", ")
}
