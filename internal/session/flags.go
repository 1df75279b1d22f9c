package session

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/usage"
)

// Root sets up the root command: streams, global flags, and the messages about wrong command lines.
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
	f.BoolVar(&s.JSON, "json", false, "print results as JSON")
	f.BoolVarP(&s.Quiet, "quiet", "q", false, "no progress bar and no summaries; warnings and errors still appear")
	f.IntVar(&s.Workers, "workers", 0, "number of goroutines that share the work; 0 for all processors. Results do not depend on it (in the netlib build: for a given --blas-threads)")
	f.IntVar(&s.BLASThreads, "blas-threads", 0, "number of threads of one large linear algebra call; 0 for as many as --workers")
	f.Var(&s.MemoryLimit, "memory-limit", "refuse work that requires more memory than this, such as 8GiB (default no limit)")
}

// FlagsInOrder makes the help of commands list flags in the order of their definition.
func FlagsInOrder(commands []*cobra.Command) {
	for _, c := range commands {
		c.Flags().SortFlags = false
		FlagsInOrder(c.Commands())
	}
}
