package linear

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Differences computes the scatter matrices of linear and kernel metrics: that of the
// differences of linked points, and that of the residuals of points reconstructed from their
// neighbors.
//
// Differences are the rows of DC for coordinates C, n x m, and a sparse matrix D. The first factor
// of a row of D is 1. Each row has a weight, so that their scatter is C'D'WDC.
type Differences struct {
	// At[i] is the row of C with the coordinates of point i. Without At, it is row i.
	At []int

	start  []int   // of each row of D in row and factor, and their length
	row    []int32 // of C
	factor []float64
	weight []float64
}

// AddLinks adds c_i - c_j for each link, with weight times the weight of the link: the graph
// Laplacian of the links.
func (d *Differences) AddLinks(list []links.Link, weight float64) {
	for _, l := range list {
		d.begin(l.I, weight*l.Weight)
		d.subtract(1, l.J)
	}
}

// AddResiduals adds c_i - sum_a w_ia c_a for each point i, over its neighbors a, with the given
// weight. w is n x k.
func (d *Differences) AddResiduals(near *graph.Neighbors, w blas.Matrix, weight float64) {
	for i := range near.N {
		d.begin(i, weight)
		index, _ := near.Of(i)
		for a, j := range index {
			d.subtract(w.At(i, a), int(j))
		}
	}
}

// begin starts another row with point i.
func (d *Differences) begin(i int, weight float64) {
	if len(d.start) == 0 {
		d.start = []int{0}
	}
	d.weight = append(d.weight, weight)
	d.start = append(d.start, d.start[len(d.start)-1])
	d.subtract(-1, i)
}

// subtract subtracts a multiple of point i from the last row.
func (d *Differences) subtract(factor float64, i int) {
	if d.At != nil {
		i = d.At[i]
	}
	d.row, d.factor = append(d.row, int32(i)), append(d.factor, -factor)
	d.start[len(d.start)-1]++
}

// of returns the rows of C in row k of D, and their factors.
func (d *Differences) of(k int) ([]int32, []float64) {
	lo, hi := d.start[k], d.start[k+1]
	return d.row[lo:hi], d.factor[lo:hi]
}

// Scatter adds C'D'WDC to the lower triangle of out, m x m. If each row of C is 0 beyond its first
// elements, as along the rows of a Cholesky factor, it takes less time: w^2 flops for each row of
// DC with w elements or, for m above a thousand, for each row of C, whichever are fewer. The second
// form needs such rows of C in the order of their lengths, and other rows of C after them.
func (d *Differences) Scatter(ctx context.Context, eng *engine.Engine, c, out blas.Matrix) error {
	widths := make([]int, c.Rows)
	if err := eng.Each(ctx, len(widths), block, func(i int) { widths[i] = width(c.Row(i)) }); err != nil {
		return err
	}
	first, lengths := firstRows(widths, c.Cols), d.lengths(widths)
	if d.byPoints(eng, c, first, lengths) {
		return d.addByPoints(ctx, eng, c, first, out)
	}
	return d.addRows(ctx, eng, c, lengths, out)
}

// LinkScatter adds the scatter of the links to the lower triangle of out: sum w_ij (c_i - c_j)(c_i
// - c_j)', where c_i is row i of c.
func LinkScatter(ctx context.Context, eng *engine.Engine, c blas.Matrix, list []links.Link,
	out blas.Matrix) error {
	var d Differences
	d.AddLinks(list, 1)
	return d.Scatter(ctx, eng, c, out)
}

// width returns the number of elements up to the last that is not 0.
func width(row []float64) int {
	n := len(row)
	for n > 0 && row[n-1] == 0 {
		n--
	}
	return n
}

