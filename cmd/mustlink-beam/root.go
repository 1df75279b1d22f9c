package main

import (
	"flag"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// newRoot returns the root command with all its subcommands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "mustlink-beam",
		Short: "apply the models of mustlink to data in many files, on Apache Beam",
		Long: `mustlink-beam applies the models of mustlink to data in many files, on one or many machines, with the same
results. It is a pipeline of Apache Beam and runs in this process (--runner prism, the default) or on Flink,
Spark or Dataflow.

  mustlink fit -m kbeta -i sample.csv -c links.csv -o model.mlk
  mustlink-beam embed model.mlk -i 'data/part-*.npy' -o embedded/part.npy

The file extension selects the format: ` + session.Endings(" or ") + `, each also .gz. Files are processed in runs of rows
(--element-rows). All workers of a cluster read and write files under the same paths. Every flag of Beam's Go SDK
is also accepted, such as --endpoint, --environment_type and --parallelism; see docs/scale-out.md.
Exit codes: 0 done, 1 failed, 2 wrong usage or bad input, 128 + N ended by the signal N.
Environment: MUSTLINK_BACKEND (gonum, native, netlib) and MUSTLINK_SIMD (generic, avx2, avx512, neon) choose the
linear algebra, also on the workers.`,
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
	root.AddCommand(newEmbed(a), newClassify(a), newScore(a), newKMeans(a), newAssign(a), newNeighbors(a),
		newLandmarks(a), newFit(a), newBench(a))
	session.FlagsInOrder(root.Commands())
	return root
}

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVar(&a.runner, "runner", job.Runners[0],
		"the runner of the job: prism (this process), flink, spark, universal (all with --endpoint) or "+
			"dataflow")
	f.IntVar(&a.Workers, "workers", 0,
		"goroutines of each process; 0: one a processor. Results do not depend on it")
	f.Var(&a.MemoryLimit, "memory-limit",
		"maximum size of one memory request, such as 8GiB (default no limit)")
	f.BoolVar(&a.JSON, "json", false, "print results as JSON")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "print errors only")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "show the runner's log on standard error")
	// Beam's flags are accepted under their own names but hidden in the help.
	flag.VisitAll(func(g *flag.Flag) {
		if f.Lookup(g.Name) == nil && g.Name != "version" && g.Name != "help" {
			f.AddGoFlag(g)
			f.Lookup(g.Name).Hidden = true
		}
	})
}
