package commands

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/fittimes"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// methodsFlags are the flags of `mustlink-bench methods`.
type methodsFlags struct {
	methods, builds        []string
	sizes, features, links []int
	rounds, threads        int
	state, out, page       string
}

// The parts of the page about performance that this command fills.
const (
	growthPart = "bench-methods"
	buildsPart = "bench-builds"
)

func newMethods(a *app) *cobra.Command {
	var m methodsFlags
	d := fittimes.DefaultSizes()
	cmd := &cobra.Command{
		Use:   "methods",
		Short: "time every method and show how its time grows, or compare builds of mustlink",
		Long: `Fit every method with its defaults to random points, and print how long a fit takes and the exponents of its
growth with points, features and links: the slope of log time over at least three sizes, with its standard
error and the share of the variance that it explains. While one number varies, the other two are the
middle values of their lists. Methods for few points get fewer points.

With --builds, several executables of mustlink-bench fit in turn, at each of --sizes. The table shows how many
times longer each takes than the first one in the same round, and the ratio that is aimed at. OpenBLAS has
the best core for this processor, unless OPENBLAS_CORETYPE chooses one.
'make builds' makes the three builds.

With --state, a file keeps finished measurements, and an interrupted run resumes from it.`,
		Example: `  mustlink-bench methods
  mustlink-bench methods --methods krca,"npkl graph=dense" --sizes 250,500,1000
  mustlink-bench methods --builds bin/mustlink-bench-default,bin/mustlink-bench-netlib,bin/mustlink-bench-purego --state builds.json`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runMethods(cmd, &m)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&m.methods, "methods", nil,
		"`METHODS` to fit, each with parameters that differ from its defaults: \"gml,gml gamma=3\" "+
			"(default all)")
	f.IntSliceVar(&m.sizes, "sizes", nil,
		"`NUMBERS` of points (default "+session.Joined(d.Points, ",")+", with --builds 500,2000)")
	f.IntSliceVar(&m.features, "features", d.Features, "`NUMBERS` of features")
	f.IntSliceVar(&m.links, "links", d.Links, "`NUMBERS` of links, half of them must-links")
	f.StringSliceVar(&m.builds, "builds", nil,
		"`EXECUTABLES` of mustlink-bench to compare with the first of them")
	f.IntVar(&m.rounds, "rounds", 3, "`NUMBER` of rounds of each fit")
	f.IntVar(&m.threads, "threads", 0, "`NUMBER` of threads of a fit; 0: all processors")
	f.StringVar(&m.state, "state", "",
		"`FILE` that keeps finished measurements, to resume after an interrupt")
	f.StringVarP(&m.out, "output", "o", session.Stream, "the `FILE` to write, .md, .json, .png, .svg or .pdf")
	pageFlag(f, &m.page)
	usage.CompleteWith(cmd, "methods", fittimes.Methods()...)
	return cmd
}

// plan checks the flags and returns the cases.
func (m *methodsFlags) plan(a *app, cmd *cobra.Command) (plan []fittimes.Case, err error) {
	check := a.Check(cmd)
	check.AtLeast("--rounds", m.rounds, 1)
	check.Refuse(m.threads < 0, "--threads is %d: want a number >= 0 (0 for all processors)", m.threads)
	check.Refuse(len(m.builds) == 1, "--builds has one executable: want at least two %s", usage.HelpHint(cmd))
	if m.threads == 0 {
		m.threads = runtime.GOMAXPROCS(0)
	}
	check.Do(func() error {
		plan, err = m.cases(cmd)
		return usage.RenameParams(err, "system", "--methods", "method", "--methods", "sizes", "--sizes",
			"features", "--features", "links", "--links")
	})
	check.State(m.state)
	check.Ending("-o, --output", m.out, pictureEndings()...)
	checkPage(check, m.page, m.part())
	check.Output("-o, --output", m.out)
	return plan, check.Err
}

// part returns the name of the part of a page that the command fills.
func (m *methodsFlags) part() string {
	if len(m.builds) > 0 {
		return buildsPart
	}
	return growthPart
}

// cases returns the plan, with defaults for the flags that are not given.
func (m *methodsFlags) cases(cmd *cobra.Command) ([]fittimes.Case, error) {
	if len(m.builds) > 0 {
		for _, name := range []string{"features", "links"} {
			if cmd.Flags().Changed(name) {
				return nil, usage.Errorf("--%s is given with --builds: want only --sizes", name)
			}
		}
		if m.methods == nil {
			m.methods = fittimes.Compared()
		}
		if m.sizes == nil {
			m.sizes = []int{500, 2000}
		}
		return fittimes.Contest(m.methods, m.sizes)
	}
	if m.methods == nil {
		m.methods = fittimes.Methods()
	}
	if m.sizes == nil {
		m.sizes = fittimes.DefaultSizes().Points
	}
	return fittimes.Plan(m.methods, m.of())
}