// Idle returns a notice if the directions w, d x m, include some on which the scatter matrix a of
// the cannot-links vanishes: only others determine these, and rounding where they do not. There are
// at most as many other directions as cannot-links. Cost: 2 d m^2 flops.
func Idle(
	ctx context.Context, eng *engine.Engine, a, w blas.Matrix, set *links.Set, others string,
) ([]string, error) {
	const rounding = 1e-12
	d := w.Rows
	image, inside, values := blas.NewMatrix(d, a.Rows), blas.NewMatrix(d, d), make([]float64, d)
	eng.Backend().Gemm(false, false, 1, w, a, 0, image)
	eng.Backend().Gemm(false, true, 1, image, w, 0, inside)
	if err := eng.SymEig(ctx, inside, values, false); err != nil {
		return nil, err
	}
	trace := a.Trace()
	idle := 0
	for idle < d && values[idle] <= rounding*trace {
		idle++
	}
	if idle == 0 {
		return nil, nil
	}
	_, cannot := set.Count()
	return []string{fmt.Sprintf(
		"%d of the %d columns separate no cannot-link, and %s alone determine them; directions that these "+
			"do not determine are arbitrary: use dims=%d or more than %d cannot-links",
		idle, d, others, max(1, d-idle), cannot)}, nil
}

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
func (d *Differences) addByPoints(ctx context.Context, eng *engine.Engine, c blas.Matrix, first []int,
	out blas.Matrix) error {
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
			eng.Backend().Gemm(true, false, 1, c.View(k, n, i0, i1), images.View(k, n, 0, j1-j0), 1,
				out.View(i0, i1, j0, j1))
		}
	}
	return ctx.Err()
}

// image computes D'WDC for some columns of C.
func (d *Differences) image(eng *engine.Engine, turned *Differences, c, image blas.Matrix) {
	t, rows := eng.Backend().Kernels(), eng.GetMatrix(len(d.weight), c.Cols)
	defer eng.PutMatrix(rows)
	t.SparseRows(d.start, d.row, d.factor, c.Data, c.Stride, c.Cols, rows.Data, rows.Stride)
	t.SparseRows(turned.start, turned.row, turned.factor, rows.Data, rows.Stride, c.Cols, image.Data,
		image.Stride)
}

// transpose returns D'W, n rows.
func (d *Differences) transpose(n int) *Differences {
	t := &Differences{start: make([]int, n+1), row: make([]int32, len(d.row)),
		factor: make([]float64, len(d.row))}
	for _, i := range d.row {
		t.start[i+1]++
	}
	next := sparse.Begins(t.start)
	for k, weight := range d.weight {
		rows, factors := d.of(k)
		for a, i := range rows {
			t.row[next[i]], t.factor[next[i]] = int32(k), weight*factors[a]
			next[i]++
		}
	}
	return t
}

// block is the number of rows that addRows buffers at a time.
const block = 512

// addRows computes rows of DC, which have the given lengths, the shortest first, and adds their
// squares.
func (d *Differences) addRows(ctx context.Context, eng *engine.Engine, c blas.Matrix, lengths []int,
	out blas.Matrix) error {
	order := points.UpTo(len(lengths))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lengths[a], lengths[b]) })
	rows := eng.GetMatrix(min(block, len(order)), out.Cols)
	defer eng.PutMatrix(rows)
	for some := range slices.Chunk(order, block) {
		m := lengths[some[len(some)-1]]
		err := eng.Each(ctx, len(some), 16, func(k int) { d.write(eng, rows.Row(k)[:m], some[k], c) })
		if err != nil {
			return err
		}
		eng.Backend().Syrk(true, 1, rows.View(0, len(some), 0, m), 1, out.View(0, m, 0, m))
	}
	return ctx.Err()
}

// write computes the first elements of row k of DC, times the square root of its weight.
func (d *Differences) write(eng *engine.Engine, to []float64, k int, c blas.Matrix) {
	rows, factors := d.of(k)
	t := eng.Backend().Kernels()
	copy(to, c.Row(int(rows[0])))
	for a, j := range rows[1:] {
		t.Axpy(factors[1+a], c.Row(int(j))[:len(to)], to)
	}
	if d.weight[k] != 1 {
		t.Scale(math.Sqrt(d.weight[k]), to)
	}
}

// lengths returns the number of elements of each row of DC that may not be 0.
func (d *Differences) lengths(widths []int) []int {
	lengths := make([]int, len(d.weight))
	for k := range lengths {
		rows, _ := d.of(k)
		for _, j := range rows {
			lengths[k] = max(lengths[k], widths[j])
		}
	}
	return lengths
}
