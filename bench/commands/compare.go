package commands

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/compare"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// compareFlags are the flags of the commands that compare methods.
type compareFlags struct {
	paperFlags
	sets, systems []string
	links         compare.Links
}

// compareRun runs a comparison.
type compareRun func(ctx context.Context, eng *engine.Engine, o compare.Options) (product, error)

// withPicture returns the run of a comparison whose result has a picture.
func withPicture[R interface {
	Markdown() (string, error)
	Panels() ([]view.Panel, error)
}](run func(context.Context, *engine.Engine, compare.Options) (R, error)) compareRun {
	return func(ctx context.Context, eng *engine.Engine, o compare.Options) (product, error) {
		r, err := run(ctx, eng, o)
		if err != nil {
			return product{}, err
		}
		text, err := r.Markdown()
		return product{numbers: r, text: text, panels: r.Panels, across: 2}, err
	}
}

// withText returns the run of a comparison whose result is a page of text.
func withText[R interface{ Markdown() string }](
	run func(context.Context, *engine.Engine, compare.Options) (R, error)) compareRun {
	return func(ctx context.Context, eng *engine.Engine, o compare.Options) (product, error) {
		r, err := run(ctx, eng, o)
		if err != nil {
			return product{}, err
		}
		return product{numbers: r, text: r.Markdown()}, nil
	}
}

const compareOutput = `With -o, a file that ends in .md gets the page, one in .json all numbers, and one in .png, .svg or .pdf the
picture. With --state, a file keeps finished repetitions, and an interrupted run resumes from it. Several
runs may share this file, so that page, numbers and picture are computed once.`

const wrongOutput = `With -o, a file that ends in .md gets the page, and one in .json all numbers. With --state, a file keeps
finished repetitions, and an interrupted run resumes from it.`

func newCross(a *app) *cobra.Command {
	return a.compareCommand(&cobra.Command{
		Use:   "cross",
		Short: "compare all methods on all data sets, with the same links",
		Long: `Fit every method with its defaults on half of every data set, with the same links, and compare k-means and
nearest neighbors on these training rows and on the held-out half: means, intervals, ranks and tests.

` + compareOutput,
		Example: `  mustlink-bench cross --data DIR --quick
  mustlink-bench cross --data DIR --sets wine,iris --methods "krca,krca eps_rel=1e-2,itml"
  mustlink-bench cross --data DIR --state cross.jsonl -o cross.md`,
	}, pictureEndings(), withPicture(compare.Run), (*compareFlags).addLinks)
}

func newCurves(a *app) *cobra.Command {
	return a.compareCommand(&cobra.Command{
		Use:   "curves",
		Short: "show how many links methods need, and how many may be wrong",
		Long: `Fit every method with its defaults on half of a data set, with 5 to 5000 links, and with as many links as in
'mustlink-bench cross', up to 30 % of them wrong. Compare k-means on these training rows and on the held-out half.

` + compareOutput,
		Example: `  mustlink-bench curves --data DIR --sets usps --quick
  mustlink-bench curves --data DIR --state curves.jsonl -o curves.md`,
	}, pictureEndings(), withPicture(compare.RunCurves))
}

func newHindsight(a *app) *cobra.Command {
	return a.wrongCommand(&cobra.Command{
		Use:   "hindsight",
		Short: "show how close choices by held-out links come to the best one",
		Long: `Let rules choose among candidates by held-out links, as 'mustlink select' does, and compare k-means for their
choices with k-means for every candidate, on the held-out half of every data set. A rule sees the links of
the training half only, and holds out a part of its rows and their links to choose.

` + wrongOutput,
		Example: `  mustlink-bench hindsight --data DIR --sets wine,iris --quick
  mustlink-bench hindsight --data DIR --methods "select criterion=agreement incumbent=krca,krca" -o hindsight.md`,
	}, "`METHODS` to compare: select with criterion=, methods=a+b, incumbent= and margin=, or a method "+
		"with its parameters", withText(compare.RunHindsight))
}

