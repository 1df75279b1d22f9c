package train

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type calibrateCommand struct {
	*session.Session
	data  source.Data
	links source.Links
	share float64
	out   string
}

func newCalibrate(s *session.Session) *cobra.Command {
	c := &calibrateCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "calibrate MODEL -i DATA -c LINKS -o MODEL",
		Short: "learn from links which distances mean that two rows belong together",
		Long: `Write MODEL with a calibration: the probability that two rows at a distance belong together, and
the distances up to which they do with a chosen precision or recall. mustlink pairs uses them.

LINKS must have links of both kinds, and they should be links that the fit did not use: the model
is too sure of those that it learned from. The probability is an isotonic regression of must-links
against cannot-links on the distance. The precision at a threshold is the share of must-links among
the links up to it, the recall the share of all must-links up to it. Both come with an interval of
95 % and the links that they rest on. The precision of a threshold rests on the links below it:
with few of them, choose a higher precision than needed.

Precision and probability are those of the mix of LINKS. Among all pairs of rows far fewer match.
With --share S they are those of pairs of which the share S matches. A small share requires many
cannot-links: with a thousand, one in a thousand is the rarest error that can show.`,
		Example: `  mustlink calibrate model.mlk -i data.csv -c held-out.csv -o calibrated.mlk
  mustlink pairs calibrated.mlk -i data.csv --precision .95 -o pairs.csv`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: s.Checked(c.check, c.run),
	}
	f := cmd.Flags()
	c.data.Flags(cmd)
	c.links.Flags(cmd)
	f.Float64Var(&c.share, "share", 0, "the share `S` of matching pairs among those to judge (default: that of LINKS)")
	f.StringVarP(&c.out, "output", "o", "", "the `MODEL` file to write; - for standard output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (c *calibrateCommand) check(check *session.Checks, args []string) {
	check.Required("input", "links", "output")
	check.Share(c.share)
	check.Models(args)
	c.data.Check(check)
	c.links.Check(check)
	check.Model(c.out)
}

// calibrateReport is the result of `mustlink calibrate`.
type calibrateReport struct {
	metric.Calibration
	Model    string   `json:"model"`
	Warnings []string `json:"warnings"`
}

func (c *calibrateCommand) run(ctx context.Context, args []string) error {
	m, err := metric.Open(ctx, c.Session, args[0])
	if err != nil {
		return err
	}
	data, err := m.Read(ctx, &c.data)
	if err != nil {
		return err
	}
	set, err := c.links.ReadWarning(ctx, c.Session, data)
	if err != nil {
		return err
	}
	if m.Fitted.Trained(data) {
		c.Warnf("%s: these are the training rows of %s: it is too sure of links that it learned from; want others", data.Name, args[0])
	}
	calibrated, err := m.Model().Calibrate(ctx, mustlink.FromData(data), set)
	if err != nil {
		return fault.InFile(err, session.NameOr(c.links.Path, data.Name))
	}
	record := calibrated.Record()
	if record.Calibration, err = record.Calibration.WithShare(c.share); err != nil {
		return usage.RenameParams(err, "share", "--share")
	}
	if err := metric.Save(ctx, c.Session, c.out, calibrated); err != nil {
		return err
	}
	r := calibrateReport{Calibration: *metric.CalibrationOf(record.Calibration), Model: c.out, Warnings: c.Warnings()}
	return c.Summarize(c.out, r, r.text)
}

func (r calibrateReport) text(w io.Writer) {
	r.Text(w)
	fmt.Fprintf(w, "model\t%s\n", r.Model)
}
