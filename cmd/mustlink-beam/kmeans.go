package main

import (
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/clustering"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/places"
)

type kmeansFlags struct {
	jobFlags
	o       clustering.Options
	centers string // to begin with
}

func newKMeans(a *app) *cobra.Command {
	var k kmeansFlags
	cmd := &cobra.Command{
		Use:   "kmeans [MODEL] -i PATTERN (-n K | --centers FILE) -o CENTERS",
		Short: "find the centres of k-means",
		Long: `Find the centres of k-means of the rows of many files, or of their coordinates under MODEL. It begins with
k-means|| (Bahmani et al. 2012), which takes --rounds passes over the files and two more, or with the --centers of a file; each of
Lloyd's iterations takes a pass. The result has the same bits on every runner, with any number of workers.

'mustlink-beam assign' gives rows to the centres.`,
		Example: `  mustlink-beam kmeans -i 'embedded/part-*.npy' -n 100 --seed 1 -o centers.npy
  mustlink-beam kmeans model.mlk -i 'data/part-*.parquet' -n 20 --iterations 50 --tol 0 -o centers.npy`,
		Args: positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runKMeans(cmd, args, &k) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	k.in.add(cmd)
	f.IntVarP(&k.o.K, "clusters", "n", 0, "number of clusters `K`")
	f.StringVar(&k.centers, "centers", "", "the `FILE` of the centres to begin with, in place of k-means||")
	f.IntVar(&k.o.Rounds, "rounds", clustering.DefaultRounds, "rounds of k-means||")
	f.IntVar(&k.o.Draw, "draw", 0, "rows that a round draws, about; 0: twice the clusters, at least 256")
	f.IntVar(&k.o.Iterations, "iterations", clustering.DefaultIterations, "most of Lloyd's iterations")
	f.Float64Var(&k.o.Tol, "tol", clustering.DefaultTol, "stop when an iteration lowers the inertia by no more than this share of it")
	f.Uint64Var(&k.o.Seed, "seed", 1, "number that fixes every random choice")
	f.StringVarP(&k.out, "output", "o", "", "the file of `CENTERS` to write: .npy, .csv or .parquet")
	k.bad.add(cmd)
	return cmd
}

func (a *app) runKMeans(cmd *cobra.Command, args []string, k *kmeansFlags) error {
	if err := required(cmd, "input", "output"); err != nil {
		return err
	}
	given, err := k.given(cmd)
	if err != nil {
		return err
	}
	t, err := a.begin(cmd, args, &k.jobFlags)
	if err != nil {
		return err
	}
	if err := t.outputFile(); err != nil {
		return err
	}
	if int64(k.o.K) > t.set.Rows {
		return usagef("-n, --clusters is %d: want at most %d, the number of rows", k.o.K, t.set.Rows)
	}
	if k.o.Width, err = t.width(); err != nil {
		return err
	}
	var found clustering.Found
	r, err := t.reporting(cmd.Context(), &found, func(s beam.Scope) error {
		source := clustering.Over(s, t.config, t.set.Elements)
		clustering.Write(s, k.out, source.Centers(s, k.o, given))
		return nil
	})
	if err != nil {
		return err
	}
	return a.print(r, func(w io.Writer) {
		state := "stopped"
		if found.Converged {
			state = "converged"
		}
		fmt.Fprintf(w, "clusters\t%d, %s\n", found.Clusters, sizesText(found.Sizes))
		fmt.Fprintf(w, "inertia\t%.6g, %s after %d iterations\n", found.Inertia, state, found.Iterations)
	})
}

// given checks the options, and returns the centres to begin with, nil for those of k-means||.
func (k *kmeansFlags) given(cmd *cobra.Command) (*clustering.State, error) {
	if k.centers == "" {
		if err := required(cmd, "clusters"); err != nil {
			return nil, err
		}
		return nil, k.o.Validate()
	}
	m, err := places.Read(k.centers)
	if err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("clusters") && k.o.K != m.Rows {
		return nil, usagef("-n, --clusters is %d: want %d, as %s has centres, or none", k.o.K, m.Rows, k.centers)
	}
	k.o.K = m.Rows
	state := clustering.From(m)
	return &state, k.o.Validate()
}

// sizesText sums up the sizes of clusters.
func sizesText(sizes []int64) string {
	if len(sizes) == 0 {
		return "no rows"
	}
	least, most := sizes[0], sizes[0]
	for _, n := range sizes {
		least, most = min(least, n), max(most, n)
	}
	return fmt.Sprintf("of %d to %d rows", least, most)
}
