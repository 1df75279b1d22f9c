package commands

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/bench/throughput"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

func newTime(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "time [-o FILE] -- COMMAND...",
		Short: "run a command, and report its time and maximum memory",
		Long: `Run a command, for example one of mustlink, and report its time and its maximum memory in RAM (known on
Linux) on standard error. With -o, the report goes to a file as JSON. The memory is at least that of this
program, about 20 MB.`,
		Example: `  mustlink-bench time -- mustlink embed model.mlk -i new.npy -o embedded.npy`,
		Args:    usage.Positional(1, 1<<30, "a COMMAND to run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			check := a.Check(cmd)
			check.Output("-o, --output", out)
			if check.Err != nil {
				return check.Err
			}
			return a.time(cmd.Context(), out, args)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `FILE` to write (default standard error)")
	return cmd
}

func (a *app) time(ctx context.Context, out string, args []string) error {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return &fault.ParamError{Param: "COMMAND", Value: args[0],
			Want: "a program in PATH, or the path of one"}
	}
	cmd := exec.CommandContext(ctx, program, args[1:]...)
	measure.Interruptible(cmd)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Stdin, a.Stdout, a.Stderr
	begin := time.Now()
	err = cmd.Run()
	c := throughput.Command{Seconds: time.Since(begin).Seconds()}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	c.Peak = measure.PeakOf(cmd.ProcessState)
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
