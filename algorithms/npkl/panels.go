package npkl

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
)

// panels sweeps over the rows of a full graph in their order: a product of a panel of rows with V,
// corrected within the panel by a product after every few rows, and within those few after every
// row.
type panels struct{}

// panelRows is the number of rows of a panel, large enough that the products are limited by memory
// only. fewRows is the number of rows whose changes are applied together to the rest of the panel.
const panelRows, fewRows = 512, 32

func (panels) sweep(ctx context.Context, d *descent) (tally, error) {
	n, r := d.v.Rows, d.v.Cols
	p := panel{descent: d, sums: d.eng.GetMatrix(panelRows, 2*r), changes: d.eng.GetMatrix(fewRows, 2*r)}
	defer d.eng.PutMatrix(p.sums)
	defer d.eng.PutMatrix(p.changes)
	p.block = d.blocks.Get().(*block)
	defer d.blocks.Put(p.block)
	var total tally
	value := 0.0
	for lo := 0; lo < n; lo += panelRows {
		p.begin(lo, min(lo+panelRows, n))
		for at := p.lo; at < p.hi; at += fewRows {
			total.add(p.few(at, min(at+fewRows, p.hi)))
		}
		for i := lo; i < p.hi; i++ {
			row := d.v.Row(i)
			value += d.Diag[i]*graphkernel.Dot(row, row) - 2*graphkernel.Dot(row, p.sums.Row(i - lo)[:r])
		}
		if err := ctx.Err(); err != nil {
			return total, err
		}
	}
	for i := range n {
		value += d.Losses(i, d.v)
	}
	total.value = value
	return total, nil
}

// panel is a sweep over the rows [lo, hi).
type panel struct {
	*descent
	lo, hi int
	block  *block
	// sums has the sums over the neighbors of every row: over those before it, which are updated
	// and final, so they also give the objective; and over the others, which are old.
	sums    blas.Matrix
	changes blas.Matrix // what is added to both kinds of sums: the new rows minus the old ones
}

func (p *panel) begin(lo, hi int) {
	p.lo, p.hi = lo, hi
	n, r, b := p.v.Rows, p.v.Cols, p.eng.Backend()
	b.Gemm(false, false, 1, p.N.Full.View(lo, hi, 0, lo), p.v.View(0, lo, 0, r), 0, p.sums.View(0, hi-lo, 0, r))
	b.Gemm(false, false, 1, p.N.Full.View(lo, hi, lo, n), p.v.View(lo, n, 0, r), 0, p.sums.View(0, hi-lo, r, 2*r))
}

// few updates the rows [at, end).
func (p *panel) few(at, end int) tally {
	var total tally
	r, k, t := p.v.Cols, p.block, p.eng.Backend().Kernels()
	for i := at; i < end; i++ {
		sum := p.sums.Row(i - p.lo)
		for c := range k.pulled {
			k.pulled[c] = sum[c] + sum[r+c]
		}
		total.add(p.move(k, i, k.pulled))
		change := p.changes.Row(i - at)
		for c, x := range p.v.Row(i) {
			change[c], change[r+c] = x, -k.old[c]
		}
		for a, w := range p.N.Full.Row(i)[i+1 : end] {
			t.Axpy(w, change, p.sums.Row(i+1+a-p.lo))
		}
	}
	if end < p.hi {
		p.eng.Backend().Gemm(false, false, 1, p.N.Full.View(end, p.hi, at, end), p.changes.View(0, end-at, 0, 2*r), 1, p.sums.View(end-p.lo, p.hi-p.lo, 0, 2*r))
	}
	return total
}
