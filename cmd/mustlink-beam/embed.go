package main

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rows"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

type embedFlags struct {
	in  inputFlags
	bad badFlags
	out string
}

func newEmbed(a *app) *cobra.Command {
	var e embedFlags
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

func (a *app) runEmbed(cmd *cobra.Command, args []string, e *embedFlags) error {
	if err := required(cmd, "input", "output"); err != nil {
		return err
	}
	set, c, err := a.begin(cmd, args, &e.in, e.bad)
	if err != nil {
		return err
	}
	out := shard.Output{Path: e.out}
	if err := prepareOutput(out, set); err != nil {
		return err
	}
	done, err := a.run(cmd.Context(), func(s beam.Scope) { rows.Embed(s, c, set.Elements, out) })
	if err == nil {
		err = checkFiles(out, len(set.Elements))
	}
	if err != nil {
		return err
	}
	r := newReport("embed", set, e.bad, done)
	r.Output = out.Pattern()
	return a.print(r, nil)
}