func newWrong(a *app) *cobra.Command {
	return a.wrongCommand(&cobra.Command{
		Use:   "wrong",
		Short: "find links with the wrong sign, and fit without them",
		Long: `Give a tenth of the links the other sign, and rank all links by how suspicious they are, as
'inspect --suspicious' does. Compare k-means after fits with correct links, with wrong ones among them,
and without the most suspicious ones, on the training rows of every data set and on its held-out half.

` + wrongOutput,
		Example: `  mustlink-bench wrong --data DIR --sets wine,iris --quick
  mustlink-bench wrong --data DIR --methods npkl,itml --state wrong.jsonl -o wrong.md`,
	}, "`METHODS` to fit, each with parameters that differ from its defaults (default npkl,itml,gml)",
		withText(compare.RunWrong))
}

func newVerdicts(a *app) *cobra.Command {
	return a.wrongCommand(&cobra.Command{
		Use:   "verdicts",
		Short: "compare what a fit says of its metric with held-out rows",
		Long: `Fit to half of every data set, as 'mustlink-bench cross' does, and compare the verdict of the fit with the
truth: how well the metric ranks all pairs of held-out rows, in comparison with raw points.

` + wrongOutput,
		Example: `  mustlink-bench verdicts --data DIR --sets wine,iris
  mustlink-bench verdicts --data DIR --links-per-row 0.3 --state verdicts.jsonl -o verdicts.md`,
	}, "`METHODS` to fit, each with parameters that differ from its defaults (default "+
		"blend,lleratio,itml,krca)", withText(compare.RunVerdicts), (*compareFlags).addLinks)
}

func newPairs(a *app) *cobra.Command {
	var budgets []int
	cmd := &cobra.Command{
		Use:   "pairs",
		Short: "search with metrics from few links between embeddings, and in many dimensions",
		Long: `Fit metrics to links between half of the rows of embeddings, pictures and texts, and search with them among the
other half: the rows themselves, whitening, the linear adapter that is trained on embeddings today
(InfoNCE), discriminant analysis of components, relevant components, itml, adapt and the default.

` + wrongOutput,
		Example: `  mustlink-bench pairs --data DIR --sets usps --budgets 30,100 --repetitions 1
  mustlink-bench pairs --data DIR --state pairs.jsonl -o embeddings.md`,
	}
	a.wrongCommand(cmd, "`METHODS` to compare, each with parameters that differ from its defaults (default: "+
		"those of docs/results/embeddings.md)", withText(func(ctx context.Context, eng *engine.Engine,
		o compare.Options) (*compare.Pairs, error) {
		r, err := compare.RunPairs(ctx, eng, o, budgets)
		return r, usage.RenameParams(err, "budgets", "--budgets")
	}))
	cmd.Flags().IntSliceVar(&budgets, "budgets", compare.Budgets(),
		"`NUMBERS` of must-links; there are as many cannot-links")
	cmd.Flags().Lookup("sets").Usage = "data `SETS` to compare on: " +
		strings.Join(compare.PairSetNames(), ", ") + ", or those of 'mustlink-bench cross' (default the first " +
		"eight, if they are in the folder)"
	return cmd
}

