package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type updateCommand struct {
	*session.Session
	data   source.Data
	links  source.Links
	extend bool
	drop   int
	kernel string
	out    string
}

func newUpdate(s *session.Session) *cobra.Command {
	u := &updateCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "update MODEL ([-i DATA] -c LINKS [--extend] | --drop-last N) -o MODEL",
		Short: "add chunklets or links to a model, or remove the latest",
		Long: `Add links or chunklets to a model, and write the new model.

Models of npkl, kbeta, gml and itml learn more links between their training rows: DATA are these
rows again, and LINKS contains only the new links. The computation is warm-started from the model
and converges to the same solution as a fit of all links. Unchanged are the distance bounds of
the fit, the landmarks of kbeta (its links must be between landmarks), and the prior that gml has
learned. A model of blend, the default, is fitted again to all links, in the time of its first fit.
Models that store their training rows (blend, npkl, gml, kbeta without landmarks) need no DATA if
LINKS has row numbers; 'mustlink fit' says so. New points need no update: embed and the other
commands compute their coordinates.

A model of krca, in its Cholesky form, learns more chunklets. The learned kernel is that of a fit
of all chunklets with the model's n eps held fixed (fixed_s). Row numbers in LINKS refer to the
DATA of this command, and each row named there is a new point. LINKS is a CSV with the columns
i, chunklet, or one of links (i, j, link). Its chunklets are new to the model. With --extend, a
number names an existing chunklet of the model, counted from 0 in order of creation (those of the
fit in the order of their smallest rows), and any other name is a new chunklet. Chunklets that
share a row are merged.

--drop-last N removes the latest N updates.`,
		Example: `  mustlink update model.mlk -i new.csv -c chunklets.csv -o larger.mlk
  mustlink update larger.mlk --drop-last 1 -o smaller.mlk
  mustlink update gml.mlk -i data.csv -c more-links.csv -o better.mlk
  mustlink update blend.mlk -c more-links.csv -o better.mlk`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: metric.Checked(s, u.check, u.run),
	}
	f := usage.FlagsOf(cmd)
	u.data.Flags(cmd)
	u.links.Flags(cmd)
	f.Bool(&u.extend, "extend", false, "chunklets named 0, 1, … are those of the model")
	f.Int(&u.drop, "drop-last", 0, "remove the latest `N` updates",
		usage.Range(">= 1"), usage.Excludes("input"), usage.Excludes("links"), usage.Excludes("extend"))
	f.String(&u.kernel, "kernel,k", "", "refuse a model with a different `KERNEL`")
	f.String(&u.out, "output,o", "", "the `MODEL` file to write; - for standard output")
	f.Required("output")
	return cmd
}

// updateReport is the result of `mustlink update`.
type updateReport struct {
	Method   string                 `json:"method"`
	Added    int                    `json:"points_added"`
	Links    int                    `json:"links_added"`
	Dropped  int                    `json:"updates_dropped"`
	Figures  []algorithms.Statistic `json:"figures"`
	Seconds  float64                `json:"seconds"`
	Model    string                 `json:"model"`
	Warnings []string               `json:"warnings"`
}

func (u *updateCommand) run(ctx context.Context, m *metric.Metric, args []string) error {
	if err := m.Record().CheckUpdate(); err != nil {
		return fault.InFile(err, args[0])
	}
	if err := u.checkKernel(args[0], m.Model); err != nil {
		return err
	}
	begin := time.Now()
	r := &updateReport{Method: m.Name(), Dropped: u.drop, Model: u.out}
	learned, err := u.learn(ctx, m, args[0], r)
	if err != nil {
		return err
	}
	r.Seconds = time.Since(begin).Seconds()
	if m.Record().Calibration != nil {
		u.Warnf("%s: its calibration is dropped, because distances change: want mustlink calibrate again",
			args[0])
	}
	about := learned.Describe()
	u.WarnOf("", about.Notices)
	if err := metric.Save(ctx, u.Session, u.out, learned); err != nil {
		return err
	}
	r.Figures, r.Warnings = append([]algorithms.Statistic{}, about.Statistics...), u.Warnings()
	return u.Summarize(u.out, r, r.text)
}

// check finds mistakes that do not require reading anything.
func (u *updateCommand) check(check *session.Checks, args []string) {
	check.Models(args)
	if !check.Cmd.Flags().Changed("drop-last") {
		if u.links.Path == "" {
			check.Required("input", "links")
		}
		u.data.Check(check)
		u.links.Check(check)
	}
	check.Model(u.out)
}

// checkKernel compares the model's kernel with -k.
func (u *updateCommand) checkKernel(path string, m *mustlink.Model) error {
	if u.kernel == "" {
		return nil
	}
	spec, err := kernel.Parse(u.kernel)
	if err != nil {
		return usage.RenameParams(err, "kernel", "-k, --kernel")
	}
	if has := m.Describe().Kernel; spec.String() != has {
		return fault.Param("-k, --kernel", u.kernel,
			"%s, the kernel of %s: an update cannot change it", has, path)
	}
	return nil
}

