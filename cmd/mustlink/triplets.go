package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/usage"
)

// comparisonFlags name a file of comparisons of rows, which are named as those of links are.
type comparisonFlags[T any] struct {
	comparisons[T]
	path string
}

// comparisons is a kind of them.
type comparisons[T any] struct {
	name   string // of the flag
	means  string // columns of the file, and what they say
	used   func(catalog.Method) bool
	read   func(path string, c dataset.LinkContext) ([]T, error)
	decode func(r io.Reader, name string, gz bool, c dataset.LinkContext) ([]T, error)
}

func triplets() comparisons[links.Triplet] {
	return comparisons[links.Triplet]{
		"triplets", "i,j,k, row i nearer to row j than to row k",
		func(m catalog.Method) bool { return m.UsesTriplets }, dataset.ReadTriplets, dataset.DecodeTriplets,
	}
}

func quadruplets() comparisons[links.Quadruplet] {
	return comparisons[links.Quadruplet]{
		"quadruplets", "i,j,k,l, rows i and j nearer to each other than rows k and l",
		func(m catalog.Method) bool { return m.UsesQuadruplets }, dataset.ReadQuadruplets, dataset.DecodeQuadruplets,
	}
}

func (c *comparisonFlags[T]) add(cmd *cobra.Command, kind comparisons[T]) {
	c.comparisons = kind
	cmd.Flags().StringVar(&c.path, c.name, "", "`FILE` of "+c.name+" to learn from beside links or alone: a CSV "+c.means+" ("+strings.Join(c.methods(), ", ")+")")
}

// methods returns the names of the methods that learn from them.
func (c *comparisons[T]) methods() []string { return methodsThat(c.used) }

// check reports a method that does not learn from them.
func (c *comparisonFlags[T]) check(m catalog.Method) error {
	if c.path != "" && !c.used(m) {
		return usage.Errorf("--%s is for methods that learn from them, %s is none: want -m %s", c.name, m.Name, strings.Join(c.methods(), " or -m "))
	}
	return nil
}

// from reads the comparisons of rows of d, none without a file.
func (c *comparisonFlags[T]) from(ctx context.Context, a *app, l *linkFlags, d *dataset.Data) ([]T, error) {
	if c.path == "" {
		return nil, nil
	}
	return readRows(ctx, a, l, c.path, d, c.decode, c.read)
}
