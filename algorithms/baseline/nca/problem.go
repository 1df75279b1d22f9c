package nca

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/softmax"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// problem is the search for the map that maximizes the mean probability, and where it starts.
type problem struct {
	*softmax.Problem
	eng     *engine.Engine
	classes *classes.Classes
	start   []float64 // A
}

func newProblem(ctx context.Context, eng *engine.Engine, pc *linear.Principal, c *classes.Classes, dims int) (*problem, error) {
	inner, err := softmax.New(ctx, eng, pc, c.Rows, dims, "linked points")
	if err != nil {
		return nil, err
	}
	p := &problem{Problem: inner, eng: eng, classes: c}
	p.Rule.Gain, p.Rule.Skips = p.chance, func(i int) bool { return len(c.Members[c.Of[i]]) < 2 }
	for i := range c.Rows {
		if !p.Rule.Skips(i) {
			p.Rule.Points++ // it has others of its class, and of different ones
		}
	}
	if p.Rule.Points == 0 {
		return nil, fault.Data("", "no linked point has another one of its class: want must-links")
	}
	for k := range c.Members {
		if len(c.Rivals(k)) < len(c.Members)-1 { // not all classes are known to differ
			p.Rule.Counts = func(i, j int) bool { return c.Of[i] == c.Of[j] || c.Apart(i, j) }
		}
	}
	return p, p.begin(ctx)
}

// chance turns a row of weights with that sum into c_j = p_ij ([same class] - p_i), and returns p_i.
func (p *problem) chance(i int, row []float64, total float64, mates []float64) (chance float64) {
	members := p.classes.Members[p.classes.Of[i]]
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

// small is the mean distance to the nearest point of the same class at the start, where all points still see each other.
const small = 0.1

// begin sets the start: the directions of least variance within classes relative to that of all points, whitened.
func (p *problem) begin(ctx context.Context) error {
	q := p.Z.Cols
	within := linear.Within(p.Z, p.classes.Members)
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
	white = white.View(0, p.Rank, 0, q)
	y := p.eng.NewMatrix(p.Z.Rows, p.Rank)
	p.eng.Backend().Gemm(false, true, 1, p.Z, white, 0, y)
	p.start = make([]float64, 0, p.Rank*q)
	for r := range p.Rank {
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
