package points_test

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/engine/points"
)

func ExampleNewDense() {
	x, err := points.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Select([]int{2, 0}).(*points.Dense).Data)

	_, err = points.NewDense(2, 2, []float64{1, 2, 3, math.NaN()})
	fmt.Println(err)
	// Output:
	// [5 6 1 2]
	// row 1, column "1": value is NaN: want a finite number
}
