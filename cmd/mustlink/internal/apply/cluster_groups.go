package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// grouping says which rows are one group where no number of clusters is given.
type grouping struct {
	grouped   bool
	linkage   string
	distance  float64
	precision float64
	minSize   int
	neighbors int
	distinct  []string // names of columns
	within    []string // names with widths
	columns   []column // of both
	indexed
}

// column is a column in which the rows of a group differ.
type column struct {
	flag, name string
	width      string  // "" if any difference is enough
	size       float64 // of the width, in seconds if it is one of time
	time       bool
	values     []string
}

// ofGroups are the flags that are for groups, with and without a number.
var ofGroups = []string{"linkage", "distinct", "distinct-within", "neighbors", "approximate"}

func (g *grouping) flags(f usage.Flags) {
	f.String(&g.linkage, "linkage", "", "without -n, or for -n groups: merge those whose rows have the "+
		"smallest mean, largest or smallest distance, or whose merge adds least to the sum of squares: `"+
		strings.Join(cluster.Linkages(), "|")+"` (default average)",
		usage.OneOf(cluster.Linkages()...), usage.Excludes("centers"))
	f.Float(&g.distance, "distance", 0, "without -n: the largest distance `D` of groups that merge",
		usage.Range("> 0"), usage.Excludes("precision"), usage.Excludes("clusters"),
		usage.Excludes("centers"))
	f.Float(&g.precision, "precision", 0,
		"without -n: the precision `P` of the largest distance, by the calibration of MODEL",
		usage.Range("> 0, <= 1"), usage.Excludes("clusters"), usage.Excludes("centers"))
	f.Int(&g.minSize, "min-size", 0, "without -n: groups by density (HDBSCAN) of at least `K` rows; rows in "+
		"none have the label -1", usage.Range(">= 2"), usage.Excludes("clusters"), usage.Excludes("linkage"),
		usage.Excludes("centers"))
	f.Int(&g.neighbors, "neighbors", 0, "without -n or with --linkage: groups merge along the `K` nearest rows "+
		"of each row (default all of up to 2000 rows, and 20 of more)", usage.Range(">= 1"),
		usage.Excludes("centers"))
	f.Repeated(&g.distinct, "distinct", "without -n or with --linkage: a `COLUMN` of which a group has each "+
		"value at most once, such as the source of a record or the number of a photo; repeatable",
		usage.Excludes("centers"))
	f.Repeated(&g.within, "distinct-within", "without -n or with --linkage: `COLUMN=WIDTH` of numbers, or of "+
		"times with WIDTH as 30s or 2h: rows that differ by less are not in one group; repeatable",
		usage.Excludes("centers"))
	g.recallFlag(f, "without -n or with --linkage: ", usage.Excludes("centers"))
}

// checkGroups refuses flags that are not for groups, and work that a pipe does not allow.
func (c *clusterCommand) checkGroups(check *session.Checks, model bool) {
	for _, name := range []string{"algorithm", "kernel", "metric", "weight", "restarts", "seed", "stream",
		"passes", "save-centers"} {
		check.Refuse(check.Cmd.Flags().Changed(name) && c.k > 0,
			"--%s and --linkage cannot be given together: want one of them %s", name, usage.HelpHint(check.Cmd))
		check.Refuse(check.Cmd.Flags().Changed(name),
			"--%s is given without -n: want -n CLUSTERS with it %s", name, usage.HelpHint(check.Cmd))
	}
	check.Refuse(!model && c.distance == 0 && c.k == 0 && (c.minSize == 0 || c.precision != 0),
		"-n and --distance are missing: want -n CLUSTERS, --distance D or a MODEL of mustlink calibrate %s",
		usage.HelpHint(check.Cmd))
	c.checkRecall(check)
	c.checkColumns(check)
	c.preparing.Check(check, model, &c.data)
}