func (p *compareFlags) add(cmd *cobra.Command) {
	var sets []string
	for _, s := range compare.Sets() {
		sets = append(sets, s.Name)
	}
	f := cmd.Flags()
	f.StringSliceVar(&p.sets, "sets", nil,
		"data `SETS` to compare on, of "+strings.Join(sets, ", ")+" (default all that are in the folder)")
	f.StringSliceVar(&p.systems, "methods", nil,
		"`METHODS` to compare, each with parameters that differ from its defaults: \"gml,gml gamma=3\"; "+
			"raw points are always among them (default all)")
	f.BoolVar(&p.quick, "quick", false, fmt.Sprintf("run only %d repetitions", compare.QuickRepetitions))
	f.IntVar(&p.repetitions, "repetitions", 0, "number of repetitions (default 20, for curves 10)")
	usage.SeedFlag(f, &p.seed)
	f.StringVar(&p.data, "data", "", "folder `DIR` of the data sets (default $"+dataVariable+")")
	f.StringVar(&p.state, "state", "", "`FILE` that keeps finished repetitions, to resume after an interrupt")
	f.StringVarP(&p.out, "output", "o", session.Stream, "the `FILE` to write, .md, .json, .png, .svg or .pdf")
}

// addLinks adds the flags that say which links are drawn.
func (p *compareFlags) addLinks(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Float64Var(&p.links.PerRow, "links-per-row", 0,
		"`NUMBER` of links, divided by the number of training rows (default 1.2)")
	f.Float64Var(&p.links.Wrong, "wrong-share", 0,
		"`SHARE` of the links that have the other sign, from 0 to 1")
}

// options checks the flags.
func (p *compareFlags) options(a *app, check *session.Checks, endings []string) compare.Options {
	check.Ending("-o, --output", p.out, endings...)
	check.Refuse(p.quick && check.Cmd.Flags().Changed("repetitions"),
		"--quick and --repetitions cannot be given together: want one of them %s", usage.HelpHint(check.Cmd))
	p.checkRepetitions(check)
	check.Refuse(!(p.links.PerRow >= 0) || math.IsInf(p.links.PerRow, 0),
		"--links-per-row: %g: want a finite number > 0 %s", p.links.PerRow, usage.HelpHint(check.Cmd))
	check.Refuse(!(p.links.Wrong >= 0 && p.links.Wrong <= 1),
		"--wrong-share: %g: want a number from 0 to 1 %s", p.links.Wrong, usage.HelpHint(check.Cmd))
	check.Do(func() error { return p.findData(a, compare.Sets()[0].Files) })
	check.State(p.state)
	check.Output("-o, --output", p.out)
	o := compare.Options{Sets: p.sets, Systems: p.systems, Seed: p.seed, Repetitions: p.repetitions,
		State: p.state, Data: p.data, Links: p.links}
	if p.quick {
		o.Repetitions = compare.QuickRepetitions
	}
	return o
}

// compareCommand completes a command that compares methods. If the result has a picture, raw points
// are one of the systems.
func (a *app) compareCommand(cmd *cobra.Command, endings []string, run compareRun,
	more ...func(*compareFlags, *cobra.Command)) *cobra.Command {
	var p compareFlags
	cmd.Args = usage.Positional(0, 0, "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		check := a.Check(cmd)
		o := p.options(a, check, endings)
		if check.Err != nil {
			return check.Err
		}
		if picture := len(endings) > len(textEndings()); picture && len(p.systems) > 0 {
			o.Systems = append([]string{compare.Raw}, p.systems...)
		}
		found, err := working(a, func(eng *engine.Engine, bar *session.Progress) (product, error) {
			o.Progress = bar.Report
			return run(cmd.Context(), eng, o)
		})
		if err != nil {
			return err
		}
		return found.write(a, p.out)
	}
	p.add(cmd)
	for _, add := range more {
		add(&p, cmd)
	}
	return cmd
}

// wrongCommand is compareCommand for a result without a picture, with its own help for some flags.
func (a *app) wrongCommand(cmd *cobra.Command, methods string, run compareRun,
	more ...func(*compareFlags, *cobra.Command)) *cobra.Command {
	a.compareCommand(cmd, textEndings(), run, more...)
	cmd.Flags().Lookup("methods").Usage = methods
	cmd.Flags().Lookup("repetitions").Usage = "number of repetitions (default 3)"
	cmd.Flags().Lookup("output").Usage = "the `FILE` to write, .md or .json"
	return cmd
}
