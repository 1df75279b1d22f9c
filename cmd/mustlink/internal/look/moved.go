package look

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/usage"
)

// Bench returns the old command for measurements, which names the new one.
func Bench() *cobra.Command {
	return &cobra.Command{
		Use:                "bench",
		Short:              "moved: measurements are in the program mustlink-bench",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return toBench(args...) },
	}
}

// toBench returns the error that names the command of mustlink-bench with the same arguments.
func toBench(args ...string) error {
	return usage.Errorf("measurements have moved to another program: run %s (make bench-build builds it)",
		strings.Join(append([]string{"mustlink-bench"}, args...), " "))
}
