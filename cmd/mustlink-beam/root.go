package main

import (
	"flag"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// newRoot returns the whole command line.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "mustlink-beam",
		Short: "the models of mustlink over data in many files, on Apache Beam",
		Long: `mustlink-beam does for data in many files, on many machines, what mustlink does for one file: the same
models, the same numbers. It is a pipeline of Apache Beam and runs in this process (--runner prism, the default) or
on Flink, Spark or Dataflow.

  mustlink fit -m kbeta -i sample.csv -c links.csv -o model.mlk
  mustlink-beam embed model.mlk -i 'data/part-*.npy' -o embedded/part.npy

Data are read by extension: .csv, .npy and .parquet, each also .gz. Files are read in runs of rows (--element-rows), the
workers of a cluster read and write them by the same paths. Every flag of Beam's Go SDK is taken
too, such as --endpoint, --environment_type and --parallelism; docs/scale-out.md shows how.
Exit codes: 0 done, 1 failed, 2 wrong usage or bad input, 130 interrupted.
Environment: MUSTLINK_BACKEND (gonum, native, netlib) and MUSTLINK_SIMD (generic, avx2, avx512, neon) choose the
linear algebra, of the workers too.`,
		Version:       catalog.Version(),
		Args:          cobra.ArbitraryArgs,
		RunE:          usage.UnknownCommand,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if !a.verbose {
				job.Silence()
			}
			if a.Workers < 0 {
				return usage.Errorf("--workers is %d: want a number >= 0 (0 for all processors)", a.Workers)
			}
			return nil
		},
	}
	root.SetVersionTemplate(name + " {{.Version}}\n")
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(usage.FlagError)
	a.globalFlags(root)
	root.AddCommand(newEmbed(a), newClassify(a), newScore(a), newKMeans(a), newAssign(a), newNeighbors(a), newLandmarks(a), newFit(a), newBench(a))
	session.FlagsInOrder(root.Commands())
	return root
}

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVar(&a.runner, "runner", job.Runners[0], "what runs the job: prism (this process), flink, spark, universal (all with --endpoint) or dataflow")
	f.IntVar(&a.Workers, "workers", 0, "goroutines of each process that share the work; 0: all processors. Results do not depend on it")
	f.Var(&a.MemoryLimit, "memory-limit", "refuse requests beyond this size, such as 8GiB (default no limit)")
	f.BoolVar(&a.JSON, "json", false, "print figures as JSON")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "no summaries; errors still appear")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "let the runner log to standard error")
	// Beam's flags keep their names and are left out of the help.
	flag.VisitAll(func(g *flag.Flag) {
		if f.Lookup(g.Name) == nil && g.Name != "version" && g.Name != "help" {
			f.AddGoFlag(g)
			f.Lookup(g.Name).Hidden = true
		}
	})
}
