package landmarking

import (
	"cmp"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.Combiner1[Draws](&leastFn{})
}

// Draws are rows with the numbers that decide which of them are taken: those of the smallest.
type Draws struct {
	Keys    []float64
	Numbers []int64   // of the rows in the set
	Rows    []float64 // one after another
}

func (d *Draws) offer(key float64, number int64, row []float64) {
	d.Keys, d.Numbers, d.Rows = append(d.Keys, key), append(d.Numbers, number), append(d.Rows, row...)
}

// width returns the number of values of a row.
func (d *Draws) width() int {
	if len(d.Keys) == 0 {
		return 0
	}
	return len(d.Rows) / len(d.Keys)
}

// least keeps the rows of the m smallest keys, ascending.
func (d *Draws) least(m int) {
	order := make([]int, len(d.Keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.Keys[a], d.Keys[b]), cmp.Compare(d.Numbers[a], d.Numbers[b]))
	})
	order = slices.CompactFunc(order, func(a, b int) bool { return d.Numbers[a] == d.Numbers[b] })
	d.pick(order[:min(m, len(order))])
}

// ascending sorts the rows by their numbers.
func (d *Draws) ascending() {
	order := make([]int, len(d.Numbers))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(d.Numbers[a], d.Numbers[b]) })
	d.pick(order)
}

// pick keeps the rows at the given places, in that order.
func (d *Draws) pick(order []int) {
	width := d.width()
	out := Draws{Keys: make([]float64, len(order)), Numbers: make([]int64, len(order)), Rows: make([]float64, 0, len(order)*width)}
	for to, from := range order {
		out.Keys[to], out.Numbers[to] = d.Keys[from], d.Numbers[from]
		out.Rows = append(out.Rows, d.Rows[from*width:(from+1)*width]...)
	}
	*d = out
}

// leastFn merges draws. The order of the merges does not matter.
type leastFn struct{ M int }

func (f *leastFn) MergeAccumulators(a, b Draws) Draws {
	both := Draws{slices.Concat(a.Keys, b.Keys), slices.Concat(a.Numbers, b.Numbers), slices.Concat(a.Rows, b.Rows)}
	both.least(f.M)
	return both
}