// checkColumns reads the flags of columns.
func (c *clusterCommand) checkColumns(check *session.Checks) {
	for _, name := range c.distinct {
		c.columns = append(c.columns, column{flag: "--distinct", name: name})
	}
	for _, text := range c.within {
		one, at := column{flag: "--distinct-within", name: text}, strings.LastIndex(text, "=")
		if at > 0 {
			one.name, one.width = text[:at], text[at+1:]
		}
		var err error
		if one.size, err = strconv.ParseFloat(one.width, 64); err != nil {
			var span time.Duration
			span, err = time.ParseDuration(one.width)
			one.size, one.time = span.Seconds(), true
		}
		check.Refuse(err != nil || !(one.size > 0) || math.IsInf(one.size, 1), "--distinct-within is %q: "+
			"want COLUMN=WIDTH with a WIDTH > 0, such as 10, 30s or 2h; --distinct COLUMN for equal values", text)
		c.columns = append(c.columns, one)
	}
	check.Refuse(len(c.columns) > 0 && !source.CanReadTwice(c.data.Path), "%s reads the rows twice, but "+
		"standard input can be read only once: want a file", append(c.columns, column{})[0].flag)
}

// groupsReport is the result of `mustlink cluster` without a number of clusters.
type groupsReport struct {
	Metric     string                 `json:"metric"` // the model's method, or "raw"
	N          int                    `json:"n"`
	Groups     int                    `json:"groups"`
	Single     int                    `json:"single"` // groups of one row
	Largest    []int                  `json:"largest"`
	Noise      *int                   `json:"noise,omitempty"`      // rows in no group
	Distance   float64                `json:"distance,omitempty"`   // the largest of a merge, 0 for any
	Calibrated *calibration.Threshold `json:"calibrated,omitempty"` // what the links up to the distance show
	Forbidden  *forbiddenMerges       `json:"forbidden,omitempty"`
	Scores     *score.Report          `json:"scores,omitempty"`
	Output     string                 `json:"output"`
	Warnings   []string               `json:"warnings"`
}

// forbiddenMerges counts merges that links and columns did not allow, with the nearest one.
type forbiddenMerges struct {
	Links    int     `json:"links"`
	Columns  int     `json:"columns"`
	I        int     `json:"i"` // rows, one of each group
	J        int     `json:"j"`
	Distance float64 `json:"distance"` // of the groups
	Reason   string  `json:"reason"`
}

func (r *groupsReport) text(w io.Writer) {
	how := fmt.Sprintf("up to distance %.6g", r.Distance)
	if r.Noise != nil && r.Distance == 0 {
		how = "by density"
	}
	fmt.Fprintf(w, "groups\t%d of %s, %s on the %s metric\n", r.Groups, fault.Count(r.N, "row"), how,
		r.Metric)
	if r.Noise != nil {
		fmt.Fprintf(w, "in no group\t%s\n", fault.Count(*r.Noise, "row"))
	}
	fmt.Fprintf(w, "largest\t%s; %d of one row\n", session.Joined(r.Largest, " "), r.Single)
	if r.Calibrated != nil {
		fmt.Fprintf(w, "threshold\t%v\n", *r.Calibrated)
	}
	if f := r.Forbidden; f != nil {
		fmt.Fprintf(w, "forbidden merges\t%d by links, %d by columns: at distance %.6g, rows %d and %d %s\n",
			f.Links, f.Columns, f.Distance, f.I, f.J, f.Reason)
	}
	scoresLine(w, r.Scores)
	fmt.Fprintf(w, "output\t%s\n", r.Output)
}

