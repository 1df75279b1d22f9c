package npkl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/sparse"
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

// colors sweeps over the points class by class. Points of a class share no edge and no link, so
// their rows are updated together: the minimizer over one does not depend on the others. The
// points are in the order of the classes, so the neighbors before a class are already updated, and
// their sums also give the objective.
type colors struct {
	start []int // of every class, then the end
	// cuts has, for every point, the index of its first neighbor in the graph and of the first
	// neighbor from its own class on. Rows 2i and 2i+1 of a product are the sums of the earlier and
	// of the later neighbors.
	cuts []int
}

// classes is an order of the points, class by class.
type classes struct {
	order []int32
	start []int // of every class in order, then the end
}

// color goes through the points in their order and gives each the first class without a neighbor.
// Cost: O(edges), on one core because each class depends on those before.
func color(p *graphkernel.Problem) classes {
	n := p.Len()
	class, taken, count := make([]int32, n), []int{}, 0
	for i := range class {
		class[i] = -1
	}
	mark := func(i, j int) {
		if c := class[j]; c >= 0 {
			taken[c] = i
		}
	}
	for i := range n {
		col, _ := p.N.Sparse.Row(i)
		for _, j := range col {
			mark(i, int(j))
		}
		lo, hi := p.Links(i)
		for _, j := range p.To[lo:hi] {
			mark(i, int(j))
		}
		c := 0
		for c < count && taken[c] == i {
			c++
		}
		if c == count {
			taken = append(taken, -1)
			count++
		}
		class[i] = int32(c)
	}
	out := classes{order: make([]int32, n), start: make([]int, count+1)}
	for _, c := range class {
		out.start[c+1]++
	}
	next := sparse.Begins(out.start)
	for i, c := range class {
		out.order[next[c]] = int32(i)
		next[c]++
	}
	return out
}

// newColors returns the sweeper of a problem whose points are in the order of their classes.
func newColors(p *graphkernel.Problem, start []int) *colors {
	o := &colors{start: start, cuts: make([]int, 0, 2*p.Len()+1)}
	for c := range len(start) - 1 {
		for i := start[c]; i < start[c+1]; i++ {
			col, _ := p.N.Sparse.Row(i)
			earlier, _ := slices.BinarySearch(col, int32(start[c]))
			o.cuts = append(o.cuts, p.N.Sparse.Start[i], p.N.Sparse.Start[i]+earlier)
		}
	}
	o.cuts = append(o.cuts, p.N.Sparse.Count())
	return o
}

// rowsPerTask is the number of rows that one task updates. Classes have some hundred points, so
// that more of them would leave workers idle.
const rowsPerTask = 32

func (o *colors) sweep(ctx context.Context, d *descent) (tally, error) {
	var total tally
	for c := range len(o.start) - 1 {
		first, count := o.start[c], o.start[c+1]-o.start[c]
		parts := make([]tally, (count+rowsPerTask-1)/rowsPerTask)
		err := d.eng.For(ctx, count, rowsPerTask, func(lo, hi int) error {
			k := d.blocks.Get().(*block)
			defer d.blocks.Put(k)
			parts[lo/rowsPerTask] = o.rows(d, k, first+lo, first+hi)
			return nil
		})
		if err != nil {
			return total, err
		}
		for _, t := range parts {
			total.add(t)
		}
	}
	return total, nil
}

// rows updates the points [lo, hi), of one class.
func (o *colors) rows(d *descent, k *block, lo, hi int) tally {
	var t tally
	n, r := d.N.Sparse, d.v.Cols
	if need := 2 * (hi - lo) * r; len(k.sums) < need {
		k.sums = make([]float64, 2*rowsPerTask*r)
	}
	d.eng.Backend().Kernels().SparseRows(o.cuts[2*lo:2*hi+1], n.Col, n.Val, d.v.Data, r, r, k.sums, r)
	for i := lo; i < hi; i++ {
		earlier, later := k.sums[2*(i-lo)*r:][:r], k.sums[(2*(i-lo)+1)*r:][:r]
		for c, x := range earlier {
			k.pulled[c] = x + later[c]
		}
		t.add(d.move(k, i, k.pulled))
		row := d.v.Row(i)
		t.value += d.Diag[i]*blas.Dot(row, row) - 2*blas.Dot(row, earlier) + d.Losses(i, d.v)
	}
	return t
}

