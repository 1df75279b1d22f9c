package krca_test

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// A stream of chunklets: each arrival costs what is new, and can be taken back.
func ExampleIncremental() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, _ := points.NewDense(6, 2, []float64{0, 0, 0, 1, 3, 0, 3, 1, 6, 0, 6, 2})
	set, _ := links.FromChunklets(6, [][]int{{0, 1}})
	spec, _ := kernel.Parse("rbf:sigma=2")
	m, err := krca.Learner{Kernel: spec, Params: krca.DefaultParams()}.Fit(ctx, eng, x, set)
	if err != nil {
		fmt.Println(err)
		return
	}
	u, err := m.(*krca.Model).Incremental()
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func() {
		d, _ := u.Distances(ctx, eng, x, [][2]int{{4, 5}})
		fmt.Printf("%d points in %d updates: squared distance %.1f\n", u.Points(), u.Updates(), d[0])
	}
	show()
	_ = u.Add(ctx, eng, x, []int{2, 3}) // a new chunklet
	_ = u.Extend(ctx, eng, x, 0, 4)     // another point in the first one
	show()
	_ = u.DropLast(2)
	show()
	// Output:
	// 2 points in 0 updates: squared distance 786.9
	// 5 points in 2 updates: squared distance 1603.6
	// 2 points in 0 updates: squared distance 786.9
}
