package npkl

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// descent is a minimisation under way.
type descent struct {
	*graphkernel.Problem
	t      *asm.Table
	v      blas.Matrix // n x r
	block  *block
	g      []float64 // r
	sweeps int
	trace  []float64 // objective after every sweep
}

// newDescent starts from random rows in [0, 1)^r, as the paper does, of the size of the solution:
// V = 0 is a fixed point.
func newDescent(p *graphkernel.Problem, t *asm.Table, r int, seed uint64) *descent {
	d := &descent{Problem: p, t: t}
	rng := rand.New(rand.NewPCG(seed, 0x6e706b6c))
	v := blas.NewMatrix(p.N.Rows, r)
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
		lo, hi := d.Links(i)
		most = max(most, hi-lo)
	}
	d.v, d.block, d.g = v, newBlock(d.Loss, v.Cols, most), make([]float64, v.Cols)
}

// sweep updates every row, in order, and returns how much V has changed, relative to 1 + |V|, and by how
// much the objective has fallen.
func (d *descent) sweep() (change, fall float64) {
	moved, size := 0.0, 0.0
	old := make([]float64, d.v.Cols)
	for i := range d.v.Rows {
		clear(d.g)
		col, val := d.N.Row(i)
		for a, j := range col {
			w := val[a]
			for c, x := range d.v.Row(int(j)) {
				d.g[c] += w * x
			}
		}
		row := d.v.Row(i)
		copy(old, row)
		d.block.load(d.Problem, d.v, i)
		before := d.block.value(row, d.Diag, d.g)
		d.block.update(row, d.Diag, d.g)
		fall += 2 * (before - d.block.value(row, d.Diag, d.g))
		for c, x := range row {
			moved += (x - old[c]) * (x - old[c])
			size += x * x
		}
	}
	d.sweeps++
	return math.Sqrt(moved) / (1 + math.Sqrt(size)), fall
}

// enough is what the fall of the objective must be below, relative to it and to tol. At the kinks of the
// hinge it ebbs away slowly, and never ends.
func enough(p *graphkernel.Problem, tol float64) float64 {
	if p.Loss == Hinge {
		return max(tol, 1e-3)
	}
	return tol
}

// settle sweeps until V changes by less than tol, or the objective by less than tol^2, and says whether
// that was within most sweeps in all.
func (d *descent) settle(ctx context.Context, tol float64, most int, report func()) (bool, error) {
	value := d.Objective(d.v)
	faster := anderson{t: d.t}
	before, ahead := d.v.Clone(), d.v.Clone()
	for d.sweeps < most {
		before.CopyFrom(d.v)
		change, fall := d.sweep()
		value -= fall
		settled := change < tol || fall < tol*enough(d.Problem, tol)*value
		faster.add(before.Data, d.v.Data)
		if settled {
			value = d.Objective(d.v) // without the rounding of the sum
		}
		d.trace = append(d.trace, value)
		report()
		if err := ctx.Err(); err != nil || settled {
			return settled, err
		}
		if faster.propose(ahead) {
			if lower := d.Objective(ahead); lower < value {
				d.v.CopyFrom(ahead)
				value = lower
			} else {
				faster.reset()
			}
		}
	}
	return false, nil
}
