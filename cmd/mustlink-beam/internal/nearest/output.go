package nearest

import (
	"fmt"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// Columns are those of what is written for each row: its number, those of its k nearest rows, and their squared distances.
// Where a bucket has too few rows, both are -1.
func Columns(k int) []string {
	columns := []string{"row"}
	for _, name := range []string{"neighbor", "squared"} {
		for a := range k {
			columns = append(columns, fmt.Sprintf("%s%d", name, a+1))
		}
	}
	return columns
}

// append adds the lists to the values of an output.
func (l *lists) append(out []float64) ([]float64, error) {
	for i, own := range l.own {
		if len(l.numbers[i]) < l.k {
			return out, fault.Data("", "row %d has %d other rows to choose from: want at least %d (fewer --neighbors, or fewer landmarks)", own, len(l.numbers[i]), l.k)
		}
		out = append(out, float64(own))
		for _, number := range l.numbers[i] {
			out = append(out, float64(number))
		}
		for a, squared := range l.squared[i] {
			if l.numbers[i][a] == none {
				squared = none
			}
			out = append(out, squared)
		}
	}
	return out, nil
}

// write writes values of whole rows of an output.
func write(out shard.Output, path string, k int, values []float64) error {
	options, err := out.Matrix(Columns(k))
	if err != nil {
		return err
	}
	cols := 2*k + 1
	return dataset.WriteMatrix(path, len(values)/cols, cols, values, cols, nil, options)
}
