package apply

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type pairsCommand struct {
	*session.Session
	data      source.Data
	rows      source.Links // how pairs name rows
	threshold float64
	precision float64
	recall    float64
	share     float64
	neighbors int
	most      int
	out       string
	preparing source.Preparing
}

// usualPairs is the usual largest number of pairs.
const usualPairs = 20_000_000

func newPairs(s *session.Session) *cobra.Command {
	p := &pairsCommand{Session: s}
	cmd := &cobra.Command{
		Use:        "pairs [MODEL] -i DATA (--threshold D | --precision P | --recall R) -o PAIRS",
		SuggestFor: []string{"dedupe", "duplicates", "match"},
		Short:      "list the pairs of rows that belong together",
		Long: `Write all pairs of rows of DATA whose learned distance is at most a threshold: duplicates, or
records of one person. PAIRS is a CSV with the columns i, j (0-based rows, i < j, or ids with
--links-by id), distance and, if MODEL is calibrated, probability. The nearest pairs come first,
pairs at equal distance in the order of i, then j.

The threshold is a distance D, which is not squared, or follows from the calibration of MODEL (see
mustlink calibrate): the largest distance at which the lower bound of the precision is P, or the
smallest with the recall R. A precision that its links do not support is refused. The summary says
how many links a threshold rests on. --share replaces the share of matching pairs that precision and
probability refer to. Without MODEL the distance is that of the prepared rows, and D is needed.

The share of matching pairs, times the recall, times all pairs of rows is the number of matching
pairs up to the threshold. If it contradicts the number of pairs that were found, precision and
probabilities are lowered, with a warning, to what is possible; with --precision it is an error.

The search is exact, and compares only rows that are near each other in the principal directions of
the coordinates: a million rows of 32 columns, with one or two duplicates each, take half a minute of
processor time. It takes longer, up to that of comparing all pairs, if the threshold is not small
compared with the spread of the rows. With --neighbors K a pair is listed only if one of its rows is
among the K nearest of the other. A threshold with more than --max-pairs pairs is refused, with the
number that it would have.`,
		Example: `  mustlink pairs calibrated.mlk -i data.csv --precision .95 -o pairs.csv
  mustlink pairs model.mlk -i data.csv --threshold 0.3 --neighbors 5 --links-by id -o pairs.csv`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: metric.Checked(s, p.check, p.run),
	}
	f := usage.FlagsOf(cmd)
	p.data.Flags(cmd)
	p.rows.ByFlag(cmd)
	f.Float(&p.threshold, "threshold", 0, "the largest distance `D` of a pair",
		usage.Range(">= 0"), usage.Excludes("precision", "recall"))
	f.Float(&p.precision, "precision", 0, "the precision `P` of the threshold, by the calibration",
		usage.Range("> 0, <= 1"), usage.Excludes("recall"))
	f.Float(&p.recall, "recall", 0, "the recall `R` of the threshold, by the calibration",
		usage.Range("> 0, <= 1"))
	f.Float(&p.share, "share", 0,
		"the share `S` of matching pairs among those to judge (default: that of the calibration)",
		usage.Range("> 0, < 1"))
	f.Int(&p.neighbors, "neighbors", 0,
		"only pairs with a row among the `K` nearest of the other (default: all)", usage.Range(">= 1"))
	f.Int(&p.most, "max-pairs", usualPairs, "refuse to find more than `N` pairs", usage.Range(">= 1"))
	p.preparing.Flags(cmd, "without MODEL: ")
	f.String(&p.out, "output,o", "", "the file of `PAIRS` to write; - for standard output")
	f.Required("input", "output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (p *pairsCommand) check(check *session.Checks, args []string) {
	flags := check.Cmd.Flags()
	check.Refuse(!flags.Changed("threshold") && !flags.Changed("precision") && !flags.Changed("recall"),
		"the threshold is missing: want --threshold, --precision or --recall %s", usage.HelpHint(check.Cmd))
	for _, name := range []string{"precision", "recall", "share"} {
		check.Refuse(len(args) == 0 && flags.Changed(name), "--%s is given without MODEL: want --threshold "+
			"alone, or a model of mustlink calibrate", name)
	}
	p.preparing.Check(check, len(args) > 0, &p.data)
	check.Models(args)
	p.data.Check(check)
	p.data.LabelOptional = len(args) > 0
	check.Output("-o, --output", p.out)
}

// pairsReport is the result of `mustlink pairs`.
type pairsReport struct {
	Method     string                 `json:"method"`
	Rows       int                    `json:"rows"`
	Pairs      int                    `json:"pairs"`
	Distance   float64                `json:"threshold"`
	Calibrated *calibration.Threshold `json:"calibrated,omitempty"` // what the links up to the threshold show
	Output     string                 `json:"output"`
	Warnings   []string               `json:"warnings"`
}

func (p *pairsCommand) run(ctx context.Context, m *metric.Metric, args []string) error {
	r := &pairsReport{Method: m.Name(), Output: p.out, Distance: p.threshold}
	var calibrated *calibration.Calibration
	var err error
	if len(args) > 0 {
		calibrated, r.Distance, err = calibration.Choose(m.Record().Calibration, p.share, p.precision,
			p.recall, p.threshold)
		if err != nil {
			return fault.InFile(unsupported(usage.RenameParams(err, "precision", "--precision", "recall",
				"--recall", "share", "--share")), args[0])
		}
	}
	data, err := m.Read(ctx, &p.data)
	if err != nil {
		return err
	}
	if err := m.NeedModel(ctx, &p.preparing, data); err != nil {
		return err
	}
	if err := p.rows.NeedIDs(data); err != nil {
		return err
	}
	r.Rows = data.Points.Len()
	find := func(threshold float64) ([]mustlink.Pair, error) {
		bar := p.Progress()
		defer bar.Done()
		pairs, err := m.Model.Pairs(ctx, mustlink.FromData(data), threshold,
			mustlink.PairOptions{Neighbors: p.neighbors, Most: p.most, Progress: bar.Report})
		return pairs, usage.RenameParams(err, "threshold", "--threshold")
	}
	bar := p.Progress()
	defer bar.Done()
	if bar.Part(1); calibrated != nil { // a second search may follow
		bar.Resize(0.7)
	}
	pairs, err := find(r.Distance)
	if err != nil {
		return err
	}
	bar.Part(1)
	var probabilities []float64
	if calibrated != nil {
		if pairs, probabilities, err = p.compare(r, calibrated, pairs, find); err != nil {
			return fault.InFile(err, data.Name)
		}
	}
	bar.Done()
	r.Pairs = len(pairs)
	if err := p.write(ctx, pairs, probabilities, p.rows.Names(data)); err != nil {
		return err
	}
	r.Warnings = p.Warnings()
	return p.Summarize(p.out, r, r.text)
}

// unsupported adds to the error of a precision what would support it.
func unsupported(err error) error {
	if e, is := errors.AsType[*fault.ParamError](err); is && e.Param == "--precision" {
		e.Want += " (answer pairs of 'mustlink suggest --near', and pass the answers to 'mustlink calibrate " +
			"--near')"
	}
	return err
}

// compare returns the pairs with their probabilities. It compares their number with that of the
// matching pairs that the calibration expects. A precision that this makes impossible for all of
// them is given by the nearer ones, or refused.
func (p *pairsCommand) compare(r *pairsReport, c *calibration.Calibration, pairs []mustlink.Pair,
	find func(threshold float64) ([]mustlink.Pair, error)) ([]mustlink.Pair, []float64, error) {
	found, err := c.Matches(r.Distance, p.precision, r.Rows, p.neighbors == 0, neighbors.Distances(pairs),
		func(threshold float64) ([]float64, error) {
			more, err := find(threshold)
			return neighbors.Distances(more), err
		})
	const hint = " (want --share of all pairs of rows, or 'mustlink calibrate --near')"
	if e, is := errors.AsType[*fault.ParamError](err); is && e.Param == "precision" {
		e.Want += hint
	}
	if err != nil {
		return nil, nil, usage.RenameParams(err, "precision", "--precision")
	}
	if found.Doubt != "" {
		p.Warnf("%s; precision and probability are lowered to that%s", found.Doubt, hint)
	}
	r.Distance, r.Calibrated = found.Distance, &found.Threshold
	return pairs[:found.Pairs], found.Probabilities, nil
}

// write writes the pairs, with probabilities if there are some. ids are nil for row numbers.
func (p *pairsCommand) write(ctx context.Context, pairs []mustlink.Pair, probabilities []float64,
	ids []string) error {
	columns, numbers := []string{"distance"}, make([]float64, 1, 2)
	if probabilities != nil {
		columns, numbers = append(columns, "probability"), numbers[:2]
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return dataset.WriteMeasuredPairs(p.out, len(pairs), columns,
		func(k int) (i, j int, _ []float64, err error) {
			numbers[0] = pairs[k].Distance
			if probabilities != nil {
				numbers[1] = probabilities[k]
			}
			return int(pairs[k].I), int(pairs[k].J), numbers, ctx.Err()
		}, ids, p.WritingText())
}

func (r *pairsReport) text(w io.Writer) {
	fmt.Fprintf(w, "pairs\t%d among %s, within distance %.6g (%s)\n", r.Pairs, fault.Count(r.Rows, "row"),
		r.Distance, r.Method)
	if r.Calibrated != nil {
		fmt.Fprintf(w, "threshold\t%v\n", *r.Calibrated)
	}
	fmt.Fprintf(w, "output\t%s\n", r.Output)
}
