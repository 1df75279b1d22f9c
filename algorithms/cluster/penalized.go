package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// MetricKind is the kind of metric that [Penalized] learns with the clusters.
type MetricKind string

// The metrics. Without a metric the method is PCK-means in the Euclidean distance; with one it is
// MPCK-means.
const (
	MetricNone     MetricKind = "none"
	MetricDiagonal MetricKind = "diagonal" // one weight a feature
	MetricFull     MetricKind = "full"
)

// Metrics returns all metrics.
func Metrics() []string {
	return []string{string(MetricNone), string(MetricDiagonal), string(MetricFull)}
}

// PenalizedParams are the parameters of [Penalized]. Only K must be set.
type PenalizedParams struct {
	Params            // Init is not looked at, Tol neither
	Metric MetricKind // "" means MetricNone
	// Each learns a metric for every cluster, not one for all.
	Each bool
	// Weight is the penalty of a link of weight 1, > 0; 0 means 1. Without a metric its unit is the
	// mean squared distance of the points to their mean.
	Weight float64
	// EpsRel is added to scatter matrices before they become metrics, in units of their mean
	// diagonals, >= 0; 0 means 1e-3.
	EpsRel float64
}

// PenalizedResult is a partition that satisfies links or pays their penalties.
type PenalizedResult struct {
	Result
	// Objective is the minimized sum. Inertia is its first part in the learned metric, without the
	// logarithms.
	Objective float64
	Trace     []float64 // objectives after every iteration of the start that was kept
	Violated  int       // links that do not hold
}

// Penalized partitions the rows of x (n x d) by pairwise constrained k-means, in which a violated
// link has a penalty (Basu, Banerjee & Mooney, "Active semi-supervision for pairwise constrained
// clustering", SDM 2004: PCK-means). It can learn a metric at the same time (Bilenko, Basu &
// Mooney, "Integrating constraints and metric learning in semi-supervised clustering", ICML 2004:
// MPCK-means). It minimizes
//
//	sum_i (|x_i - m_c|^2_A - log det A) + w sum_must f_M [apart] + w sum_cannot f_C [together]
//
// for the center m_c of the cluster of x_i and its metric A. The penalty of a violated must-link is
// the squared distance of its points, the mean of that under both metrics. The penalty of a
// violated cannot-link is the largest squared distance of two points minus its own: near points
// have a large penalty. Without a metric both penalties are 1.
//
// The first centers are must-link components, the largest and then those far from each other; more
// centers are drawn as in k-means++. An iteration has three steps. Points move to the cluster of
// least cost: linked points one after the other and must-link components as a whole, repeatedly
// until none moves, since a single point seldom leaves the points that it is linked to. Centers
// become means. Metrics become the inverse scatters that minimize the sum for the partition. The
// sum decreases, except if the farthest pair of a violated cannot-link changes with the metric.
//
// Errors: those of KMeans; links between another number of rows; an invalid weight or eps. Cost:
// 3ndK flops per iteration, and nd^2 for a full metric, n d^2 K for one metric per cluster.
func Penalized(ctx context.Context, eng *engine.Engine, x blas.Matrix, l *links.Set,
	p PenalizedParams) (*PenalizedResult, error) {
	p, err := p.resolve(x.Rows)
	if err != nil {
		return nil, err
	}
	if l.N() != x.Rows {
		return nil, &fault.ShapeError{What: "number of points that the links refer to", Got: l.N(),
			Want: fmt.Sprintf("%d, the number of points", x.Rows)}
	}
	if err := checkFinite(x); err != nil {
		return nil, err
	}
	metrics := 1
	if p.Each {
		metrics = p.K
	}
	need := engine.MatrixBytes(x.Rows, p.K) + int64(metrics+1)*engine.MatrixBytes(x.Rows, x.Cols) +
		int64(metrics)*engine.MatrixBytes(x.Cols, x.Cols) + 2*l.Bytes()
	if err := eng.Check(fmt.Sprintf("penalized k-means of %d x %d values", x.Rows, x.Cols), need,
		"cluster a sample of the rows, or learn one metric for all clusters"); err != nil {
		return nil, err
	}
	s := newPenalties(x, l, p)
	if !(s.unit < math.Inf(1)) {
		return nil, fault.Data("",
			"the squared distances of the points are not representable: want smaller values (standardize "+
				"the data)")
	}
	if widest := largestDifference(x); widest > 0 && widest*widest < vanishing {
		return nil, errVanish(widest)
	}
	var best *penalized
	began := time.Now()
	for restart := range p.Restarts {
		r := &penalized{penalties: s, ctx: ctx, eng: eng, rng: rand.New(rand.NewPCG(p.Seed, uint64(restart))),
			restart: restart}
		if err := r.run(); err != nil {
			return nil, fmt.Errorf("cluster: penalized k-means: %w", err)
		}
		if best == nil || r.last() < best.last() {
			best = r
		}
		p.Progress.Report(algorithms.Progress{Stage: "penalized k-means", Done: restart + 1,
			Total: p.Restarts, Objective: best.last(), Elapsed: time.Since(began)})
	}
	return best.result(), nil
}

