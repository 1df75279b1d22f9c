package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Kernel partitions n objects into p.K clusters given their Gram matrix k (n x n, both
// triangles, symmetric, positive semidefinite): k-means in the feature space, where
//
//	|phi_i - mean_c|^2 = k_ii - 2/|c| sum_{j in c} k_ij + 1/|c|^2 sum_{j,l in c} k_jl
//
// (Dhillon, Guan & Kulis 2004, eq. 2, for unit weights), from p.Restarts starts; the partition
// of smallest inertia, the sum of these distances, is returned, without Centers.
//
// The inertia decreases monotonically; where it would not (round-off, or a k that is not
// positive semidefinite) the start ends with the better partition. Ties and empty clusters
// are treated as in [KMeans]. Unlike there, distances come from differences of entries of
// k: they carry an absolute error of order n u max|k|, so k should be centered when its rows
// are nearly equal.
//
// Errors: *fault.ParamError, *fault.ShapeError (k not square, Weights), *fault.DataError (a value
// or weight that is not finite, or a pair (i, j) at which k is not symmetric to 1e-10 max|k|), and
// ctx.Err(), wrapped. Cost: n^2 additions in the first iteration, 2n for every label that
// changes later. Memory: nK values per worker.
func Kernel(ctx context.Context, eng *engine.Engine, k blas.Matrix, p Params) (*Result, error) {
	weights := p.Weights
	if err := checkWeights(weights, k.Rows); err != nil {
		return nil, err
	}
	p.Weights = nil
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
	r, restart, err := best(ctx, eng, p, "kernel k-means", func(restart int, parallel bool) *kernelStart {
		r := newKernelStart(ctx, eng, k, p, restart, parallel)
		r.weight = weights
		return r
	})
	if err != nil {
		return nil, err
	}
	return &Result{Labels: r.labels, Inertia: r.inertia, Iterations: r.iterations, Converged: r.converged,
		Restart: restart}, nil
}

// checkGram validates a Gram matrix: square, finite, symmetric.
func checkGram(k blas.Matrix) error {
	if k.Rows != k.Cols {
		return fault.Shape("number of columns of the Gram matrix", k.Cols, "%d, its number of rows", k.Rows)
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
		return fault.Data("",
			"largest value of the Gram matrix is %g: its sums overflow; scale the data", largest)
	}
	for i := range k.Rows {
		for j := range i {
			if a, b := k.At(i, j), k.At(j, i); math.Abs(a-b) > 1e-10*largest {
				return fault.Cell(i, strconv.Itoa(j),
					"value is %g but %g at row %d, column %d: want a symmetric matrix", a, b, j, i)
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
	weight   weights
	p        Params
	rng      *rand.Rand

	labels, next []int
	dist         []float64   // squared distance to the own cluster's mean
	sums         blas.Matrix // K x n: weighted sums of the rows of k over each cluster
	summed       []int       // the partition that sums belongs to, nil for none
	fresh        bool        // sums was added up for it, not brought up to date
	members      [][]int     // ascending
	mass         []float64   // weight of each cluster
	self         []float64   // squared norm of each cluster's mean

	inertia    float64
	iterations int
	converged  bool
	trace      []float64 // inertia of each partition measured
}

func newKernelStart(ctx context.Context, eng *engine.Engine, k blas.Matrix, p Params, restart int,
	parallel bool) *kernelStart {
	return &kernelStart{
		ctx: ctx, eng: eng, parallel: parallel, k: k, p: p,
		rng:    rand.New(rand.NewPCG(p.Seed, uint64(restart))),
		labels: make([]int, k.Rows), next: make([]int, k.Rows), dist: make([]float64, k.Rows),
		members: make([][]int, p.K), mass: make([]float64, p.K), self: make([]float64, p.K),
	}
}

func (r *kernelStart) last() float64 { return r.inertia }

func (r *kernelStart) run() error {
	r.sums = r.eng.GetMatrix(r.p.K, r.k.Rows)
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
		changed := r.reassign()
		if changed == 0 && !r.fresh {
			// Rounding in sums brought up to date must not decide that this is the end.
			if err := r.refresh(); err != nil {
				return err
			}
			changed = r.reassign()
		}
		if changed == 0 {
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

// refresh measures the current partition with recomputed sums.
func (r *kernelStart) refresh() error {
	r.summed = nil
	if err := r.measure(r.labels); err != nil {
		return err
	}
	last := len(r.trace) - 1
	r.inertia = r.trace[last]
	r.trace = r.trace[:last] // no new partition
	return nil
}

// roundOff is the largest difference of two sums of distances that count as equal.
func (r *kernelStart) roundOff() float64 {
	trace := 0.0
	for i := range r.k.Rows {
		trace += r.weight.of(i) * math.Abs(r.k.At(i, i))
	}
	return 0x1p-50 * trace
}

// seed assigns every object to the nearest of K seeds (ties: the earlier seed).
func (r *kernelStart) seed() {
	n := r.k.Rows
	cost := make([]float64, n)
	nearest := make([]float64, n)
	for i := range cost {
		cost[i], nearest[i] = r.weight.of(i), math.Inf(1)
	}
	var perm []int
	if r.p.Init == InitRandom {
		perm = r.rng.Perm(n)
	}
	for c := range r.p.K {
		var s int
		if perm != nil {
			s = perm[c]
		} else {
			s = draw(cost, r.rng.Float64())
		}
		row := r.k.Row(s)
		for i := range n {
			if d := max(0, r.k.At(i, i)+row[s]-2*row[i]); d < nearest[i] {
				nearest[i], r.next[i] = d, c
			}
			cost[i] = r.weight.of(i) * nearest[i]
		}
	}
}

// measure computes sums, self and distances for a partition and appends its inertia to the
// trace. A cluster without members has self = +Inf, which keeps everything away.
func (r *kernelStart) measure(labels []int) error {
	for c := range r.members {
		r.members[c] = r.members[c][:0]
		r.mass[c] = 0
	}
	for i, c := range labels {
		r.members[c] = append(r.members[c], i)
		r.mass[c] += r.weight.of(i)
	}
	if err := r.sum(labels); err != nil {
		return err
	}
	inertia := 0.0
	for c, members := range r.members {
		sums := r.sums.Row(c)
		total := 0.0
		for _, i := range members {
			total += r.weight.of(i) * sums[i]
		}
		r.self[c] = math.Inf(1)
		if len(members) > 0 {
			r.self[c] = total / (r.mass[c] * r.mass[c])
		}
		for _, i := range members {
			r.dist[i] = max(0, r.k.At(i, i)+r.score(i, c))
			inertia += r.weight.of(i) * r.dist[i]
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
	return r.self[c] - 2*r.sums.At(c, i)/r.mass[c]
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
	r.refill(size)
	for i, c := range r.next {
		if c != r.labels[i] {
			changed++
		}
	}
	return changed
}

// refill moves the objects that contribute most to the inertia into empty clusters,
// unless all distances are within round-off of 0.
func (r *kernelStart) refill(size []int) {
	cost := func(i int) float64 {
		if r.dist[i] <= 1e-12*math.Abs(r.k.At(i, i)) {
			return 0
		}
		return r.weight.of(i) * r.dist[i]
	}
	refill(r.next, size, 0, cost, func(far int) {
		row := r.k.Row(far) // the next empty cluster must not take an equal object
		for i := range r.dist {
			r.dist[i] = min(r.dist[i], max(0, r.k.At(i, i)+row[far]-2*row[i]))
		}
	})
}

const (
	kernelBlock  = 64   // rows of the Gram matrix that one task adds up
	updateColumn = 1024 // columns of the sums that one task brings up to date
)

// sum makes sums those of the given partition, whose members and mass are set. A change of
// few labels is cheaper to add to the standing sums than to add up all of them again.
func (r *kernelStart) sum(labels []int) error {
	moved := -1
	if r.summed != nil {
		moved = 0
		for i, c := range labels {
			if c != r.summed[i] {
				moved++
			}
		}
	}
	r.fresh = moved < 0 || 3*moved >= len(labels)
	var err error
	if r.fresh {
		err = r.addUp()
	} else {
		err = r.bringUpToDate(labels)
	}
	r.summed = append(r.summed[:0], labels...)
	return err
}

// addUp computes sums from the members. n^2 additions.
func (r *kernelStart) addUp() error {
	return loop(r.ctx, r.eng, r.parallel, r.k.Rows, kernelBlock, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := r.k.Row(i)
			for c, members := range r.members {
				r.sums.Set(c, i, sumOver(row, r.weight, members))
			}
		}
		return nil
	})
}

// bringUpToDate moves the rows of objects with a new label from one sum to another. 2n
// additions for each. Rounding errors add up until the next addUp, at most u max|k| times the
// mass moved.
func (r *kernelStart) bringUpToDate(labels []int) error {
	var moved []int
	for i, c := range labels {
		if c != r.summed[i] {
			moved = append(moved, i)
		}
	}
	return loop(r.ctx, r.eng, r.parallel, r.k.Rows, updateColumn, func(lo, hi int) error {
		for _, i := range moved {
			row := r.k.Row(i)[lo:hi] // a column, k being symmetric
			addScaled(r.sums.Row(r.summed[i])[lo:hi], row, -r.weight.of(i))
			addScaled(r.sums.Row(labels[i])[lo:hi], row, r.weight.of(i))
		}
		return nil
	})
}

// addScaled adds w x to y.
func addScaled(y, x []float64, w float64) {
	x = x[:len(y)]
	for j := range y {
		y[j] += float64(w * x[j])
	}
}

// sumOver adds the values of row at the given places, times their weights unless weight is
// nil, in a fixed order.
func sumOver(row, weight []float64, positions []int) float64 {
	var s [4]float64
	if weight == nil {
		for quad := range slices.Chunk(positions, 4) {
			for j, place := range quad {
				s[j] += row[place]
			}
		}
	} else {
		for quad := range slices.Chunk(positions, 4) {
			for j, place := range quad {
				s[j] += float64(weight[place] * row[place])
			}
		}
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}
