package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/fitting"
	"github.com/mustlink/mustlink/internal/usage"
)

type fitFlags struct {
	jobFlags
	task   fitting.Task
	params []string
}

func newFit(a *app) *cobra.Command {
	var fl fitFlags
	cmd := &cobra.Command{
		Use:   "fit -m METHOD -i PATTERN -c LINKS -o MODEL",
		Short: "learn a metric from the rows of many files and links",
		Long: `Learn a metric from the rows of many files and links between them, and write the model. METHOD uses only
a few rows, ` + strings.Join(fitting.Methods(), " or ") + `: the linked rows and the landmarks. One pass gathers them. The model is that of 'mustlink fit' on
all rows in one file, with the same parameters and seed.

LINKS is a CSV with the columns i, j, link or i, chunklet, as for mustlink. Row numbers are 0-based and count through all files in
their order. The bandwidth rules mean and median use the same 4096 rows as in mustlink, and lle nearly the same; msq and knn10, which
use all rows there, use these here.`,
		Example: `  mustlink-beam fit -m kbeta -i 'data/part-*.npy' -c links.csv -p landmarks=500 --seed 1 -o model.mlk
  mustlink-beam fit -m krca -i 'data/part-*.parquet' -c chunklets.csv -k rbf:sigma=median -p landmarks=2000 -o model.mlk`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runFit(cmd, &fl) },
	}
	f := cmd.Flags()
	f.StringVarP(&fl.task.Method, "method", "m", "", "`METHOD`: "+strings.Join(fitting.Methods(), ", "))
	fl.addInput(cmd)
	f.StringVarP(&fl.task.Links, "links", "c", "", "the file of `LINKS` or chunklets")
	f.StringVarP(&fl.task.Kernel, "kernel", "k", "",
		"`KERNEL`, such as rbf:sigma=median (default: the method's)")
	f.StringArrayVarP(&fl.params, "param", "p", nil, "a parameter of the method as `name=value`; repeatable")
	f.StringVar(&fl.task.Landmarks, "landmarks", "",
		"for kbeta: the `FILE` of the row numbers of the landmarks, as 'landmarks --save-rows' writes it")
	usage.SeedFlag(f, &fl.task.Seed)
	fl.addOutput(cmd, "the `MODEL` file to write")
	return cmd
}

func (a *app) runFit(cmd *cobra.Command, fl *fitFlags) error {
	check := a.Check(cmd)
	check.Required("method", "input", "links", "output")
	check.Do(func() (err error) { fl.task.Params, err = parseParams(fl.params); return err })
	t, err := a.begin(check, nil, &fl.jobFlags)
	if err != nil {
		return err
	}
	fl.task.Rows, fl.task.Features = int(t.set.Rows), t.set.Features
	var found fitting.Summary
	r, err := t.reporting(&found, func(s beam.Scope, out string) error {
		fl.task.Model = out
		return fitting.Fit(s, t.config, t.set.Elements, fl.task)
	})
	if err != nil {
		return err
	}
	for _, warning := range found.Warnings {
		a.Warnf("%s", warning)
	}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "model\t%s on %d of %d rows gathered, kernel %s, %d dimensions\n", found.Method,
			found.FitRows, found.Gathered, found.Kernel, found.Dim)
		fmt.Fprintf(w, "links\t%d must-links, %d cannot-links\n", found.MustLinks, found.CannotLinks)
	})
}

// parseParams splits each name=value at the first equals sign.
func parseParams(list []string) (map[string]string, error) {
	params := make(map[string]string, len(list))
	for _, p := range list {
		name, value, ok := strings.Cut(p, "=")
		if _, twice := params[name]; !ok || name == "" || twice {
			return nil, usage.Errorf("-p, --param %q: want name=value, each name once", p)
		}
		params[name] = value
	}
	return params, nil
}
