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

func Example() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	x := blas.Matrix{Rows: 6, Cols: 1, Stride: 1, Data: []float64{0, 1, 2, 10, 11, 12}}

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
