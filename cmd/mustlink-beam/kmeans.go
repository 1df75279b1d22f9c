package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/kmeans"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type kmeansFlags struct {
	jobFlags
	o       kmeans.Options
	centers string // file of the initial ones
}

func newKMeans(a *app) *cobra.Command {
	var k kmeansFlags
	cmd := &cobra.Command{
		Use:   "kmeans [MODEL] -i PATTERN (-n K | --centers FILE) -o CENTERS",
		Short: "compute the centers of k-means",
		Long: `Compute the centers of k-means of the rows of many files, or of their coordinates under MODEL. The start is
k-means|| (Bahmani et al. 2012), which reads the files --rounds + 2 times, or the centers in the file --centers. Each of Lloyd's
iterations takes one pass. The result is bit-identical on every runner and with any number of workers.

'mustlink-beam assign' assigns rows to the centers.`,
		Example: `  mustlink-beam kmeans -i 'embedded/part-*.npy' -n 100 --seed 1 -o centers.npy
  mustlink-beam kmeans model.mlk -i 'data/part-*.parquet' -n 20 --iterations 50 --tol 0 -o centers.npy`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runKMeans(cmd, args, &k) },
	}
	f := cmd.Flags()
	k.addInput(cmd)
	f.IntVarP(&k.o.K, "clusters", "n", 0, "number of clusters `K`")
	f.StringVar(&k.centers, "centers", "", "the `FILE` of the initial centers, instead of those of k-means||")
	f.IntVar(&k.o.Rounds, "rounds", kmeans.DefaultRounds, "rounds of k-means||")
	f.IntVar(&k.o.Draw, "draw", 0,
		"approximate number of rows that a round draws; 0: twice the clusters, at least 256")
	f.IntVar(&k.o.Iterations, "iterations", kmeans.DefaultIterations, "maximum number of Lloyd's iterations")
	f.Float64Var(&k.o.Tol, "tol", kmeans.DefaultTol,
		"tolerance: stop when an iteration lowers the inertia by at most this share of it")
	usage.SeedFlag(f, &k.o.Seed)
	k.addOutput(cmd, "the file of `CENTERS` to write ("+session.Endings(", ")+")")
	return cmd
}

func (a *app) runKMeans(cmd *cobra.Command, args []string, k *kmeansFlags) error {
	check := a.Check(cmd)
	check.Required("input", "output")
	given := k.given(check)
	t, err := a.begin(check, args, &k.jobFlags)
	if err != nil {
		return err
	}
	if err := t.outputFile(); err != nil {
		return err
	}
	if int64(k.o.K) > t.set.Rows {
		return usage.Errorf("-n, --clusters is %d: want at most %d, the number of rows", k.o.K, t.set.Rows)
	}
	if k.o.Width, err = t.width(); err != nil {
		return err
	}
	var found kmeans.Summary
	r, err := t.reporting(&found, func(s beam.Scope, out string) error {
		source := kmeans.Over(s, t.config, t.set.Elements)
		kmeans.Write(s, out, source.Centers(s, k.o, given))
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
		fmt.Fprintf(w, "clusters\t%d, of %d to %d rows\n", found.Clusters, slices.Min(found.Sizes),
			slices.Max(found.Sizes))
		fmt.Fprintf(w, "inertia\t%.6g, %s after %d iterations\n", found.Inertia, state, found.Iterations)
	})
}

// given checks the options and returns the initial centers, nil for those of k-means||.
func (k *kmeansFlags) given(check *session.Checks) (given *kmeans.State) {
	if k.centers == "" {
		check.Required("clusters")
	} else {
		check.Do(func() error {
			m, err := coordinates.Read(k.centers)
			if err != nil {
				return err
			}
			if check.Cmd.Flags().Changed("clusters") && k.o.K != m.Rows {
				return usage.Errorf(
					"-n, --clusters is %d: want %d, the number of centers in %s; or leave it out", k.o.K,
					m.Rows, k.centers)
			}
			state := kmeans.From(m)
			k.o.K, given = m.Rows, &state
			return nil
		})
	}
	check.Do(k.o.Validate)
	return given
}
