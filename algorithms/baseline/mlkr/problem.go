package mlkr

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/softmax"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// problem is the search for the map that maximizes the explained share of the variance.
type problem struct {
	*softmax.Problem
	t *asm.Table
	y []float64 // mean 0, variance 1
}

func newProblem(ctx context.Context, eng *engine.Engine, pc *linear.Principal, targets []float64, dims int) (*problem, error) {
	inner, err := softmax.New(ctx, eng, pc, nil, dims, "points")
	if err != nil {
		return nil, err
	}
	t := eng.Backend().Kernels()
	p := &problem{inner, t, standardized(t, targets)}
	p.Rule = softmax.Rule{Gain: p.explained, Points: len(targets)}
	return p, nil
}

// standardized returns targets with mean 0 and variance 1, whatever their size.
func standardized(t *asm.Table, targets []float64) []float64 {
	y, largest := blas.NewMatrix(len(targets), 1), 0.0
	for _, v := range targets {
		largest = max(largest, math.Abs(v))
	}
	_, exponent := math.Frexp(largest)
	for i, v := range targets {
		y.Data[i] = math.Ldexp(v, -exponent)
	}
	linear.Centre(y)
	t.Scale(math.Sqrt(float64(y.Rows)/t.Dot(y.Data, y.Data)), y.Data)
	return y.Data
}

// explained turns a row of weights with that sum into c_j = 2 p_ij (y_i - ŷ_i) (y_j - ŷ_i), and returns 1 - (y_i - ŷ_i)^2.
func (p *problem) explained(i int, row []float64, total float64, _ []float64) float64 {
	estimate := p.t.Dot(row, p.y) / total
	residual := p.y[i] - estimate
	factor := 2 * residual / total
	for j, v := range p.y {
		row[j] *= factor * (v - estimate)
	}
	return 1 - residual*residual
}

// starts returns the first so many maps to start from: the leading principal coordinates, the same whitened, and these with
// the linear estimate of the targets added to the first.
func (p *problem) starts(variances []float64, count int) ([][]float64, error) {
	r, q := p.Rank, p.Z.Cols
	plain, white, estimate := make([]float64, r*q), make([]float64, r*q), make([]float64, r*q)
	for i, v := range p.y {
		p.t.Axpy(v/float64(len(p.y)), p.Z.Row(i), estimate[:q]) // the coefficients of the linear estimate
	}
	if size := math.Sqrt(p.t.Dot(estimate, estimate)); size > 0 {
		p.t.Scale(2/size, estimate)
	}
	for j := range r {
		plain[j*q+j], white[j*q+j] = math.Sqrt(variances[j]/variances[0]), 1
		estimate[j*q+j]++
	}
	starts := [][]float64{plain, white, estimate}[:count]
	for _, a := range starts {
		if err := p.scale(a); err != nil {
			return nil, err
		}
	}
	return starts, nil
}

// scale multiplies a map so that it explains most, of scales in which points see all others to such in which they see their
// nearest.
func (p *problem) scale(a []float64) error {
	least, best, gradient := math.Inf(1), 0, make([]float64, len(a))
	p.t.Scale(1/math.Sqrt(p.t.Dot(a, a)), a) // the mean squared distance of two points is of the order of 1
	for power := -3; power <= 5; power++ {
		trial := slices.Clone(a)
		p.t.Scale(math.Ldexp(1, power), trial)
		value, err := p.At(trial, gradient)
		if err != nil {
			return err
		}
		if value < least {
			least, best = value, power
		}
	}
	p.t.Scale(math.Ldexp(1, best), a)
	return nil
}
