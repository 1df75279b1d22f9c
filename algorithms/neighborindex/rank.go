package neighborindex

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms/internal/quickselect"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
)

// ranking orders cells by the rounded distances of their centers from a query, ties by number.
type ranking struct {
	eng     *engine.Engine
	centers panel
}

func newRanking(eng *engine.Engine, centers blas.Matrix) *ranking {
	t, d := eng.Backend().Kernels(), centers.Cols
	middle, copied := make([]float64, d), blas.NewMatrix(centers.Rows, d+1)
	for c := range centers.Rows {
		t.Axpy(1/float64(centers.Rows), centers.Row(c), middle)
		copy(copied.Row(c), centers.Row(c))
	}
	r := &ranking{eng: eng}
	r.centers.pack(eng, copied, middle, make([]float64, panelSize(eng, centers.Rows, d)), math.Inf(1))
	return r
}

// order calls found with numbers that order the centers as their distances from a query do, for
// each query. They must not be kept. Queries are numbered from first in errors.
func (r *ranking) order(ctx context.Context, queries blas.Matrix, first int,
	found func(i int, numbers []float64)) error {
	return r.eng.For(ctx, queries.Rows, stripRows, func(lo, hi int) (err error) {
		s := newStrip(r.eng, queries.Cols, r.centers.vectors)
		defer s.release()
		s.scan(&r.centers, hi-lo, func(q int) []float64 { return queries.Row(lo + q) },
			func(q, _ int, distances []float64, norm, _ float64) {
				switch {
				case err != nil:
				case !(norm < largestSquare):
					err = tooFar(queries.Row(lo+q), first+lo+q)
				default:
					found(lo+q, distances)
				}
			})
		return err
	})
}

// chooser finds the cells with the smallest numbers.
type chooser struct {
	t     *asm.Table
	never []float64 // limits that no number meets
	keys  []quickselect.Key
	count int
}

func newChooser(t *asm.Table, cells, count int) *chooser {
	return &chooser{t: t, never: slices.Repeat([]float64{math.Inf(-1)}, cells), count: count}
}

// choose writes the cells with the smallest numbers to cells: the first one first, then, in any
// order, those of the ranks up to early, and then the others. Equal numbers are in the order of
// their cells.
func (c *chooser) choose(numbers []float64, early int, cells []int32) {
	const few = 16 // are sorted faster than selected
	if c.count <= few {
		c.sort(numbers)
	} else {
		c.below(numbers, c.guess(numbers))
		if len(c.keys) < c.count {
			c.below(numbers, math.Inf(1))
		}
		quickselect.First(c.keys, c.count)
		quickselect.First(c.keys[:c.count], early)
		quickselect.First(c.keys[:early], 1)
	}
	for r, k := range c.keys[:c.count] {
		cells[r] = k.Row
	}
}

// sort sets the keys to the smallest, in order.
func (c *chooser) sort(numbers []float64) {
	c.keys = c.keys[:0]
	limit := math.Inf(1)
	for j := 0; j < len(numbers); j++ {
		j += c.t.FirstBelow(numbers[j:], c.never[j:], limit)
		if j == len(numbers) || !(numbers[j] < limit) {
			continue // or as far as the last, but later
		}
		if len(c.keys) < c.count {
			c.keys = append(c.keys, quickselect.Key{})
		}
		at := len(c.keys) - 1
		for ; at > 0 && numbers[j] < c.keys[at-1].Value; at-- {
			c.keys[at] = c.keys[at-1]
		}
		c.keys[at] = quickselect.Key{Value: numbers[j], Row: int32(j)}
		if len(c.keys) == c.count {
			limit = c.keys[c.count-1].Value
		}
	}
}

