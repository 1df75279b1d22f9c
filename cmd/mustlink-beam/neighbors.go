package main

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/nearest"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
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
		Short: "make the graph of the nearest rows of every row",
		Long: `Find the K nearest other rows of every row of many files, or of their coordinates under MODEL.

Without --landmarks all rows are compared with all others: the result is exact, and each row is read once for every run of
rows (--element-rows), which for many rows should be long. With --landmarks a row is kept in the buckets of its --routes nearest
landmarks, and its neighbours are sought in the bucket of the nearest. How many of the exact neighbours that finds is measured on a
sample.

Each row of the files named after OUT has the number of a row, counted through all files in their order, those of its neighbours,
and their squared distances. Along landmarks there is a file for each bucket, and -1 where a bucket has too few rows.`,
		Example: `  mustlink-beam neighbors -i 'embedded/part-*.npy' -k 10 -o graph/part.npy
  mustlink-beam landmarks -i 'embedded/part-*.npy' -m 300 --rule 'kmeans||' -o buckets.npy
  mustlink-beam neighbors -i 'embedded/part-*.npy' -k 10 --landmarks buckets.npy --routes 4 -o graph/part.npy`,
		Args: positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runNeighbors(cmd, args, &n) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	n.in.add(cmd)
	f.IntVarP(&n.k, "neighbors", "k", 10, "number `K` of neighbours")
	f.StringVar(&n.landmarks, "landmarks", "", "the `FILE` of landmarks to find neighbours along, as landmarks or kmeans writes it")
	f.IntVar(&n.routes, "routes", 3, "with --landmarks: buckets that a row is kept in")
	f.IntVar(&n.sample, "sample", 1000, "with --landmarks: rows, about, on which the recall is measured; 0 for none")
	f.Uint64Var(&n.seed, "seed", 1, "number that fixes every random choice")
	f.StringVarP(&n.out, "output", "o", "", "the name `OUT` of the files to write")
	n.bad.add(cmd)
	return cmd
}

func (a *app) runNeighbors(cmd *cobra.Command, args []string, n *neighborsFlags) error {
	if err := n.check(cmd); err != nil {
		return err
	}
	t, err := a.begin(cmd, args, &n.jobFlags)
	if err != nil {
		return err
	}
	if int64(n.k) >= t.set.Rows {
		return usagef("-k, --neighbors is %d: want at most %d, one less than there are rows", n.k, t.set.Rows-1)
	}
	out, err := t.output()
	if err != nil {
		return err
	}
	if n.landmarks != "" {
		return t.runRouted(cmd.Context(), n, out)
	}
	r, err := t.perElement(cmd.Context(), out, func(s beam.Scope) { nearest.Exact(s, t.config, t.set.Elements, n.k, out) })
	if err != nil {
		return err
	}
	return a.print(r, func(w io.Writer) { fmt.Fprintf(w, "neighbours\t%d of each row, exact\n", n.k) })
}

func (n *neighborsFlags) check(cmd *cobra.Command) error {
	if err := required(cmd, "input", "output"); err != nil {
		return err
	}
	return checkBounds(bound{"-k, --neighbors", n.k, 1}, bound{"--routes", n.routes, 1}, bound{"--sample", n.sample, 0})
}

// runRouted finds neighbours along landmarks.
func (t *task) runRouted(ctx context.Context, n *neighborsFlags, out shard.Output) error {
	buckets, err := t.checkPoints(n.landmarks, "landmarks")
	if err != nil {
		return err
	}
	if n.routes > buckets {
		return usagef("--routes is %d: want at most %d, the number of landmarks", n.routes, buckets)
	}
	if err := out.Remove(); err != nil { // a bucket may be empty that was not
		return err
	}
	pieces, err := nearest.Pieces(out)
	if err != nil {
		return err
	}
	defer nearest.Remove(pieces)
	g := nearest.Routing{Landmarks: n.landmarks, Nearest: n.routes, Pieces: pieces,
		Sampling: nearest.Sampling{Seed: n.seed, Chance: float64(n.sample) / float64(t.set.Rows)}}
	build := func(s beam.Scope) error {
		nearest.Routed(s, t.config, t.set.Elements, n.k, g, buckets, out)
		return nil
	}
	if n.sample == 0 { // there is nothing to report
		done, err := job.Run(ctx, t.runner, build)
		if err != nil {
			return err
		}
		r := t.report(done)
		r.Output = out.Pattern()
		return t.print(r, nil)
	}
	var found nearest.Recall
	r, err := t.reporting(ctx, &found, build)
	if err != nil {
		return err
	}
	r.Output = out.Pattern()
	return t.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "neighbours\t%d of each row, along %d landmarks\n", n.k, buckets)
		fmt.Fprintf(w, "recall\t%.2f %% of the exact ones, on %d rows\n", 100*found.Recall, found.Rows)
	})
}
