package main

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rows"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

func newEmbed(a *app) *cobra.Command {
	var e jobFlags
	cmd := &cobra.Command{
		Use:   "embed MODEL -i PATTERN -o OUT",
		Short: "map points to coordinates in which Euclidean tools work",
		Long: `Map the rows of many files to the coordinates of the model. The coordinates are bit-identical to those of mustlink embed on
one file. OUT names the output files, one for each run of rows: OUT part.npy becomes part-00000-of-00042.npy and so on. The
order of the files is the order of the rows. The extension selects the format: ` + session.Endings(" or ") + `, each also .gz.`,
		Example: `  mustlink-beam embed model.mlk -i 'data/part-*.npy' -o embedded/part.npy
  mustlink-beam embed model.mlk -i 'data/*.csv' -o embedded/part.parquet --bad-rows 0.1% --bad-output embedded/bad.csv`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runEmbed(cmd, args, &e) },
	}
	e.addInput(cmd)
	e.addOutput(cmd, "the name `OUT` of the output files")
	return cmd
}

func (a *app) runEmbed(cmd *cobra.Command, args []string, e *jobFlags) error {
	check := a.Check(cmd)
	check.Required("input", "output")
	t, err := a.begin(check, args, e)
	if err != nil {
		return err
	}
	return t.perElement(nil, func(s beam.Scope, out shard.Output) {
		rows.Embed(s, t.config, t.set.Elements, out)
	})
}
