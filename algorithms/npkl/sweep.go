package npkl

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// descent is a minimization under way.
type descent struct {
	*graphkernel.Problem
	eng    *engine.Engine
	v      blas.Matrix // n x r, compact
	step   []float64   // what the latest sweep has added to it
	order  sweeper
	blocks sync.Pool // of *block
	plain  bool      // no extrapolation
	sweeps int
	trace  []float64 // objective after every sweep that counts
}

// sweeper updates every row of V once. The order is a fixed one, so the result is the same for any
// number of workers.
type sweeper interface {
	sweep(ctx context.Context, d *descent) (tally, error)
}

// tally is what a sweep has done.
type tally struct {
	moved, size float64 // squared Frobenius norms, of the change of V and of V
	fall        float64 // of the objective
	value       float64 // of the objective, after all
}

func (t *tally) add(o tally) {
	t.moved, t.size, t.fall, t.value = t.moved+o.moved, t.size+o.size, t.fall+o.fall, t.value+o.value
}

// change is how much V has changed, relative to 1 + |V|.
func (t tally) change() float64 { return math.Sqrt(t.moved) / (1 + math.Sqrt(t.size)) }

// newDescent starts from random rows in [0, 1)^r, as the paper does, of the size of the solution: V
// = 0 is a fixed point. The points of a sparse graph are in the order of classes that begin at
// start.
func newDescent(eng *engine.Engine, p *graphkernel.Problem, start []int, r int, seed uint64) *descent {
	d := &descent{Problem: p, eng: eng, order: panels{}}
	if p.N.Sparse != nil {
		d.order = newColors(p, start)
	}
	rng := rand.New(rand.NewPCG(seed, 0x6e706b6c))
	v := blas.NewMatrix(p.Len(), r)
	for i := range v.Data {
		v.Data[i] = rng.Float64() / math.Sqrt(float64(r))
	}
	d.take(v)
	return d
}

// take goes on from other rows, of perhaps another length, or with another loss.
func (d *descent) take(v blas.Matrix) {
	most := 0
	for i := range v.Rows {
		lo, hi := d.Links(i)
		most = max(most, hi-lo)
	}
	loss := d.Loss
	d.step = make([]float64, len(v.Data))
	d.v, d.blocks = v, sync.Pool{New: func() any { return newBlock(loss, v.Cols, most) }}
}

// move updates row i, for the sum g of its neighbors. k is for this goroutine alone and keeps the
// old row, which stays if the new one is worse by more than rounding: weights of links that are
// many orders of magnitude apart leave no digits.
func (d *descent) move(k *block, i int, g []float64) tally {
	row := d.v.Row(i)
	copy(k.old, row)
	k.load(d.Problem, d.v, i)
	before := k.value(row, d.Diag[i], g)
	k.update(row, d.Diag[i], g)
	after := k.value(row, d.Diag[i], g)
	const rounding = 1e-8
	if !(after <= before+rounding*math.Abs(before)) {
		copy(row, k.old)
		after = before
	}
	t := tally{fall: 2 * (before - after)}
	step := d.step[i*len(row) : (i+1)*len(row)]
	for c, x := range row {
		step[c] = x - k.old[c]
		t.moved += step[c] * step[c]
		t.size += x * x
	}
	return t
}

// enough is what the fall of the objective must be below, relative to it and to tol. At the kinks
// of the hinge it ebbs away slowly, and never ends.
func enough(p *graphkernel.Problem, tol float64) float64 {
	if p.Loss == Hinge {
		return max(tol, 1e-3)
	}
	return tol
}

// settle sweeps until V changes by less than tol, or the objective by less than tol^2, and says
// whether that was within most sweeps in all. A sweep from an extrapolation after which the
// objective is not lower does not count.
func (d *descent) settle(ctx context.Context, tol float64, most int, report func()) (bool, error) {
	value, far := math.Inf(1), false // far: extrapolated
	faster := anderson{eng: d.eng}
	for d.sweeps < most {
		t, err := d.order.sweep(ctx, d)
		if err != nil {
			return false, err
		}
		d.sweeps++
		if far && !(t.value <= value) {
			copy(d.v.Data, faster.last())
			faster.reset()
			far = false
			continue
		}
		value = t.value
		d.trace = append(d.trace, value)
		report()
		if t.change() < tol || t.fall < tol*enough(d.Problem, tol)*value {
			return true, nil
		}
		if d.plain {
			continue
		}
		if d.v.Data, d.step, err = faster.add(ctx, d.v.Data, d.step); err != nil {
			return false, err
		}
		if far, err = faster.propose(ctx, d.v.Data); err != nil {
			return false, err
		}
		if !far {
			copy(d.v.Data, faster.last())
		}
	}
	if far { // and not tried
		copy(d.v.Data, faster.last())
	}
	return false, ctx.Err()
}
