package optimize_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// pull is 4 (1 - z)^2: an entry should be 1.
type pull struct{}

func (pull) Smooth(z, _ float64) (f, d1, d2 float64) { return 4 * (1 - z) * (1 - z), 8 * (z - 1), 8 }

func (pull) Gap(z, d float64) float64 {
	f := 4 * (1 - z) * (1 - z)
	return f + d + d*d/16 - d*z // the conjugate at d is d + d^2 / 16
}

// The example minimizes the trace of Z plus a loss that is 0 for Z_12 = 1. At the optimum Z has
// rank one and z = Z_11 = Z_12 = Z_22, which minimizes 2 z + 4 (1 - z)^2.
func ExampleMinimizeSDP() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	a := blas.NewMatrix(2, 2)
	a.Set(0, 0, 1)
	a.Set(1, 1, 1)
	result, err := optimize.MinimizeSDP(context.Background(), eng, a,
		[]optimize.Term{{I: 0, J: 1, Loss: pull{}}}, optimize.SDPOptions{})
	if err != nil {
		log.Fatal(err)
	}
	z := 0.0
	for c := range result.Factor.Cols {
		z += result.Factor.At(0, c) * result.Factor.At(1, c)
	}
	fmt.Printf("%.4f", z)
	// Output: 0.7500
}
