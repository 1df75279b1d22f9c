package main

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/kmeans"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/internal/usage"
)

type assignFlags struct {
	jobFlags
	centers string
}

func newAssign(a *app) *cobra.Command {
	var g assignFlags
	cmd := &cobra.Command{
		Use:   "assign [MODEL] -i PATTERN --centers FILE -o OUT",
		Short: "assign rows to their nearest centers",
		Long: `Assign the rows of many files, or their coordinates under MODEL, to the nearest of the centers in a file. For each row, write the
number of its center and the squared distance. OUT names the output files as in embed.`,
		Example: `  mustlink-beam assign -i 'embedded/part-*.npy' --centers centers.npy -o clusters/part.npy
  mustlink-beam assign model.mlk -i 'data/*.csv' --centers centers.npy -o clusters/part.csv`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runAssign(cmd, args, &g) },
	}
	g.addInput(cmd)
	cmd.Flags().StringVar(&g.centers, "centers", "", "the `FILE` of centers, as kmeans writes it")
	g.addOutput(cmd, "the name `OUT` of the output files")
	return cmd
}

func (a *app) runAssign(cmd *cobra.Command, args []string, g *assignFlags) error {
	check := a.Check(cmd)
	check.Required("input", "centers", "output")
	t, err := a.begin(check, args, &g.jobFlags)
	if err != nil {
		return err
	}
	if _, err := t.checkPoints(g.centers, "centers"); err != nil {
		return err
	}
	return t.perElement(nil, func(s beam.Scope, out shard.Output) {
		kmeans.Assign(s, t.config, t.set.Elements, g.centers, out)
	})
}
