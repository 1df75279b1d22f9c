// Package neighborindex (internal: may change) finds approximate nearest neighbors in a
// Euclidean space, by an inverted file: rows are divided into cells, and a query is compared with
// the rows of the cells whose centers are nearest to it (Jegou, Douze & Schmid 2011, "Product
// quantization for nearest neighbor search", section IV, without the quantization).
//
// [Build] makes the cells, by k-means, and measures which share of the exact neighbors the nearest
// cells have, on two samples of the rows. [Index.Probes] chooses the number of cells for a recall
// by the first sample, and [Index.Recall] reports that of the second. [Index.Open] lays the rows
// out by cells, and [Searcher.Search] searches. Inside the probed cells the search is exact, on the
// tiles and with the decisions of engine/graph: if all cells are probed, the result is
// bit-identical to that of package neighbors.
//
// An index is bit-identical for any number of workers, and so is the result of a search, whatever
// other queries are in the call. [Index.WriteFile] stores the cells and the samples, but not the
// rows.
package neighborindex

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Options are the options of [Build].
type Options struct {
	// Neighbors is the number of neighbors for which the recall is measured, at least 1 and below
	// the number of rows. Fewer neighbors have about the same recall.
	Neighbors int
	// Cells is the number of cells, at most the number of rows; 0 for a default, about twice the
	// root of the number of rows.
	Cells int
	// Seed is the seed of all random choices.
	Seed uint64
	// Progress, if not nil, is notified of finished steps.
	Progress algorithms.ProgressFunc
}

// Source names what an index was built from: digests of the model that gave the coordinates, and of
// the data.
type Source struct{ Model, Data string }

// Index divides rows into cells. It is immutable and safe for concurrent use.
type Index struct {
	source       Source
	neighbors    int
	seed         uint64
	centers      blas.Matrix // a row for each cell
	cells        []int32     // of each row
	chosen, held sample      // by which probes are chosen, and recall is reported
}

// sample has the ranks of the cells that hold the exact neighbors of some rows: hits[r] neighbors
// are in the cell whose center is nearest but r to the row. With squares[r], each row has as many
// as in its r + 1 nearest cells, squared, and summed over the rows: their recalls vary by that.
type sample struct{ hits, squares []int64 }

// Source returns what the index was built from.
func (x *Index) Source() Source { return x.source }

// Neighbors returns the number of neighbors for which the recall was measured.
func (x *Index) Neighbors() int { return x.neighbors }

// Cells returns the number of cells.
func (x *Index) Cells() int { return x.centers.Rows }

// Rows returns the number of rows.
func (x *Index) Rows() int { return len(x.cells) }

// Recall is the share of the exact neighbors of some rows that a search finds.
type Recall struct {
	Value float64 `json:"recall"`
	Rows  int     `json:"rows"` // of the sample; a row is not a neighbor of itself
}

// Probes returns the smallest number of cells with which the recall of a sample of rows, less its
// standard error, is at least recall. The recall is the mean of the recalls of the rows, whose
// standard deviation over the root of their number is its error. For recall 1 it returns all cells,
// and the search is exact.
//
// A recall outside (0, 1] is a *fault.ParamError.
func (x *Index) Probes(recall float64) (int, error) {
	if !(recall > 0 && recall <= 1) {
		return 0, fault.Param("recall", recall, "a number > 0 and <= 1")
	}
	if recall == 1 {
		return x.Cells(), nil
	}
	found, all := int64(0), x.chosen.total()
	for r, hits := range x.chosen.hits {
		found += hits
		if v := float64(found) / float64(all); v-x.standardError(v, r) >= recall {
			return r + 1, nil
		}
	}
	return x.Cells(), nil
}

// standardError returns that of the recall v of r + 1 cells.
func (x *Index) standardError(v float64, r int) float64 {
	k, rows := float64(x.neighbors), float64(x.chosen.total()/int64(x.neighbors))
	if rows == 1 {
		return math.Sqrt(v * (1 - v)) // the most that it can be
	}
	squared := float64(x.chosen.squares[r]) / (k * k * rows)
	return math.Sqrt(max(0, squared-v*v) / (rows - 1))
}

// Recall returns the recall of a number of probed cells for rows that had no part in the choice of
// [Index.Probes].
func (x *Index) Recall(probes int) Recall {
	all, found := x.held.total(), int64(0)
	for _, hits := range x.held.hits[:min(probes, len(x.held.hits))] {
		found += hits
	}
	return Recall{Value: float64(found) / float64(all), Rows: int(all) / x.neighbors}
}

func (s sample) total() (sum int64) {
	for _, v := range s.hits {
		sum += v
	}
	return sum
}

// checkRows refuses rows that are not those of the index, as far as their shape shows.
func (x *Index) checkRows(rows blas.Matrix) error {
	switch {
	case rows.Rows != x.Rows():
		return fault.Shape("number of rows", rows.Rows, "%d, as the index has", x.Rows())
	case rows.Cols != x.centers.Cols:
		return fault.Shape("number of columns", rows.Cols, "%d, as the index has", x.centers.Cols)
	}
	return nil
}

