package train

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

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

LINKS must have links of both kinds, and they should be links that the fit did not use: the model
is too sure of those that it learned from. The probability is an isotonic regression of must-links
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
