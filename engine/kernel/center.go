package kernel

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Center replaces the symmetric matrix k (both triangles) by H K H with H = I - 11'/n, the kernel
// of the points minus their mean in feature space: it subtracts the means of rows and columns and
// adds the overall mean. It returns the row means of the original matrix. The error is ctx.Err().
// Cost: 4n^2 flops.
func Center(ctx context.Context, eng *engine.Engine, k blas.Matrix) (means []float64, err error) {
	means = make([]float64, k.Rows)
	if err := eng.Each(ctx, k.Rows, 64, func(i int) { means[i] = Mean(k.Row(i)) }); err != nil {
		return nil, err
	}
	all := Mean(means)
	err = eng.Each(ctx, k.Rows, 64, func(i int) {
		row := k.Row(i)
		for j := range row {
			row[j] -= means[i] + means[j] - all
		}
	})
	return means, err
}

// Mean returns the mean of some values, 0 for none. Their sum may exceed float64.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}
