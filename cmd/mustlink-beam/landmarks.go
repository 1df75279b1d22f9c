package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/sampling"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type landmarksFlags struct {
	jobFlags
	o        sampling.Options
	saveRows string
}

func newLandmarks(a *app) *cobra.Command {
	var l landmarksFlags
	cmd := &cobra.Command{
		Use:   "landmarks [MODEL] -i PATTERN -m M [--rule RULE] -o FILE",
		Short: "choose a few rows that represent all",
		Long: `Choose M of the rows of many files, or of their coordinates under MODEL. The rules are
  reservoir   a random sample, uniform or with a column of weights (--weight); one pass
  kmeans||    rows that are spread out, as the initial centers of kmeans are; seven passes
  leverage    approximate ridge leverage scores under a kernel (-k); two passes

FILE has the rows themselves, for 'neighbors --landmarks' and 'kmeans --centers'; --save-rows writes their numbers, for 'fit --landmarks'.`,
		Example: `  mustlink-beam landmarks -i 'data/part-*.npy' -m 500 --seed 1 -o landmarks.npy --save-rows rows.csv
  mustlink-beam landmarks -i 'data/part-*.npy' -m 500 --rule leverage -k rbf:sigma=median -o landmarks.npy`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runLandmarks(cmd, args, &l) },
	}
	f := cmd.Flags()
	l.addInput(cmd)
	f.IntVarP(&l.o.M, "landmarks", "m", 0, "number `M` of landmarks")
	f.StringVar(&l.o.Rule, "rule", sampling.Reservoir, "`RULE`: "+strings.Join(sampling.Rules(), ", "))
	f.StringVar(&l.o.Weight, "weight", "",
		"with --rule reservoir: the `COLUMN` of weights, which is not a feature then")
	f.StringVarP(&l.o.Kernel, "kernel", "k", "rbf:sigma=median",
		"with --rule leverage: `KERNEL`; bandwidth rules use a sample of 2 M rows")
	usage.SeedFlag(f, &l.o.Seed)
	f.StringVarP(&l.out, "output", "o", "",
		"the `FILE` of landmarks to write ("+session.Endings(", ")+")")
	f.StringVar(&l.saveRows, "save-rows", "", "write the row numbers of the landmarks to this `FILE` (.csv)")
	l.addBad(cmd)
	return cmd
}

func (a *app) runLandmarks(cmd *cobra.Command, args []string, l *landmarksFlags) error {
	check := a.Check(cmd)
	check.Required("input", "landmarks", "output")
	check.Do(l.o.Validate)
	check.Refuse(l.o.Weight != "" && len(args) > 0,
		"--weight is given with a MODEL, whose coordinates have no such column: want one of them")
	t, err := a.begin(check, args, &l.jobFlags)
	if err != nil {
		return err
	}
	if int64(l.o.M) > t.set.Rows {
		return usage.Errorf("-m, --landmarks is %d: want at most %d, the number of rows", l.o.M, t.set.Rows)
	}
	if err := t.outputFile(); err != nil {
		return err
	}
	rows := ""
	if l.saveRows != "" {
		if rows, err = t.stage(shard.StageFile, l.saveRows); err != nil {
			return err
		}
		defer t.discard()
	}
	var found sampling.Summary
	r, err := t.reporting(&found, func(s beam.Scope, out string) error {
		sampling.Choose(s, t.config, t.set.Elements, l.o, out, rows)
		return nil
	})
	if err != nil {
		return err
	}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "landmarks\t%d by %s\n", found.Landmarks, l.o.Rule)
	})
}
