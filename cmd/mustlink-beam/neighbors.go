package main

import (
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/nearest"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/results"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/internal/usage"
)

type neighborsFlags struct {
	jobFlags
	k         int
	landmarks string
	routes    int
	sample    int
	seed      uint64
}

func newNeighbors(a *app) *cobra.Command {
	var n neighborsFlags
	cmd := &cobra.Command{
		Use:   "neighbors [MODEL] -i PATTERN -k K [--landmarks FILE] -o OUT",
		Short: "compute the graph of nearest neighbors",
		Long: `Find the K nearest neighbors of every row of many files, or of their coordinates under MODEL.

Without --landmarks all rows are compared with all others. The result is exact. All rows are read once for every element, so
--element-rows should be large when there are many rows. With --landmarks a row is put into the buckets of its --routes nearest
landmarks, and its neighbors are searched in the bucket of the nearest landmark. The recall, the share of the exact neighbors that
this search finds, is measured on a sample.

Each row of the output has the number of a row, counted through all files in their order, the numbers of its neighbors, and their
squared distances. OUT names the output files. With --landmarks there is a file for each bucket, and -1 where a bucket has too few rows.`,
		Example: `  mustlink-beam neighbors -i 'embedded/part-*.npy' -k 10 -o graph/part.npy
  mustlink-beam landmarks -i 'embedded/part-*.npy' -m 300 --rule 'kmeans||' -o buckets.npy
  mustlink-beam neighbors -i 'embedded/part-*.npy' -k 10 --landmarks buckets.npy --routes 4 -o graph/part.npy`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runNeighbors(cmd, args, &n) },
	}
	f := cmd.Flags()
	n.addInput(cmd)
	f.IntVarP(&n.k, "neighbors", "k", 10, "number `K` of neighbors")
	f.StringVar(&n.landmarks, "landmarks", "",
		"the `FILE` of landmarks for an approximate search, as landmarks or kmeans writes it")
	f.IntVar(&n.routes, "routes", 3, "with --landmarks: number of buckets of a row")
	f.IntVar(&n.sample, "sample", 1000,
		"with --landmarks: approximate number of rows to measure the recall on; 0 for none")
	usage.SeedFlag(f, &n.seed)
	n.addOutput(cmd, "the name `OUT` of the output files")
	return cmd
}

func (a *app) runNeighbors(cmd *cobra.Command, args []string, n *neighborsFlags) error {
	check := a.Check(cmd)
	check.Required("input", "output")
	check.AtLeast("-k, --neighbors", n.k, 1)
	check.AtLeast("--routes", n.routes, 1)
	check.AtLeast("--sample", n.sample, 0)
	t, err := a.begin(check, args, &n.jobFlags)
	if err != nil {
		return err
	}
	if int64(n.k) >= t.set.Rows {
		return usage.Errorf("-k, --neighbors is %d: want at most %d, one less than the number of rows", n.k,
			t.set.Rows-1)
	}
	if n.landmarks != "" {
		return t.runRouted(n)
	}
	text := func(w io.Writer) { fmt.Fprintf(w, "neighbors\t%d of each row, exact\n", n.k) }
	return t.perElement(text, func(s beam.Scope, out shard.Output) {
		nearest.Exact(s, t.config, t.set.Elements, n.k, out)
	})
}

// runRouted finds neighbors by landmarks.
func (t *task) runRouted(n *neighborsFlags) error {
	if err := t.output(); err != nil {
		return err
	}
	buckets, err := t.checkPoints(n.landmarks, "landmarks")
	if err != nil {
		return err
	}
	if n.routes > buckets {
		return usage.Errorf("--routes is %d: want at most %d, the number of landmarks", n.routes, buckets)
	}
	g := nearest.Routing{Landmarks: n.landmarks, Nearest: n.routes,
		Sampling: nearest.Sampling{Seed: n.seed, Chance: float64(n.sample) / float64(t.set.Rows)}}
	path, err := t.stage(shard.StageFiles, t.out)
	if err != nil {
		return err
	}
	defer t.discard()
	out := shard.Output{Path: path}
	if g.Pieces, err = nearest.Pieces(out); err != nil {
		return err
	}
	var found nearest.Recall
	measured := func() error {
		if n.sample == 0 { // there is nothing to report
			return nil
		}
		return results.Take(path, &found)
	}
	r, err := t.run(infallible(func(s beam.Scope) {
		nearest.Routed(s, t.config, t.set.Elements, n.k, g, buckets, out)
	}), measured)
	if err != nil {
		return err
	}
	if r.Output = (shard.Output{Path: t.out}).Pattern(); n.sample == 0 {
		return t.print(r, nil)
	}
	r.Results = &found
	return t.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "neighbors\t%d of each row, by %d landmarks\n", n.k, buckets)
		fmt.Fprintf(w, "recall\t%.2f %% of the exact neighbors, on %d rows\n", 100*found.Recall, found.Rows)
	})
}
