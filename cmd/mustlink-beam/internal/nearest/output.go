package nearest

import (
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
)

// Columns returns the columns of the output: the number of a row, those of its k nearest rows, and
// their squared distances. The last two are -1 where a bucket has too few rows.
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
	for i, own := range l.of.Numbers {
		list := l.found[i]
		if len(list) < l.k {
			return out, fault.Data("",
				"row %d is compared with %d other rows: want at least %d; take fewer --neighbors or fewer "+
					"landmarks", own, len(list), l.k)
		}
		out = append(out, float64(own))
		for _, n := range list {
			out = append(out, float64(n.row))
		}
		for _, n := range list {
			if n == none {
				n.squared = -1
			}
			out = append(out, n.squared)
		}
	}
	return out, nil
}
