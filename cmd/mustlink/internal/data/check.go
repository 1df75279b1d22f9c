// Package data provides the commands about files of data: links, check and score.
package data

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
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
		if unused := unusedFeatures(x); unused > 0 {
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

// unusedFeatures counts the features that are 0 in every row.
func unusedFeatures(x *points.CSR) int {
	used := make(map[int32]bool)
	for _, j := range x.Col {
		used[j] = true
	}
	return x.D - len(used)
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
