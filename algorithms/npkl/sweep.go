package npkl

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/blas"
)

// descent is a minimisation under way.
type descent struct {
	*problem
	v      blas.Matrix // n x r
	block  *block
	g      []float64 // r
	sweeps int
	trace  []float64 // objective after every sweep
}

// newDescent starts from random rows in [0, 1)^r, as the paper does, of the size of the solution:
// V = 0 is a fixed point.
func newDescent(p *problem, r int, seed uint64) *descent {
	d := &descent{problem: p}
	rng := rand.New(rand.NewPCG(seed, 0x6e706b6c))
	v := blas.NewMatrix(p.n.Rows, r)
	for i := range v.Data {
		v.Data[i] = rng.Float64() / math.Sqrt(float64(r))
	}
	d.take(v)
	return d
}

// take goes on from other rows, of perhaps another length.
func (d *descent) take(v blas.Matrix) {
	most := 0
	for i := range v.Rows {
		lo, hi := d.links(i)
		most = max(most, hi-lo)
	}
	d.v, d.block, d.g = v, newBlock(d.loss, v.Cols, most), make([]float64, v.Cols)
}

// sweep updates every row, in order, and returns how much V has changed, relative to 1 + |V|.
func (d *descent) sweep() float64 {
	moved, size := 0.0, 0.0
	old := make([]float64, d.v.Cols)
	for i := range d.v.Rows {
		clear(d.g)
		col, val := d.n.Row(i)
		for a, j := range col {
			w := val[a]
			for c, x := range d.v.Row(int(j)) {
				d.g[c] += w * x
			}
		}
		row := d.v.Row(i)
		copy(old, row)
		d.block.load(d.problem, d.v, i)
		d.block.update(row, d.diag, d.g)
		for c, x := range row {
			moved += (x - old[c]) * (x - old[c])
			size += x * x
		}
	}
	d.sweeps++
	return math.Sqrt(moved) / (1 + math.Sqrt(size))
}

// settle sweeps until V changes by less than tol, and says whether it did within most sweeps in all.
func (d *descent) settle(ctx context.Context, tol float64, most int, report func()) (bool, error) {
	for d.sweeps < most {
		change := d.sweep()
		d.trace = append(d.trace, d.objective(d.v))
		report()
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if change < tol {
			return true, nil
		}
	}
	return false, nil
}

// rankBound returns the rank that suffices for some optimum: r(r+1)/2 is at most the number of links.
func (p *problem) rankBound() int {
	count := len(p.to) / 2
	linked := 0
	for i := range p.n.Rows {
		if lo, hi := p.links(i); hi > lo {
			linked++
		}
	}
	return max(1, min(int((math.Sqrt(8*float64(count)+1)-1)/2), linked))
}
