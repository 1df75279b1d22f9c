package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/bench/methods"
	"github.com/mustlink/mustlink/bench/throughput"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// newBenchServe is how `bench methods` runs another build.
func newBenchServe(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "serve",
		Short:   "fit what standard input asks for (used by bench methods --builds)",
		Long:    `Read requests of 'mustlink bench methods --builds' from standard input, fit, and answer how long that took.`,
		Example: `  mustlink bench methods --builds bin/mustlink-default,bin/mustlink-netlib`,
		Hidden:  true,
		Args:    usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			eng, err := a.Engine()
			if err != nil {
				return err
			}
			return methods.Serve(cmd.Context(), buildOf(eng), &methods.Local{Engine: eng}, a.Stdin, a.Stdout)
		},
	}
}

// buildOf says what this program is made of.
func buildOf(eng *engine.Engine) methods.Build {
	b := methods.Build{Name: methods.Default, Version: catalog.Version(), Go: runtime.Version(), Backend: eng.Backend().Describe()}
	tags, _ := buildTags()
	for _, name := range []string{methods.Netlib, methods.PureGo} {
		if slices.Contains(tags, name) {
			b.Name = name
		}
	}
	return b
}

// machine says what this program runs on.
func machine() string {
	return fmt.Sprintf("%s/%s, %d logical CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

func newBenchTime(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "time [-o FILE] -- COMMAND...",
		Short: "run another command of mustlink, and say how long it took and its most memory",
		Long: `Run another command of mustlink and say, on standard error, how long it took and the most
memory that it had in RAM (known on Linux). With -o that goes to a file, as JSON.`,
		Example: `  mustlink bench time -- embed model.mlk -i new.npy -o embedded.npy`,
		Args:    cobra.MatchAll(usage.Positional(1, 1<<30, "a COMMAND of mustlink")),
		RunE: func(cmd *cobra.Command, args []string) error {
			check := a.Check(cmd)
			check.Output("-o, --output", out)
			if check.Err != nil {
				return check.Err
			}
			return a.runBenchTime(cmd.Context(), out, args)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `FILE` to write (default standard error)")
	return cmd
}

func (a *app) runBenchTime(ctx context.Context, out string, args []string) error {
	inner := newRoot(&app{&session.Session{Name: a.Name, Stdin: a.Stdin, Stdout: a.Stdout, Stderr: a.Stderr, Getenv: a.Getenv}})
	inner.SetArgs(args)
	begin := time.Now()
	if err := inner.ExecuteContext(ctx); err != nil {
		return err
	}
	c := throughput.Command{Seconds: time.Since(begin).Seconds(), Peak: measure.PeakMemory()}
	if out != "" && out != session.Stream {
		return a.WriteJSON(out, c)
	}
	return a.PrintTo(a.Stderr, c, func(w io.Writer) {
		fmt.Fprintf(w, "seconds\t%.4g\n", c.Seconds)
		if c.Peak > 0 {
			fmt.Fprintf(w, "peak memory\t%s\n", fault.FormatBytes(c.Peak))
		}
	})
}