// group merges the nearest rows, and writes the group of each row.
func (c *clusterCommand) group(ctx context.Context, models []string) error {
	r := &groupsReport{Metric: c.m.Name(), Distance: c.distance, Output: c.out}
	if err := c.threshold(r, models); err != nil {
		return err
	}
	flags := c.data
	for _, one := range c.columns {
		if !slices.Contains(c.m.Record().Features, one.name) {
			flags.Drop = append(slices.Clip(flags.Drop), one.name)
		}
	}
	d, err := c.m.Read(ctx, &flags)
	if err != nil {
		return err
	}
	o := mustlink.GroupOptions{Threshold: r.Distance, Count: c.k, Linkage: mustlink.Linkage(c.linkage),
		MinSize: c.minSize, Neighbors: c.neighbors, Recall: c.recall}
	if c.links.Path != "" {
		if o.Links, err = c.links.Read(ctx, c.Session, d); err != nil {
			return err
		}
	}
	for k := range c.columns {
		one, err := c.read(ctx, &c.columns[k])
		if err != nil {
			return err
		}
		o.Distinct = append(o.Distinct, one)
	}
	if err := c.m.NeedModel(ctx, &c.preparing, d); err != nil {
		return err
	}
	g, err := c.m.Model.Groups(ctx, mustlink.FromData(d), o)
	if err != nil {
		return c.contradiction(err)
	}
	r.describe(g, c)
	c.warn(r)
	labels := numbers(g.Labels)
	r.Scores = scored(d.Labels, labels)
	if err := dataset.WriteLabels(c.out, labels, d.IDs, c.WritingText()); err != nil {
		return err
	}
	r.Warnings = c.Warnings()
	return c.Summarize(c.out, r, r.text)
}

// warn warns of groups that are hardly what was asked for.
func (c *clusterCommand) warn(r *groupsReport) {
	switch {
	case r.Groups == 1 && r.N > 1 && c.k != 1 && (r.Noise == nil || *r.Noise == 0):
		c.Warnf("%s: all rows are one group: want a smaller --distance, or a larger --precision", c.data.Path)
	case r.Groups == 0 && r.N > 0:
		c.Warnf("%s: all rows are in no group: want a smaller --min-size, or groups without it", c.data.Path)
	}
}

// threshold finds the distance by the calibration of the model, if none is given.
func (c *clusterCommand) threshold(r *groupsReport, models []string) error {
	if c.distance > 0 || c.k > 0 || c.minSize > 0 && c.precision == 0 {
		return nil
	}
	calibrated := c.m.Calibration()
	if calibrated == nil {
		return fault.Data(models[0], "the model is not calibrated: want -n CLUSTERS, --distance D, or a model "+
			"of mustlink calibrate")
	}
	found, err := calibrated.Joining(c.precision)
	r.Distance, r.Calibrated = found.Distance, &found
	return fault.InFile(unsupported(usage.RenameParams(err, "precision", "--precision", "threshold",
		"--distance")), models[0])
}

// read reads a column of the data.
func (c *clusterCommand) read(ctx context.Context, one *column) (mustlink.Distinct, error) {
	o := dataset.ReadOptions{Label: one.name, ID: c.data.ID, Header: c.data.Header,
		MemoryLimit: int64(c.MemoryLimit), Extensions: session.Extensions()}
	rows, err := session.Await(ctx, func() (dataset.LabelRows, error) {
		return dataset.ReadLabels(dataset.Input{Name: c.data.Path}, o)
	})
	values := rows.Labels
	if one.values = values; err != nil {
		return mustlink.Distinct{}, err
	}
	empty := 0
	for _, v := range values {
		if v == "" {
			empty++
		}
	}
	warnEmpty(c.Session, c.data.Path, one.name, one.flag, empty, "these rows may be in any group")
	if one.width == "" {
		return mustlink.Distinct{Name: one.name, Keys: keys(values)}, nil
	}
	positions, times, err := prepare.Positions(values)
	if e, is := errors.AsType[*fault.DataError](err); is {
		e.Column = one.name
	}
	if err == nil && times != one.time && empty < len(values) {
		kind := "numbers: want a number, such as 10"
		if times {
			kind = "times: want 30s or 2h"
		}
		err = usage.Errorf("%s of the column %q is %s, but the column has %s", one.flag, one.name, one.width, kind)
	}
	return mustlink.Distinct{Name: one.name, Width: one.size, Values: positions},
		fault.InFile(err, c.data.Path)
}

