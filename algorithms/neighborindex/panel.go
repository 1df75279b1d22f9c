package neighborindex

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
)

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
func (p *panel) pack(eng *engine.Engine, vectors blas.Matrix, center, memory []float64, most float64) (tooLong int) {
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
		eng: eng, queries: eng.GetMatrix(stripRows, d+1), memory: eng.GetMatrix(1, tile.LeftSize(t, stripRows, d+1)),
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
func (s *strip) scan(p *panel, count int, query func(r int) []float64, found func(r, j int, distances []float64, norm, slack float64)) {
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
