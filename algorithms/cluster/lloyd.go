package cluster

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// lloyd is Lloyd's iteration over rows that are not held. What a start keeps for every row, its
// label and its distance, is found again in every pass; what it decides by them is decided by sums.
type lloyd struct {
	*Assigner // to the centers so far
	eng       *engine.Engine
	p         StreamParams
	rows      iter.Seq2[blas.Matrix, error]
	n         int // number of rows
	began     time.Time

	labels    []int // of the block under way
	distances []float64

	passes, iterations int
	inertia            float64
	sizes              []int
	converged          bool
}

// run iterates as start.run does.
func (l *lloyd) run(ctx context.Context) error {
	t, err := l.pass(ctx, nil, true)
	if err != nil {
		return err
	}
	for l.iterations < l.p.MaxIter {
		l.iterations++
		if t, err = l.refill(ctx, t); err != nil {
			return err
		}
		l.moveCenters(t.sums)
		before, last := l.inertia, t
		if t, err = l.pass(ctx, nil, false); err != nil {
			return err
		}
		// With equal sums the centers do not move any more: no label has changed, or as good as
		// none.
		if slices.Equal(t.sums.Data, last.sums.Data) || !(l.inertia < before-l.p.Tol*before) {
			l.converged = true
			return nil
		}
	}
	return nil
}

func (l *lloyd) result() *StreamResult {
	return &StreamResult{Assigner: l.Assigner, Rows: l.n, Passes: l.passes, Sizes: l.sizes,
		Inertia:    l.inertia,
		Iterations: l.iterations, Converged: l.converged}
}

// moveCenters sets every center to the mean of its cluster, and leaves those of empty clusters
// where they are.
func (l *lloyd) moveCenters(sums blas.Matrix) {
	d := l.centers.Cols
	for c := range l.centers.Rows {
		sum, center := sums.Row(c), l.centers.Row(c)
		if sum[d] == 0 {
			continue
		}
		for j := range center {
			center[j] = sum[j] / sum[d]
		}
	}
	l.prepare()
}

// refill gives each empty cluster a row, as start.refill does, and returns the sums with these rows
// in their new clusters. The row of the first is known from the pass before; a pass for each finds
// that of the next.
func (l *lloyd) refill(ctx context.Context, t *tally) (*tally, error) {
	var taken []candidate
	for {
		empty := slices.Index(t.sizes(), 0)
		if empty < 0 {
			return t, nil
		}
		far := t.farthest()
		if far.distance == 0 { // fewer distinct rows than clusters
			return t, nil
		}
		far.cluster = empty
		taken = append(taken, far)
		var err error
		if t, err = l.pass(ctx, taken, false); err != nil {
			return nil, err
		}
	}
}

// pass goes once through the rows and assigns them to the centers, but for the rows that are taken.
// Without these it sets the inertia and the sizes.
func (l *lloyd) pass(ctx context.Context, taken []candidate, first bool) (*tally, error) {
	t := newTally(l.n, l.centers.Rows, l.centers.Cols, taken)
	t.measured = first
	l.passes++
	l.p.Progress.Report(algorithms.Progress{Stage: "streaming k-means", Done: l.iterations,
		Total: l.p.MaxIter, Objective: l.inertia, Elapsed: time.Since(l.began)})
	if err := eachBlock(ctx, l.rows, func(x blas.Matrix) error { return l.block(ctx, t, x) }); err != nil {
		return nil, err
	}
	if t.rows != l.n {
		return nil, errOtherRows(t.rows, l.n)
	}
	if first {
		if err := t.extent.check(); err != nil {
			return nil, err
		}
	}
	t.flush()
	if taken == nil {
		l.inertia, l.sizes = t.inertia, t.sizes()
	}
	return t, contextError(ctx)
}

// block assigns the rows of one block and adds them to t.
func (l *lloyd) block(ctx context.Context, t *tally, x blas.Matrix) error {
	if x.Cols != l.centers.Cols {
		return columnsError(x.Cols, l.centers.Cols)
	}
	if t.rows+x.Rows > l.n {
		return errOtherRows(t.rows+x.Rows, l.n)
	}
	rows := l.eng.GetMatrix(x.Rows, x.Cols)
	defer l.eng.PutMatrix(rows)
	move(rows, x, l.shift)
	l.labels, l.distances = resized(l.labels, x.Rows), resized(l.distances, x.Rows)
	if err := l.assign(ctx, l.eng, rows, l.labels, l.distances); err != nil {
		return err
	}
	return t.add(ctx, l.eng, rows, l.labels, l.distances)
}

