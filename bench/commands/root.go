// Package commands is the command line of the laboratory, mustlink-bench: it has the flags, files
// and progress bars for the measurements of the other packages of this module.
package commands

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/internal/reference"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// app is one run of the program.
type app struct{ *session.Session }

// referenceIntro is the head of docs/bench-cli.md.
const referenceIntro = "# Command line of the laboratory\n\nThe help of every command of `mustlink-bench`, the program of the " +
	"measurements, " +
	"as `mustlink-bench help COMMAND` prints it. Made by `make docs-cli`: edit bench/commands."

// Root returns the whole command line.
func Root(s *session.Session) *cobra.Command {
	root := &cobra.Command{
		Use:   s.Name,
		Short: "measure mustlink, or repeat the tables of the papers",
		Long: `Run measurements: single operations, every method, throughput, the same work in NumPy and scikit-learn, or the
tables of the papers with our results next to the printed ones.

Data sets are files in the folder --data or $MUSTLINK_DATA; 'mustlink-bench paper list' names them.
Exit codes: 0 done, 1 failed, 2 wrong usage or bad input, 128 + N ended by the signal N.
Environment: MUSTLINK_BACKEND (gonum, native, netlib) and MUSTLINK_SIMD (generic, avx2,
avx512, neon) choose the linear algebra; see mustlink-bench info.`,
		Example: `  mustlink-bench methods
  mustlink-bench paper tsang-1`,
		Version: catalog.Version(),
		Args:    cobra.ArbitraryArgs,
		RunE:    usage.UnknownCommand,
	}
	root.SetVersionTemplate(s.Name + " {{.Version}}\n")
	s.Root(root)
	a := &app{s}
	root.AddGroup(
		&cobra.Group{ID: groupPapers, Title: "Papers and comparisons:"},
		&cobra.Group{ID: groupSpeed, Title: "Speed and memory:"},
	)
	addGroup(root, groupPapers, newPaper(a), newCross(a), newCurves(a), newWrong(a), newVerdicts(a),
		newHindsight(a), newPairs(a), newSuggest(a), newPlot(a))
	addGroup(root, groupSpeed, newMicro(a), newPeers(a), newNeighbors(a), newMethods(a), newWorkers(a),
		newThroughput(a), newBuilds(a), newSoak(a), newTime(a), newServe(a))
	root.AddCommand(s.VersionCommand(), s.InfoCommand(), reference.Command(s, referenceIntro))
	session.FlagsInOrder(root.Commands())
	return root
}

const (
	groupPapers = "papers"
	groupSpeed  = "speed"
)

func addGroup(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}
