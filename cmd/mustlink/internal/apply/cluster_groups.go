package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// grouping says which rows are one group where no number of clusters is given.
type grouping struct {
	grouped   bool
	distance  float64
	precision float64
	distinct  []string // names of columns
}

func (g *grouping) flags(f usage.Flags) {
	f.Float(&g.distance, "distance", 0, "without -n: the largest mean distance `D` of groups that merge",
		usage.Range("> 0"), usage.Excludes("precision"), usage.Excludes("clusters"),
		usage.Excludes("centers"))
	f.Float(&g.precision, "precision", 0,
		"without -n: the precision `P` of the largest distance, by the calibration of MODEL",
		usage.Range("> 0, <= 1"), usage.Excludes("clusters"), usage.Excludes("centers"))
	f.Repeated(&g.distinct, "distinct", "without -n: a `COLUMN` of which a group has each value at most once, "+
		"such as the source of a record; repeatable", usage.Excludes("clusters"), usage.Excludes("centers"))
}

// checkGroups refuses flags that are not for groups, and work that a pipe does not allow.
func (c *clusterCommand) checkGroups(check *session.Checks, model bool) {
	for _, name := range []string{"algorithm", "kernel", "metric", "weight", "restarts", "seed", "stream",
		"passes", "save-centers"} {
		check.Refuse(check.Cmd.Flags().Changed(name),
			"--%s is given without -n: want -n CLUSTERS with it %s", name, usage.HelpHint(check.Cmd))
	}
	check.Refuse(!model && c.distance == 0, "-n and --distance are missing: want -n CLUSTERS, --distance D or "+
		"a MODEL of mustlink calibrate %s", usage.HelpHint(check.Cmd))
	check.Refuse(len(c.distinct) > 0 && !source.CanReadTwice(c.data.Path),
		"--distinct reads the rows twice, but standard input can be read only once: want a file")
	c.preparing.Check(check, model, &c.data)
}

// groupsReport is the result of `mustlink cluster` without a number of clusters.
type groupsReport struct {
	Metric     string                 `json:"metric"` // the model's method, or "raw"
	N          int                    `json:"n"`
	Groups     int                    `json:"groups"`
	Single     int                    `json:"single"` // groups of one row
	Largest    []int                  `json:"largest"`
	Distance   float64                `json:"distance"`
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
	fmt.Fprintf(w, "groups\t%d of %s, up to distance %.6g on the %s metric\n", r.Groups,
		session.Plural(r.N, "row"), r.Distance, r.Metric)
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
	for _, name := range c.distinct {
		if !slices.Contains(c.m.Record().Features, name) {
			flags.Drop = append(slices.Clip(flags.Drop), name)
		}
	}
	d, err := c.m.Read(ctx, &flags)
	if err != nil {
		return err
	}
	o := mustlink.GroupOptions{Threshold: r.Distance}
	if c.links.Path != "" {
		if o.Links, err = c.links.Read(ctx, c.Session, d); err != nil {
			return err
		}
	}
	values := make([][]string, len(c.distinct))
	for k, name := range c.distinct {
		if values[k], err = c.column(ctx, name); err != nil {
			return err
		}
		o.Distinct = append(o.Distinct, mustlink.Distinct{Name: name, Keys: keys(values[k])})
	}
	if err := c.m.NeedModel(ctx, &c.preparing, d); err != nil {
		return err
	}
	g, err := c.m.Model.Groups(ctx, mustlink.FromData(d), o)
	if err != nil {
		return c.contradiction(err, values)
	}
	r.describe(g, c.distinct, values)
	labels := numbers(g.Labels)
	var table score.Table
	if d.Labels != nil && table.Add(d.Labels, labels) == nil {
		// Labels that cannot be scored do not make the command fail.
		if r.Scores, _ = table.Groups(); r.Scores != nil {
			r.Scores.OfClusters()
		}
	}
	if err := dataset.WriteLabels(c.out, labels, d.IDs, c.WritingText()); err != nil {
		return err
	}
	r.Warnings = c.Warnings()
	return c.Summarize(c.out, r, r.text)
}

// threshold finds the distance by the calibration of the model, if none is given.
func (c *clusterCommand) threshold(r *groupsReport, models []string) error {
	if c.distance > 0 {
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

// column reads a column of the data as texts.
func (c *clusterCommand) column(ctx context.Context, name string) ([]string, error) {
	o := dataset.ReadOptions{Label: name, ID: c.data.ID, Header: c.data.Header,
		MemoryLimit: int64(c.MemoryLimit), Extensions: session.Extensions()}
	values, err := session.Await(ctx, func() ([]string, error) { return dataset.ReadLabels(c.data.Path, o) })
	empty := 0
	for _, v := range values {
		if v == "" {
			empty++
		}
	}
	if err == nil && empty > 0 {
		c.Warnf("%s: column %q of --distinct has %s, which are no values: these rows may be in any group",
			c.data.Path, name, session.Plural(empty, "empty cell"))
	}
	return values, err
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
func (c *clusterCommand) contradiction(err error, values [][]string) error {
	if e, is := errors.AsType[*cluster.DistinctError](err); is {
		i, j := e.Conflict.Link.I, e.Conflict.Link.J
		return fault.Data(c.links.Path, "must-links %s join rows %d and %d, which have the same value %q in "+
			"column %q of --distinct", e.Conflict.PathString(), i, j,
			values[slices.Index(c.distinct, e.Column)][i], e.Column)
	}
	if _, is := errors.AsType[*links.ConflictError](err); is {
		return fault.InFile(err, c.links.Path)
	}
	return fault.InFile(err, c.data.Path)
}

// describe describes the groups.
func (r *groupsReport) describe(g *mustlink.Groups, columns []string, values [][]string) {
	const most = 10 // sizes
	r.N, r.Groups, r.Largest = len(g.Labels), len(g.Sizes), slices.Clone(g.Sizes)
	slices.SortFunc(r.Largest, func(a, b int) int { return b - a })
	for _, size := range g.Sizes {
		if size == 1 {
			r.Single++
		}
	}
	r.Largest = r.Largest[:min(most, len(r.Largest))]
	for k, f := range g.Forbidden {
		if k == 0 {
			r.Forbidden = &forbiddenMerges{I: f.I, J: f.J, Distance: f.Height,
				Reason: fmt.Sprintf("have the cannot-link of line %d", f.Line)}
			if f.Column >= 0 {
				r.Forbidden.Reason = fmt.Sprintf("have the same %s, %q", columns[f.Column],
					values[f.Column][f.I])
			}
		}
		if f.Column < 0 {
			r.Forbidden.Links++
		} else {
			r.Forbidden.Columns++
		}
	}
}
