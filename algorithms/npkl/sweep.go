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

// descent is the state of a minimization.
type descent struct {
	*graphkernel.Problem
	eng    *engine.Engine
	v      blas.Matrix // n x r, compact
	step   []float64   // what the latest sweep added to v
	order  sweeper
	blocks sync.Pool // of *block
	plain  bool      // no extrapolation
	sweeps int
	trace  []float64 // objective after every sweep that counts
}

// sweeper updates every row of V once. The order is fixed, so the result is the same for any number
// of workers.
type sweeper interface {
	sweep(ctx context.Context, d *descent) (tally, error)
}

// tally is the summary of a sweep.
type tally struct {
	moved, size float64 // squared Frobenius norms of the change of V and of V
	fall        float64 // of the objective
	value       float64 // of the objective, after the sweep
}

func (t *tally) add(o tally) {
	t.moved, t.size, t.fall, t.value = t.moved+o.moved, t.size+o.size, t.fall+o.fall, t.value+o.value
}

// change returns the change of V relative to 1 + |V|.
func (t tally) change() float64 { return math.Sqrt(t.moved) / (1 + math.Sqrt(t.size)) }

// newDescent starts from random rows in [0, 1)^r, like the paper, scaled to the size of the
// solution; V = 0 would be a fixed point. The points of a sparse graph are in the order of their
// classes, which begin at start.
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

// take continues from the rows v. Their length may have changed.
func (d *descent) take(v blas.Matrix) {
	loss, maxLinks := d.Loss, mostLinks(d.Problem)
	d.step = make([]float64, len(v.Data))
	d.v, d.blocks = v, sync.Pool{New: func() any { return newBlock(loss, v.Cols, maxLinks) }}
}

// mostLinks returns the largest number of links of a point.
func mostLinks(p *graphkernel.Problem) (most int) {
	for i := range p.Len() {
		lo, hi := p.Links(i)
		most = max(most, hi-lo)
	}
	return most
}

// move updates row i, for the sum g of its neighbors. k belongs to this goroutine and stores the
// old row. The old row is restored if the new one is worse by more than rounding: link weights that
// are many orders of magnitude apart can leave no correct digit.
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

// settle sweeps until V changes by less than tol, or the objective by less than tol^2, and reports
// whether this took at most limit sweeps in total. A sweep from an extrapolation does not count if
// the objective has not fallen.
func (d *descent) settle(ctx context.Context, tol float64, limit int, report func()) (bool, error) {
	value, extrapolated := math.Inf(1), false // whether v is an extrapolation
	faster := anderson{eng: d.eng}
	for d.sweeps < limit {
		t, err := d.order.sweep(ctx, d)
		if err != nil {
			return false, err
		}
		d.sweeps++
		if extrapolated && !(t.value <= value) {
			copy(d.v.Data, faster.last())
			faster.reset()
			extrapolated = false
			continue
		}
		value = t.value
		d.trace = append(d.trace, value)
		report()
		if t.change() < tol || t.fall < tol*tol*value {
			return true, nil
		}
		if d.plain {
			continue
		}
		if d.v.Data, d.step, err = faster.add(ctx, d.v.Data, d.step); err != nil {
			return false, err
		}
		if extrapolated, err = faster.propose(ctx, d.v.Data); err != nil {
			return false, err
		}
		if !extrapolated {
			copy(d.v.Data, faster.last())
		}
	}
	if extrapolated { // and no sweep has tried it
		copy(d.v.Data, faster.last())
	}
	return false, ctx.Err()
}
