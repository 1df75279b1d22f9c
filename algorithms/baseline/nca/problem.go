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

// block is the number of rows of probabilities that are there at a time.
const block = 256

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

	y, g, across blas.Matrix // n x r: places, the gradient there, and C'Y
	c            blas.Matrix // block x n
	columns      []float64   // sums of the columns of C
	squared      []float64   // |y|^2
}

func newProblem(ctx context.Context, eng *engine.Engine, pc *linear.Principal, c *classes.Classes, dims int) (*problem, error) {
	n, q := len(c.Rows), pc.Z.Cols
	p := &problem{ctx: ctx, eng: eng, z: pc.Z.Select(c.Rows), deviation: make([]float64, q), classes: c, r: q, columns: make([]float64, n), squared: make([]float64, n)}
	if dims > 0 {
		p.r = dims
	}
	if err := eng.Check("probabilities of linked points", 3*engine.MatrixBytes(n, p.r)+engine.MatrixBytes(block, n), "use fewer links or dimensions"); err != nil {
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
	p.y, p.g, p.across, p.c = eng.NewMatrix(n, p.r), eng.NewMatrix(n, p.r), eng.NewMatrix(n, p.r), eng.NewMatrix(min(block, n), n)
	scale := p.scale()
	p.start = make([]float64, p.r*q)
	for j, v := range pc.Variances {
		p.deviation[j] = math.Sqrt(v)
		for i := range n {
			p.z.Set(i, j, p.z.At(i, j)/p.deviation[j])
		}
		if j < p.r {
			p.start[j*q+j] = scale * p.deviation[j]
		}
	}
	return p, nil
}

// scale returns the factor for which the mean squared distance to the nearest point of the same class is 1.
func (p *problem) scale() float64 {
	t, sum, count := p.eng.Backend().Kernels(), 0.0, 0
	for _, members := range p.classes.Members {
		for _, i := range members {
			best := math.Inf(1)
			for _, j := range members {
				if j != i {
					best = min(best, t.SquaredDistance(p.z.Row(i), p.z.Row(j)))
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
	b.Gemm(false, true, 1, p.z, blas.Matrix{Rows: p.r, Cols: q, Stride: q, Data: a}, 0, p.y)
	for i := range n {
		p.squared[i] = b.Kernels().Dot(p.y.Row(i), p.y.Row(i))
	}
	clear(p.across.Data)
	clear(p.columns)
	total := 0.0
	chances, rows := make([]float64, n), make([]float64, n)
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		c, y := p.c.View(0, hi-lo, 0, n), p.y.View(lo, hi, 0, p.r)
		b.Gemm(false, true, 2, y, p.y, 0, c)
		err := p.eng.For(p.ctx, hi-lo, 16, func(from, to int) error {
			for k := from; k < to; k++ {
				chances[lo+k], rows[lo+k] = p.weigh(lo+k, c.Row(k))
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		b.Gemm(false, false, 1, c, p.y, 0, p.g.View(lo, hi, 0, p.r))
		b.Gemm(true, false, 1, c, y, 1, p.across)
		for k := range hi - lo {
			b.Kernels().Axpy(1, c.Row(k), p.columns)
		}
	}
	// f = sum_i p_i and ds = -2 (y_i - y_j): df/dy_i = -2 ((row_i + column_i) y_i - (C Y + C'Y)_i).
	scale := 2 / float64(p.asked)
	for i := range n {
		total += chances[i]
		g := p.g.Row(i)
		b.Kernels().Axpy(1, p.across.Row(i), g)
		b.Kernels().Scale(-scale, g)
		b.Kernels().Axpy(scale*(rows[i]+p.columns[i]), p.y.Row(i), g)
	}
	b.Gemm(true, false, 1, p.g, p.z, 0, blas.Matrix{Rows: p.r, Cols: q, Stride: q, Data: gradient})
	return -total / float64(p.asked), nil
}

// weigh turns a row of 2 <y_i, y_j> into c_j = p_ij ([same class] - p_i), the derivative of the probability p_i by minus
// the squared distances, and returns p_i and the sum of the row.
func (p *problem) weigh(i int, row []float64) (chance, sum float64) {
	t, of := p.eng.Backend().Kernels(), p.classes.Of[i]
	members := p.classes.Members[of]
	if len(members) < 2 {
		clear(row)
		return 0, 0
	}
	most := math.Inf(-1)
	for j, s := range p.squared {
		row[j] -= s
		if j != i && row[j] > most && (p.classes.Of[j] == of || p.classes.Apart(i, j)) {
			most = row[j]
		}
	}
	for j := range row {
		row[j] -= most
	}
	t.Exp(row, row)
	total := 0.0
	for j := range row {
		if j == i || p.classes.Of[j] != of && !p.classes.Apart(i, j) {
			row[j] = 0
		}
		total += row[j]
	}
	t.Scale(1/total, row)
	mates := make([]float64, 0, len(members))
	for _, j := range members {
		mates = append(mates, row[j])
		chance += row[j]
	}
	t.Scale(-chance, row)
	for k, j := range members {
		row[j] += mates[k]
	}
	for _, v := range row {
		sum += v
	}
	return chance, sum
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
