package kernel

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// sparseBase computes inner products, uncentered, of which at least one operand is sparse. Its
// memory grows with the values of sparse points, not with the number of their features.
type sparseBase struct {
	t       *asm.Table
	x, y    points.Points
	yt      *points.CSR   // y transposed, if y is sparse: a row for each feature that occurs in it
	columns []int32       // these features
	shared  *points.CSR   // x, if both are sparse, over these features
	dense   *points.Dense // y transposed, if y is dense
	xx, yy  []float64
}

func newSparse(ctx context.Context, eng *engine.Engine, x, y points.Points) (*sparseBase, error) {
	b := &sparseBase{t: eng.Backend().Kernels(), x: x, y: y}
	var err error
	if b.yy, err = rawNorms(ctx, eng, y); err != nil {
		return nil, err
	}
	if b.xx = b.yy; x != y {
		if b.xx, err = rawNorms(ctx, eng, x); err != nil {
			return nil, err
		}
	}
	switch p := y.(type) {
	case *points.CSR:
		if err := b.transpose(eng, p); err != nil {
			return nil, err
		}
	case *points.Dense:
		if err := eng.Check("transposed copy of the points", engine.MatrixBytes(p.D, p.N), "use fewer points or raise the memory limit"); err != nil {
			return nil, err
		}
		b.dense = transposeDense(p)
	}
	return b, nil
}

// transpose prepares the features of sparse points y, and those of x that y has too.
func (b *sparseBase) transpose(eng *engine.Engine, y *points.CSR) error {
	x, both := b.x.(*points.CSR)
	values := int64(len(y.Col))
	if both && x != y {
		values += int64(len(x.Col))
	}
	// For each value at most: a table of four features, or two row starts, and its copies.
	if err := eng.Check("transposed copy of the points", 40*values, "use fewer points or raise the memory limit"); err != nil {
		return err
	}
	compact, columns := y.Compact()
	b.yt, b.columns = transposeSparse(compact), columns
	switch {
	case both && x == y:
		b.shared = compact
	case both:
		b.shared = x.Restrict(columns)
	}
	return nil
}

func (b *sparseBase) norms() (x, y []float64) { return b.xx, b.yy }
func (b *sparseBase) load(lo, hi int) rows    { return rows{lo: lo, hi: hi} }
func (b *sparseBase) unload(rows)             {}
func (b *sparseBase) release()                {}

// fill adds, for every feature of x_i in ascending order, its value times that feature's column of
// y.
func (b *sparseBase) fill(dst blas.Matrix, r rows, j0, cols int) {
	if b.dense != nil { // and x is sparse
		x := b.x.(*points.CSR)
		b.t.SparseRows(x.Start[r.lo:r.hi+1], x.Col, x.Val, b.dense.Data[j0:], b.dense.D, cols, dst.Data, dst.Stride)
		return
	}
	for i := r.lo; i < r.hi; i++ {
		row := dst.Row(i - r.lo)[:cols]
		clear(row)
		if b.shared != nil {
			col, val := b.shared.Row(i)
			for k, c := range col {
				b.addFeature(row, val[k], int(c), j0)
			}
			continue
		}
		x := b.x.(*points.Dense).Row(i)
		for k, c := range b.columns {
			if v := x[c]; v != 0 {
				b.addFeature(row, v, k, j0)
			}
		}
	}
}

// addFeature adds v times feature columns[c] of y, from point j0 on, to row.
func (b *sparseBase) addFeature(row []float64, v float64, c, j0 int) {
	who, val := b.yt.Row(c)
	if j0 > 0 {
		k, _ := slices.BinarySearch(who, int32(j0))
		who, val = who[k:], val[k:]
	}
	val = val[:len(who)]
	for k, j := range who {
		at := uint(int(j) - j0)
		if at >= uint(len(row)) {
			break // ascending: the rest is beyond the tile
		}
		row[at] += v * val[k]
	}
}

func (b *sparseBase) vectors() bool  { return true }
func (b *sparseBase) terms() int     { return terms(b.x, b.y, b.xx, b.yy) }
func (b *sparseBase) tiling() tiling { return sparseTiling }

func (b *sparseBase) exact(i, j int) float64 { return distanceOf(b.t, b.x, b.y, i, j) }

// transposeSparse returns p transposed: row c lists the points with feature c, ascending.
func transposeSparse(p *points.CSR) *points.CSR {
	t := &points.CSR{N: p.D, D: p.N, Start: make([]int, p.D+1), Col: make([]int32, len(p.Col)), Val: make([]float64, len(p.Val))}
	for _, c := range p.Col {
		t.Start[c+1]++
	}
	for c := range p.D {
		t.Start[c+1] += t.Start[c]
	}
	next := slices.Clone(t.Start)
	for i := range p.N {
		col, val := p.Row(i)
		for k, c := range col {
			t.Col[next[c]], t.Val[next[c]] = int32(i), val[k]
			next[c]++
		}
	}
	return t
}

func transposeDense(p *points.Dense) *points.Dense {
	t := &points.Dense{N: p.D, D: p.N, Data: make([]float64, len(p.Data))}
	blas.MatrixOf(p.N, p.D, p.Data).TransposeTo(blas.MatrixOf(t.N, t.D, t.Data))
	return t
}
