package neighbors_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Two rows are near each other; the third is far away.
func ExamplePairs() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := blas.MatrixOf(3, 2, []float64{0, 0, 9, 9, 3, 4})
	pairs, err := neighbors.Pairs(context.Background(), eng, x, 6, neighbors.PairOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pairs)
	// Output: [{0 2 5}]
}