// guess returns a limit that somewhat more numbers than are chosen are below, as a sample says.
func (c *chooser) guess(numbers []float64) float64 {
	const step = 8
	c.keys = c.keys[:0]
	for j := 0; j < len(numbers); j += step {
		c.keys = append(c.keys, quickselect.Key{Value: numbers[j], Row: int32(j)})
	}
	expected := float64(c.count) / step
	rank := int(expected + 2*math.Sqrt(expected) + 1)
	if rank >= len(c.keys) {
		return math.Inf(1)
	}
	quickselect.First(c.keys, rank)
	return slices.MaxFunc(c.keys[:rank], quickselect.Key.Compare).Value
}

// below sets the keys to those below a limit.
func (c *chooser) below(numbers []float64, limit float64) {
	c.keys = c.keys[:0]
	for j, number := range numbers {
		if number < limit {
			c.keys = append(c.keys, quickselect.Key{Value: number, Row: int32(j)})
		}
	}
}

// largestSquare bounds squared distances from the middle of the centers, so that no other squared
// distance overflows.
const largestSquare = math.MaxFloat64 / 64

// tooFar reports a row that is not finite, or too far from all others.
func tooFar(row []float64, number int) error {
	for j, v := range row {
		if v-v != 0 {
			return fault.Cell(number, strconv.Itoa(j), "value is %v: want a finite number", v)
		}
	}
	return &fault.DataError{Row: number, Err: errTooFar}
}

var errTooFar = fmt.Errorf("squared distances overflow: want smaller values; scale the data")

// The tiles in which queries are compared with vectors. Results do not depend on them.
const (
	stripRows = 48
	tileCols  = 576 // a multiple of the width of all register tiles
)

// panel is vectors less a center, packed once for the squared distances of many queries. A vector
// is -2 times its values, and its squared length as one more value; a query has a 1 there, so that
// products are squared distances less the squared length of the query.
type panel struct {
	center  []float64
	packed  tile.Packed
	vectors int
	longest float64 // the largest squared length
}

// panelSize returns the number of values that a panel of n vectors of d values takes.
func panelSize(eng *engine.Engine, n, d int) int {
	return tile.RightSize(eng.Backend().Kernels(), n, d+1)
}

// pack fills a panel in memory of panelSize with vectors, which it changes: they have a column to
// spare, the last. It returns the first vector whose squared length is not below most, or -1.
func (p *panel) pack(eng *engine.Engine, vectors blas.Matrix, center, memory []float64,
	most float64) (tooLong int) {
	t, d := eng.Backend().Kernels(), vectors.Cols-1
	p.center, p.vectors, tooLong = center, vectors.Rows, -1
	for i := range vectors.Rows {
		row := vectors.Row(i)
		t.Axpy(-1, center, row[:d])
		row[d] = t.Dot(row[:d], row[:d])
		p.longest = max(p.longest, row[d])
		t.Scale(-2, row[:d])
		if tooLong < 0 && !(row[d] < most) {
			tooLong = i
		}
	}
	p.packed = tile.NewRight(t, vectors.Rows, d+1, memory)
	p.packed.Pack(vectors, 0)
	return tooLong
}

// strip is the scratch memory of one goroutine, for up to stripRows queries.
type strip struct {
	eng     *engine.Engine
	queries blas.Matrix // as a panel takes them
	memory  blas.Matrix // of the packed queries
	values  blas.Matrix // of a tile
	norm    [stripRows]float64
}

// newStrip returns a strip for queries of d values, and tiles of cols columns. It must be released.
func newStrip(eng *engine.Engine, d, cols int) *strip {
	t := eng.Backend().Kernels()
	rows := (stripRows + t.MR - 1) / t.MR * t.MR
	return &strip{
		eng: eng, queries: eng.GetMatrix(stripRows, d+1),
		memory: eng.GetMatrix(1, tile.LeftSize(t, stripRows, d+1)),
		values: eng.GetMatrix(rows, (cols+t.NR-1)/t.NR*t.NR),
	}
}

// stripBytes returns the memory of a strip.
func stripBytes(d, cols int) int64 {
	return engine.MatrixBytes(2*stripRows, d+8) + engine.MatrixBytes(2*stripRows, cols)
}

func (s *strip) release() {
	for _, m := range []blas.Matrix{s.queries, s.memory, s.values} {
		s.eng.PutMatrix(m)
	}
}

