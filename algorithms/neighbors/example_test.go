package neighbors_test

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

func ExampleClassify() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	train := blas.MatrixOf(4, 1, []float64{0, 1, 5, 6})
	query := blas.MatrixOf(2, 1, []float64{2, 4.5})
	labels, err := neighbors.Classify(context.Background(), eng, train,
		[]string{"low", "low", "high", "high"}, query, 3)
	fmt.Println(labels, err)
	// Output: [low high] <nil>
}
