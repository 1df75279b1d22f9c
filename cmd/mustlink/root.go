package main

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
)

const (
	groupLearn = "learn"
	groupApply = "apply"
	groupFiles = "files"
)

// newRoot returns the whole command line.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "mustlink",
		Short: "learn metrics from must-links and cannot-links, and apply them",
		Long: `mustlink learns a metric from points and pairs: "these two belong together", "these
two do not". In the learned metric clustering, k-NN and embedding get better, for new
points too.

A first tour, on a file data.csv with numeric columns and a column "label":

  mustlink demo xor                                    # see what it does, no files needed
  mustlink links make -i data.csv --pairs 200 -o links.csv
  mustlink fit -m krca -i data.csv -c links.csv --standardize -o model.mlk
  mustlink cluster model.mlk -i data.csv -n 2 -o clusters.csv
  mustlink score --truth data.csv --predicted clusters.csv

Data are read by extension: .csv, .npy, .parquet, .svm (svmlight), .idx or -ubyte (MNIST) and
.fasta (sequences), each also .gz; "-" is standard input or output.
Exit codes: 0 done, 1 failed, 2 wrong usage or bad input, 130 interrupted.
Environment: MUSTLINK_BACKEND (gonum, native, netlib) and MUSTLINK_SIMD (generic, avx2,
avx512, neon) choose the linear algebra; see mustlink info.`,
		Version:       catalog.Version(),
		Args:          cobra.ArbitraryArgs,
		RunE:          unknownCommand,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("mustlink {{.Version}}\n")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	a.globalFlags(root)
	root.AddGroup(
		&cobra.Group{ID: groupLearn, Title: "Learn:"},
		&cobra.Group{ID: groupApply, Title: "Apply:"},
		&cobra.Group{ID: groupFiles, Title: "Files and figures:"},
	)
	addGroup(root, groupLearn, newFit(a), newSelect(a), newSuggest(a), newUpdate(a), newDemo(a))
	addGroup(root, groupApply, newEmbed(a), newGram(a), newDistance(a), newCluster(a), newClassify(a))
	addGroup(root, groupFiles, newLinks(a), newCheck(a), newInspect(a), newScore(a), newPlot(a), newPage(a), newBench(a))
	root.AddCommand(newInfo(a), newReference(a))
	root.AddCommand(newTopics()...)
	flagsInOrder(root.Commands())
	return root
}

// flagsInOrder has the help of commands show flags in the order in which they are defined.
func flagsInOrder(commands []*cobra.Command) {
	for _, c := range commands {
		c.Flags().SortFlags = false
		flagsInOrder(c.Commands())
	}
}

func addGroup(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&a.json, "json", false, "print figures as JSON")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress bar and no summaries; warnings and errors still appear")
	f.IntVar(&a.workers, "workers", 0, "goroutines that share the work; 0: all processors. Results do not depend on it, in the netlib build for a given --blas-threads")
	f.IntVar(&a.blasThreads, "blas-threads", 0, "threads of one large linear algebra call; 0: as --workers")
	f.Var(&a.memoryLimit, "memory-limit", "refuse requests beyond this size, such as 8GiB (default no limit)")
}