// scan calls found with rounded squared distances, less norm, of each query from the vectors of the
// panel, some at a time: those of query r from vector j on. None is more than slack from the sum of
// squared differences.
func (s *strip) scan(p *panel, count int, query func(r int) []float64,
	found func(r, j int, distances []float64, norm, slack float64)) {
	t, d := s.eng.Backend().Kernels(), s.queries.Cols-1
	longest := 0.0
	for r := range count {
		row := s.queries.Row(r)
		copy(row, query(r))
		t.Axpy(-1, p.center, row[:d])
		s.norm[r] = t.Dot(row[:d], row[:d])
		row[d] = 1
		longest = max(longest, s.norm[r])
	}
	left := tile.NewLeft(t, count, d+1, s.memory.Data)
	left.Pack(s.queries.View(0, count, 0, d+1), 0)
	slack := kernel.DistanceError(d+1, longest, p.longest)
	height := (count + t.MR - 1) / t.MR * t.MR
	for j := 0; j < p.vectors; j += s.values.Cols {
		cols := min(s.values.Cols, p.vectors-j)
		tile.MultiplyPacked(0, s.values.View(0, height, 0, (cols+t.NR-1)/t.NR*t.NR), &left, &p.packed, j)
		for r := range count {
			found(r, j, s.values.Row(r)[:cols], s.norm[r], slack)
		}
	}
}

// settleRows is the number of queries that a worker settles at a time.
const settleRows = 64

// settle writes the neighbors of all queries by exact distances.
func (v *visit) settle(ctx context.Context, queries blas.Matrix, index []int32, dist2 []float64) error {
	open := make([]bool, len(v.order))
	err := v.eng.For(ctx, len(v.order), settleRows, func(lo, hi int) error {
		var near []quickselect.Key
		for a := lo; a < hi; a++ {
			i := v.order[a]
			if near, open[a] = v.candidates(a, near[:0]); open[a] {
				continue
			}
			for r, c := range near[:v.k] {
				index[i*v.k+r], dist2[i*v.k+r] = c.Row, c.Value
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var again []int
	for a, i := range v.order {
		if open[a] {
			again = append(again, i)
		}
	}
	return v.repeat(ctx, again, queries, index, dist2)
}

// candidates returns the rows that may be among the k nearest of query a, in the order of their
// exact distances, or more = true if the list may lack some. A row of the k nearest is not farther
// than the k rows with the smallest rounded distances, so its own rounded distance is at most twice
// the error above that of the last of them. The factor leaves room for the rounding of limits.
func (v *visit) candidates(a int, near []quickselect.Key) (out []quickselect.Key, more bool) {
	rows, rounded := v.lists.Of(a)
	last := rounded[v.k-1] + 4*v.slack[a]
	if !(rounded[len(rounded)-1] > last) {
		return near, true
	}
	for r, j := range rows {
		if rounded[r] <= last {
			near = append(near, quickselect.Key{Value: v.exact(a, j), Row: j})
		}
	}
	slices.SortFunc(near, quickselect.Key.Compare)
	return near, false
}

// repeat searches for some of the queries with exact distances from the start.
func (v *visit) repeat(ctx context.Context, some []int, queries blas.Matrix, index []int32,
	dist2 []float64) error {
	if len(some) == 0 {
		return nil
	}
	slices.Sort(some)
	part := v.eng.GetMatrix(len(some), queries.Cols)
	defer v.eng.PutMatrix(part)
	queries.SelectTo(part, some)
	again := &visit{Searcher: v.Searcher, k: v.k, probes: v.probes, at: v.at, eager: true}
	found, squared := make([]int32, len(some)*v.k), make([]float64, len(some)*v.k)
	if err := again.search(ctx, part, found, squared); err != nil {
		return err
	}
	for r, i := range some {
		copy(index[i*v.k:(i+1)*v.k], found[r*v.k:])
		copy(dist2[i*v.k:(i+1)*v.k], squared[r*v.k:])
	}
	return nil
}
