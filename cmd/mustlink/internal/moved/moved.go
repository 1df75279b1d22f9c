// Package moved answers old spellings with the new ones.
package moved

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/usage"
)

// Bench returns the old command of the measurements.
func Bench() *cobra.Command {
	return &cobra.Command{
		Use:                "bench",
		Short:              "measurements are a program of their own: mustlink-bench",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return ToBench(args...) },
	}
}

// ToBench names the command of the laboratory that does what was asked of this one.
func ToBench(args ...string) error {
	return usage.Errorf("the measurements are a program of their own: run %s (make bench-build builds it)",
		strings.Join(append([]string{"mustlink-bench"}, args...), " "))
}