func (m *methodsFlags) of() fittimes.Sizes {
	return fittimes.Sizes{Points: m.sizes, Features: m.features, Links: m.links}
}

func (a *app) runMethods(cmd *cobra.Command, m *methodsFlags) (err error) {
	plan, err := m.plan(a, cmd)
	if err != nil {
		return err
	}
	setup := fittimes.Setup{Machine: machine(), Threads: m.threads, Rounds: m.rounds}
	fitters, names, stop, err := a.fitters(cmd.Context(), m, &setup)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	report, err := a.measureMethods(cmd.Context(), m, setup, plan, names, fitters)
	if err != nil {
		return err
	}
	if len(m.builds) > 0 {
		report.Ratios = fittimes.Ratios(report.Measurements)
	} else if report.Growth, err = fittimes.Rows(m.methods, m.of(), report.Measurements); err != nil {
		return err
	}
	return a.writeMethods(m, report)
}

// fitters starts the fitters: this program, or the builds. The function stop ends them.
func (a *app) fitters(ctx context.Context, m *methodsFlags,
	setup *fittimes.Setup) (fitters []fittimes.Fitter, names []string, stop func() error, err error) {
	if len(m.builds) == 0 {
		eng, err := a.EngineOf(m.threads, m.threads)
		if err != nil {
			return nil, nil, nil, err
		}
		setup.Builds = []fittimes.Build{buildOf(eng)}
		return []fittimes.Fitter{&fittimes.Local{Engine: eng}}, []string{setup.Builds[0].Name}, func() error {
			return nil
		}, nil
	}
	var processes []*fittimes.Process
	stop = func() error {
		for _, p := range processes {
			if e := p.Close(); ctx.Err() == nil { // else it was killed
				err = errors.Join(err, e)
			}
		}
		return err
	}
	for _, path := range m.builds {
		p, err := fittimes.Start(ctx, path, m.threads)
		if err != nil {
			return nil, nil, nil, errors.Join(usage.RenameParams(err, "builds", "--builds"), stop())
		}
		processes, fitters = append(processes, p), append(fitters, p)
		if slices.Contains(names, p.About.Name) { // two versions of one build
			p.About.Name = filepath.Base(path)
		}
		names, setup.Builds = append(names, p.About.Name), append(setup.Builds, p.About)
	}
	return fitters, names, stop, nil
}

// measureMethods measures what an earlier run has not measured, and keeps every measurement.
func (a *app) measureMethods(ctx context.Context, m *methodsFlags, setup fittimes.Setup, plan []fittimes.Case,
	names []string, fitters []fittimes.Fitter) (fittimes.Report, error) {
	r := fittimes.Report{Setup: setup}
	bar := a.Progress()
	defer bar.Done()
	o := fittimes.Options{Rounds: m.rounds, Progress: func(done, total int, c fittimes.Case) {
		bar.Step(done, total, c.Method+" "+c.Size())
	}}
	if m.state != "" {
		var err error
		if o.Earlier, err = fittimes.Resume(m.state, setup); err != nil {
			return r, err
		}
		kept := fittimes.Report{Setup: setup, Measurements: slices.Clone(o.Earlier)}
		o.Finished = func(f fittimes.Measurement) error {
			kept.Measurements = append(kept.Measurements, f)
			return kept.Save(m.state)
		}
	}
	var err error
	r.Measurements, err = fittimes.Run(ctx, plan, names, fitters, o)
	return r, err
}

// writeMethods writes the report to the page and the output.
func (a *app) writeMethods(m *methodsFlags, r fittimes.Report) error {
	p := product{numbers: r, text: r.Setup.Markdown() + fittimes.GrowthTable(r.Growth), across: 3}
	p.panels = func() ([]view.Panel, error) { return fittimes.Panels(m.methods, m.of(), r.Measurements) }
	if len(m.builds) > 0 {
		p = product{numbers: r, text: r.Setup.Markdown() + fittimes.RatioTable(r.Measurements),
			panels: drawn(fittimes.RatioPanels(r.Measurements)), across: len(m.builds) - 1}
	}
	return p.writeWith(a, m.page, m.part(), m.out)
}
