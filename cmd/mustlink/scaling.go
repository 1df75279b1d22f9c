package main

import (
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/engine/dataset"
)

// scalingFlags say how features are changed before anything else.
type scalingFlags struct{ standardize, tfidf bool }

// add defines the flags; when says at which time, and as whose.
func (s *scalingFlags) add(f *pflag.FlagSet, before, after string) {
	f.BoolVar(&s.standardize, "standardize", false, before+"scale columns "+after)
	f.BoolVar(&s.tfidf, "tfidf", false, before+"weigh counts of terms by how rare these are, rows of unit length")
}

func (s *scalingFlags) any() bool { return s.standardize || s.tfidf }

// name returns the flag that is given.
func (s *scalingFlags) name() string {
	if s.tfidf {
		return "--tfidf"
	}
	return "--standardize"
}

// check refuses what does not go together.
func (s *scalingFlags) check(withModel, gram bool) error {
	switch {
	case s.standardize && s.tfidf:
		return usagef("--standardize and --tfidf are given together: want one of the two")
	case s.any() && withModel:
		return usagef("%s is given with MODEL: the model scales points as it was fitted, want one of the two", s.name())
	case s.any() && gram:
		return usagef("%s and --gram are given together: a Gram matrix has no columns to scale", s.name())
	}
	return nil
}

// apply changes the features of d in place of its points, and warns about columns that are constant; nil
// without a flag.
func (s *scalingFlags) apply(a *app, d *dataset.Data) (dataset.Transform, error) {
	var t dataset.Transform
	switch {
	case s.tfidf:
		terms, err := dataset.CountTerms(d.Points)
		if err != nil {
			return nil, inFile(d.Name, renameParams(err, "tfidf", "--tfidf"))
		}
		t = terms
	case s.standardize:
		scaling, constant, err := dataset.Standardize(d.Points)
		if err != nil {
			return nil, inFile(d.Name, renameParams(err, "standardize", "--standardize"))
		}
		for _, j := range constant {
			a.warn("%s: column %s is constant: it is kept at 0", d.Name, columnName(d, j))
		}
		t = scaling
	default:
		return nil, nil
	}
	var err error
	d.Points, err = t.Apply(d.Points)
	return t, err
}

// scalingName returns the word for how a model changes features.
func scalingName(t dataset.Transform) string {
	switch t.(type) {
	case *dataset.Scaling:
		return "standardize"
	case *dataset.TFIDF:
		return "tfidf"
	}
	return "none"
}
