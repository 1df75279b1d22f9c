package commands

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/fittimes"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/usage"
)

// newServe returns the command by which `methods --builds` runs another build.
func newServe(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "serve",
		Short:   "run the fits that standard input requests (used by methods --builds)",
		Long:    `Read requests of 'mustlink-bench methods --builds' from standard input, run the fits, and answer with their times.`,
		Example: `  mustlink-bench methods --builds bin/mustlink-bench-default,bin/mustlink-bench-netlib`,
		Hidden:  true,
		Args:    usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			eng, err := a.Engine()
			if err != nil {
				return err
			}
			return fittimes.Serve(cmd.Context(), buildOf(eng), &fittimes.Local{Engine: eng}, a.Stdin,
				a.Stdout)
		},
	}
}

// buildOf describes the build of this program.
func buildOf(eng *engine.Engine) fittimes.Build {
	b := fittimes.Build{Name: fittimes.Default, Version: catalog.Version(), Go: runtime.Version(),
		Backend: eng.Backend().Describe(), Core: blas.Core(eng.Backend())}
	tags, _ := catalog.BuildTags()
	for _, name := range []string{fittimes.Netlib, fittimes.PureGo} {
		if slices.Contains(tags, name) {
			b.Name = name
		}
	}
	return b
}

// machine describes the machine on which this program runs.
func machine() string {
	return fmt.Sprintf("%s/%s, %d logical CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}
