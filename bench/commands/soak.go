package commands

import (
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/soak"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// soakFlags are the flags of `mustlink-bench soak`.
type soakFlags struct {
	length     time.Duration
	goroutines int
	seed       uint64
	growth     float64
}

// soakReport is the output of `mustlink-bench soak`.
type soakReport struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	Machine string `json:"machine"`
	Backend string `json:"backend"`
	soak.Report
	Wrong []string `json:"wrong"` // why the exit code is 1, empty if all is well
}

func newSoak(a *app) *cobra.Command {
	var s soakFlags
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "fit and embed at random for a long time, and check memory and results",
		Long: `Fit random methods with random parameters to random points and links, and embed with the models,
from several goroutines on one engine, for a given time. Some problems are repeated; their results
must be bit-identical.

Prints fits, embeddings, errors by kind, the memory in RAM after the first quarter and at the end,
and the goroutines. Exit code 1 if memory grew by --max-growth percent or more, if a goroutine
is left, if a result changed, or for an error that no input should cause. An interrupt prints the
report so far.`,
		Example: `  mustlink-bench soak --for 30m
  mustlink-bench soak --for 1h --goroutines 8 --workers 2 --json`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case s.length <= 0:
				return &fault.ParamError{Param: "--for", Value: s.length, Want: "a time > 0, such as 30m"}
			case s.goroutines < 1 || s.goroutines > 10000:
				return &fault.ParamError{Param: "--goroutines", Value: s.goroutines,
					Want: "a number from 1 to 10000"}
			case !(s.growth > 0):
				return &fault.ParamError{Param: "--max-growth", Value: s.growth,
					Want: "a number of percent > 0"}
			}
			return a.runSoak(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.DurationVar(&s.length, "for", 30*time.Minute, "`TIME` after which no new problem starts")
	f.IntVar(&s.goroutines, "goroutines", 4, "`NUMBER` of problems at a time")
	f.Uint64Var(&s.seed, "seed", 1, "`SEED` of the problems")
	f.Float64Var(&s.growth, "max-growth", 5, "growth of memory, in `PERCENT`, that counts as a leak")
	return cmd
}

func (a *app) runSoak(ctx context.Context, s soakFlags) error {
	var interrupted error
	r, err := working(a, func(eng *engine.Engine, bar *session.Progress) (r soakReport, err error) {
		var found *soak.Report
		found, interrupted = soak.Run(ctx, eng,
			soak.Options{For: s.length, Goroutines: s.goroutines, Seed: s.seed,
				Progress: func(elapsed time.Duration, fits int) {
					bar.Step(int(elapsed.Seconds()), int(s.length.Seconds()), fault.Count(fits, "fit"))
				}})
		return soakReport{
			Version: catalog.Version(), Go: runtime.Version(),
			Machine: machine(),
			Backend: eng.Backend().Describe(), Report: *found, Wrong: found.Check(s.growth),
		}, nil
	})
	if err != nil {
		return err
	}
	if err := a.Print(r, func(w io.Writer) { r.text(w) }); err != nil {
		return err
	}
	if interrupted == nil && len(r.Wrong) > 0 {
		return fmt.Errorf("soak: %s, the first: %s", fault.Count(len(r.Wrong), "fault"),
			strings.SplitN(r.Wrong[0], "\n", 2)[0])
	}
	return interrupted
}

func (r soakReport) text(w io.Writer) {
	fmt.Fprintf(w, "version\t%s, %s, %s\n", r.Version, r.Go, r.Machine)
	fmt.Fprintf(w, "backend\t%s\n", r.Backend)
	fmt.Fprintf(w, "soaked\t%.0f s, %s, seed %d\n", r.Seconds, fault.Count(r.Goroutines, "goroutine"),
		r.Seed)
	fmt.Fprintf(w, "problems\t%d, of them repeated %d\n", r.Jobs, r.Repeats)
	fmt.Fprintf(w, "fits\t%d\n", r.Fits)
	fmt.Fprintf(w, "embeddings\t%d\n", r.Embeds)
	fmt.Fprintf(w, "fits by method\t%s\n", counts(r.Methods))
	fmt.Fprintf(w, "errors by kind\t%s\n", counts(r.Errors))
	fmt.Fprintf(w, "memory after the first quarter\t%s\n", fault.FormatBytes(r.WarmMemory))
	fmt.Fprintf(w, "memory at the end\t%s\n", fault.FormatBytes(r.EndMemory))
	fmt.Fprintf(w, "largest memory\t%s\n", fault.FormatBytes(r.LargestMemory))
	fmt.Fprintf(w, "growth\t%.1f %%\n", r.Growth)
	fmt.Fprintf(w, "goroutines\t%d at the start, %d at the end\n", r.GoroutinesAtStart, r.GoroutinesAtEnd)
	fmt.Fprintf(w, "faults\t%d\n", len(r.Wrong))
	for _, f := range r.Wrong {
		fmt.Fprintf(w, "fault\t%s\n", f)
	}
}

// counts returns numbers with their names, in the order of the names.
func counts(of map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, of[name]))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
