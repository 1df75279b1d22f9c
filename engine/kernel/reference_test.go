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

// bigDot returns sum (a_i - b_i)(c_i - d_i) rounded once; nil means zeros.
func bigDot(a, b, c, d []float64) float64 {
	sum := new(big.Float).SetPrec(400)
	diff := func(p, q []float64, i int) *big.Float {
		v := new(big.Float).SetPrec(400).SetFloat64(p[i])
		if q != nil {
			v.Sub(v, new(big.Float).SetPrec(400).SetFloat64(q[i]))
		}
		return v
	}
	for i := range a {
		u, v := diff(a, b, i), diff(c, d, i)
		sum.Add(sum, u.Mul(u, v))
	}
	f, _ := sum.Float64()
	return f
}

// eval evaluates a kernel on two vectors from its definition: products and distances in
// big.Float, one pair at a time, maps in float64. It shares no code with the package.
func eval(text string, x, y []float64) float64 {
	stages := strings.Split(text, "@")
	xy, xx, yy := bigDot(x, nil, y, nil), bigDot(x, nil, x, nil), bigDot(y, nil, y, nil)
	d2 := bigDot(x, y, x, y)
	for s := len(stages) - 1; s >= 0; s-- {
		f := scalarMap(stages[s])
		xy, xx, yy = f(d2, xy, xx, yy), f(0, xx, xx, xx), f(0, yy, yy, yy)
		d2 = max(0, xx+yy-2*xy)
	}
	return xy
}

// scalarMap is the definition of each kernel that the tests use, by its exact text.
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
			return xy / math.Sqrt(xx*yy)
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

func newKernel(t testing.TB, text string) kernel.Kernel {
	t.Helper()
	k, err := kernel.New(mustParse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newEngine(t testing.TB, o engine.Options) *engine.Engine {
	t.Helper()
	eng, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// normal returns n vectors of d standard normal features, plus shift.
func normal(rng *rand.Rand, n, d int, shift float64) *points.Dense {
	p := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range p.Data {
		p.Data[i] = rng.NormFloat64() + shift
	}
	return p
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