// panels sweeps over the rows of a full graph in their order: a product of a panel of rows with V,
// corrected within the panel by a product after every few rows, and within those few after every
// row.
type panels struct{}

// panelRows is the number of rows of a panel, large enough that the products are limited by memory
// only. fewRows is the number of rows whose changes are applied together to the rest of the panel.
const panelRows, fewRows = 512, 32

func (panels) sweep(ctx context.Context, d *descent) (tally, error) {
	n, r := d.v.Rows, d.v.Cols
	p := panel{descent: d, sums: d.eng.GetMatrix(panelRows, 2*r), changes: d.eng.GetMatrix(fewRows, 2*r)}
	defer d.eng.PutMatrix(p.sums)
	defer d.eng.PutMatrix(p.changes)
	p.block = d.blocks.Get().(*block)
	defer d.blocks.Put(p.block)
	var total tally
	value := 0.0
	for lo := 0; lo < n; lo += panelRows {
		p.begin(lo, min(lo+panelRows, n))
		for at := p.lo; at < p.hi; at += fewRows {
			total.add(p.few(at, min(at+fewRows, p.hi)))
		}
		for i := lo; i < p.hi; i++ {
			row := d.v.Row(i)
			value += d.Diag[i]*blas.Dot(row, row) - 2*blas.Dot(row, p.sums.Row(i - lo)[:r])
		}
		if err := ctx.Err(); err != nil {
			return total, err
		}
	}
	for i := range n {
		value += d.Losses(i, d.v)
	}
	total.value = value
	return total, nil
}

// panel is a sweep over the rows [lo, hi).
type panel struct {
	*descent
	lo, hi int
	block  *block
	// sums has the sums over the neighbors of every row: over those before it, which are updated
	// and final, so they also give the objective; and over the others, which are old.
	sums    blas.Matrix
	changes blas.Matrix // what is added to both kinds of sums: the new rows minus the old ones
}

func (p *panel) begin(lo, hi int) {
	p.lo, p.hi = lo, hi
	n, r, b := p.v.Rows, p.v.Cols, p.eng.Backend()
	b.Gemm(false, false, 1, p.N.Full.View(lo, hi, 0, lo), p.v.View(0, lo, 0, r), 0,
		p.sums.View(0, hi-lo, 0, r))
	b.Gemm(false, false, 1, p.N.Full.View(lo, hi, lo, n), p.v.View(lo, n, 0, r), 0,
		p.sums.View(0, hi-lo, r, 2*r))
}

// few updates the rows [at, end).
func (p *panel) few(at, end int) tally {
	var total tally
	r, k, t := p.v.Cols, p.block, p.eng.Backend().Kernels()
	for i := at; i < end; i++ {
		sum := p.sums.Row(i - p.lo)
		for c := range k.pulled {
			k.pulled[c] = sum[c] + sum[r+c]
		}
		total.add(p.move(k, i, k.pulled))
		change := p.changes.Row(i - at)
		for c, x := range p.v.Row(i) {
			change[c], change[r+c] = x, -k.old[c]
		}
		for a, w := range p.N.Full.Row(i)[i+1 : end] {
			t.Axpy(w, change, p.sums.Row(i+1+a-p.lo))
		}
	}
	if end < p.hi {
		p.eng.Backend().Gemm(false, false, 1, p.N.Full.View(end, p.hi, at, end),
			p.changes.View(0, end-at, 0, 2*r), 1, p.sums.View(end-p.lo, p.hi-p.lo, 0, 2*r))
	}
	return total
}
