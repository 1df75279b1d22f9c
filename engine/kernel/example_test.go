package kernel_test

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

func ExampleKernel_Gram() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		panic(err)
	}
	x, err := points.NewDense(3, 2, []float64{0, 0, 3, 4, 0, 0})
	if err != nil {
		panic(err)
	}
	spec, err := kernel.Parse("rbf:sigma=5")
	if err != nil {
		panic(err)
	}
	k, err := kernel.New(spec)
	if err != nil {
		panic(err)
	}
	gram, err := k.Gram(context.Background(), eng, x)
	if err != nil {
		panic(err)
	}
	for i := range gram.Rows {
		fmt.Printf("%.4f\n", gram.Row(i))
	}
	// Output:
	// [1.0000 0.6065 1.0000]
	// [0.6065 1.0000 0.6065]
	// [1.0000 0.6065 1.0000]
}

func ExampleParse() {
	for _, text := range []string{"exp:lle", "rbf:0.5mean@cosine", "rbf:sgima=1", "rbf:sigma=-1"} {
		spec, err := kernel.Parse(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(spec, spec.NeedsData())
	}
	// Output:
	// exp:width=lle true
	// rbf:sigma=0.5mean@cosine true
	// parameter of kernel rbf is "sgima": want one of sigma, gamma; did you mean "sigma"?
	// sigma of kernel rbf is -1: want a number > 0
}
