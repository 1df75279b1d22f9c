package graph_test

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Two groups on a line: the graph of nearest neighbors has two connected components.
func ExampleNearest() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := points.NewDense(6, 1, []float64{0, 1, 3, 100, 101, 103})
	if err != nil {
		fmt.Println(err)
		return
	}
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	index, squared := near.Of(2)
	fmt.Println("neighbors of point 2:", index, "at squared distances", squared)

	a := near.Adjacency(graph.Union, graph.Binary)
	label, count := graph.Components(a)
	fmt.Println(count, "parts:", label)

	l, err := graph.Laplacian(a, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	columns, values := l.Row(2)
	fmt.Println("row 2 of the Laplacian:", columns, values)
	// Output:
	// neighbors of point 2: [1 0] at squared distances [4 9]
	// 2 parts: [0 0 0 1 1 1]
	// row 2 of the Laplacian: [0 1 2] [-1 -1 2]
}
