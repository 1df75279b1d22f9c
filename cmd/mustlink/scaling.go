package main

import (
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
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

// apply changes the features of d as the flags ask, and warns about columns that are constant.
func (s *scalingFlags) apply(a *app, d *dataset.Data) (table *mustlink.Table, err error) {
	table = mustlink.FromData(d)
	switch {
	case s.tfidf:
		table, err = table.TFIDF()
	case s.standardize:
		table, err = table.Standardize()
	}
	if err != nil {
		return nil, fault.InFile(usage.RenameParams(err, "tfidf", "--tfidf", "standardize", "--standardize"), d.Name)
	}
	for _, w := range table.Warnings()[len(d.Warnings):] {
		a.Warnf("%s: %s", d.Name, w)
	}
	return table, nil
}

// check refuses what does not go with a change of features.
func (s *scalingFlags) check(c *session.Checks, model, gram bool) {
	c.Refuse(s.standardize && s.tfidf, "--standardize and --tfidf are given together: want one of the two")
	c.Refuse(s.any() && model, "%s is given with MODEL: the model scales points as it was fitted, want one of the two", s.name())
	c.Refuse(s.any() && gram, "%s and --gram are given together: a Gram matrix has no columns to scale", s.name())
}
