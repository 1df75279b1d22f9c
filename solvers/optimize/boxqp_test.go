package optimize

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

// problem returns P = X X', where X has n rows and the given rank, and q.
func problem(rng *rand.Rand, n, rank int) (p, q []float64) {
	x := make([]float64, n*rank)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	p, q = make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range n {
			for k := range rank {
				p[i*n+j] += x[i*rank+k] * x[j*rank+k]
			}
		}
		q[i] = 2 * rng.NormFloat64()
	}
	return p, q
}

func objective(p, q, a []float64) float64 {
	n, sum := len(q), 0.0
	for i := range n {
		sum -= q[i] * a[i]
		for j := range n {
			sum += 0.5 * a[i] * p[i*n+j] * a[j]
		}
	}
	return sum
}

// TestBoxQPOptimal checks the optimality conditions, which suffice for a convex problem: in the
// box, the gradient is 0 inside, not negative at 0, and not positive at the upper bound. P may be
// singular.
func TestBoxQPOptimal(t *testing.T) {
	var s BoxQP
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		n := rapid.IntRange(1, 14).Draw(t, "n")
		p, q := problem(rng, n, rapid.IntRange(1, n+2).Draw(t, "rank"))
		upper := rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "upper")
		if rapid.Bool().Draw(t, "no bound") {
			upper = math.Inf(1)
			for i := range n {
				p[i*n+i] += 0.3 // without a bound P must be definite
			}
		}
		if rapid.Bool().Draw(t, "twice") && n > 1 { // two equal variables
			for i := range n {
				p[i*n+1] = p[i*n]
			}
			copy(p[n:2*n], p[:n])
			p[n], p[1], p[n+1] = p[0], p[0], p[0]
			q[1] = q[0]
		}
		a := make([]float64, n)
		for i := range a {
			a[i] = 3 * rng.NormFloat64() // the start need not be in the box
		}
		if changes, ok := s.Solve(p, q, upper, a); !ok {
			t.Fatalf("no end after %d changes", changes)
		}
		size := 0.0
		for i := range n {
			size = max(size, math.Abs(q[i]), p[i*n+i]*max(1, min(upper, 10)))
		}
		for i := range n {
			g := -q[i]
			for j := range n {
				g += p[i*n+j] * a[j]
			}
			tol := 1e-9 * size
			switch {
			case !(a[i] >= 0 && a[i] <= upper):
				t.Fatalf("a[%d] = %g is outside of the box", i, a[i])
			case a[i] == 0 && g < -tol, a[i] == upper && g > tol, a[i] > 0 && a[i] < upper &&
				math.Abs(g) > tol:
				t.Fatalf("a[%d] = %g with the derivative %g", i, a[i], g)
			}
		}
	})
}

// TestGrid checks that no point of a grid has a lower objective.
func TestGrid(t *testing.T) {
	var s BoxQP
	rng := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		p, q := problem(rng, 3, 1+rng.IntN(3))
		a := make([]float64, 3)
		if _, ok := s.Solve(p, q, 1, a); !ok {
			t.Fatal("no end")
		}
		best := objective(p, q, a)
		const steps = 20
		for i := range steps + 1 {
			for j := range steps + 1 {
				for k := range steps + 1 {
					b := []float64{float64(i) / steps, float64(j) / steps, float64(k) / steps}
					if f := objective(p, q, b); f < best-1e-12 {
						t.Fatalf("%v gives %g, the minimizer %v %g", b, f, a, best)
					}
				}
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	var s BoxQP
	p, q := problem(rand.New(rand.NewPCG(1, 1)), 8, 8)
	a := make([]float64, 8)
	s.Solve(p, q, 1, a)
	if n := testing.AllocsPerRun(100, func() { s.Solve(p, q, 1, a) }); n > 0 {
		t.Errorf("%g allocations a problem", n)
	}
}
