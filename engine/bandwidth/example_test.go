package bandwidth_test

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

func ExampleResolve() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		panic(err)
	}
	x, err := points.NewDense(3, 1, []float64{0, 1, 5})
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"rbf:sigma=median", "rbf:sigma=0.5median", "exp:width=lle"} {
		spec, err := kernel.Parse(text)
		if err != nil {
			panic(err)
		}
		resolved, err := bandwidth.Resolve(context.Background(), eng, spec, x)
		if err != nil {
			panic(err)
		}
		fmt.Println(resolved)
	}
	// Output:
	// rbf:sigma=4
	// rbf:sigma=2
	// exp:width=2.5
}
