package scatter

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

const (
	// addByPoints computes blocks of window x window elements of the result, and strip columns of
	// D'WDC in one piece: few enough to stay in the caches, many enough for the vectors.
	window = 512
	strip  = 32
)

// byPoints reports whether addByPoints takes less time, in no more memory than four matrices of
// order m, and loses no digits. It would lose them if D cancels most of C: it multiplies with C
// where addRows multiplies with DC.
func (d *Differences) byPoints(eng *engine.Engine, c blas.Matrix, first, lengths []int) bool {
	const overhead = 1.2
	n, m, rows := c.Rows, c.Cols, len(d.weight)
	if m < window || (2*n+rows)*window > 4*m*m {
		return false
	}
	flops := 0.0
	for j := range m {
		flops += 2 * float64(j+1) * float64(n-first[j])
	}
	for _, length := range lengths {
		flops -= float64(length) * float64(length) / overhead
	}
	return flops < 0 && !d.cancels(eng, c)
}

// cancels reports whether rows of DC are a hundred times as short as their first terms, by a
// sample.
func (d *Differences) cancels(eng *engine.Engine, c blas.Matrix) bool {
	const sample, digits = 64, 1e-4 // of the squares
	t, row := eng.Backend().Kernels(), make([]float64, c.Cols)
	squares, terms := 0.0, 0.0
	for k := 0; k < len(d.weight); k += max(1, len(d.weight)/sample) {
		rows, _ := d.of(k)
		d.write(eng, row, k, c)
		squares += t.Dot(row, row)
		terms += d.weight[k] * t.Dot(c.Row(int(rows[0])), c.Row(int(rows[0])))
	}
	return !(squares > digits*terms)
}

// firstRows returns, for each column of C, the first row that is not 0 there.
func firstRows(widths []int, m int) []int {
	first, j := make([]int, m), 0
	for i, w := range widths {
		for ; j < w; j++ {
			first[j] = i
		}
	}
	for ; j < m; j++ {
		first[j] = len(widths)
	}
	return first
}

// addByPoints computes D'WDC for a window of columns at a time, and multiplies with C': for each
// column of C, from the first row on that is not 0.
func (d *Differences) addByPoints(ctx context.Context, eng *engine.Engine, c blas.Matrix, first []int, out blas.Matrix) error {
	n, m, turned := c.Rows, c.Cols, d.transpose(c.Rows)
	images := eng.GetMatrix(n, min(window, m))
	defer eng.PutMatrix(images)
	for j0 := 0; j0 < m; j0 += window {
		j1 := min(j0+window, m)
		err := eng.For(ctx, j1-j0, strip, func(lo, hi int) error {
			d.image(eng, turned, c.View(0, n, j0+lo, j0+hi), images.View(0, n, lo, hi))
			return nil
		})
		if err != nil {
			return err
		}
		for i0 := j0; i0 < m; i0 += window {
			i1, k := min(i0+window, m), first[i0]
			eng.Backend().Gemm(true, false, 1, c.View(k, n, i0, i1), images.View(k, n, 0, j1-j0), 1, out.View(i0, i1, j0, j1))
		}
	}
	return ctx.Err()
}

// image computes D'WDC for some columns of C.
func (d *Differences) image(eng *engine.Engine, turned *Differences, c, image blas.Matrix) {
	t, rows := eng.Backend().Kernels(), eng.GetMatrix(len(d.weight), c.Cols)
	defer eng.PutMatrix(rows)
	t.SparseRows(d.start, d.row, d.factor, c.Data, c.Stride, c.Cols, rows.Data, rows.Stride)
	t.SparseRows(turned.start, turned.row, turned.factor, rows.Data, rows.Stride, c.Cols, image.Data, image.Stride)
}

// transpose returns D'W, n rows.
func (d *Differences) transpose(n int) *Differences {
	t := &Differences{start: make([]int, n+1), row: make([]int32, len(d.row)), factor: make([]float64, len(d.row))}
	for _, i := range d.row {
		t.start[i+1]++
	}
	for i := range n {
		t.start[i+1] += t.start[i]
	}
	next := slices.Clone(t.start)
	for k, weight := range d.weight {
		rows, factors := d.of(k)
		for a, i := range rows {
			t.row[next[i]], t.factor[next[i]] = int32(k), weight*factors[a]
			next[i]++
		}
	}
	return t
}