// resized returns a slice of n values, s where that is long enough.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// candidate is a row that an empty cluster may take.
type candidate struct {
	row      int
	distance float64 // squared, to its center, or to a row that another empty cluster took
	cluster  int     // which it is in, or is given to
	x        []float64
}

// tally is what a pass adds up.
type tally struct {
	n, rows int         // rows of the whole pass, and so far
	sums    blas.Matrix // K x (d+1): sums of each cluster's rows, their number last, of finished chunks
	part    blas.Matrix // those of the chunk under way
	chunk   int         // rows of a chunk, as in start.update
	inertia float64
	extent  extent      // of the rows, if measured
	far     []candidate // the farthest row of each cluster
	taken   []candidate

	measured bool
}

func newTally(n, k, d int, taken []candidate) *tally {
	return &tally{n: n, sums: blas.NewMatrix(k, d+1), part: blas.NewMatrix(k, d+1), chunk: updateChunk(n, k),
		far: make([]candidate, k), taken: taken}
}

// add adds rows that are assigned. labels and distances may be changed.
func (t *tally) add(ctx context.Context, eng *engine.Engine, x blas.Matrix, labels []int,
	distances []float64) error {
	zero := make([]float64, x.Cols)
	for i := range x.Rows {
		t.inertia += distances[i]
		if t.measured {
			t.extent.add(x.Row(i), points.SquaredDistance(x.Row(i), zero), 1)
		}
		t.take(t.rows+i, x.Row(i), &labels[i], &distances[i])
	}
	for lo := 0; lo < x.Rows; {
		hi := min(x.Rows, lo+t.chunk-t.rows%t.chunk)
		if err := t.addSums(ctx, eng, x.View(lo, hi, 0, x.Cols), labels[lo:hi]); err != nil {
			return err
		}
		t.rows += hi - lo
		if t.rows%t.chunk == 0 {
			t.flush()
		}
		lo = hi
	}
	return nil
}

// take notes whether a row is the farthest of its cluster, after those that are taken.
func (t *tally) take(row int, x []float64, label *int, distance *float64) {
	for _, c := range t.taken {
		if c.row == row {
			*label = c.cluster
		}
		*distance = min(*distance, points.SquaredDistance(x, c.x))
	}
	if far := &t.far[*label]; *distance > far.distance {
		*far = candidate{row: row, distance: *distance, cluster: *label, x: append(far.x[:0], x...)}
	}
}

// addSums adds rows of one chunk. Each worker has clusters of its own, so that the order of the
// rows is that of the sums.
func (t *tally) addSums(ctx context.Context, eng *engine.Engine, x blas.Matrix, labels []int) error {
	const worthwhile, shares = 1 << 18, 8
	group := t.part.Rows
	if x.Rows*x.Cols > worthwhile {
		group = (t.part.Rows + shares - 1) / shares
	}
	err := eng.For(ctx, t.part.Rows, group, func(lo, hi int) error {
		for i, c := range labels {
			if lo <= c && c < hi {
				addRow(t.part.Row(c), x.Row(i), 1)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cluster: streaming k-means: %w", err)
	}
	return nil
}

// flush adds the sums of a chunk to those of the chunks before it.
func (t *tally) flush() {
	for i, v := range t.part.Data {
		t.sums.Data[i] += v
	}
	clear(t.part.Data)
}

func (t *tally) sizes() []int {
	sizes := make([]int, t.sums.Rows)
	for c := range sizes {
		sizes[c] = int(t.sums.At(c, t.sums.Cols-1))
	}
	return sizes
}

// farthest returns the row that contributes most to the inertia out of a cluster that keeps another
// row, ties to the lower row; its distance is 0 when there is none.
func (t *tally) farthest() candidate {
	var best candidate
	for c, size := range t.sizes() {
		if f := t.far[c]; size > 1 &&
			(f.distance > best.distance || f.distance == best.distance && f.distance > 0 &&
				f.row < best.row) {
			best = f
		}
	}
	best.x = slices.Clone(best.x)
	return best
}