// Sizes of an index.
const (
	// cells, as a multiple of the root of the number of rows: visits of more cost more than their
	// rows
	cellsPerRoot = 2
	rowsPerCell  = 96      // rows of the sample of k-means: with 32, a tenth more cells must be probed
	iterations   = 10      // of k-means, after which cells hardly change
	sampleRows   = 1000    // of each sample whose recall is measured
	assignRows   = 1 << 16 // rows that are assigned to cells at a time
)

// Build makes an index of rows (n x d). source names what they were made from.
//
// Cells are those of k-means on 96 rows for each cell, from random rows, in 10 iterations: they
// need not be optimal. Recall is measured on two samples of up to 1000 rows, whose neighbors among
// the other rows are also searched exactly.
//
// Errors: *fault.ParamError (Neighbors, Cells), *fault.ShapeError (no columns, or more than 2^31-1
// rows), *fault.DataError (a value that is not finite, or whose squares overflow or vanish),
// *fault.MemoryError, and ctx.Err(), wrapped. Cost, for m cells: 2ndm flops for the cells of all
// rows, up to 1920 m^2 d for k-means, and 4000 n d for the samples. Memory: an int32 for each row,
// and the larger of what k-means and the exact search take; it must suffice for [Index.Open] too.
func Build(ctx context.Context, eng *engine.Engine, rows blas.Matrix, source Source,
	o Options) (*Index, error) {
	o, err := o.resolve(rows)
	if err != nil {
		return nil, err
	}
	if err := neighbors.CheckFinite("rows", rows); err != nil {
		return nil, err
	}
	sampled := engine.MatrixBytes(sampleRows, o.Cells)
	if err := checkOpen(eng, rows, o.Cells, sampled); err != nil { // before minutes of work for nothing
		return nil, err
	}
	b := &builder{eng: eng, rows: rows, Options: o, began: time.Now(),
		Index: &Index{source: source, neighbors: o.Neighbors, seed: o.Seed}}
	for step, work := range []func(context.Context) error{b.cluster, b.assign, b.measure} {
		o.Progress.Report(algorithms.Progress{Stage: "index", Done: step, Total: 3,
			Elapsed: time.Since(b.began)})
		if err := work(ctx); err != nil {
			return nil, fmt.Errorf("neighborindex: %w", err)
		}
	}
	return b.Index, nil
}

// resolve replaces zero values by defaults, and returns an error for what is out of range.
func (o Options) resolve(rows blas.Matrix) (Options, error) {
	n := rows.Rows
	if o.Cells == 0 {
		o.Cells = min(max(1, n), int(math.Ceil(cellsPerRoot*math.Sqrt(float64(n)))))
	}
	switch {
	case rows.Cols < 1:
		return o, fault.Shape("number of dimensions", rows.Cols,
			"at least 1: without any, all distances are 0")
	case n > math.MaxInt32:
		return o, fault.Shape("number of rows", n, "at most %d", math.MaxInt32)
	case o.Neighbors < 1 || o.Neighbors >= n:
		return o, fault.Param("neighbors", o.Neighbors,
			"a number from 1 to %d, one less than the number of rows", n-1)
	case o.Cells < 1 || o.Cells > n:
		return o, fault.Param("cells", o.Cells, "a number from 1 to %d, the number of rows", n)
	}
	return o, nil
}

// builder is an index in the making.
type builder struct {
	*Index
	Options
	eng   *engine.Engine
	rows  blas.Matrix
	began time.Time
}

// cluster finds the centers.
func (b *builder) cluster(ctx context.Context) error {
	some := sampling.Some(b.rows.Rows, b.Options.Cells*rowsPerCell, b.Seed)
	if err := b.eng.Check("a sample of the rows", engine.MatrixBytes(len(some), b.rows.Cols),
		"use fewer cells or raise the memory limit"); err != nil {
		return err
	}
	r, err := cluster.KMeans(ctx, b.eng, b.taken(some),
		cluster.Params{K: b.Options.Cells, Restarts: 1, MaxIter: iterations, Init: cluster.InitRandom,
			Seed: b.Seed})
	if err == nil {
		b.centers = r.Centers
	}
	return err
}

// taken returns some of the rows.
func (b *builder) taken(numbers []int) blas.Matrix {
	out := b.eng.NewMatrix(len(numbers), b.rows.Cols)
	b.rows.SelectTo(out, numbers)
	return out
}

// assign gives each row to the cell with the nearest center.
func (b *builder) assign(ctx context.Context) error {
	b.cells = make([]int32, b.rows.Rows)
	if err := b.nearestCells(ctx, b.eng, b.rows, func(i int, cell int32) error {
		b.cells[i] = cell
		return nil
	}); err != nil {
		return err
	}
	b.dropEmpty()
	return nil
}

