package nca

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// cached is the number of probabilities that are there at a time in a part: they stay in the cache.
const cached = 1 << 17

// problem is the minimisation of minus the mean probability over matrices A, r x q, of the points z in principal
// coordinates, each divided by its deviation.
type problem struct {
	ctx       context.Context
	eng       *engine.Engine
	z         blas.Matrix // n x q
	deviation []float64
	classes   *classes.Classes
	r         int
	start     []float64 // A
	asked     int       // points with others of their class, and of different ones

	complete bool        // all classes are known to differ
	y        blas.Matrix // n x (r+1): places, and a column of ones
	g        blas.Matrix // n x r: the gradient at the places
	squared  []float64   // |y|^2
	block    int         // rows of probabilities at a time
	parts    []part
}

// part is what some of the rows add, in an order that does not depend on who computes it.
type part struct {
	across blas.Matrix // n x (r+1): C'Y, and the sums of the columns of C
	c      blas.Matrix // block x n
	mates  []float64   // probabilities of points of a class
}

// partCount is the number of parts.
const partCount = 8

func newProblem(ctx context.Context, eng *engine.Engine, pc *linear.Principal, c *classes.Classes, dims int) (*problem, error) {
	n, q := len(c.Rows), pc.Z.Cols
	p := &problem{ctx: ctx, eng: eng, z: pc.Z.Select(c.Rows), deviation: make([]float64, q), classes: c, r: q, complete: true, squared: make([]float64, n)}
	if dims > 0 {
		p.r = dims
	}
	p.block = min(n, max(16, cached/n))
	if err := eng.Check("probabilities of linked points", (2+partCount)*engine.MatrixBytes(n, p.r+1)+partCount*engine.MatrixBytes(p.block, n), "use fewer links or dimensions"); err != nil {
		return nil, err
	}
	for i := range n {
		if len(c.Members[c.Of[i]]) > 1 {
			p.asked++
		}
	}
	if p.asked == 0 {
		return nil, fault.Data("", "no linked point has another one of its class: want must-links")
	}
	for k := range c.Members {
		p.complete = p.complete && len(c.Rivals(k)) == len(c.Members)-1
	}
	p.y, p.g = eng.NewMatrix(n, p.r+1), eng.NewMatrix(n, p.r)
	for range min(partCount, (n+p.block-1)/p.block) {
		p.parts = append(p.parts, part{eng.NewMatrix(n, p.r+1), eng.NewMatrix(p.block, n), make([]float64, n)})
	}
	for i := range n {
		p.y.Set(i, p.r, 1)
	}
	for j, v := range pc.Variances {
		p.deviation[j] = math.Sqrt(v)
		for i := range n {
			p.z.Set(i, j, p.z.At(i, j)/p.deviation[j])
		}
	}
	return p, p.begin(ctx)
}

// small is the mean distance to the nearest point of the same class at the start, where all points still see each other.
const small = 0.1

// begin sets the start: the directions of least variance within classes relative to that of all points, whitened.
func (p *problem) begin(ctx context.Context) error {
	q := p.z.Cols
	within := linear.Within(p.z, p.classes.Members)
	c := blas.NewMatrix(q, q)
	p.eng.Backend().Gemm(true, false, 1/float64(within.Rows), within, within, 0, c)
	const eps = 1e-3
	for k := range q { // classes may be of equal points
		c.Set(k, k, c.At(k, k)+1e-12)
	}
	white, err := linear.Whiten(ctx, p.eng, c, eps, 0)
	if err != nil {
		return err
	}
	white = white.View(0, p.r, 0, q)
	y := p.eng.NewMatrix(p.z.Rows, p.r)
	p.eng.Backend().Gemm(false, true, 1, p.z, white, 0, y)
	p.start = make([]float64, 0, p.r*q)
	for r := range p.r {
		p.start = append(p.start, white.Row(r)...)
	}
	p.eng.Backend().Kernels().Scale(small*p.scale(y), p.start)
	return nil
}

// scale returns the factor for which the mean squared distance of places to the nearest of the same class is 1.
func (p *problem) scale(y blas.Matrix) float64 {
	t, sum, count := p.eng.Backend().Kernels(), 0.0, 0
	for _, members := range p.classes.Members {
		for _, i := range members {
			best := math.Inf(1)
			for _, j := range members {
				if j != i {
					best = min(best, t.SquaredDistance(y.Row(i), y.Row(j)))
				}
			}
			if best < math.Inf(1) {
				sum += best
				count++
			}
		}
	}
	if !(sum > 0) {
		return 1
	}
	return math.Sqrt(float64(count) / sum)
}

