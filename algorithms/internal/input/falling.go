package input

import (
	"cmp"
	"slices"
)

// Falling calls use for each of the different values, the largest first, with its indices among all. The first error ends it.
func Falling(values []float64, use func(v float64, places []int) error) error {
	order := make([]int, len(values))
	for at := range order {
		order[at] = at
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	for len(order) > 0 {
		v, count := values[order[0]], 1
		for count < len(order) && values[order[count]] == v {
			count++
		}
		if err := use(v, order[:count]); err != nil {
			return err
		}
		order = order[count:]
	}
	return nil
}
