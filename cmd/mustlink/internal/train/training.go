package train

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/topics"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// training holds the flags that fit and select share: points and links to learn from, and the model
// to write.
type training struct {
	*session.Session
	data        source.Data
	links       source.Links
	fromLabels  string // how many links to draw
	preparing   source.Preparing
	strict      bool
	seed        uint64
	precision   source.Precision
	out         string
	files       catalog.Files  // of parameters
	withVerdict bool           // the fit has a verdict
	folds       int            // of it
	leaks       []prepare.Leak // columns that decide the links, of which a warning was given
}

// endFlags defines the flags that come last.
func (t *training) endFlags(cmd *cobra.Command) {
	f := usage.FlagsOf(cmd)
	f.Seed(&t.seed)
	f.Bool(&t.strict, "strict", false, "treat warnings about data and links as errors")
}

// outputFlag defines -o.
func (t *training) outputFlag(cmd *cobra.Command) {
	usage.FlagsOf(cmd).String(&t.out, "output,o", "", "the `MODEL` file to write; - for standard output")
}

// allLabels is the value of --links-from-labels that takes all pairs.
const allLabels = "all"

// checkLinks refuses missing links, unless there is something else to learn from.
func (t *training) checkLinks(check *session.Checks, others bool) {
	drawn := check.Cmd.Flags().Changed("links-from-labels")
	check.Refuse(t.links.Path == "" && !drawn && !others,
		"the links are missing: want -c LINKS or --links-from-labels N %s", usage.HelpHint(check.Cmd))
	check.Refuse(drawn && t.fromLabels != allLabels && t.drawn() < 1,
		"--links-from-labels is %q: want a number >= 1, or all", t.fromLabels)
}

// drawn returns the number of links to draw, 0 for text that is not a number.
func (t *training) drawn() int {
	n, err := strconv.Atoi(t.fromLabels)
	if err != nil {
		return 0
	}
	return n
}

// drawLinks draws links from the labels.
func (t *training) drawLinks(d *dataset.Data, both bool) (*links.Set, error) {
	if err := source.NeedLabels(t.Session, d); err != nil {
		return nil, err
	}
	must, cannot := t.drawn(), 0
	if both {
		cannot = must
	}
	set, err := links.SampleByCount(d.Labels, must, cannot, t.seed)
	return set, usage.RenameParams(err, "must", "--links-from-labels", "cannot", "--links-from-labels")
}

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
		func(m catalog.Method) bool {
			return m.UsesTriplets
		}, dataset.ReadTriplets, dataset.DecodeTriplets, "",
	}
	l.quadruplets = comparisons[links.Quadruplet]{
		"quadruplets", "i,j,k,l, rows i and j nearer to each other than rows k and l",
		func(m catalog.Method) bool {
			return m.UsesQuadruplets
		}, dataset.ReadQuadruplets, dataset.DecodeQuadruplets, "",
	}
	l.triplets.flag(cmd)
	l.quadruplets.flag(cmd)
	usage.FlagsOf(cmd).String(&l.targets, "targets", "",
		"targets to learn from without links: `FILE`, a CSV with a column target, one number for each row "+
			"of DATA, in the same order; or the word labels, for the labels of DATA read as numbers ("+strings.Join(
			targetMethods(), ", ")+")")
}

// targetMethods returns the names of the methods that learn from targets.
func targetMethods() []string {
	return topics.MethodsThat(func(m catalog.Method) bool { return m.UsesTargets })
}

// given reports whether any of the flags is set.
func (l *lessonFlags) given() bool {
	return l.triplets.path != "" || l.quadruplets.path != "" || l.targets != ""
}

// kinds returns a lesson of the kinds that are given, without their content.
func (l *lessonFlags) kinds() (out algorithms.Lesson) {
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
		return usage.Errorf(
			"the targets are missing: %s learns from targets, want --targets FILE or --targets %s", m.Name,
			labelTargets)
	}
	return nil
}

// notFor returns the error for a flag that the method does not use.
func notFor(flag string, m catalog.Method, have []string) error {
	return usage.Errorf("--%s is given, but %s does not learn from them: want -m %s", flag, m.Name,
		strings.Join(have, " or -m "))
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
func (l *lessonFlags) read(ctx context.Context, s *session.Session, by *source.Links,
	d *dataset.Data) (out algorithms.Lesson, err error) {
	if out.Triplets, err = l.triplets.readFor(ctx, s, by, d); err != nil {
		return out, err
	}
	if out.Quadruplets, err = l.quadruplets.readFor(ctx, s, by, d); err != nil {
		return out, err
	}
	out.Targets, err = l.readTargets(ctx, s, d)
	return out, err
}

func (l *lessonFlags) readTargets(ctx context.Context, s *session.Session,
	d *dataset.Data) ([]float64, error) {
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
	cmd.Flags().StringVar(&c.path, c.name, "",
		"`FILE` of "+c.name+" to learn from, with links or without: a CSV "+c.means+" ("+strings.Join(
			topics.MethodsThat(c.used), ", ")+")")
}

// check refuses a method that does not learn from the comparisons.
func (c *comparisons[T]) check(m catalog.Method) error {
	if c.path != "" && !c.used(m) {
		return notFor(c.name, m, topics.MethodsThat(c.used))
	}
	return nil
}

// readFor reads the comparisons of rows of d; without a file there are none.
func (c *comparisons[T]) readFor(ctx context.Context, s *session.Session, by *source.Links,
	d *dataset.Data) ([]T, error) {
	if c.path == "" {
		return nil, nil
	}
	return source.ReadRows(ctx, s, by, c.path, d, c.decode, c.read)
}

// searching is the flag of fit that searches among methods before it fits.
type searching struct {
	how string // "" for no search
}

func (c *searching) flag(cmd *cobra.Command) {
	f := usage.FlagsOf(cmd)
	f.String(&c.how, "search", "",
		"choose by held-out links among several methods (short), or also kernels and parameters as "+
			"'mustlink select' does (long)")
	f.Lookup("search").NoOptDefVal = shortSearch
	usage.CompleteWith(cmd, "search", shortSearch, longSearch)
}

// options returns the search among the methods of the names, or among the usual ones.
func (c *searching) options(seed uint64, names []string) (o selection.Options, err error) {
	o = selection.DefaultOptions()
	o.Seed = seed
	switch c.how {
	case shortSearch:
		if len(names) == 0 {
			names = selection.Methods()
		}
		o.Candidates, err = selection.Grid(names, nil)
	case longSearch:
		o.Candidates, err = selection.Defaults(names)
	default:
		err = fault.Unknown("--search", c.how, []string{shortSearch, longSearch})
	}
	o.Incumbent = selection.FirstChoice(o.Candidates)
	return o, err
}
