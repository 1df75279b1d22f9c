package session

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/usage"
)

// Root completes the command that holds all others: streams, global flags, and the wording of
// mistakes.
func (s *Session) Root(root *cobra.Command) {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetIn(s.Stdin)
	root.SetOut(s.Stdout)
	root.SetErr(s.Stderr)
	root.SetFlagErrorFunc(usage.FlagError)
	s.globalFlags(root)
}

func (s *Session) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&s.JSON, "json", false, "print figures as JSON")
	f.BoolVarP(&s.Quiet, "quiet", "q", false, "no progress bar and no summaries; warnings and errors still appear")
	f.IntVar(&s.Workers, "workers", 0, "goroutines that share the work; 0: all processors. Results do not depend on it, in the netlib build for a given --blas-threads")
	f.IntVar(&s.BLASThreads, "blas-threads", 0, "threads of one large linear algebra call; 0: as --workers")
	f.Var(&s.MemoryLimit, "memory-limit", "refuse requests beyond this size, such as 8GiB (default no limit)")
}

// FlagsInOrder has the help of commands show flags in the order in which they are defined.
func FlagsInOrder(commands []*cobra.Command) {
	for _, c := range commands {
		c.Flags().SortFlags = false
		FlagsInOrder(c.Commands())
	}
}
