package kernel

import (
	"context"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// MultiplySingle writes the |x| x p product K(x, y) v into dst, for v of |y| x p:
// [Kernel.MultiplyTo] in single precision, with the kernels and accuracy of [Kernel.GramSingle];
// sums over |y| terms are in single precision, too. The kernel matrix is never stored. Errors are
// those of [Kernel.CrossSingle]. It panics if the shapes do not agree.
//
// Cost: 2 |x| |y| (d + p) flops.
func (k Kernel) MultiplySingle(ctx context.Context, eng *engine.Engine, dst blas.Matrix32, x, y *points.Single, v blas.Matrix32) error {
	checkShape32(dst, x.N, v.Cols)
	checkShape32(v, y.N, v.Cols)
	ev, err := k.single(ctx, eng, x, y)
	if err != nil {
		return err
	}
	if v.Cols == 0 {
		return nil
	}
	t := &ev.t.Single
	wide := min(padded(y.N, t.NR), productCols)
	right := panelsOf(t, v)
	return eng.For(ctx, x.N, productRows, func(lo, hi int) error {
		s, err := ev.strip(lo, hi, wide)
		if err != nil {
			return err
		}
		p := newProduct(t, hi-lo, wide, v.Cols, y.N > wide)
		for j0 := 0; j0 < y.N; j0 += wide {
			if err := ctx.Err(); err != nil {
				return err
			}
			cols := min(wide, y.N-j0)
			s.tile(j0, cols)
			p.add(s, cols, right[j0*t.NR:], y.N*t.NR)
		}
		for r := range hi - lo {
			copy(dst.Row(lo+r), p.sums[r*p.wide:])
		}
		ev.done(s)
		return nil
	})
}

// The numbers of rows and of columns of kernel values in memory at a time.
const (
	productRows = singleRows
	productCols = 4 * singleCols
)

// panelsOf copies the columns of v into panels of NR, with zeros after the last.
func panelsOf(t *asm.Single, v blas.Matrix32) []float32 {
	out := make([]float32, padded(v.Cols, t.NR)*v.Rows)
	for l := range v.Rows {
		for c, value := range v.Row(l) {
			out[c/t.NR*t.NR*v.Rows+l*t.NR+c%t.NR] = value
		}
	}
	return out
}

// product accumulates the sums of some rows.
type product struct {
	t    *asm.Single
	sums []float32 // rows of wide elements
	wide int
	left []float32 // a panel of kernel values
	part []float32 // a register tile, nil if the first is the sum
}

func newProduct(t *asm.Single, rows, depth, cols int, several bool) *product {
	wide := padded(cols, t.NR)
	p := &product{t: t, sums: make([]float32, padded(rows, t.MR)*wide), wide: wide, left: make([]float32, t.MR*depth)}
	if several {
		p.part = make([]float32, t.MR*t.NR)
	}
	return p
}

// add adds the product of the first cols columns of a strip's tile with cols rows of the panels,
// which are apart elements from one another.
func (p *product) add(s *singleStrip, cols int, right []float32, apart int) {
	t := p.t
	for i := 0; i < s.hi-s.lo; i += t.MR {
		p.load(s, i, cols)
		for j := 0; j < p.wide; j += t.NR {
			sums := p.sums[i*p.wide+j:]
			if p.part == nil {
				t.Tile(cols, p.left, right[j/t.NR*apart:], sums, p.wide)
				continue
			}
			t.Tile(cols, p.left, right[j/t.NR*apart:], p.part, t.NR)
			for r := range t.MR {
				row := sums[r*p.wide:][:t.NR]
				for c, v := range p.part[r*t.NR:][:t.NR] {
					row[c] += v
				}
			}
		}
	}
}

// load copies the first columns of the rows from i on into a panel.
func (p *product) load(s *singleStrip, i, cols int) {
	var rows [largestPanel][]float32
	mr := p.t.MR
	for r := range mr {
		rows[r] = s.row(i+r, cols)
	}
	for l := range cols {
		column := p.left[l*mr:][:mr]
		for r := range column {
			column[r] = rows[r][l]
		}
	}
}
