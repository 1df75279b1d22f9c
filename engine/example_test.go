package engine_test

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/engine"
)

// A sum that is bit-identical for any number of workers: fixed blocks, then a reduction in order.
func ExampleEngine_For() {
	eng, err := engine.New(engine.Options{Workers: 2})
	if err != nil {
		panic(err)
	}
	const n, block = 1000, 64
	partial := make([]float64, (n+block-1)/block)
	err = eng.For(context.Background(), n, block, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			partial[lo/block] += float64(i)
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	total := 0.0
	for _, p := range partial {
		total += p
	}
	fmt.Println(total)
	// Output:
	// 499500
}
