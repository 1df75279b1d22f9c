package main

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/internal/reference"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

const (
	groupLearn = "learn"
	groupApply = "apply"
	groupFiles = "files"
)

// referenceIntro is the head of docs/cli.md.
const referenceIntro = "# Command line\n\nThe help of every command and topic, as `mustlink help COMMAND` prints it. Made by `make docs-cli`: edit cmd/mustlink."

// app is a run of the command.
type app struct{ *session.Session }

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
		Version: catalog.Version(),
		Args:    cobra.ArbitraryArgs,
		RunE:    usage.UnknownCommand,
	}
	root.SetVersionTemplate("mustlink {{.Version}}\n")
	a.Root(root)
	root.AddGroup(
		&cobra.Group{ID: groupLearn, Title: "Learn:"},
		&cobra.Group{ID: groupApply, Title: "Apply:"},
		&cobra.Group{ID: groupFiles, Title: "Files and figures:"},
	)
	addGroup(root, groupLearn, newFit(a), newSelect(a), newSuggest(a), newUpdate(a), newDemo(a))
	addGroup(root, groupApply, newEmbed(a), newGram(a), newDistance(a), newCluster(a), newClassify(a))
	addGroup(root, groupFiles, newLinks(a), newCheck(a), newInspect(a), newScore(a), newPlot(a), newPage(a))
	root.AddCommand(a.InfoCommand(), reference.Command(a.Session, referenceIntro, "links"), newMoved())
	root.AddCommand(newTopics()...)
	session.FlagsInOrder(root.Commands())
	return root
}

func addGroup(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}
