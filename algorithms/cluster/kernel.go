package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Kernel partitions n objects into p.K clusters given their Gram matrix k (n x n, both
// triangles, symmetric, positive semidefinite): k-means in the feature space, where
//
//	|phi_i - mean_c|^2 = k_ii - 2/|c| sum_{j in c} k_ij + 1/|c|^2 sum_{j,l in c} k_jl
//
// (Dhillon, Guan & Kulis 2004, eq. 2, unit weights), from p.Restarts starts; the partition
// of smallest inertia, the sum of these distances, is returned, without Centers.
//
// The inertia decreases monotonically; where it would not (round-off, or a k that is not
// positive semidefinite) the start ends with the better partition. Ties and empty clusters
// are treated as in [KMeans]. Unlike there, distances come from differences of entries of
// k: they carry an absolute error of order n u max|k|, so k should be centred when its rows
// are nearly equal.
//
// Errors: *fault.ParamError, *fault.ShapeError (k not square), *fault.DataError (a value
// that is not finite, or a pair (i, j) at which k is not symmetric to 1e-10 max|k|), and
// ctx.Err(), wrapped. Cost: n^2 additions an iteration. Memory: nK values a worker.
func Kernel(ctx context.Context, eng *engine.Engine, k blas.Matrix, p Params) (*Result, error) {
	p, err := p.resolve(k.Rows)
	if err != nil {
		return nil, err
	}
	if err := checkGram(k); err != nil {
		return nil, err
	}
	bytes := int64(eng.Workers()) * engine.MatrixBytes(k.Rows, p.K+3)
	if err := eng.Check("kernel k-means", bytes, "cluster a sample of the rows"); err != nil {
		return nil, err
	}
	var (
		mu    sync.Mutex
		best  *kernelStart
		done  int
		began = time.Now()
	)
	whole := p.Restarts >= eng.Workers()
	err = loop(ctx, eng, whole, p.Restarts, 1, func(restart, _ int) error {
		r := newKernelStart(ctx, eng, k, p, restart, !whole)
		if err := r.run(); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		if best == nil || r.inertia < best.inertia || (r.inertia == best.inertia && restart < best.restart) {
			best = r
		}
		p.Progress.Report(algorithms.Progress{Stage: "kernel k-means", Done: done, Total: p.Restarts,
			Objective: best.inertia, Elapsed: time.Since(began)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: kernel k-means: %w", err)
	}
	return &Result{Labels: best.labels, Inertia: best.inertia, Iterations: best.iterations,
		Converged: best.converged, Restart: best.restart}, nil
}

// checkGram validates a Gram matrix: square, finite, symmetric.
func checkGram(k blas.Matrix) error {
	if k.Rows != k.Cols {
		return &fault.ShapeError{What: "number of columns of the Gram matrix", Got: k.Cols, Want: fmt.Sprintf("%d, its number of rows", k.Rows)}
	}
	if err := checkFinite(k); err != nil {
		return err
	}
	largest := 0.0
	for i := range k.Rows {
		for _, v := range k.Row(i) {
			largest = max(largest, math.Abs(v))
		}
	}
	if largest > math.MaxFloat64/16/float64(k.Rows) {
		return &fault.DataError{Row: -1, Err: fmt.Errorf("largest value of the Gram matrix is %g: its sums overflow; scale the data", largest)}
	}
	for i := range k.Rows {
		for j := range i {
			if a, b := k.At(i, j), k.At(j, i); math.Abs(a-b) > 1e-10*largest {
				return &fault.DataError{Row: i, Column: strconv.Itoa(j), Err: fmt.Errorf("value is %g but %g at row %d, column %d: want a symmetric matrix", a, b, j, i)}
			}
		}
	}
	return nil
}

// kernelStart is one run from one seeded choice of first members.
type kernelStart struct {
	ctx      context.Context
	eng      *engine.Engine
	parallel bool
	k        blas.Matrix
	p        Params
	restart  int
	rng      *rand.Rand

	labels, next []int
	dist         []float64   // squared distance to the own cluster's mean
	sums         blas.Matrix // n x K: sums of row i over each cluster
	members      [][]int     // ascending
	self         []float64   // squared norm of each cluster's mean

	inertia    float64
	iterations int
	converged  bool
	trace      []float64 // inertia of each partition tried
}

func newKernelStart(ctx context.Context, eng *engine.Engine, k blas.Matrix, p Params, restart int, parallel bool) *kernelStart {
	return &kernelStart{
		ctx: ctx, eng: eng, parallel: parallel, k: k, p: p, restart: restart,
		rng:    rand.New(rand.NewPCG(p.Seed, uint64(restart))),
		labels: make([]int, k.Rows), next: make([]int, k.Rows), dist: make([]float64, k.Rows),
		members: make([][]int, p.K), self: make([]float64, p.K),
	}
}

func (r *kernelStart) run() error {
	r.sums = r.eng.GetMatrix(r.k.Rows, r.p.K)
	defer func() {
		r.eng.PutMatrix(r.sums)
		r.sums = blas.Matrix{}
	}()
	r.seed()
	if err := r.measure(r.next); err != nil {
		return err
	}
	copy(r.labels, r.next)
	r.inertia = r.trace[0]
	for r.iterations < r.p.MaxIter {
		r.iterations++
		if changed := r.reassign(); changed == 0 {
			r.converged = true
			return nil
		}
		if err := r.measure(r.next); err != nil {
			return err
		}
		before, after := r.inertia, r.trace[len(r.trace)-1]
		if after <= before+r.roundOff() { // of equals take the one nearer to a fixed point
			copy(r.labels, r.next)
			r.inertia = after
		}
		if !(after < before-r.p.Tol*before) {
			r.converged = true
			return nil
		}
	}
	return nil
}

// roundOff is how much two sums of distances may differ and count as equal.
func (r *kernelStart) roundOff() float64 {
	trace := 0.0
	for i := range r.k.Rows {
		trace += math.Abs(r.k.At(i, i))
	}
	return 0x1p-50 * trace
}

// seed assigns every object to the nearest of K seeds (ties: the earlier seed).
func (r *kernelStart) seed() {
	n := r.k.Rows
	cost := make([]float64, n)
	nearest := make([]float64, n)
	for i := range cost {
		cost[i], nearest[i] = 1, math.Inf(1)
	}
	perm := r.rng.Perm(n)
	for c := range r.p.K {
		s := perm[c]
		if r.p.Init == InitPlusPlus {
			s = draw(cost, r.rng.Float64())
		}
		row := r.k.Row(s)
		for i := range n {
			if d := max(0, r.k.At(i, i)+row[s]-2*row[i]); d < nearest[i] {
				nearest[i], r.next[i] = d, c
			}
		}
		copy(cost, nearest)
	}
}

// kernelBlock is the number of rows of the Gram matrix that one task sums.
const kernelBlock = 64

// measure computes sums, self and distances for a partition and appends its inertia to the
// trace. A cluster without members has self = +Inf, which keeps everything away.
func (r *kernelStart) measure(labels []int) error {
	for c := range r.members {
		r.members[c] = r.members[c][:0]
	}
	for i, c := range labels {
		r.members[c] = append(r.members[c], i)
	}
	err := loop(r.ctx, r.eng, r.parallel, r.k.Rows, kernelBlock, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			row, sums := r.k.Row(i), r.sums.Row(i)
			for c, members := range r.members {
				sums[c] = sumOver(row, members)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	inertia := 0.0
	for c, members := range r.members {
		total := 0.0
		for _, i := range members {
			total += r.sums.At(i, c)
		}
		size := float64(len(members))
		r.self[c] = math.Inf(1)
		if len(members) > 0 {
			r.self[c] = total / (size * size)
		}
		for _, i := range members {
			r.dist[i] = max(0, r.k.At(i, i)+r.score(i, c))
			inertia += r.dist[i]
		}
	}
	r.trace = append(r.trace, inertia)
	return nil
}

// score is the squared distance of object i to the mean of cluster c, less k_ii.
func (r *kernelStart) score(i, c int) float64 {
	if len(r.members[c]) == 0 {
		return math.Inf(1)
	}
	return r.self[c] - 2*r.sums.At(i, c)/float64(len(r.members[c]))
}

// reassign fills next with the nearest cluster of every object (ties: the lower number),
// gives empty clusters the farthest objects, and returns how many labels differ.
func (r *kernelStart) reassign() (changed int) {
	size := make([]int, r.p.K)
	for i := range r.next {
		best, arg := math.Inf(1), 0
		for c := range r.p.K {
			if v := r.score(i, c); v < best {
				best, arg = v, c
			}
		}
		r.next[i], r.dist[i] = arg, max(0, r.k.At(i, i)+best)
		size[arg]++
	}
	for c := range size {
		if size[c] == 0 {
			r.refill(c, size)
		}
	}
	for i, c := range r.next {
		if c != r.labels[i] {
			changed++
		}
	}
	return changed
}

// refill moves the object farthest from its mean into the empty cluster c, unless all
// distances are within round-off of 0.
func (r *kernelStart) refill(c int, size []int) {
	far := -1
	for i, d := range r.dist {
		if size[r.next[i]] > 1 && d > 1e-12*math.Abs(r.k.At(i, i)) && (far < 0 || d > r.dist[far]) {
			far = i
		}
	}
	if far < 0 {
		return
	}
	size[r.next[far]]--
	size[c] = 1
	r.next[far] = c
	row := r.k.Row(far) // the next empty cluster must not take an equal object
	for i := range r.dist {
		r.dist[i] = min(r.dist[i], max(0, r.k.At(i, i)+row[far]-2*row[i]))
	}
}

// sumOver adds the values of row at the given places, in a fixed order.
func sumOver(row []float64, places []int) float64 {
	var s0, s1, s2, s3 float64
	j := 0
	for ; j+4 <= len(places); j += 4 {
		s0 += row[places[j]]
		s1 += row[places[j+1]]
		s2 += row[places[j+2]]
		s3 += row[places[j+3]]
	}
	for ; j < len(places); j++ {
		s0 += row[places[j]]
	}
	return (s0 + s1) + (s2 + s3)
}
