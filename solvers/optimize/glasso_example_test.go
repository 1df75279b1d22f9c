package optimize_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// Features 0 and 2 vary together because both follow feature 1: the sparse inverse does not join
// them.
func ExampleGlasso() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	covariance := blas.MatrixOf(3, 3, []float64{
		1, 0.5, 0.24,
		0.5, 1, 0.5,
		0.24, 0.5, 1,
	})

	r, err := optimize.Glasso(context.Background(), eng, covariance, 0.05,
		optimize.GlassoOptions{Tol: 1e-8, MaxIter: 100})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", r.M.Row(0))
	// Output: [1.25 -0.56 0.00]
}
