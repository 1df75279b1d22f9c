package main

import (
	"fmt"
	"io"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/nearest"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/told"
)

type neighborsFlags struct {
	in        inputFlags
	bad       badFlags
	k         int
	landmarks string
	routes    int
	sample    int
	seed      uint64
	out       string
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
	set, c, err := a.begin(cmd, args, &n.in, n.bad)
	if err != nil {
		return err
	}
	if int64(n.k) >= set.Rows {
		return usagef("-k, --neighbors is %d: want at most %d, one less than there are rows", n.k, set.Rows-1)
	}
	out := shard.Output{Path: n.out}
	if err := prepareOutput(out, set); err != nil {
		return err
	}
	if n.landmarks != "" {
		return a.runRouted(cmd, n, set, c, out)
	}
	done, err := job.Run(cmd.Context(), a.runner, func(s beam.Scope) error {
		nearest.Exact(s, c, set.Elements, n.k, out)
		return nil
	})
	if err == nil {
		err = checkFiles(out, len(set.Elements))
	}
	if err != nil {
		return err
	}
	r := newReport("neighbors", set, n.bad, done)
	r.Output = out.Pattern()
	return a.print(r, func(w io.Writer) { fmt.Fprintf(w, "neighbours\t%d of each row, exact\n", n.k) })
}

func (n *neighborsFlags) check(cmd *cobra.Command) error {
	if err := required(cmd, "input", "output"); err != nil {
		return err
	}
	for _, c := range []struct {
		name         string
		value, least int
	}{{"-k, --neighbors", n.k, 1}, {"--routes", n.routes, 1}, {"--sample", n.sample, 0}} {
		if c.value < c.least {
			return usagef("%s is %d: want a number >= %d", c.name, c.value, c.least)
		}
	}
	return nil
}

// runRouted finds neighbours along landmarks.
func (a *app) runRouted(cmd *cobra.Command, n *neighborsFlags, set *shard.Set, c job.Config, out shard.Output) error {
	buckets, err := checkPlaces(c, set, n.landmarks, "landmarks")
	if err != nil {
		return err
	}
	if n.routes > buckets {
		return usagef("--routes is %d: want at most %d, the number of landmarks", n.routes, buckets)
	}
	if err := removeOutput(out); err != nil { // a bucket may be empty that was not
		return err
	}
	if err := told.Clear(n.out); err != nil {
		return err
	}
	pieces, err := nearest.Pieces(out)
	if err != nil {
		return err
	}
	defer nearest.Remove(pieces)
	g := nearest.Routing{Landmarks: n.landmarks, Nearest: n.routes, Pieces: pieces,
		Sampling: nearest.Sampling{Seed: n.seed, Chance: float64(n.sample) / float64(set.Rows)}}
	done, err := job.Run(cmd.Context(), a.runner, func(s beam.Scope) error {
		nearest.Routed(s, c, set.Elements, n.k, g, buckets, out)
		return nil
	})
	if err != nil {
		return err
	}
	r := newReport("neighbors", set, n.bad, done)
	r.Output = out.Pattern()
	if n.sample == 0 {
		return a.print(r, nil)
	}
	var found nearest.Recall
	if err := told.Take(n.out, &found); err != nil {
		return err
	}
	r.Figures = found
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "neighbours\t%d of each row, along %d landmarks\n", n.k, buckets)
		fmt.Fprintf(w, "recall\t%s of the exact ones, on %d rows\n", share(found.Recall), found.Rows)
	})
}

// removeOutput removes all files of an output.
func removeOutput(out shard.Output) error {
	files, err := shard.Files(out.Pattern())
	if err != nil {
		return nil // there is none
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing what an earlier job has left: %w", err)
		}
	}
	return nil
}
