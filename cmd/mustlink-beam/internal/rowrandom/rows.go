package rowrandom

import (
	"cmp"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/blas"
)

func init() {
	register.Emitter1[Rows]()
	register.Iter1[Rows]()
}

// Rows are rows with keys. Rows with the smallest keys are drawn.
type Rows struct {
	Keys    []float64
	Numbers []int64   // of the rows in the set
	Values  []float64 // of the rows, row by row
}

// Offer adds a row.
func (r *Rows) Offer(key float64, number int64, row []float64) {
	r.Keys, r.Numbers, r.Values = append(r.Keys, key), append(r.Numbers, number), append(r.Values, row...)
}

// Take adds a row with its number as key.
func (r *Rows) Take(number int64, row []float64) { r.Offer(float64(number), number, row) }

// Join returns the rows of all parts of a Beam iterator, ascending by their keys and each once.
func Join(next func(*Rows) bool) Rows {
	var all Rows
	for part := (Rows{}); next(&part); part = (Rows{}) {
		all.Keys, all.Numbers, all.Values = append(all.Keys, part.Keys...),
			append(all.Numbers, part.Numbers...), append(all.Values, part.Values...)
	}
	all.Smallest(len(all.Keys), nil)
	return all
}

// Matrix returns the values of the rows. It shares memory with them.
func (r *Rows) Matrix() blas.Matrix {
	width := r.Width()
	return blas.MatrixOf(len(r.Keys), width, r.Values)
}

// With returns the rows of both, in memory of their own.
func (r Rows) With(b Rows) Rows {
	return Rows{slices.Concat(r.Keys, b.Keys), slices.Concat(r.Numbers, b.Numbers),
		slices.Concat(r.Values, b.Values)}
}

// Width returns the number of values of a row.
func (r *Rows) Width() int {
	if len(r.Keys) == 0 {
		return 0
	}
	return len(r.Values) / len(r.Keys)
}

// Smallest keeps the rows of the m smallest keys for which drawn is true, ascending by their keys
// and each once. A nil function accepts all.
func (r *Rows) Smallest(m int, drawn func(key float64) bool) {
	order := make([]int, 0, len(r.Keys))
	for i, key := range r.Keys {
		if drawn == nil || drawn(key) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.Keys[a], r.Keys[b]), cmp.Compare(r.Numbers[a], r.Numbers[b]))
	})
	order = slices.CompactFunc(order, func(a, b int) bool { return r.Numbers[a] == r.Numbers[b] })
	r.pick(order[:min(m, len(order))])
}

// Ascending sorts the rows by their numbers.
func (r *Rows) Ascending() {
	if slices.IsSorted(r.Numbers) {
		return
	}
	order := make([]int, len(r.Numbers))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.Numbers[a], r.Numbers[b]) })
	r.pick(order)
}

// pick keeps the rows at the given indices, in that order.
func (r *Rows) pick(order []int) {
	width := r.Width()
	out := Rows{make([]float64, len(order)), make([]int64, len(order)), make([]float64, 0, len(order)*width)}
	for to, from := range order {
		out.Keys[to], out.Numbers[to] = r.Keys[from], r.Numbers[from]
		out.Values = append(out.Values, r.Values[from*width:(from+1)*width]...)
	}
	*r = out
}
