// Package data provides the commands about files of data: links, check and score.
package data

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// Commands returns links, check and score.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newLinks(s), newCheck(s), newScore(s)}
}

type checkCommand struct {
	*session.Session
	data      source.Data
	links     source.Links
	preparing source.Preparing
	max       int

	table *mustlink.Table // of data without errors; nil for sparse ones
}

func newCheck(s *session.Session) *cobra.Command {
	c := &checkCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "check -i DATA [-c LINKS]",
		Short: "validate files: list every faulty line and suggest a fix",
		Long: `Read DATA, and LINKS if given, as fit would. List every error with its line, row and column
and a suggested fix, then every warning, then every column: its kind, its values, and what fit
makes of it. The flags that change this are those of fit. The exit code is 2 if there are errors,
and 0 if there are none or only warnings.`,
		Example: `  mustlink check -i data.csv -c links.csv
  mustlink check -i data.csv --json`,
		Args: usage.Positional(0, 0, ""),
		RunE: s.Checked(c.check, c.run),
	}
	c.data.Flags(cmd)
	c.data.LabelFlags(cmd)
	c.links.Flags(cmd)
	c.preparing.Flags(cmd, "")
	usage.FlagsOf(cmd).Int(&c.max, "max", 100, "list at most this many problems of each file",
		usage.Range(">= 1"))
	usage.FlagsOf(cmd).Required("input")
	return cmd
}

// checkProblem is one problem in the JSON of `mustlink check`.
type checkProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Row     *int   `json:"row,omitempty"`
	Column  string `json:"column,omitempty"`
	Problem string `json:"problem"`
	Fix     string `json:"mend,omitempty"`
	text    string
}

// checkReport is the result of `mustlink check`.
type checkReport struct {
	OK        bool            `json:"ok"`
	Problems  []checkProblem  `json:"problems"`
	N         int             `json:"n,omitempty"` // of data without problems
	D         int             `json:"d,omitempty"`
	Classes   int             `json:"classes,omitempty"`
	Unlabeled int             `json:"unlabeled,omitempty"` // rows without a label, of data with labels
	HasIDs    bool            `json:"has_ids"`
	MustLinks int             `json:"must_links,omitempty"`
	Cannot    int             `json:"cannot_links,omitempty"`
	Chunklets int             `json:"chunklets,omitempty"`
	Columns   []source.Column `json:"columns,omitempty"`
	Warnings  []string        `json:"warnings"`
	shape     string
}

func (c *checkCommand) run(ctx context.Context, _ []string) error {
	r := &checkReport{Problems: []checkProblem{}}
	d, err := c.checkData(ctx, r)
	if err != nil {
		return err
	}
	if c.links.Path != "" {
		if err := c.checkLinks(ctx, d, r); err != nil {
			return err
		}
	}
	r.OK = len(r.Problems) == 0
	r.Warnings = c.Warnings()
	if err := c.Print(r, r.write); err != nil || r.OK {
		return err
	}
	return usage.Errorf("check found %s", fault.Count(len(r.Problems), "problem"))
}

func (c *checkCommand) check(check *session.Checks, _ []string) {
	check.Refuse(c.data.Path == session.Stream || c.links.Path == session.Stream,
		"\"-\" is standard input, but check reads files twice: want a file")
	c.preparing.Check(check, false, &c.data)
	c.data.Check(check)
}

