package cluster_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
)

// Rows that come in blocks, from a file for example: every range over them begins with the first.
func ExampleKMeansStream() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := func(yield func(blas.Matrix, error) bool) {
		for block := range 100 {
			x := blas.NewMatrix(2, 1)
			x.Set(0, 0, float64(block%3))
			x.Set(1, 0, float64(block%3+10))
			if !yield(x, nil) {
				return
			}
		}
	}
	r, err := cluster.KMeansStream(context.Background(), eng, rows,
		cluster.StreamParams{Params: cluster.Params{K: 2}, Sample: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Rows, r.Sizes, r.Converged)

	labels, distances := make([]int, 2), make([]float64, 2)
	err = r.Assign(context.Background(), eng, blas.MatrixOf(2, 1, []float64{-5, 40}), labels, distances)
	fmt.Println(labels[0] == labels[1], err)
	// Output:
	// 200 [100 100] true
	// false <nil>
}

func Example() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	x := blas.MatrixOf(6, 1, []float64{0, 1, 2, 10, 11, 12})

	plain, err := cluster.KMeans(ctx, eng, x, cluster.Params{K: 2})
	fmt.Println(plain.Labels[0] == plain.Labels[2], plain.Labels[2] == plain.Labels[3], plain.Inertia, err)

	// Rows 2 and 3 belong together, rows 0 and 2 do not.
	l, err := links.New(6, []links.Link{links.NewLink(2, 3, links.Must), links.NewLink(0, 2, links.Cannot)})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := cluster.Constrained(ctx, eng, x, l, cluster.Params{K: 2})
	fmt.Println(r.Labels[2] == r.Labels[3], r.Labels[0] == r.Labels[2], err)

	// One cluster cannot keep rows 0 and 2 apart.
	_, err = cluster.Constrained(ctx, eng, x, l, cluster.Params{K: 1})
	fmt.Println(errors.Is(err, cluster.ErrInfeasible))
	fmt.Println(err)
	// Output:
	// true false 4 <nil>
	// true false <nil>
	// true
	// cluster: no assignment to 1 cluster satisfies the cannot-links: the 2 must-link components of rows 0, 2 exclude one another (cannot-links 0-2); use at least 2 clusters or drop one of these links
}
