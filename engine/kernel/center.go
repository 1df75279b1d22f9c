package kernel

import "github.com/mustlink/mustlink/blas"

// Center subtracts the means of rows and of columns from k, symmetric, both triangles, and adds
// that of all: H K H with H = I - 11'/n, the kernel of the points less their mean in feature
// space. It returns the means of the rows before. 4n^2 flops.
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

// Mean returns that of some values, 0 for none. Their sum may be too large for a float64.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}
