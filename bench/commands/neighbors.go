package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/search"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// searchReport is the output of neighbors.
type searchReport struct {
	Machine  string          `json:"machine"`
	Threads  int             `json:"threads"`
	Searches []search.Result `json:"searches"`
}

func newNeighbors(a *app) *cobra.Command {
	o := search.Options{}
	cmd := &cobra.Command{
		Use:   "neighbors",
		Short: "time searches for nearest neighbors, exact and by an index",
		Long: `Draw rows of a mixture of Gaussians and search for the neighbors of others: exactly, by the index of
'mustlink neighbors --approximate', and with --python in scikit-learn (brute force), hnswlib and FAISS
(inverted file, single precision), those of these that are there. Indexes of other libraries get the
smallest of some settings with which they reach the recall.

--spread is the standard deviation of the centers of the clusters, that of their rows is 1: clusters
are apart at 3, and run into each other at 1.`,
		Example: `  mustlink-bench neighbors --rows 100000 --queries 1000
  mustlink-bench neighbors --python /usr/bin/python3`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			check := a.Check(cmd)
			check.AtLeast("-k, --neighbors", o.Neighbors, 1)
			check.AtLeast("--rows", o.Rows, o.Neighbors+1)
			check.AtLeast("--queries", o.Queries, 1)
			check.AtLeast("--columns", o.Columns, 1)
			check.AtLeast("--clusters", o.Clusters, 1)
			check.Refuse(!(o.Recall > 0 && o.Recall <= 1), "--recall is %v: want a number > 0 and <= 1",
				o.Recall)
			for _, name := range o.Against {
				check.OneOf("--against", name, search.Libraries)
			}
			if check.Err != nil {
				return check.Err
			}
			eng, err := a.Engine()
			if err != nil {
				return err
			}
			if !a.JSON {
				fmt.Fprintf(a.Stdout, "%s, %d threads\n", machine(), eng.Workers())
			}
			results := []search.Result{}
			err = search.Run(cmd.Context(), eng, o, func(r search.Result) {
				if results = append(results, r); !a.JSON { // now, as some take long
					fmt.Fprintf(a.Stdout,
						"%-36s build %7.2f s, search %7.3f s (processors %7.3f s), %6.1f (%.1f) times as "+
							"fast, recall %.4f  %s\n",
						r.Name, r.Build, r.Search, r.CPU, results[0].Search/r.Search, results[0].CPU/r.CPU,
						r.Recall, r.Setting)
				}
			})
			if err != nil || !a.JSON {
				return err
			}
			return session.EncodeJSON(a.Stdout, searchReport{machine(), eng.Workers(), results})
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Rows, "rows", 1_000_000, "number of rows to search in")
	f.IntVar(&o.Queries, "queries", 10_000, "number of rows to search for")
	f.IntVar(&o.Columns, "columns", 32, "number of columns")
	f.IntVar(&o.Clusters, "clusters", 1000, "number of clusters")
	f.Float64Var(&o.Spread, "spread", 3, "standard deviation of the centers of clusters")
	f.IntVarP(&o.Neighbors, "neighbors", "k", 10, "number of neighbors")
	f.Float64Var(&o.Recall, "recall", .95, "recall to reach")
	f.StringVar(&o.Python, "python", "", "Python `INTERPRETER` for other libraries (default: none)")
	f.StringSliceVar(&o.Against, "against", search.Libraries, "the `LIBRARIES` to measure with --python")
	usage.SeedFlag(f, &o.Seed)
	return cmd
}
