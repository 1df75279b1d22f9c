package optimize

import "math"

// BoxQP solves small quadratic programs in a box, exactly.
//
// BoxQP minimizes a'P a / 2 - q'a over 0 <= a_j <= upper, by an active-set method. P is symmetric
// and positive semidefinite, and may be singular if upper is finite. A Solver has the memory of one
// problem at a time. The zero value is ready to use, by one goroutine only.
type BoxQP struct {
	free       []int     // variables between the bounds; the corresponding part of P is positive definite
	state      []int8    // of each variable
	gradient   []float64 // P a - q
	step       []float64
	chol, work []float64
}

const (
	atLower int8 = iota
	atUpper
	isFree
)

// Solve writes the minimizer to a; p is n x n, row-major, q and a have length n. The search starts
// from the initial a, moved into the box. Solve returns the number of changes of the active set. It
// returns false if there were more than 100 + 20 n changes, which rounding can cause; a is then in
// the box, with a lower objective than at the start.
//
// Cost: n^3/3 flops per change; n should be at most a few dozen.
func (s *BoxQP) Solve(p, q []float64, upper float64, a []float64) (changes int, ok bool) {
	n := len(q)
	s.begin(n, upper, a)
	for changes = range 100 + 20*n {
		s.evaluate(p, q, a)
		if s.newton(p, upper, a) {
			continue // a variable reached a bound
		}
		s.evaluate(p, q, a)
		j := s.violated(p, q, a)
		if j < 0 {
			return changes, true
		}
		s.release(p, upper, a, j)
	}
	return changes, false
}

// begin allocates memory, and classifies the variables by their initial values.
func (s *BoxQP) begin(n int, upper float64, a []float64) {
	if cap(s.state) < n {
		s.free, s.state = make([]int, 0, n), make([]int8, n)
		s.gradient, s.step = make([]float64, n), make([]float64, n)
		s.chol, s.work = make([]float64, n*n), make([]float64, n)
	}
	s.free, s.state, s.gradient, s.step = s.free[:0], s.state[:n], s.gradient[:n], s.step[:n]
	for j, v := range a {
		switch {
		case v >= upper && upper < math.Inf(1):
			a[j], s.state[j] = upper, atUpper
		default: // those inside are released one by one, because the free part must be positive definite
			a[j], s.state[j] = 0, atLower
		}
	}
}

// evaluate writes the gradient.
func (s *BoxQP) evaluate(p, q, a []float64) {
	n := len(q)
	for i := range n {
		sum := -q[i]
		for j, v := range p[i*n : i*n+n] {
			sum += v * a[j]
		}
		s.gradient[i] = sum
	}
}

// factor writes the Cholesky factor of the free part of P.
func (s *BoxQP) factor(p []float64, n int) {
	m := len(s.free)
	for i := range m {
		for j := range i + 1 {
			sum := p[s.free[i]*n+s.free[j]]
			for k := range j {
				sum -= s.chol[i*m+k] * s.chol[j*m+k]
			}
			if i == j {
				s.chol[i*m+i] = math.Sqrt(max(sum, math.SmallestNonzeroFloat64))
			} else {
				s.chol[i*m+j] = sum / s.chol[j*m+j]
			}
		}
	}
}

// solve overwrites x, of the length of the free part, with the solution.
func (s *BoxQP) solve(x []float64) {
	m := len(s.free)
	for i := range m {
		for k := range i {
			x[i] -= s.chol[i*m+k] * x[k]
		}
		x[i] /= s.chol[i*m+i]
	}
	for i := m - 1; i >= 0; i-- {
		for k := i + 1; k < m; k++ {
			x[i] -= s.chol[k*m+i] * x[k]
		}
		x[i] /= s.chol[i*m+i]
	}
}

// newton moves to the minimizer over the free variables, and reports whether a bound stopped it.
func (s *BoxQP) newton(p []float64, upper float64, a []float64) bool {
	m := len(s.free)
	if m == 0 {
		return false
	}
	s.factor(p, len(s.state))
	x := s.work[:m]
	for i, j := range s.free {
		x[i] = -s.gradient[j]
	}
	s.solve(x)
	clear(s.step)
	for i, j := range s.free {
		s.step[j] = x[i]
	}
	return s.walk(1, upper, a)
}

// walk adds t times the step to a, or less, up to the first bound, where that variable stays.
func (s *BoxQP) walk(t, upper float64, a []float64) (hit bool) {
	first := -1
	for i, j := range s.free {
		limit := math.Inf(1)
		switch d := s.step[j]; {
		case d < 0:
			limit = a[j] / -d
		case d > 0:
			limit = (upper - a[j]) / d
		}
		if limit < t {
			t, first = limit, i
		}
	}
	for _, j := range s.free {
		a[j] = min(max(0, a[j]+t*s.step[j]), upper)
	}
	if first < 0 {
		return false
	}
	j := s.free[first]
	if s.step[j] < 0 {
		a[j], s.state[j] = 0, atLower
	} else {
		a[j], s.state[j] = upper, atUpper
	}
	s.free = append(s.free[:first], s.free[first+1:]...)
	return true
}

// violated returns the variable at a bound with the largest violation, or -1.
func (s *BoxQP) violated(p, q, a []float64) int {
	worst, most, n := -1, 0.0, len(q)
	for j, g := range s.gradient {
		wants := 0.0
		switch s.state[j] {
		case atLower:
			wants = -g
		case atUpper:
			wants = g
		}
		if wants > most && wants > 1e-13*terms(p[j*n:j*n+n], q[j], a) {
			worst, most = j, wants
		}
	}
	return worst
}

// terms returns the sum of the absolute terms of an element of the gradient, the scale of its
// rounding error.
func terms(p []float64, q float64, a []float64) float64 {
	sum := math.Abs(q)
	for k, v := range p {
		sum += math.Abs(v * a[k])
	}
	return sum
}

// release frees variable j. If P is singular along the line on which the free variables follow it,
// the objective falls along that line, and a moves to its end.
func (s *BoxQP) release(p []float64, upper float64, a []float64, j int) {
	n, m := len(s.state), len(s.free)
	x := s.work[:m]
	for i, k := range s.free {
		x[i] = p[k*n+j]
	}
	s.factor(p, n)
	s.solve(x)
	left := p[j*n+j]
	for i, k := range s.free {
		left -= p[k*n+j] * x[i]
	}
	sign := 1.0
	if s.state[j] == atUpper {
		sign = -1
	}
	clear(s.step)
	for i, k := range s.free {
		s.step[k] = -sign * x[i]
	}
	s.step[j] = sign
	s.free = append(s.free, j)
	s.state[j] = isFree
	if left > 1e-12*p[j*n+j] {
		return // the next step moves it
	}
	s.walk(math.Inf(1), upper, a)
}