// largestDifference returns the largest difference between a value and that of the first row.
func largestDifference(x blas.Matrix) float64 {
	most := 0.0
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			most = max(most, math.Abs(v-x.At(0, j)))
		}
	}
	return most
}

func (p PenalizedParams) resolve(n int) (PenalizedParams, error) {
	var err error
	if p.Params, err = p.Params.resolve(n); err != nil {
		return p, err
	}
	if p.Metric == "" {
		p.Metric = MetricNone
	}
	if p.Weight == 0 {
		p.Weight = 1
	}
	if p.EpsRel == 0 {
		p.EpsRel = 1e-3
	}
	switch {
	case p.Metric != MetricNone && p.Metric != MetricDiagonal && p.Metric != MetricFull:
		return p, fault.Unknown("metric", string(p.Metric), Metrics())
	case !(p.Weight > 0) || math.IsInf(p.Weight, 1):
		return p, &fault.ParamError{Param: "weight", Value: p.Weight, Want: "a finite number > 0"}
	case !(p.EpsRel > 0) || math.IsInf(p.EpsRel, 1):
		return p, &fault.ParamError{Param: "eps_rel", Value: p.EpsRel, Want: "a finite number > 0"}
	}
	return p, nil
}

// penalties holds the points and their links.
type penalties struct {
	x      blas.Matrix
	p      PenalizedParams
	links  []links.Link
	of     [][]tie // of every point
	linked []int   // points with links
	groups [][]int // must-link components of more than one point, the largest first
	group  []int   // the component of every point, -1 for none
	unit   float64 // mean squared distance to the mean
}

// tie is a link in the list of one of its points.
type tie struct {
	other  int
	sign   links.Sign
	weight float64
}

func newPenalties(x blas.Matrix, l *links.Set, p PenalizedParams) *penalties {
	s := &penalties{x: x, p: p, of: make([][]tie, x.Rows), group: slices.Repeat([]int{-1}, x.Rows)}
	s.links = append(append(s.links, l.Must()...), l.Cannot()...)
	for _, k := range s.links {
		s.of[k.I] = append(s.of[k.I], tie{k.J, k.Sign, k.Weight * p.Weight})
		s.of[k.J] = append(s.of[k.J], tie{k.I, k.Sign, k.Weight * p.Weight})
	}
	for i, ties := range s.of {
		if len(ties) > 0 {
			s.linked = append(s.linked, i)
		}
	}
	for _, g := range l.Chunklets() {
		if len(g) > 1 {
			for _, i := range g {
				s.group[i] = len(s.groups)
			}
			s.groups = append(s.groups, g)
		}
	}
	mean := columnMeans(x)
	for i := range x.Rows {
		for c, v := range x.Row(i) {
			s.unit += (v - mean[c]) * (v - mean[c]) / float64(x.Rows)
		}
	}
	return s
}

// penalized is the state of one start.
type penalized struct {
	*penalties
	ctx        context.Context
	eng        *engine.Engine
	rng        *rand.Rand
	restart    int
	labels     []int
	before     []int // labels of the rows that move
	centers    blas.Matrix
	metrics    []*form     // one, or one a cluster
	distance   blas.Matrix // n x K: of every point to every center, in the cluster's metric
	trace      []float64
	iterations int
	converged  bool
}

