package linear

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/operator"
)

// bound estimates the bounds of the eigenvalues if they are not given. What lies below the lower
// one only comes slower; above the upper one the iteration would diverge.
func (s *solver) bound() error {
	if s.High > 0 {
		return nil
	}
	low, high, err := eigen.Bounds(s.ctx, s.eng, s.a, s.Seed)
	if err != nil {
		return err
	}
	if !(low > 0) {
		return &NotPositiveError{Curvature: low}
	}
	s.Low, s.High = low, 1.01*high
	return nil
}

// chebyshev is the Chebyshev semi-iterative method (Golub & Varga 1961): the residual is the
// polynomial that is smallest on [Low, High] in A, times the first one. It looks at the residual
// when the bounds say that it is small enough, and from time to time after that.
func (s *solver) chebyshev(b blas.Matrix, c0 int) error {
	n, cols := b.Rows, b.Cols
	x, before := s.begin(b, c0), s.eng.NewMatrix(n, cols)
	rest := s.eng.NewMatrix(n, cols)
	size, first, err := s.residual(b, x, rest)
	if err != nil {
		return err
	}
	right := b.Clone()
	t := s.eng.Backend().Kernels()
	step := 2 / (s.Low + s.High)
	mu := (s.High - s.Low) / (s.High + s.Low)
	look, omega := s.enough(size, first), 2.0 // so that the second is 1 / (1 - mu^2 / 2)
	for iteration := 1; iteration <= s.Iterations; iteration++ {
		switch iteration {
		case 1: // x + step (b - A x)
			copy(before.Data, x.Data)
			t.Axpy(step, rest.Data, x.Data)
		default: // omega (x + step (b - A x) - before) + before, in the place of before
			omega = 1 / (1 - mu*mu*omega/4)
			if err := operator.Recur(s.ctx, s.eng, s.a, -omega*step, x, omega, 1-omega, before); err != nil {
				return err
			}
			err := s.rows(n, func(lo, hi int) { t.Axpy(omega*step, right.Data[lo*cols:hi*cols], before.Data[lo*cols:hi*cols]) })
			if err != nil {
				return err
			}
			x, before = before, x
		}
		s.result.Iterations = max(s.result.Iterations, iteration)
		if iteration < look && iteration < s.Iterations {
			continue
		}
		_, now, err := s.residual(b, x, rest)
		if err != nil {
			return err
		}
		left := 0
		for j, r := range now {
			if !(r <= s.Tolerance*size[j]) {
				left++
			}
			if !(r <= 1e3*math.Max(first[j], size[j])) {
				s.diverged = true
			}
		}
		s.progress(c0+cols-left, iteration)
		if left == 0 || s.diverged {
			break
		}
		look = iteration + max(1, iteration/8)
	}
	s.result.X.View(0, n, c0, c0+cols).CopyFrom(x)
	return s.ctx.Err()
}

// enough returns the iterations after which the bounds say that all residuals pass: T_m(1/mu) is
// what divides them.
func (s *solver) enough(size, rest []float64) int {
	most := 1.0
	for j, r := range rest {
		if r > 0 && size[j] > 0 {
			most = max(most, r/(s.Tolerance*size[j]))
		}
	}
	mu := (s.High - s.Low) / (s.High + s.Low)
	if mu == 0 {
		return 1
	}
	return int(math.Min(math.Ceil(math.Acosh(most)/math.Acosh(1/mu)), float64(s.Iterations)))
}