// keys numbers the values of a column, -1 for an empty one.
func keys(values []string) []int {
	number, out := map[string]int{"": -1}, make([]int, len(values))
	for i, v := range values {
		if _, known := number[v]; !known {
			number[v] = len(number)
		}
		out[i] = number[v]
	}
	return out
}

// contradiction names the files of links and columns that contradict each other.
func (c *clusterCommand) contradiction(err error) error {
	err = usage.RenameParams(err, "number of groups", "-n, --clusters", "neighbors", "--neighbors",
		"smallest size", "--min-size", "recall", "--approximate")
	return contradicted(err, c.links.Path, c.data.Path, func(e *cluster.DistinctError) (alike, flag string) {
		k := slices.IndexFunc(c.columns, func(one column) bool {
			return one.name == e.Column && one.size == e.Width
		})
		return c.columns[k].alike(e.Conflict.Link.I, e.Conflict.Link.J), c.columns[k].flag
	})
}

// contradicted names in err the files of links and of columns that contradict each other. values
// says how the values of the two rows are alike, and names the flag of their column.
func contradicted(err error, from, data string,
	values func(*cluster.DistinctError) (alike, flag string)) error {
	if e, is := errors.AsType[*cluster.DistinctError](err); is {
		alike, flag := values(e)
		return fault.Data(from, "must-links %s join rows %d and %d, which have %s in column %q of %s",
			e.Conflict.PathString(), e.Conflict.Link.I, e.Conflict.Link.J, alike, e.Column, flag)
	}
	if _, is := errors.AsType[*links.ConflictError](err); is {
		return fault.InFile(err, from)
	}
	return fault.InFile(err, data)
}

// warnEmpty warns of empty cells in a column of a flag, which forbid nothing.
func warnEmpty(s *session.Session, path, name, flag string, empty int, free string) {
	if empty > 0 {
		s.Warnf("%s: column %q of %s has %s, which are no values: %s", path, name, flag,
			fault.Count(empty, "empty cell"), free)
	}
}

// alike describes the values of two rows that are not in one group.
func (c *column) alike(i, j int) string {
	if c.width == "" {
		return fmt.Sprintf("the same value %q", c.values[i])
	}
	return fmt.Sprintf("the values %q and %q, nearer than %s,", c.values[i], c.values[j], c.width)
}

// largest returns up to ten of the largest sizes, how many are 1, and the sum of all.
func largest(sizes []int) (most []int, single, sum int) {
	most = slices.Clone(sizes)
	slices.SortFunc(most, func(a, b int) int { return b - a })
	for _, size := range sizes {
		sum += size
		if size == 1 {
			single++
		}
	}
	return most[:min(10, len(most))], single, sum
}

// describe describes the groups.
func (r *groupsReport) describe(g *mustlink.Groups, c *clusterCommand) {
	r.N, r.Groups = len(g.Labels), len(g.Sizes)
	var grouped int
	r.Largest, r.Single, grouped = largest(g.Sizes)
	if noise := r.N - grouped; c.minSize > 0 {
		r.Noise = &noise
	}
	if c.k > 0 && len(g.Merges) > 0 {
		r.Distance = g.Merges[len(g.Merges)-1].Height
	}
	for k, f := range g.Forbidden {
		if k == 0 {
			r.Forbidden = &forbiddenMerges{I: f.I, J: f.J, Distance: f.Height,
				Reason: fmt.Sprintf("have the cannot-link of line %d", f.Line)}
			if f.Column >= 0 {
				one := &c.columns[f.Column]
				r.Forbidden.Reason = fmt.Sprintf("have %s in column %q", one.alike(f.I, f.J), one.name)
			}
		}
		if f.Column < 0 {
			r.Forbidden.Links++
		} else {
			r.Forbidden.Columns++
		}
	}
}