// at returns minus the mean probability, and its gradient with respect to A.
func (p *problem) at(a, gradient []float64) (float64, error) {
	n, q, b := p.z.Rows, p.z.Cols, p.eng.Backend()
	t, places := b.Kernels(), p.y.View(0, n, 0, p.r)
	b.Gemm(false, true, 1, p.z, blas.Matrix{Rows: p.r, Cols: q, Stride: q, Data: a}, 0, places)
	for i := range n {
		p.squared[i] = t.Dot(places.Row(i), places.Row(i))
	}
	chances := make([]float64, n)
	err := p.eng.For(p.ctx, len(p.parts), 1, func(from, to int) error {
		for k := from; k < to; k++ {
			p.add(k, chances)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	sum := p.parts[0].across
	for _, other := range p.parts[1:] {
		t.Axpy(1, other.across.Data, sum.Data)
	}
	// f = sum_i p_i, its derivatives c by the squared distances' negatives, rows of C with the sum 0:
	// df/dy_i = -2 (column_i y_i - (C Y + C'Y)_i).
	total, scale := 0.0, 2/float64(p.asked)
	for i := range n {
		total += chances[i]
		g, across := p.g.Row(i), sum.Row(i)
		t.Axpy(1, across[:p.r], g)
		t.Scale(-scale, g)
		t.Axpy(scale*across[p.r], places.Row(i), g)
	}
	b.Gemm(true, false, 1, p.g, p.z, 0, blas.Matrix{Rows: p.r, Cols: q, Stride: q, Data: gradient})
	return -total / float64(p.asked), nil
}

// add computes every so many-th block of rows.
func (p *problem) add(which int, chances []float64) {
	n, b, part := p.z.Rows, p.eng.Backend(), p.parts[which]
	places := p.y.View(0, n, 0, p.r)
	clear(part.across.Data)
	for lo := which * p.block; lo < n; lo += len(p.parts) * p.block {
		hi := min(lo+p.block, n)
		c := part.c.View(0, hi-lo, 0, n)
		b.Gemm(false, true, 2, places.View(lo, hi, 0, p.r), places, 0, c)
		for k := range hi - lo {
			chances[lo+k] = p.weigh(lo+k, c.Row(k), part.mates)
		}
		b.Gemm(false, false, 1, c, places, 0, p.g.View(lo, hi, 0, p.r))
		b.Gemm(true, false, 1, c, p.y.View(lo, hi, 0, p.r+1), 1, part.across)
	}
}

// least is the exponent that smaller ones count as: that of a weight without effect, which is still a normal number, as are
// its products; processors are slow with others.
const least = -300

// weigh turns a row of 2 y_i'y_j into c_j = p_ij ([same class] - p_i), and returns p_i.
func (p *problem) weigh(i int, row, mates []float64) (chance float64) {
	members := p.classes.Members[p.classes.Of[i]]
	if len(members) < 2 {
		clear(row)
		return 0
	}
	t, own := p.eng.Backend().Kernels(), p.squared[i]
	for j, s := range p.squared { // minus the squared distance
		if row[j] -= s + own; row[j] < least {
			row[j] = least
		}
	}
	t.Exp(row, row)
	p.exclude(i, row)
	total := t.Sum(row)
	if !(total > 1e-120) { // all others are far away: begin again from the nearest
		return p.weighFar(i, row, mates, members)
	}
	return p.normalise(row, mates, members, total)
}

// exclude gives the weight 0 to the point itself, and to those that are not known to be of its class or of another one.
func (p *problem) exclude(i int, row []float64) {
	row[i] = 0
	if p.complete {
		return
	}
	for j := range row {
		if p.classes.Of[j] != p.classes.Of[i] && !p.classes.Apart(i, j) {
			row[j] = 0
		}
	}
}

// weighFar is weigh for a point whose neighbours are all far away: distances count from that of the nearest.
func (p *problem) weighFar(i int, row, mates []float64, members []int) float64 {
	t, y, nearest := p.eng.Backend().Kernels(), p.y.Row(i)[:p.r], math.Inf(1)
	for j := range row {
		row[j] = t.SquaredDistance(y, p.y.Row(j)[:p.r])
		if j != i && (p.classes.Of[j] == p.classes.Of[i] || p.classes.Apart(i, j)) {
			nearest = min(nearest, row[j])
		}
	}
	for j, d := range row {
		row[j] = min(0, max(least, nearest-d)) // points that do not count may be nearer
	}
	t.Exp(row, row)
	p.exclude(i, row)
	return p.normalise(row, mates, members, t.Sum(row))
}

// normalise turns a row of weights with that sum into the derivatives.
func (p *problem) normalise(row, mates []float64, members []int, total float64) (chance float64) {
	for k, j := range members {
		mates[k] = row[j] / total
		chance += mates[k]
	}
	p.eng.Backend().Kernels().Scale(-chance/total, row)
	for k, j := range members {
		row[j] += mates[k]
	}
	return chance
}

// undivided returns the matrix that does to principal coordinates what a does to the divided ones.
func (p *problem) undivided(a []float64) blas.Matrix {
	out := blas.NewMatrix(p.r, p.z.Cols)
	copy(out.Data, a)
	for i := range out.Rows {
		row := out.Row(i)
		for j, s := range p.deviation {
			row[j] /= s
		}
	}
	return out
}
