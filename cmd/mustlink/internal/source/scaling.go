package source

import (
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// Scaling says how features are transformed first.
type Scaling struct{ Standardize, TFIDF bool }

// Flags defines the flags; before and after are parts of their help texts.
func (s *Scaling) Flags(f *pflag.FlagSet, before, after string) {
	f.BoolVar(&s.Standardize, "standardize", false, before+"scale columns "+after)
	f.BoolVar(&s.TFIDF, "tfidf", false, before+"weight counts of terms by the rarity of the terms (TF-IDF), and scale rows to unit length")
}

// Any reports whether features are transformed.
func (s *Scaling) Any() bool { return s.Standardize || s.TFIDF }

// Name returns the name of the flag that is given.
func (s *Scaling) Name() string {
	if s.TFIDF {
		return "--tfidf"
	}
	return "--standardize"
}

// Apply transforms the features of d as the flags ask, and warns about constant columns.
func (s *Scaling) Apply(run *session.Session, d *dataset.Data) (table *mustlink.Table, err error) {
	table = mustlink.FromData(d)
	switch {
	case s.TFIDF:
		table, err = table.TFIDF()
	case s.Standardize:
		table, err = table.Standardize()
	}
	if err != nil {
		return nil, fault.InFile(usage.RenameParams(err, "tfidf", "--tfidf", "standardize", "--standardize"), d.Name)
	}
	run.WarnOf(d.Name, table.Warnings()[len(d.Warnings):])
	return table, nil
}

// Check refuses combinations that exclude a transform of features.
func (s *Scaling) Check(c *session.Checks, model, gram bool) {
	c.Refuse(s.Standardize && s.TFIDF, "--standardize and --tfidf are given together: want one of them")
	c.Refuse(s.Any() && model, "%s is given with MODEL: want one of the two, the model scales points as in its fit", s.Name())
	c.Refuse(s.Any() && gram, "%s and --gram are given together: a Gram matrix has no columns to scale", s.Name())
}
