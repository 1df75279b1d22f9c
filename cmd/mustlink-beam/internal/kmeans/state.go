package kmeans

import (
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// State is what is known of the centers between two passes.
type State struct {
	Width   int64     // values of a row; 0 before the first pass
	Centers []float64 // one after another; in the start the rows drawn so far
	// Numbers are those of the rows drawn so far, in the start, and Weights the numbers of rows
	// nearest to them.
	Numbers []int64
	Weights []float64
	Sample  []float64 // rows of a uniform sample, one after another
	// Of Lloyd's iterations:
	Sizes      []int64 // rows of each center
	Rows       int64
	Inertia    float64
	Iterations int64
	Measured   bool // Inertia and Sizes are those of some centers
	Converged  bool
	Failed       bool // a pass has failed, and with it the job: what comes after it does nothing, so that its error is the one that is told
}

// Matrix returns the centers, K x Width, sharing memory.
func (s State) Matrix() blas.Matrix {
	if s.Width == 0 {
		return blas.Matrix{}
	}
	return blas.Matrix{Rows: len(s.Centers) / int(s.Width), Cols: int(s.Width), Stride: int(s.Width), Data: s.Centers}
}

// From returns the state in which Lloyd's iterations begin with the given centers.
func From(centers blas.Matrix) State {
	c := centers.Clone()
	return State{Width: int64(c.Cols), Centers: c.Data[:c.Rows*c.Cols]}
}

// shift is what is subtracted from rows before they are summed: the mean of the centers, which rows
// are near to.
func (s State) shift() []float64 {
	m := s.Matrix()
	mean := make([]float64, m.Cols)
	for c := range m.Rows {
		for j, v := range m.Row(c) {
			mean[j] += v / float64(m.Rows)
		}
	}
	return mean
}

// draw adds the rows that a pass has drawn, in the order of their numbers.
func (s State) draw(p Part) State {
	p.Drawn.Ascending()
	if width := p.Drawn.Width(); width > 0 {
		s.Width = int64(width)
	}
	s.Rows = p.Rows
	s.Centers = append(s.Centers, p.Drawn.Values...)
	s.Numbers = append(s.Numbers, p.Drawn.Numbers...)
	return s
}

// weigh gives the rows drawn their weights. Rows to which none is nearest, as an equal one comes
// before them, are left out.
func (s State) weigh(p Part) State {
	m := s.Matrix()
	out := State{Width: s.Width, Rows: p.Rows}
	for c, weight := range p.Sums {
		if weight > 0 {
			out.Centers = append(out.Centers, m.Row(c)...)
			out.Numbers = append(out.Numbers, s.Numbers[c])
			out.Weights = append(out.Weights, weight)
		}
	}
	p.Drawn.Ascending()
	out.Sample = p.Drawn.Values
	return out
}

// starts is the number of ways in which the rows drawn are clustered, and plain the number of
// starts of k-means++ on the sample.
const starts, plain = 10, 10

// recluster returns k centers of the rows drawn, by their weights. They are clustered from several
// starts, and each outcome goes through Lloyd's iterations on the sample, which tell the best: what
// iterations on all rows would take many passes for. k-means++ on the sample itself may do better.
func (s State) recluster(ctx context.Context, eng *engine.Engine, k int, seed uint64) (State, error) {
	if drawn := len(s.Weights); drawn < k {
		return State{}, &fault.ParamError{Param: "number of clusters", Value: k,
			Want: fmt.Sprintf("at most %d, as many different rows as were drawn: draw more (--rounds, --draw), unless there are no more", drawn)}
	}
	x := s.Matrix()
	sample := blas.Matrix{Rows: len(s.Sample) / x.Cols, Cols: x.Cols, Stride: x.Cols, Data: s.Sample}
	if sample.Rows < k {
		r, err := cluster.KMeans(ctx, eng, x, cluster.Params{K: k, Seed: seed, Weights: s.Weights})
		if err != nil {
			return State{}, err
		}
		return From(r.Centers), nil
	}
	best, err := cluster.KMeans(ctx, eng, sample, cluster.Params{K: k, Seed: seed, Restarts: plain})
	for start := uint64(0); err == nil && start < starts; start++ {
		var r *cluster.Result
		restarts := 1
		if start == 0 { // the best by the weights alone is one of them
			restarts = starts
		}
		r, err = cluster.KMeans(ctx, eng, x, cluster.Params{K: k, Seed: seed + start, Restarts: restarts, Weights: s.Weights})
		if err == nil {
			r, err = cluster.KMeans(ctx, eng, sample, cluster.Params{Start: r.Centers})
		}
		if err == nil && r.Inertia < best.Inertia {
			best = r
		}
	}
	if err != nil {
		return State{}, err
	}
	return From(best.Centers), nil
}

// measure takes the inertia and the sizes of the clusters from a pass.
func (s State) measure(p Part) State {
	k, width := s.Matrix().Rows, int(s.Width)
	s.Rows, s.Inertia, s.Measured, s.Sizes = p.Rows, p.Cost, true, make([]int64, k)
	for c := range s.Sizes {
		s.Sizes[c] = int64(p.Sums[c*(width+1)+width])
	}
	return s
}

// move is one of Lloyd's iterations, after its pass: it has converged when the inertia has not
// fallen by more than the share tol, otherwise centers move to the means of their rows, and the
// first one without rows to the farthest row.
func (s State) move(p Part, tol float64) State {
	before, measured, shift := s.Inertia, s.Measured, s.shift()
	s = s.measure(p)
	empty := slices.Index(s.Sizes, 0)
	refill := empty >= 0 && p.FarSquared > 0
	if measured && !refill && !(p.Cost < before-tol*before) {
		s.Converged = true
		return s
	}
	s.Centers = slices.Clone(s.Centers)
	m, width := s.Matrix(), int(s.Width)
	for c, size := range s.Sizes {
		if size == 0 {
			continue
		}
		sum := p.Sums[c*(width+1) : c*(width+1)+width]
		for j, v := range sum {
			m.Set(c, j, shift[j]+v/float64(size))
		}
	}
	if refill {
		copy(m.Row(empty), p.Far)
	}
	s.Iterations++
	return s
}
