package logdet_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// Three points on a line are moved as little as possible so that the squared distance of the first
// two is at most 0.25.
func Example() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	g := blas.NewMatrix(3, 1) // a coordinate for each point
	copy(g.Data, []float64{0, 1, 3})
	near := logdet.Constraint{Kind: logdet.AtMost, I: 0, J: 1, Bound: 0.25}
	result, err := logdet.Rows(context.Background(), eng, g, []logdet.Constraint{near},
		logdet.Options{Gamma: math.Inf(1)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f %v", result.A.At(0, 0), result.Converged)
	// Output: 0.250 true
}
