package main

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rows"
)

func newEmbed(a *app) *cobra.Command {
	var e jobFlags
	cmd := &cobra.Command{
		Use:   "embed MODEL -i PATTERN -o OUT",
		Short: "map points to coordinates in which Euclidean tools work",
		Long: `Map the rows of many files to the coordinates of the model, as mustlink embed does for one file and with the same
bits. OUT names the files that are written, one for each run of rows: OUT part.npy stands for part-00000-of-00042.npy
and so on, which in this order have the rows in theirs. The ending says the format: .csv, .npy or .parquet, each also .gz.`,
		Example: `  mustlink-beam embed model.mlk -i 'data/part-*.npy' -o embedded/part.npy
  mustlink-beam embed model.mlk -i 'data/*.csv' -o embedded/part.parquet --bad-rows 0.1% --bad-output embedded/bad.csv`,
		Args: positional(1, 1, "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runEmbed(cmd, args, &e) },
	}
	cmd.Flags().SortFlags = false
	e.in.add(cmd)
	cmd.Flags().StringVarP(&e.out, "output", "o", "", "the name `OUT` of the files to write")
	e.bad.add(cmd)
	return cmd
}

func (a *app) runEmbed(cmd *cobra.Command, args []string, e *jobFlags) error {
	if err := required(cmd, "input", "output"); err != nil {
		return err
	}
	t, err := a.begin(cmd, args, e)
	if err != nil {
		return err
	}
	out, err := t.output()
	if err != nil {
		return err
	}
	r, err := t.perElement(cmd.Context(), out, func(s beam.Scope) { rows.Embed(s, t.config, t.set.Elements, out) })
	if err != nil {
		return err
	}
	return a.print(r, nil)
}