func (r *penalized) last() float64 { return r.trace[len(r.trace)-1] }

// metric returns the metric of a cluster.
func (r *penalized) metric(c int) *form {
	if len(r.metrics) == 1 {
		return r.metrics[0]
	}
	return r.metrics[c]
}

func (r *penalized) run() error {
	r.labels, r.centers, r.distance = make([]int, r.x.Rows), r.first(), r.eng.NewMatrix(r.x.Rows, r.p.K)
	r.metrics = []*form{r.plain()}
	if err := r.measure(); err != nil {
		return err
	}
	for i := range r.labels {
		r.labels[i] = r.nearest(i)
	}
	for r.iterations < r.p.MaxIter && !r.converged {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.iterations++
		moved := r.assign()
		if r.fill() {
			moved = true
		}
		r.means()
		if err := r.learn(); err != nil {
			return err
		}
		if err := r.measure(); err != nil {
			return err
		}
		r.trace = append(r.trace, r.objective())
		// The centers that the first labels went by were no means yet.
		r.converged = !moved && r.iterations > 1
	}
	return nil
}

// measure computes the distances of all points to all centers.
func (r *penalized) measure() error {
	t, coordinates := r.eng.Backend().Kernels(), make([]blas.Matrix, r.p.K)
	for c := range coordinates {
		coordinates[c] = r.metric(c).turn(r.eng, r.centers.View(c, c+1, 0, r.centers.Cols))
	}
	return r.eng.Each(r.ctx, r.x.Rows, 128, func(i int) {
		for c := range r.p.K {
			r.distance.Set(i, c, t.SquaredDistance(r.metric(c).y.Row(i), coordinates[c].Row(0)))
		}
	})
}

// nearest returns the cluster of least cost for a point without links.
func (r *penalized) nearest(i int) int {
	best, least := 0, math.Inf(1)
	for c, d := range r.distance.Row(i) {
		if v := d - r.metric(c).logdet; v < least {
			best, least = c, v
		}
	}
	return best
}

// assign moves points to the clusters of least cost, linked ones in turn and must-link components
// as a whole, until none moves. It reports whether any has moved.
func (r *penalized) assign() (moved bool) {
	for i := range r.labels {
		if len(r.of[i]) == 0 {
			if c := r.nearest(i); c != r.labels[i] {
				r.labels[i], moved = c, true
			}
		}
	}
	const sweeps = 50
	for range sweeps {
		still := true
		for _, k := range r.rng.Perm(len(r.linked)) {
			if r.move(r.linked[k : k+1]) {
				still = false
			}
		}
		for _, g := range r.groups {
			if r.move(g) {
				still = false
			}
		}
		if still {
			break
		}
		moved = true
	}
	return moved
}

// move moves a point, or a whole must-link component, to the cluster of least cost, and reports
// whether that is another one.
func (r *penalized) move(rows []int) bool {
	r.before = r.before[:0]
	for _, i := range rows {
		r.before = append(r.before, r.labels[i])
	}
	best, least := -1, r.cost(rows)
	for c := range r.p.K {
		for _, i := range rows {
			r.labels[i] = c
		}
		if v := r.cost(rows); v < least-1e-12*math.Abs(least) {
			best, least = c, v
		}
	}
	for k, i := range rows {
		if r.labels[i] = best; best < 0 {
			r.labels[i] = r.before[k]
		}
	}
	return best >= 0
}

// cost returns the contribution of a point, or of a whole must-link component, to the objective,
// including links. A link within the component counts half at each of its points.
func (r *penalized) cost(rows []int) float64 {
	v := 0.0
	for _, i := range rows {
		c := r.labels[i]
		v += r.distance.At(i, c) - r.metric(c).logdet
		for _, k := range r.of[i] {
			p := r.penalty(i, k.other, c, r.labels[k.other], k.sign, k.weight)
			if len(rows) > 1 && r.group[i] == r.group[k.other] {
				p /= 2
			}
			v += p
		}
	}
	return v
}

