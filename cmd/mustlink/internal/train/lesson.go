package train

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/methods"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// lessonFlags name what some methods learn from in addition to links or instead of them.
type lessonFlags struct {
	triplets    comparisons[links.Triplet]
	quadruplets comparisons[links.Quadruplet]
	targets     string // labelTargets, or a file
}

// labelTargets is the value of --targets that takes the labels of the data as targets.
const labelTargets = "labels"

// flags defines the flags.
func (l *lessonFlags) flags(cmd *cobra.Command) {
	l.triplets = comparisons[links.Triplet]{
		"triplets", "i,j,k, row i nearer to row j than to row k",
		func(m catalog.Method) bool { return m.UsesTriplets }, dataset.ReadTriplets, dataset.DecodeTriplets, "",
	}
	l.quadruplets = comparisons[links.Quadruplet]{
		"quadruplets", "i,j,k,l, rows i and j nearer to each other than rows k and l",
		func(m catalog.Method) bool { return m.UsesQuadruplets }, dataset.ReadQuadruplets, dataset.DecodeQuadruplets, "",
	}
	l.triplets.flag(cmd)
	l.quadruplets.flag(cmd)
	cmd.Flags().StringVar(&l.targets, "targets", "", "targets to learn from without links: `FILE`, a CSV with a column target, one number for each row of DATA, in the same order; or the word labels, for the labels of DATA read as numbers ("+strings.Join(targetMethods(), ", ")+")")
}

// targetMethods returns the names of the methods that learn from targets.
func targetMethods() []string {
	return methods.That(func(m catalog.Method) bool { return m.UsesTargets })
}

// given reports whether any of the flags is set.
func (l *lessonFlags) given() bool {
	return l.triplets.path != "" || l.quadruplets.path != "" || l.targets != ""
}

// kinds returns a lesson of the kinds that are given, without their content.
func (l *lessonFlags) kinds() (out catalog.Lesson) {
	if l.triplets.path != "" {
		out.Triplets = []links.Triplet{}
	}
	if l.quadruplets.path != "" {
		out.Quadruplets = []links.Quadruplet{}
	}
	if l.targets != "" {
		out.Targets = []float64{}
	}
	return out
}

// checkTargets refuses targets that the method does not learn from, and missing targets for a
// method that requires them.
func (l *lessonFlags) checkTargets(m catalog.Method) error {
	switch {
	case l.targets != "" && !m.UsesTargets:
		return notFor("targets", m, targetMethods())
	case l.targets == "" && m.UsesTargets:
		return usage.Errorf("the targets are missing: %s learns from targets, want --targets FILE or --targets %s", m.Name, labelTargets)
	}
	return nil
}

// notFor returns the error for a flag that the method does not use.
func notFor(flag string, m catalog.Method, have []string) error {
	return usage.Errorf("--%s is given, but %s does not learn from them: want -m %s", flag, m.Name, strings.Join(have, " or -m "))
}

// inputs notes the files to read.
func (l *lessonFlags) inputs(check *session.Checks) {
	check.Input("--triplets", l.triplets.path)
	check.Input("--quadruplets", l.quadruplets.path)
	if l.targets != labelTargets {
		check.Input("--targets", l.targets)
	}
}

// read reads the comparisons and targets about the rows of d.
func (l *lessonFlags) read(ctx context.Context, s *session.Session, by *source.Links, d *dataset.Data) (out catalog.Lesson, err error) {
	if out.Triplets, err = l.triplets.readFor(ctx, s, by, d); err != nil {
		return out, err
	}
	if out.Quadruplets, err = l.quadruplets.readFor(ctx, s, by, d); err != nil {
		return out, err
	}
	out.Targets, err = l.readTargets(ctx, s, d)
	return out, err
}

func (l *lessonFlags) readTargets(ctx context.Context, s *session.Session, d *dataset.Data) ([]float64, error) {
	if l.targets == "" {
		return nil, nil
	}
	return session.Await(ctx, func() ([]float64, error) {
		switch l.targets {
		case labelTargets:
			return d.LabelTargets()
		case session.Stream:
			return d.DecodeTargets(s.Stdin, "standard input", false, int64(s.MemoryLimit))
		}
		return d.ReadTargets(l.targets, int64(s.MemoryLimit))
	})
}

// comparisons describe a file of comparisons of rows; it names rows as files of links do.
type comparisons[T any] struct {
	name   string // of the flag
	means  string // columns of the file, and what they say
	used   func(catalog.Method) bool
	read   func(path string, c dataset.LinkContext) ([]T, error)
	decode func(r io.Reader, name string, gz bool, c dataset.LinkContext) ([]T, error)
	path   string
}

func (c *comparisons[T]) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.path, c.name, "", "`FILE` of "+c.name+" to learn from, with links or without: a CSV "+c.means+" ("+strings.Join(methods.That(c.used), ", ")+")")
}

// check refuses a method that does not learn from the comparisons.
func (c *comparisons[T]) check(m catalog.Method) error {
	if c.path != "" && !c.used(m) {
		return notFor(c.name, m, methods.That(c.used))
	}
	return nil
}

// readFor reads the comparisons of rows of d; without a file there are none.
func (c *comparisons[T]) readFor(ctx context.Context, s *session.Session, by *source.Links, d *dataset.Data) ([]T, error) {
	if c.path == "" {
		return nil, nil
	}
	return source.ReadRows(ctx, s, by, c.path, d, c.decode, c.read)
}
