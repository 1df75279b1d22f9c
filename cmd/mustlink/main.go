package main

import (
	"io"
	"log"
	"os"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/apply"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/data"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/look"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/topics"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/train"
	"github.com/mustlink/mustlink/internal/progress"
	"github.com/mustlink/mustlink/internal/reference"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// garbage is the number of bytes of garbage, in addition to as many as are in use, that may pile up
// before a collection: small fits leave some 30 KB each, and a program may make thousands of them
// in a second. A larger value was not measurably faster.
const garbage = 32 << 20

func main() {
	log.SetOutput(io.Discard) // the plotting library logs what it also returns
	os.Exit(usage.Run(newRoot(&session.Session{
		Name: "mustlink", Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Garbage: garbage,
		NewBar:  progress.New,
	})))
}

// referenceIntro is the head of docs/cli.md.
const referenceIntro = "# Command line\n\nThe help of every command and topic, as `mustlink help COMMAND` prints it. Made by " +
	"`make docs-cli`: edit cmd/mustlink."

// newRoot returns the whole command line.
func newRoot(s *session.Session) *cobra.Command {
	root := &cobra.Command{
		Use:   "mustlink",
		Short: "learn metrics from must-links and cannot-links, and apply them",
		Long: `mustlink learns a metric from points and pairs: "these two belong together", "these
two do not". Clustering, k-NN and embedding work better in the learned metric, for
new points too.

A first tour, on your own rows mine.csv with labels for some of them, and new rows. Without labels,
"mustlink label" asks people for links, and "mustlink demo" needs no files.

  mustlink links make -i mine.csv --pairs 150 -o links.csv
  mustlink fit -i mine.csv -c links.csv -o model.mlk
  mustlink cluster model.mlk -i new.csv -n 2 -o clusters.csv
  mustlink neighbors model.mlk --train mine.csv -i new.csv -o neighbors.csv
  mustlink report model.mlk -i mine.csv -c links.csv -o report.html

The extension selects the format of data: .csv, .jsonl, .npy, .parquet, .arrow or .feather, .svm
(svmlight), .idx or -ubyte (MNIST) and .fasta (sequences), each also .gz; "-" is standard
input or output.
Exit codes: 0 done, 1 failed, 2 wrong usage or bad input, 128 + N ended by the signal N.
Environment: MUSTLINK_BACKEND (gonum, native, netlib) and MUSTLINK_SIMD (generic, avx2,
avx512, neon) choose the linear algebra; see mustlink info.`,
		Version: catalog.Version(),
		Args:    cobra.ArbitraryArgs,
		RunE:    usage.UnknownCommand,
	}
	root.SetVersionTemplate("mustlink {{.Version}}\n")
	s.Root(root)
	addGroup(root, "learn", "Learn:", train.Commands(s))
	addGroup(root, "apply", "Apply:", apply.Commands(s))
	addGroup(root, "files", "Files and pictures:", append(data.Commands(s), look.Commands(s)...))
	root.AddCommand(s.VersionCommand(), s.InfoCommand(), reference.Command(s, referenceIntro, "links"),
		look.Bench())
	root.AddCommand(topics.Commands()...)
	topics.Help(root)
	session.FlagsInOrder(root.Commands())
	return root
}

// addGroup adds commands under a title of their own.
func addGroup(root *cobra.Command, id, title string, commands []*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
	}
	root.AddCommand(commands...)
}
