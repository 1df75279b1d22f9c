package neighborindex

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
)

// The tiles in which queries are compared with vectors. Results do not depend on them.
const (
	stripRows = 96
	tileCols  = 576 // a multiple of the width of all register tiles
)

// panel is vectors less a center, packed once for the squared distances of many queries.
type panel struct {
	center  []float64
	packed  tile.Packed
	norm    []float64 // squared lengths
	longest float64   // the largest of them
}

// pack fills a panel in memory of [tile.RightSize] with vectors, which it moves.
func (p *panel) pack(eng *engine.Engine, vectors blas.Matrix, center, memory, norm []float64) {
	t := eng.Backend().Kernels()
	p.center, p.norm = center, norm
	for i := range vectors.Rows {
		row := vectors.Row(i)
		t.Axpy(-1, center, row)
		norm[i] = t.Dot(row, row)
		p.longest = max(p.longest, norm[i])
	}
	p.packed = tile.NewRight(t, vectors.Rows, vectors.Cols, memory)
	p.packed.Pack(vectors, 0)
}

// strip is the scratch memory of one goroutine, for up to stripRows queries.
type strip struct {
	eng     *engine.Engine
	queries blas.Matrix // less the center of a panel
	memory  blas.Matrix // of the packed queries
	dots    blas.Matrix // inner products of a tile
	norm    [stripRows]float64
}

// newStrip returns a strip for queries of d values. It must be released.
func newStrip(eng *engine.Engine, d int) *strip {
	t := eng.Backend().Kernels()
	rows := (stripRows + t.MR - 1) / t.MR * t.MR
	return &strip{
		eng: eng, queries: eng.GetMatrix(stripRows, d), memory: eng.GetMatrix(1, tile.LeftSize(t, stripRows, d)),
		dots: eng.GetMatrix(rows, tileCols),
	}
}

// stripBytes returns the memory of a strip.
func stripBytes(d int) int64 {
	return engine.MatrixBytes(2*stripRows, d) + engine.MatrixBytes(stripRows, tileCols+32)
}

func (s *strip) release() {
	for _, m := range []blas.Matrix{s.queries, s.memory, s.dots} {
		s.eng.PutMatrix(m)
	}
}

// scan calls found with the rounded squared distances of each query from the vectors of the panel,
// some at a time: those of query r from vector j on. None is more than slack from the sum of squared
// differences.
func (s *strip) scan(p *panel, count int, query func(r int) []float64, found func(r, j int, distances []float64, slack float64)) {
	t, d := s.eng.Backend().Kernels(), s.queries.Cols
	longest := 0.0
	for r := range count {
		row := s.queries.Row(r)
		copy(row, query(r))
		t.Axpy(-1, p.center, row)
		s.norm[r] = t.Dot(row, row)
		longest = max(longest, s.norm[r])
	}
	left := tile.NewLeft(t, count, d, s.memory.Data)
	left.Pack(s.queries.View(0, count, 0, d), 0)
	slack := kernel.DistanceError(d, longest, p.longest)
	height := (count + t.MR - 1) / t.MR * t.MR
	for j := 0; j < len(p.norm); j += tileCols {
		cols := min(tileCols, len(p.norm)-j)
		tile.MultiplyPacked(0, s.dots.View(0, height, 0, (cols+t.NR-1)/t.NR*t.NR), &left, &p.packed, j)
		for r := range count {
			row := s.dots.Row(r)[:cols]
			t.SquaredDistances(row, row, s.norm[r], p.norm[j:j+cols], 0)
			found(r, j, row, slack)
		}
	}
}
