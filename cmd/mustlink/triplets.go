package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
)

// tripletFlags name a file of triplets, whose rows are named as those of links are.
type tripletFlags struct{ path string }

func (t *tripletFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.path, "triplets", "", "`FILE` of triplets to learn from beside links or alone: a CSV i,j,k, row i nearer to row j than to row k ("+strings.Join(tripletMethods(), ", ")+")")
}

// tripletMethods returns the names of the methods that learn from triplets.
func tripletMethods() []string {
	var names []string
	for _, m := range catalog.Methods() {
		if m.UsesTriplets {
			names = append(names, m.Name)
		}
	}
	return names
}

// check reports a method that does not learn from triplets.
func (t *tripletFlags) check(m catalog.Method) error {
	if t.path != "" && !m.UsesTriplets {
		return usagef("--triplets is for methods that learn from them, %s is none: want -m %s", m.Name, strings.Join(tripletMethods(), " or -m "))
	}
	return nil
}

// readTriplets reads the triplets of rows of d, none without a file.
func (a *app) readTriplets(ctx context.Context, t *tripletFlags, l *linkFlags, d *dataset.Data) ([]links.Triplet, error) {
	if t.path == "" {
		return nil, nil
	}
	return readRows(ctx, a, l, t.path, d, dataset.DecodeTriplets, dataset.ReadTriplets)
}
