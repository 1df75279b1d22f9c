package kernel

import "github.com/mustlink/mustlink/blas"

// Center replaces the symmetric matrix k (both triangles) by H K H with H = I - 11'/n, the kernel
// of the points minus their mean in feature space: it subtracts the means of rows and columns and
// adds the overall mean. It returns the row means of the original matrix. Cost: 4n^2 flops.
func Center(k blas.Matrix) (means []float64) {
	means = make([]float64, k.Rows)
	for i := range means {
		means[i] = Mean(k.Row(i))
	}
	all := Mean(means)
	for i := range k.Rows {
		row := k.Row(i)
		for j := range row {
			row[j] -= means[i] + means[j] - all
		}
	}
	return means
}

// Mean returns the mean of some values, 0 for none. Their sum may exceed float64.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}