// checkData reports on the data, and returns them if they have no errors.
func (c *checkCommand) checkData(ctx context.Context, r *checkReport) (*dataset.Data, error) {
	problems, err := session.Await(ctx, func() ([]dataset.Problem, error) {
		return dataset.Check(c.data.Path, c.data.Options(c.Session), c.max)
	})
	if err != nil {
		return nil, source.FormatError(err, c.data.Path)
	}
	if len(problems) > 0 {
		r.add(problems)
		return nil, nil
	}
	d, err := c.data.Read(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	r.N, r.D, r.HasIDs, r.shape = d.Points.Len(), d.Points.Dim(), d.IDs != nil, source.Shape(d.Points)
	r.Classes, r.Unlabeled = source.Classes(d.Labels), len(d.Labels)-d.Labeled()
	source.WarnOfLabels(c.Session, d)
	if x, ok := d.Points.(*points.CSR); ok {
		used := map[int32]bool{}
		for _, j := range x.Col {
			used[j] = true
		}
		if unused := x.D - len(used); unused > 0 {
			c.Warnf("%s: %d of %d features never occur: they carry no information", d.Name, unused, x.D)
		}
		return d, nil
	}
	c.table, err = c.preparing.Apply(ctx, c.Session, d)
	if de, ok := errors.AsType[*fault.DataError](err); ok {
		r.add([]dataset.Problem{{Err: de}})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.Columns = source.Columns(c.table.Summary())
	return d, nil
}

// checkLinks reports on the links between the rows of d; it skips them if the data have errors.
func (c *checkCommand) checkLinks(ctx context.Context, d *dataset.Data, r *checkReport) error {
	if d == nil {
		c.Warnf("%s is not checked: fix the data first", c.links.Path)
		return nil
	}
	if err := c.links.NeedIDs(d); err != nil {
		return err
	}
	c.links.Begun = true
	problems, err := session.Await(ctx, func() ([]dataset.Problem, error) {
		return dataset.CheckLinks(c.links.Path, c.links.Context(c.Session, d), c.max)
	})
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		r.add(problems)
		return nil
	}
	set, err := c.links.ReadWarning(ctx, c.Session, d)
	if err != nil {
		return err
	}
	if c.table != nil {
		_, err = c.links.Leaks(c.Session, d, c.table, set)
	}
	if de, ok := errors.AsType[*fault.DataError](err); ok {
		r.add([]dataset.Problem{{Err: de}})
	} else if err != nil {
		return err
	}
	if r.MustLinks, r.Cannot = set.Count(); r.MustLinks+r.Cannot+len(set.Chunklets()) == 0 {
		c.Warnf("%s: it has no link yet: answer some questions of suggest or label", c.links.Path)
	}
	r.Chunklets = len(set.Chunklets())
	return nil
}

func (r *checkReport) add(problems []dataset.Problem) {
	for _, p := range problems {
		c := checkProblem{File: p.Err.File, Line: p.Err.Line, Column: p.Err.Column,
			Problem: p.Err.Err.Error(), Fix: p.Fix, text: p.String()}
		if p.Err.Row >= 0 {
			c.Row = &p.Err.Row
		}
		r.Problems = append(r.Problems, c)
	}
}

func (r *checkReport) write(w io.Writer) {
	for _, p := range r.Problems {
		fmt.Fprintln(w, p.text)
	}
	if r.N > 0 {
		fmt.Fprintf(w, "data: %s", r.shape)
		if r.Classes > 0 {
			fmt.Fprintf(w, ", labels of %s", fault.Count(r.Classes, "class"))
		}
		if r.Unlabeled > 0 {
			fmt.Fprintf(w, ", %s without a label", fault.Count(r.Unlabeled, "row"))
		}
		if r.HasIDs {
			fmt.Fprint(w, ", ids")
		}
		fmt.Fprintln(w)
	}
	if len(r.Columns) > 0 {
		source.WriteColumns(w, r.Columns)
		fmt.Fprintln(w, "To change a column: --type COLUMN=KIND, --label, --id, --drop, --impute; text: "+
			"--text words")
	}
	if r.MustLinks+r.Cannot+r.Chunklets > 0 {
		fmt.Fprintf(w, "links: %d must, %d cannot; %s\n", r.MustLinks, r.Cannot,
			fault.Count(r.Chunklets, "chunklet"))
	}
	switch {
	case r.OK && len(r.Warnings) > 0:
		fmt.Fprintf(w, "no errors, %s\n", fault.Count(len(r.Warnings), "warning"))
	case r.OK:
		fmt.Fprintln(w, "no problems")
	}
}

func newLinks(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "links",
		Short: "make links from labels, or close them transitively",
		Long: `Make links from labels, or write the transitive closure of links.

` + strings.TrimSpace(linksText),
		Example: `  mustlink links make -i data.csv --pairs 200 -o links.csv
  mustlink links close -i data.csv -c links.csv -o closed.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: usage.UnknownCommand,
	}
	cmd.AddCommand(newLinksMake(s), newLinksClose(s))
	return cmd
}

// linksText says what links are.
//
//go:embed topics/links.txt
var linksText string

// linksReport is the result of `links make` and `links close`.
type linksReport struct {
	Links      string   `json:"links"`
	N          int      `json:"n"`
	MustLinks  int      `json:"must_links"`
	Cannot     int      `json:"cannot_links"`
	Unlabeled  int      `json:"unlabeled,omitempty"` // rows without a label, of which there are no links
	Components int      `json:"components"`          // of the must-link graph, single rows included
	Seed       *uint64  `json:"seed,omitempty"`
	Warnings   []string `json:"warnings"`
}

func (r linksReport) text(w io.Writer) {
	on := fault.Count(r.N, "row")
	if r.Unlabeled > 0 {
		on += fmt.Sprintf(" (%d without a label)", r.Unlabeled)
	}
	fmt.Fprintf(w, "%s: %s and %s on %s; the must-links leave %s\n", r.Links,
		fault.Count(r.MustLinks, "must-link"), fault.Count(r.Cannot, "cannot-link"), on,
		fault.Count(r.Components, "component"))
}

// linksCommand holds what make and close share.
type linksCommand struct {
	*session.Session
	data  source.Data
	links source.Links
	out   string
}

// outputFlag defines -o.
func (l *linksCommand) outputFlag(cmd *cobra.Command) {
	usage.FlagsOf(cmd).String(&l.out, "output,o", "", "the file of `LINKS` to write; - for standard output")
}

// write writes links and reports on them.
func (l *linksCommand) write(set *links.Set, ids []string, unlabeled int, seed *uint64) error {
	if err := dataset.WriteLinks(l.out, set, ids, l.WritingText()); err != nil {
		return err
	}
	must, cannot := set.Count()
	r := linksReport{Links: l.out, N: set.N(), MustLinks: must, Cannot: cannot,
		Unlabeled: unlabeled, Components: set.NumComponents(), Seed: seed, Warnings: l.Warnings()}
	return l.Summarize(l.out, r, r.text)
}

type linksMakeCommand struct {
	linksCommand
	pairs, must, cannot int
	components          float64
	byComponents        bool // whether --components is given
	seed                uint64
}

func newLinksMake(s *session.Session) *cobra.Command {
	l := &linksMakeCommand{linksCommand: linksCommand{Session: s}}
	cmd := &cobra.Command{
		Use:   "make -i DATA (--pairs N | --must M --cannot C | --components F) -o LINKS",
		Short: "draw links at random from labels",
		Long: `Draw links at random from the labels of DATA: must-links between rows of one class,
cannot-links between rows of different classes, each pair at most once. Rows whose label is
empty are in no link.

--pairs N draws N of each kind. --must and --cannot set the two numbers separately.
--components F draws must-links until the number of their connected components is F times
the number of rows: 0.9 is little information, 0.7 is much (the rule of Xing et al. 2002
and of later papers). With --cannot C it also draws C cannot-links.

With --label the file begins with a comment that names the column. A fit that has it as a
feature is then refused: want the same --label there, or --drop.`,
		Example: `  mustlink links make -i data.csv --pairs 200 -o links.csv
  mustlink links make -i data.csv --components 0.7 --seed 3 -o links.csv
  mustlink links make -i points.npy --labels labels.csv --must 100 --cannot 20 -o links.csv`,
		Args: usage.Positional(0, 0, ""),
		RunE: s.Checked(l.check, l.run),
	}
	f := usage.FlagsOf(cmd)
	f.String(&l.data.Path, "input,i", "",
		"`DATA` with labels: "+session.InputEndings()+"; - for standard input")
	l.data.ReadingFlags(cmd)
	l.data.LabelFlags(cmd)
	f.Int(&l.pairs, "pairs", 0, "number of must-links, and as many cannot-links",
		usage.Range(">= 0"), usage.Excludes("must"), usage.Excludes("cannot"))
	f.Int(&l.must, "must", 0, "number of must-links", usage.Range(">= 0"))
	f.Int(&l.cannot, "cannot", 0, "number of cannot-links", usage.Range(">= 0"))
	f.Float(&l.components, "components", 0,
		"draw must-links until the number of components is this fraction of the number of rows",
		usage.Excludes("pairs"), usage.Excludes("must"))
	f.Seed(&l.seed)
	l.links.ByFlag(cmd)
	l.outputFlag(cmd)
	f.Required("input", "output")
	return cmd
}

func (l *linksMakeCommand) run(ctx context.Context, _ []string) error {
	d, err := l.data.Read(ctx, l.Session)
	if err != nil {
		return err
	}
	if err := l.links.NeedIDs(d); err != nil {
		return err
	}
	if err := source.NeedLabels(l.Session, d); err != nil {
		return err
	}
	set, err := l.draw(d.Labels)
	if err != nil {
		return err
	}
	source.WarnOfLeaks(l.Session, d, prepare.Leaks(d, d.Features, set))
	if l.data.Labels == "" {
		set = set.WithLabel(l.data.Label)
	}
	return l.write(set, l.links.Names(d), len(d.Labels)-d.Labeled(), &l.seed)
}

func (l *linksMakeCommand) check(check *session.Checks, _ []string) {
	f := check.Cmd.Flags()
	l.byComponents = f.Changed("components")
	check.Refuse(!f.Changed("pairs") && !f.Changed("must") && !f.Changed("cannot") && !l.byComponents,
		"the number of links is missing: want --pairs, --must and --cannot, or --components %s",
		usage.HelpHint(check.Cmd))
	l.data.Mixed = true // the rows count, not their values
	l.data.Check(check)
	check.Output("-o, --output", l.out)
}

// draw samples links as the flags ask.
func (l *linksMakeCommand) draw(labels []string) (*links.Set, error) {
	switch {
	case l.pairs > 0:
		set, err := links.SampleByCount(labels, l.pairs, l.pairs, l.seed)
		return set, usage.RenameParams(err, "must", "--pairs", "cannot", "--pairs")
	case !l.byComponents:
		set, err := links.SampleByCount(labels, l.must, l.cannot, l.seed)
		return set, usage.RenameParams(err, "must", "--must", "cannot", "--cannot")
	}
	must, err := links.SampleByComponents(labels, l.components, l.seed)
	if err != nil || l.cannot == 0 {
		return must, usage.RenameParams(err, "fraction", "--components")
	}
	cannot, err := links.SampleByCount(labels, 0, l.cannot, l.seed)
	if err != nil {
		return nil, usage.RenameParams(err, "cannot", "--cannot")
	}
	return links.Union(must, cannot)
}

type linksCloseCommand struct {
	linksCommand
	n int
}

func newLinksClose(s *session.Session) *cobra.Command {
	l := &linksCloseCommand{linksCommand: linksCommand{Session: s}}
	cmd := &cobra.Command{
		Use:   "close -c LINKS (-i DATA | -n ROWS) -o LINKS",
		Short: "write the transitive closure of links",
		Long: `Write all links that the given ones imply: if a-b and b-c are must-links, so is a-c; if
a-b is a must-link and b-c a cannot-link, a-c is a cannot-link. A cannot-link between two
rows that must-links join is an error; the message shows the path of must-links.

The number of rows comes from DATA, or from -n.`,
		Example: `  mustlink links close -i data.csv -c links.csv -o closed.csv
  mustlink links close -n 351 -c chunklets.csv -o closed.csv`,
		Args: usage.Positional(0, 0, ""),
		RunE: s.Checked(l.check, l.run),
	}
	f := usage.FlagsOf(cmd)
	l.links.Flags(cmd)
	f.String(&l.data.Path, "input,i", "", "the linked `DATA`; - for standard input",
		usage.Excludes("rows"))
	l.data.ReadingFlags(cmd)
	f.Int(&l.n, "rows,n", 0, "number of rows, instead of -i", usage.Range(">= 1"))
	l.outputFlag(cmd)
	f.Required("links", "output")
	return cmd
}

func (l *linksCloseCommand) run(ctx context.Context, _ []string) error {
	// Without data there is only a number of rows.
	d := &dataset.Data{Points: &points.Dense{N: l.n}}
	var err error
	if l.data.Path != "" {
		if d, err = l.data.Read(ctx, l.Session); err != nil {
			return err
		}
	}
	set, err := l.links.Read(ctx, l.Session, d)
	if err != nil {
		return err
	}
	closed, err := set.Closure()
	if err != nil {
		return fault.InFile(err, l.links.Path)
	}
	return l.write(closed, l.links.Names(d), 0, nil)
}

func (l *linksCloseCommand) check(check *session.Checks, _ []string) {
	l.links.Check(check)
	check.Refuse(l.data.Path == "" && l.n == 0, "-i, --input is missing: want the linked data, or -n %s",
		usage.HelpHint(check.Cmd))
	check.Refuse(l.data.Path == "" && l.links.By == dataset.ByID,
		"--links-by id is given without data: want -i")
	if l.data.Path != "" {
		l.data.Mixed = true // the rows count, not their values
		l.data.Check(check)
	}
	check.Output("-o, --output", l.out)
}