// nearestCells calls found with the cell of each row whose center is nearest, in the order of the
// rows, until it returns an error.
func (x *Index) nearestCells(ctx context.Context, eng *engine.Engine, rows blas.Matrix,
	found func(i int, cell int32) error) error {
	n, d := rows.Rows, rows.Cols
	to, err := cluster.NewAssigner(x.centers)
	if err != nil {
		return err
	}
	block := min(n, assignRows)
	if err := eng.Check("cells of the rows", engine.MatrixBytes(block, d+2)+int64(4*n),
		"raise the memory limit"); err != nil {
		return err
	}
	labels, distances := make([]int, block), make([]float64, block)
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		if err := to.Assign(ctx, eng, rows.View(lo, hi, 0, d), labels[:hi-lo],
			distances[:hi-lo]); err != nil {
			return fault.InRows(err, lo)
		}
		for k, c := range labels[:hi-lo] {
			if err := found(lo+k, int32(c)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Verify returns an error unless each row is in the cell that the index says: a *fault.DataError
// for the first one that is not, and otherwise those of [Index.Open]. With rows that are verified,
// searches are what they are with those of the index. Cost: 2ndm flops for m cells.
func (x *Index) Verify(ctx context.Context, eng *engine.Engine, rows blas.Matrix) error {
	if err := x.checkRows(rows); err != nil {
		return err
	}
	if err := neighbors.CheckFinite("rows", rows); err != nil {
		return err
	}
	return x.nearestCells(ctx, eng, rows, func(i int, cell int32) error {
		if cell != x.cells[i] {
			return fault.Row(i, "the row is in cell %d, in the index it is in cell %d: want the rows of "+
				"the index", cell, x.cells[i])
		}
		return nil
	})
}

// dropEmpty removes cells without rows.
func (b *builder) dropEmpty() {
	number := make([]int32, b.centers.Rows) // of each cell that stays, from 1
	for _, c := range b.cells {
		number[c] = 1
	}
	kept := int32(0)
	for c, used := range number {
		if used > 0 {
			copy(b.centers.Row(int(kept)), b.centers.Row(c))
			kept++
			number[c] = kept
		}
	}
	b.centers = b.centers.View(0, int(kept), 0, b.centers.Cols)
	for i, c := range b.cells {
		b.cells[i] = number[c] - 1
	}
}

// measure finds the neighbors of two samples exactly, and the ranks of their cells.
func (b *builder) measure(ctx context.Context) error {
	some := sampling.Some(b.rows.Rows, 2*sampleRows, b.Seed+1)
	var err error
	if b.chosen, err = b.sample(ctx, everyOther(some, 0)); err == nil {
		b.held, err = b.sample(ctx, everyOther(some, 1))
	}
	return err
}

func everyOther(list []int, first int) (out []int) {
	for k := first; k < len(list); k += 2 {
		out = append(out, list[k])
	}
	return out
}

// sample returns the ranks of the cells with the neighbors of some rows.
func (b *builder) sample(ctx context.Context, some []int) (sample, error) {
	k, cells, d := b.Options.Neighbors, b.centers.Rows, b.rows.Cols
	bytes := engine.MatrixBytes(len(some), cells+d) + engine.MatrixBytes(cells, 2*d+16) +
		int64(b.eng.Workers())*stripBytes(d, cells)
	if err := b.eng.Check("distances from the centers of cells", bytes,
		"use fewer cells or raise the memory limit"); err != nil {
		return sample{}, err
	}
	queries := b.taken(some)
	index, _, err := neighbors.Search(ctx, b.eng, queries, b.rows, k+1, false)
	if err != nil {
		return sample{}, err
	}
	distance := b.eng.NewMatrix(len(some), cells)
	err = newRanking(b.eng, b.centers).order(ctx, queries, 0, func(i int, numbers []float64) {
		copy(distance.Row(i), numbers)
	})
	if err != nil {
		return sample{}, err
	}
	s := sample{make([]int64, cells), make([]int64, cells)}
	ranks := make([]int, k)
	for q, i := range some {
		for at, j := range others(index[q*(k+1):(q+1)*(k+1)], int32(i)) {
			ranks[at] = rankOf(int(b.cells[j]), distance.Row(q))
			s.hits[ranks[at]]++
		}
		slices.Sort(ranks)
		for at, r := range ranks {
			s.squares[r] += int64(2*at + 1) // from at^2 to (at + 1)^2
		}
	}
	for r := 1; r < cells; r++ {
		s.squares[r] += s.squares[r-1]
	}
	return s, nil
}

// others returns the first of the neighbors of row i without itself, one less than there are.
func others(found []int32, i int32) []int32 {
	out := found[:0]
	for _, j := range found {
		if j != i {
			out = append(out, j)
		}
	}
	return out[:len(found)-1]
}

// rankOf returns how many cells are before cell c in the order of a ranking.
func rankOf(c int, distance []float64) int {
	rank := 0
	for other, v := range distance {
		if v < distance[c] || v == distance[c] && other < c {
			rank++
		}
	}
	return rank
}
