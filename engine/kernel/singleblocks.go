package kernel

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// SingleBlocks evaluates the squared distances of points in single precision without storing them: it calls f as [Kernel.GramBlocks] does when y
// is x, and as [Kernel.CrossBlocks] does otherwise, with blocks that are widened to double precision. [Block.Error] bounds their error against the
// distances of the points as they are. Errors and accuracy are those of [Kernel.CrossSingle].
func SingleBlocks(ctx context.Context, eng *engine.Engine, x, y *points.Single, f func(b Block) error) error {
	ev, err := Linear().Squared().single(ctx, eng, x, y)
	if err != nil {
		return err
	}
	return ev.walk(ctx, eng, x == y, func(s *singleStrip, j0, cols int) error { return f(s.widened(j0, cols)) }, func() {})
}

// widened returns a tile of squared distances in double precision, in memory of the strip.
func (s *singleStrip) widened(j0, cols int) Block {
	if s.wider.Data == nil {
		s.wider = blas.NewMatrix(singleRows, singleCols)
	}
	m := s.wider.View(0, s.hi-s.lo, 0, cols)
	for r := range m.Rows {
		row := m.Row(r)
		for c, v := range s.row(r, cols) {
			row[c] = float64(v)
		}
		if self := s.lo + r - j0; s.x == s.y && self >= 0 && self < cols {
			row[self] = 0
		}
	}
	// Norms, their sum and the difference round once each, the product d times, and centring moves both points.
	bound := float64(s.x.D+16) * 0x1p-24 * float64(slices.Max(s.xx[:s.hi-s.lo])+s.longest)
	return Block{Row: s.lo, Col: j0, Matrix: m, Error: bound}
}
