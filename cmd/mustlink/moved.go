package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/usage"
)

// newMoved answers the old spelling of the measurements with the new one.
func newMoved() *cobra.Command {
	return &cobra.Command{
		Use:                "bench",
		Short:              "measurements are a program of their own: mustlink-bench",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return moved(args...) },
	}
}

// moved names the command of the laboratory that does what was asked of this one.
func moved(args ...string) error {
	return usage.Errorf("the measurements are a program of their own: run %s (make bench-build builds it)",
		strings.Join(append([]string{"mustlink-bench"}, args...), " "))
}
