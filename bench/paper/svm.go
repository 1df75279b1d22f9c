package paper

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// supportVectors classifies by support vector machines, one class against the others. The matrix k
// has the kernel values between labeled points; across has those between the other points and the
// labeled ones (others x labeled). Kernel values are divided by the mean k(x, x) of the labeled
// points, and 1 is added to them instead of a bias.
func supportVectors(k, across blas.Matrix, labels []string, cost float64) ([]string, error) {
	m, unit := k.Rows, 0.0
	for i := range m {
		unit += k.At(i, i) / float64(m)
	}
	if !(unit > 0) {
		return nil, fmt.Errorf("kernel of labeled points: mean diagonal is %g: want a number > 0", unit)
	}
	classes := classRows(labels)
	best, found := make([]float64, across.Rows), make([]string, across.Rows)
	for i := range best {
		best[i] = math.Inf(-1)
	}
	p, q, alpha, y := make([]float64, m*m), make([]float64, m), make([]float64, m), make([]float64, m)
	var solver optimize.BoxQP
	for _, rows := range classes {
		for i := range m {
			y[i], q[i], alpha[i] = -1, 1, 0
		}
		for _, i := range rows {
			y[i] = 1
		}
		for i := range m {
			for j, v := range k.Row(i) {
				p[i*m+j] = y[i] * y[j] * (v/unit + 1)
			}
			p[i*m+i] += 1e-10 // for equal points
		}
		solver.Solve(p, q, cost, alpha)
		for i := range best {
			sum := 0.0
			for j, v := range across.Row(i) {
				sum += alpha[j] * y[j] * (v/unit + 1)
			}
			if sum > best[i] {
				best[i], found[i] = sum, labels[rows[0]]
			}
		}
	}
	return found, nil
}
