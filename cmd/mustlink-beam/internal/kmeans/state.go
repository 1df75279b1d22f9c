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

// State is the state of the algorithm between two passes.
type State struct {
	Width   int64     // values of a row; 0 before the first pass
	Centers []float64 // row by row; in the start the rows drawn so far
	// In the start, Numbers are the row numbers of the rows drawn so far, and Weights the numbers
	// of rows nearest to them.
	Numbers []int64
	Weights []float64
	Sample  []float64 // rows of a uniform sample, row by row
	// The rest describes Lloyd's iterations.
	Sizes      []int64 // number of rows of each center
	Rows       int64
	Inertia    float64
	Iterations int64
	Measured   bool // Inertia and Sizes are set
	Converged  bool
	Failed     bool // a pass has failed; later passes do nothing, so that its error is the one reported
}

// Matrix returns the centers, K x Width. It shares memory with the state.
func (s State) Matrix() blas.Matrix {
	if s.Width == 0 {
		return blas.Matrix{}
	}
	return blas.MatrixOf(len(s.Centers)/int(s.Width), int(s.Width), s.Centers)
}

// From returns the state in which Lloyd's iterations begin from given centers.
func From(centers blas.Matrix) State {
	c := centers.Clone()
	return State{Width: int64(c.Cols), Centers: c.Data[:c.Rows*c.Cols]}
}

// shift is subtracted from rows before they are summed, to reduce rounding errors: it is the mean
// of the centers, which is near the rows.
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

// draw adds the drawn rows of a part, in the order of their numbers.
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

// weigh sets the weights of the drawn rows. It removes rows of weight 0, which are equal to an
// earlier one.
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

// starts is the number of times that the drawn rows are clustered, and plain the number of starts
// of k-means++ on the sample.
const starts, plain = 10, 10

// recluster computes k centers from the weighted drawn rows. It clusters them from several starts
// and improves each result by Lloyd's iterations on the sample, which shows the best one;
// iterations on all rows would need many passes. k-means++ on the sample is another candidate.
func (s State) recluster(ctx context.Context, eng *engine.Engine, k int, seed uint64) (State, error) {
	if drawn := len(s.Weights); drawn < k {
		return State{}, &fault.ParamError{Param: "number of clusters", Value: k,
			Want: fmt.Sprintf("at most %d, the number of different rows that were drawn; draw more by "+
				"--rounds or --draw, if the data have more", drawn)}
	}
	x := s.Matrix()
	sample := blas.MatrixOf(len(s.Sample)/x.Cols, x.Cols, s.Sample)
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
		if start == 0 { // the best by the weights is also a candidate
			restarts = starts
		}
		r, err = cluster.KMeans(ctx, eng, x,
			cluster.Params{K: k, Seed: seed + start, Restarts: restarts, Weights: s.Weights})
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

// move is one of Lloyd's iterations, after its pass. It has converged when the inertia has fallen
// by at most the share tol. Otherwise centers move to the means of their rows, and the first center
// without rows moves to the farthest row.
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
