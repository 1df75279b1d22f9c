package operator_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/operator"
)

// The Laplacian of a neighbor graph has as many zero eigenvalues as the graph has components.
func ExampleLaplacianEigenpairs() {
	x := &points.Dense{N: 60, D: 2, Data: make([]float64, 120)}
	for i := range x.N { // a small circle and a large one
		radius, angle := float64(1+9*(i%2)), 2*math.Pi*float64(i/2)/30
		x.Data[2*i], x.Data[2*i+1] = radius*math.Cos(angle), radius*math.Sin(angle)
	}
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, 2)
	if err != nil {
		log.Fatal(err)
	}
	res, err := operator.LaplacianEigenpairs(ctx, eng, near.Adjacency(graph.Union, graph.Binary), false, 4,
		operator.EigenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", res.Values)
	// Output:
	// [0.0000 0.0000 0.0437 0.0437]
}