// penalty returns the penalty of a link between points of two clusters.
func (r *penalized) penalty(i, j, c, d int, sign links.Sign, weight float64) float64 {
	switch {
	case (sign == links.Must) == (c == d):
		return 0
	case r.p.Metric == MetricNone:
		return weight * r.unit
	case sign == links.Must:
		return weight * (r.metric(c).apart(i, j) + r.metric(d).apart(i, j)) / 2
	}
	m := r.metric(c)
	return weight * max(0, m.far-m.apart(i, j))
}

// objective returns the value of the minimized sum.
func (r *penalized) objective() float64 {
	sum := 0.0
	for i, c := range r.labels {
		sum += r.distance.At(i, c) - r.metric(c).logdet
	}
	for _, k := range r.links {
		sum += r.penalty(k.I, k.J, r.labels[k.I], r.labels[k.J], k.Sign, k.Weight*r.p.Weight)
	}
	return sum
}

// fill moves to every empty cluster the point that is farthest from its center, among clusters of
// more than one point. It reports whether there was an empty cluster.
func (r *penalized) fill() (filled bool) {
	cost := func(i int) float64 { return r.distance.At(i, r.labels[i]) }
	refill(r.labels, sizesOf(r.labels, r.p.K), -1, cost, func(far int) {
		filled = true
		clear(r.distance.Row(far)) // it has been taken
	})
	return filled
}

// means moves the centers to the means of their clusters.
func (r *penalized) means() {
	count := sizesOf(r.labels, r.p.K)
	for c, n := range count {
		if n > 0 {
			clear(r.centers.Row(c))
		}
	}
	for i, c := range r.labels {
		to := r.centers.Row(c)
		for k, v := range r.x.Row(i) {
			to[k] += v / float64(count[c])
		}
	}
}

// result returns the partition of the start.
func (r *penalized) result() *PenalizedResult {
	out := &PenalizedResult{Objective: r.last(), Trace: r.trace}
	out.Result = Result{Labels: r.labels, Centers: r.centers, Iterations: r.iterations,
		Converged: r.converged, Restart: r.restart}
	for i, c := range r.labels {
		out.Inertia += r.distance.At(i, c)
	}
	for _, k := range r.links {
		if (k.Sign == links.Must) != (r.labels[k.I] == r.labels[k.J]) {
			out.Violated++
		}
	}
	return out
}

// first returns the first centers: means of must-link components, the largest first and then the
// one whose size times its squared distance to those so far is largest, but from the second start
// on drawn by these sizes and products; and where components are too few, points drawn by their
// squared distances.
func (r *penalized) first() blas.Matrix {
	centers, t := blas.NewMatrix(r.p.K, r.x.Cols), r.eng.Backend().Kernels()
	means, weight := blas.NewMatrix(len(r.groups), r.x.Cols), make([]float64, len(r.groups))
	for g, rows := range r.groups {
		weight[g] = float64(len(rows))
		for _, i := range rows {
			t.Axpy(1/weight[g], r.x.Row(i), means.Row(g))
		}
	}
	near, price, count := make([]float64, len(r.groups)), slices.Clone(weight), min(r.p.K, len(r.groups))
	for c := range count {
		best := r.pick(price)
		copy(centers.Row(c), means.Row(best))
		for g := range near {
			if d := t.SquaredDistance(means.Row(g), means.Row(best)); c == 0 || d < near[g] {
				near[g] = d
			}
			price[g] = weight[g] * near[g]
		}
	}
	cost := make([]float64, r.x.Rows)
	for i := range cost {
		cost[i] = math.Inf(1)
		if count == 0 {
			cost[i] = 1
		}
		for c := range count {
			cost[i] = min(cost[i], t.SquaredDistance(r.x.Row(i), centers.Row(c)))
		}
	}
	for c := count; c < r.p.K; c++ {
		chosen := r.x.Row(draw(cost, r.rng.Float64()))
		copy(centers.Row(c), chosen)
		for i := range cost {
			if d := t.SquaredDistance(r.x.Row(i), chosen); c == 0 || d < cost[i] {
				cost[i] = d
			}
		}
	}
	return centers
}

// pick returns the component of the largest price, or from the second start on one that is drawn by
// price.
func (r *penalized) pick(price []float64) int {
	if r.restart > 0 {
		return draw(price, r.rng.Float64())
	}
	best := 0
	for g, v := range price {
		if v > price[best] {
			best = g
		}
	}
	return best
}