// learn returns the new model and records in r what it learned.
func (u *updateCommand) learn(ctx context.Context, m *metric.Metric, path string,
	r *updateReport) (*mustlink.Model, error) {
	_, linker := m.Record().Model.(algorithms.Linker)
	_, updater := m.Record().Model.(algorithms.Updater)
	switch {
	case !linker && !updater:
		return nil, fault.Data(path, "a model of method %s cannot be updated: want one of %s", m.Name(),
			catalog.Updatable)
	case linker && u.drop > 0:
		return nil, fault.Data(path, "a model of method %s cannot remove updates: want no --drop-last",
			m.Name())
	case linker && u.extend:
		return nil, fault.Data(path, "a model of method %s has no chunklets: want no --extend", m.Name())
	case u.data.Path == "" && u.drop == 0 && m.Record().Rows() == nil:
		return nil, usage.Errorf("-i, --input is missing: want DATA, as this model of method %s does not store "+
			"the rows of its links", m.Name())
	case linker:
		return u.addLinks(ctx, m, path, r)
	case u.drop > 0:
		learned, err := m.Model.DropLast(ctx, u.drop)
		return learned, fault.InFile(usage.RenameParams(err, "number of updates to drop", "--drop-last"),
			path)
	}
	data, err := u.readFor(ctx, m)
	if err != nil {
		return nil, err
	}
	chunklets, err := u.chunklets(ctx, data)
	if err != nil {
		return nil, err
	}
	rows := map[int]bool{}
	for _, c := range chunklets {
		for _, i := range c.Rows {
			rows[i] = true
		}
	}
	r.Added = len(rows)
	learned, err := m.Model.Extend(ctx, mustlink.FromData(data), chunklets)
	if _, ok := errors.AsType[*fault.ParamError](err); ok {
		return nil, fault.InFile(err, path) // the mistake is in the model
	}
	return learned, fault.InFile(err, u.links.Path)
}

// readFor reads the points of an update and checks that they fit the model.
func (u *updateCommand) readFor(ctx context.Context, m *metric.Metric) (*dataset.Data, error) {
	data, err := m.Read(ctx, &u.data)
	if err == nil {
		_, err = m.Prepared(data)
	}
	return data, err
}

// addLinks adds links between the training rows of the model.
func (u *updateCommand) addLinks(ctx context.Context, m *metric.Metric, path string,
	r *updateReport) (*mustlink.Model, error) {
	data := &dataset.Data{Name: path, Points: m.Record().Rows()}
	var table *mustlink.Table // none: the model has the rows
	if u.data.Path != "" {
		var err error
		if data, err = u.readFor(ctx, m); err != nil {
			return nil, err
		}
		table = mustlink.FromData(data)
	}
	set, err := u.links.ReadWarning(ctx, u.Session, data)
	if err != nil {
		return nil, err
	}
	r.Links = set.Len()
	learned, err := m.Model.Update(ctx, table, set)
	if table == nil || m.Record().Trained(data) {
		return learned, fault.InFile(err, u.links.Path)
	}
	if err != nil { // the most likely reason
		return nil, fault.InFile(err, data.Name)
	}
	m.Warnf("%s: these are not the training rows of %s", data.Name, path)
	return learned, nil
}

// chunklets reads the chunklets of an update.
func (u *updateCommand) chunklets(ctx context.Context, d *dataset.Data) ([]mustlink.Chunklet, error) {
	var out []mustlink.Chunklet
	if u.extend {
		named, err := source.ReadRows(ctx, u.Session, &u.links, u.links.Path, d, dataset.ReadChunklets)
		for _, c := range named {
			id, err := strconv.Atoi(c.Name)
			if err != nil || id < 0 { // any other name
				id = mustlink.NewChunklet
			}
			out = append(out, mustlink.Chunklet{ID: id, Rows: c.Rows})
		}
		return out, err
	}
	set, err := u.links.ReadWarning(ctx, u.Session, d)
	if err != nil {
		return nil, err
	}
	if _, cannot := set.Count(); cannot > 0 {
		u.Warnf("%s: %s not used: an update takes must-links", u.links.Path,
			fault.Count(cannot, "cannot-link"))
	}
	for _, rows := range set.Chunklets() {
		out = append(out, mustlink.Chunklet{ID: mustlink.NewChunklet, Rows: rows})
	}
	return out, nil
}

func (r *updateReport) text(w io.Writer) {
	if r.Dropped > 0 {
		fmt.Fprintf(w, "dropped\t%s\n", fault.Count(r.Dropped, "update"))
	} else if r.Links > 0 {
		fmt.Fprintf(w, "added\t%s\n", fault.Count(r.Links, "link"))
	} else {
		fmt.Fprintf(w, "added\t%s\n", fault.Count(r.Added, "point"))
	}
	for _, f := range r.Figures {
		fmt.Fprintf(w, "%s\t%v\n", f.Name, f.Value)
	}
	fmt.Fprintf(w, "time\t%s\n", session.ShortTime(r.Seconds))
	fmt.Fprintf(w, "model\t%s\n", r.Model)
}

