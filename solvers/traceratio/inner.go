package traceratio

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// inner is the number of steps of the iteration that improves corrections, each of which solves
// with the preconditioner. After two, the error falls tenfold in a step of davidson. More gain
// little, because the preconditioner belongs to an earlier ratio and earlier directions.
const inner = 2

// chebyshev is Chebyshev's iteration for a column t of (I - delta S) t = g, where the spectrum of S
// is in [0, largest].
type chebyshev struct {
	delta          float64
	center, radius float64 // of the spectrum of I - delta S
	alpha, beta    float64 // the length of a step, and the share of the step before in it
}

func newChebyshev(delta, largest float64) chebyshev {
	const least = 0.02 // if rounding makes I - delta S indefinite
	end := max(1-delta*largest, least)
	center := (1 + end) / 2
	return chebyshev{delta: delta, center: center, radius: math.Abs(1-end) / 2, alpha: 1 / center}
}

// advance computes the coefficients of step k, from 1 on.
func (c *chebyshev) advance(k int) {
	half := c.radius * c.alpha / 2
	c.beta = half * half
	if k == 1 {
		c.beta *= 2
	}
	c.alpha = 1 / (c.center - c.beta/c.alpha)
}

// move returns element t of the solution and its step after the next one, for the element y of S t.
func (c *chebyshev) move(t, step, g, y float64) (float64, float64) {
	step = g - t + float64(c.delta*y) + float64(c.beta*step)
	return t + float64(c.alpha*step), step
}

// improve brings the corrections M^-1 r closer to the solutions t of (theta - A + l B) t = r among
// the vectors orthogonal to the best directions, for each direction with its eigenvalue theta
// (Sleijpen & Van der Vorst, SIAM J. Matrix Anal. Appl. 17, 1996). With the projection P on these
// vectors, it solves (I - (c - theta) P M^-1) t = P M^-1 r, where no eigenvalue of P M^-1 is above
// 1 / (c - last). It overwrites the residuals.
func (x *space) improve(p *preconditioner) error {
	s, width, backend := x.s, x.width, x.s.eng.Backend()
	var memory [4]blas.Matrix
	for i := range memory {
		memory[i] = s.eng.GetMatrix(s.m, width)
		defer s.eng.PutMatrix(memory[i])
	}
	best, first, step, image := memory[0], memory[1], memory[2], memory[3]
	backend.Gemm(false, true, 1, x.used(x.q), x.turn.View(0, width, 0, x.columns), 0, best)
	inside := blas.NewMatrix(width, width)
	project := func(y blas.Matrix) {
		backend.Gemm(true, false, 1, best, y, 0, inside)
		backend.Gemm(false, false, -1, best, inside, 1, y)
	}
	project(x.correction)
	first.CopyFrom(x.correction)
	step.CopyFrom(x.correction)
	columns := make([]chebyshev, width)
	for j := range columns {
		columns[j] = newChebyshev(p.c-x.values[j], 1/(p.c-p.last))
	}
	err := x.eachRow(func(i int) {
		for j, v := range first.Row(i) {
			x.correction.Row(i)[j] = columns[j].alpha * v
		}
	})
	for k := 1; k <= inner && err == nil; k++ {
		x.residual.CopyFrom(x.correction)
		p.solve(s.eng, x.residual, image)
		project(image)
		for j := range columns {
			columns[j].advance(k)
		}
		err = x.eachRow(func(i int) {
			t, g, z, y := x.correction.Row(i), first.Row(i), step.Row(i), image.Row(i)
			for j := range columns {
				t[j], z[j] = columns[j].move(t[j], z[j], g[j], y[j])
			}
		})
	}
	return err
}

// eachRow calls f for all rows of the corrections.
func (x *space) eachRow(f func(i int)) error {
	const rows = 256 // in a task
	return x.s.eng.Each(x.s.ctx, x.s.m, rows, f)
}
