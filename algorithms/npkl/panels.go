package npkl

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
)

// panels sweeps over the rows in their order, where all pairs have edges: a product of a panel of rows with
// V, corrected within the panel after every row.
type panels struct{}

// panelRows is the number of rows of a panel: enough for the products to wait for memory only, and few, as
// the corrections are on one worker.
const panelRows = 512

func (panels) sweep(ctx context.Context, d *descent) (tally, error) {
	n, r := d.v.Rows, d.v.Cols
	before, after := d.eng.GetMatrix(panelRows, r), d.eng.GetMatrix(panelRows, r)
	defer d.eng.PutMatrix(before)
	defer d.eng.PutMatrix(after)
	k := d.blocks.Get().(*block)
	defer d.blocks.Put(k)
	var total tally
	value, b := 0.0, d.eng.Backend()
	for lo := 0; lo < n; lo += panelRows {
		hi := min(lo+panelRows, n)
		// The rows before the panel are new, and stay: their products are those of the objective.
		left, right := before.View(0, hi-lo, 0, r), after.View(0, hi-lo, 0, r)
		b.Gemm(false, false, 1, d.N.Full.View(lo, hi, 0, lo), d.v.View(0, lo, 0, r), 0, left)
		b.Gemm(false, false, 1, d.N.Full.View(lo, hi, lo, n), d.v.View(lo, n, 0, r), 0, right)
		for i := lo; i < hi; i++ {
			for c, x := range left.Row(i - lo) {
				k.pulled[c] = x + right.At(i-lo, c)
			}
			total.add(d.move(k, i, k.pulled))
			row := d.v.Row(i)
			for c, x := range row {
				k.old[c] = x - k.old[c]
			}
			later := d.N.Full.Row(i)[i+1 : hi]
			for a, w := range later {
				for c, x := range k.old {
					right.Data[(i+1-lo+a)*right.Stride+c] += w * x
				}
			}
		}
		for i := lo; i < hi; i++ {
			row := d.v.Row(i)
			copy(k.pulled, left.Row(i-lo))
			for a, w := range d.N.Full.Row(i)[lo:i] {
				for c, x := range d.v.Row(lo + a) {
					k.pulled[c] += w * x
				}
			}
			value += d.Diag[i]*graphkernel.Dot(row, row) - 2*graphkernel.Dot(row, k.pulled)
		}
		if err := ctx.Err(); err != nil {
			return total, err
		}
	}
	for i := range n {
		value += d.Charges(i, d.v)
	}
	total.value = value
	return total, nil
}