type calibrateCommand struct {
	*session.Session
	data      source.Data
	links     source.Links
	share     float64
	near      bool
	out       string
	preparing source.Preparing
}

func newCalibrate(s *session.Session) *cobra.Command {
	c := &calibrateCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "calibrate [MODEL] -i DATA -c LINKS -o MODEL",
		Short: "learn from links which distances mean that two rows belong together",
		Long: `Write MODEL with a calibration: the probability that two rows at a distance belong together, and
the distances up to which they do with a chosen precision or recall. mustlink pairs uses them.
Without a MODEL to read, the prepared rows are calibrated as they are, as a model of method raw.

LINKS must have links of both kinds, and they should be links that the fit did not use, because on its
own links the model is overconfident. The probability is an isotonic regression of must-links
against cannot-links on the distance, no surer than the number of links at a distance supports. The
precision at a threshold is the share of matching pairs among the pairs up to it, the recall the
share of all matching pairs up to it. Both come with an interval and the links that they rest on.
Each bound of it holds for all thresholds at once in 95 % of all samples of links. A threshold for a
precision is one whose lower bound has this precision.

That holds only if LINKS are a random sample, in one of three ways:
- pairs of rows drawn at random: then their mix is that of all pairs of rows;
- must-links drawn at random among the matching pairs, cannot-links among the others: then --share S
  says which share S of all pairs of rows matches. With a small share a precision requires very many
  cannot-links: at one in a thousand even a thousand cannot-links of which none is near support only
  a precision of a tenth;
- with --near, answers about pairs drawn at random from those up to a distance, as 'mustlink suggest
  --near' proposes them. Their mix is that of these pairs, so a few hundred support a high precision.
Cannot-links that were chosen because they are near make precisions with --share too low.`,
		Example: `  mustlink calibrate model.mlk -i data.csv -c held-out.csv -o calibrated.mlk
  mustlink pairs calibrated.mlk -i data.csv --precision .95 -o pairs.csv
  mustlink suggest model.mlk -i data.csv --near 0.8 -n 300 -o ask.csv
  mustlink calibrate model.mlk -i data.csv -c answers.csv --near -o calibrated.mlk`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: metric.Checked(s, c.check, c.run),
	}
	f := usage.FlagsOf(cmd)
	c.data.Flags(cmd)
	c.links.Flags(cmd)
	f.Float(&c.share, "share", 0,
		"the share `S` of matching pairs among those to judge (default: that of LINKS)",
		usage.Range("> 0, < 1"), usage.Excludes("near"))
	f.Bool(&c.near, "near", false, "LINKS are answers about pairs that 'mustlink suggest --near' drew: "+
		"precision and recall are those of pairs up to the farthest of them")
	c.preparing.Flags(cmd, "without MODEL: ")
	f.String(&c.out, "output,o", "", "the `MODEL` file to write; - for standard output")
	f.Required("input", "links", "output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (c *calibrateCommand) check(check *session.Checks, args []string) {
	c.preparing.Check(check, len(args) > 0, &c.data)
	check.Models(args)
	c.data.Check(check)
	c.links.Check(check)
	check.Model(c.out)
}

// calibrateReport is the result of `mustlink calibrate`.
type calibrateReport struct {
	calibration.Summary
	Model    string   `json:"model"`
	Warnings []string `json:"warnings"`
}

func (c *calibrateCommand) run(ctx context.Context, m *metric.Metric, args []string) error {
	data, err := m.Read(ctx, &c.data)
	if err != nil {
		return err
	}
	set, err := c.links.ReadWarning(ctx, c.Session, data)
	if err != nil {
		return err
	}
	if err := m.NeedModel(ctx, &c.preparing, data); err != nil {
		return err
	}
	if m.Name() != baseline.RawMethod && m.Record().Trained(data) {
		c.Warnf("%s: these are the training rows of %s: it is too sure of links that it learned from; want "+
			"others", data.Name, args[0])
	}
	calibrated, err := m.Model.Calibrate(ctx, mustlink.FromData(data), set)
	if err != nil {
		return fault.InFile(err, session.NameOr(c.links.Path, data.Name))
	}
	record := calibrated.Record()
	if record.Calibration, err = record.Calibration.WithShare(c.share); err != nil {
		return usage.RenameParams(err, "share", "--share")
	}
	if c.near {
		record.Calibration = record.Calibration.OfNearPairs()
	}
	if must, cannot := record.Calibration.Count(); must == cannot && c.share == 0 && !c.near {
		c.Warnf("as many must-links as cannot-links: give --share, the share of all pairs of rows that match, " +
			"unless the links are a random sample of the pairs")
	}
	if err := metric.Save(ctx, c.Session, c.out, calibrated); err != nil {
		return err
	}
	r := calibrateReport{Summary: *record.Calibration.Summary(), Model: c.out,
		Warnings: c.Warnings()}
	return c.Summarize(c.out, r, r.text)
}

func (r calibrateReport) text(w io.Writer) {
	metric.WriteCalibration(w, &r.Summary)
	fmt.Fprintf(w, "model\t%s\n", r.Model)
}
