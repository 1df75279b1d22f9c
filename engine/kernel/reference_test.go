package kernel_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// pair has the arguments of a kernel: |x-y|^2, <x,y>, <x,x> and <y,y>, each rounded once.
type pair struct{ d2, xy, xx, yy float64 }

// pairsOf returns the pair of each x_i and y_j.
func pairsOf(x, y *points.Dense) func(i, j int) pair {
	zero := make([]float64, x.D)
	table := make([]pair, x.N*y.N)
	xx, yy := make([]float64, x.N), make([]float64, y.N)
	for i := range xx {
		xx[i] = bigDot(x.Row(i), zero, x.Row(i), zero)
	}
	for j := range yy {
		yy[j] = bigDot(y.Row(j), zero, y.Row(j), zero)
	}
	for i := range x.N {
		for j := range y.N {
			a, b := x.Row(i), y.Row(j)
			table[i*y.N+j] = pair{bigDot(a, b, a, b), bigDot(a, zero, b, zero), xx[i], yy[j]}
		}
	}
	return func(i, j int) pair { return table[i*y.N+j] }
}

// bigDot returns sum (a_i - b_i)(c_i - d_i) rounded once.
func bigDot(a, b, c, d []float64) float64 {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	sum := exact(0)
	for i := range a {
		u, v := exact(a[i]), exact(c[i])
		sum.Add(sum, u.Mul(u.Sub(u, exact(b[i])), v.Sub(v, exact(d[i]))))
	}
	f, _ := sum.Float64()
	return f
}

// eval evaluates a kernel on a pair from its definition, sharing no code with the package.
func eval(text string, p pair) float64 {
	stages := strings.Split(text, "@")
	for s := len(stages) - 1; s >= 0; s-- {
		f := scalarMap(stages[s])
		p = pair{xy: f(p.d2, p.xy, p.xx, p.yy), xx: f(0, p.xx, p.xx, p.xx), yy: f(0, p.yy, p.yy, p.yy)}
		p.d2 = max(0, p.xx+p.yy-2*p.xy)
	}
	return p.xy
}

// scalarMap returns the definition of each kernel in the tests, by its exact text.
func scalarMap(stage string) func(d2, xy, xx, yy float64) float64 {
	switch stage {
	case "linear":
		return func(_, xy, _, _ float64) float64 { return xy }
	case "rbf:sigma=1.5":
		return func(d2, _, _, _ float64) float64 { return math.Exp(-d2 / (2 * 1.5 * 1.5)) }
	case "rbf:gamma=0.3":
		return func(d2, _, _, _ float64) float64 { return math.Exp(-0.3 * d2) }
	case "exp:width=2":
		return func(d2, _, _, _ float64) float64 { return math.Exp(-math.Sqrt(d2) / 2) }
	case "poly:degree=3,coef=0.5,scale=0.25":
		return func(_, xy, _, _ float64) float64 { return math.Pow(0.25*xy+0.5, 3) }
	case "cosine":
		return func(_, xy, xx, yy float64) float64 {
			if xx == 0 || yy == 0 {
				return 0
			}
			return xy / (math.Sqrt(xx) * math.Sqrt(yy)) // their product could overflow
		}
	case "sigmoid:scale=0.5,coef=-1":
		return func(_, xy, _, _ float64) float64 { return math.Tanh(0.5*xy - 1) }
	default:
		panic("no reference for " + stage)
	}
}

var vectorKernels = []string{
	"linear", "rbf:sigma=1.5", "rbf:gamma=0.3", "exp:width=2", "poly:degree=3,coef=0.5,scale=0.25", "cosine",
	"sigmoid:scale=0.5,coef=-1", "rbf:sigma=1.5@cosine", "rbf:sigma=1.5@linear", "linear@rbf:gamma=0.3",
	"exp:width=2@rbf:gamma=0.3@cosine", "poly:degree=3,coef=0.5,scale=0.25@rbf:sigma=1.5", "cosine@poly:degree=3,coef=0.5,scale=0.25",
}

// sparsify zeroes most values of p, with some rows left empty, and returns it in both forms.
func sparsify(rng *rand.Rand, p *points.Dense) (*points.Dense, *points.CSR) {
	s := &points.CSR{N: p.N, D: p.D, Start: []int{0}}
	d := &points.Dense{N: p.N, D: p.D, Data: make([]float64, len(p.Data))}
	for i := range p.N {
		for c, v := range p.Row(i) {
			if i%7 != 3 && rng.IntN(3) == 0 {
				d.Data[i*p.D+c] = v
				s.Col, s.Val = append(s.Col, int32(c)), append(s.Val, v)
			}
		}
		s.Start = append(s.Start, len(s.Col))
	}
	return d, s
}

func gramOf(t testing.TB, k kernel.Kernel, eng *engine.Engine, x points.Points) blas.Matrix {
	t.Helper()
	m, err := k.Gram(t.Context(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func crossOf(t testing.TB, k kernel.Kernel, eng *engine.Engine, x, y points.Points) blas.Matrix {
	t.Helper()
	m, err := k.Cross(t.Context(), eng, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// near reports whether got is within tol of want, relative to max(1, |want|). NaN is not.
func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol*max(1, math.Abs(want)) }
