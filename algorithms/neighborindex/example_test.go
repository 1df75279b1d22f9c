package neighborindex_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/mustlink/mustlink/algorithms/neighborindex"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// The neighbors of two rows among a thousand on a line, which are at 0, 1, 2, ... in any order.
func ExampleBuild() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := blas.NewMatrix(1000, 1)
	for i, v := range rand.New(rand.NewPCG(1, 1)).Perm(1000) {
		rows.Set(i, 0, float64(v))
	}
	index, err := neighborindex.Build(ctx, eng, rows, neighborindex.Source{},
		neighborindex.Options{Neighbors: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	probes, err := index.Probes(0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	search, err := index.Open(ctx, eng, rows)
	if err != nil {
		fmt.Println(err)
		return
	}
	queries := blas.MatrixOf(2, 1, []float64{100.2, 640.4})
	found, squared, err := search.Search(ctx, queries, 3, probes)
	for at, i := range found {
		fmt.Printf("%v at %.2f\n", rows.At(int(i), 0), squared[at])
	}
	fmt.Println(index.Recall(probes).Value > 0.95, err)
	// Output:
	// 100 at 0.04
	// 101 at 0.64
	// 99 at 1.44
	// 640 at 0.16
	// 641 at 0.36
	// 639 at 1.96
	// true <nil>
}
