package main

import (
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/clustering"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/places"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/fault"
)

type assignFlags struct {
	in      inputFlags
	bad     badFlags
	centers string
	out     string
}

func newAssign(a *app) *cobra.Command {
	var g assignFlags
	cmd := &cobra.Command{
		Use:   "assign [MODEL] -i PATTERN --centers FILE -o OUT",
		Short: "give rows to the nearest of given centres",
		Long: `Give the rows of many files, or their coordinates under MODEL, to the nearest of the centres in a file. For each row the
number of its centre and the squared distance are written, to files that are named after OUT as those of embed are.`,
		Example: `  mustlink-beam assign -i 'embedded/part-*.npy' --centers centers.npy -o clusters/part.npy
  mustlink-beam assign model.mlk -i 'data/*.csv' --centers centers.npy -o clusters/part.csv`,
		Args: positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runAssign(cmd, args, &g) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	g.in.add(cmd)
	f.StringVar(&g.centers, "centers", "", "the `FILE` of the centres, as kmeans writes it")
	f.StringVarP(&g.out, "output", "o", "", "the name `OUT` of the files to write")
	g.bad.add(cmd)
	return cmd
}

func (a *app) runAssign(cmd *cobra.Command, args []string, g *assignFlags) error {
	if err := required(cmd, "input", "centers", "output"); err != nil {
		return err
	}
	set, c, err := a.begin(cmd, args, &g.in, g.bad)
	if err != nil {
		return err
	}
	if _, err := checkPlaces(c, set, g.centers, "centres"); err != nil {
		return err
	}
	out := shard.Output{Path: g.out}
	if err := prepareOutput(out, set); err != nil {
		return err
	}
	done, err := job.Run(cmd.Context(), a.runner, func(s beam.Scope) error {
		clustering.Assign(s, c, set.Elements, g.centers, out)
		return nil
	})
	if err == nil {
		err = checkFiles(out, len(set.Elements))
	}
	if err != nil {
		return err
	}
	r := newReport("assign", set, g.bad, done)
	r.Output = out.Pattern()
	return a.print(r, nil)
}

// checkPlaces makes sure that a file has points where the rows of a job can be, and returns their number.
func checkPlaces(c job.Config, set *shard.Set, path, what string) (int, error) {
	m, err := clustering.ReadCenters(path)
	if err != nil {
		return 0, err
	}
	w, err := c.Worker()
	if err != nil {
		return 0, err
	}
	if width := places.Dim(w, set.Dim); m.Cols != width {
		return 0, fault.Data(path, "its %s have %d values: want %d, as the rows have", what, m.Cols, width)
	}
	return m.Rows, nil
}

// share writes a share of one as percents.
func share(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }
