package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
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
	case "cauchy:width=1.5":
		return func(d2, _, _, _ float64) float64 { return 1.5 * 1.5 / (1.5*1.5 + d2) }
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
	"sigmoid:scale=0.5,coef=-1", "cauchy:width=1.5", "cauchy:width=1.5@poly:degree=3,coef=0.5,scale=0.25", "rbf:sigma=1.5@cosine", "rbf:sigma=1.5@linear", "linear@rbf:gamma=0.3",
	"exp:width=2@rbf:gamma=0.3@cosine", "poly:degree=3,coef=0.5,scale=0.25@rbf:sigma=1.5",
	"cosine@poly:degree=3,coef=0.5,scale=0.25",
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

// FuzzEvaluate compares every way to evaluate a kernel with its definition in exact arithmetic,
// dense and sparse, up to rounding: matrices of points with themselves and with others, and single
// pairs. Blocks, parts and other numbers of workers must be bit-identical. Values that are not
// finite are refused.
func FuzzEvaluate(f *testing.F) {
	for n := range 40 {
		seed := make([]byte, 32)
		for i := range seed {
			seed[i] = byte((i*i + 5*i + 3) * (2*n + 1))
		}
		f.Add(seed)
	}
	one, three := enginetest.New(f, 1), enginetest.New(f, 3)
	f.Fuzz(func(t *testing.T, input []byte) {
		b := asmtest.NewBytes(input)
		text := vectorKernels[b.Below(len(vectorKernels))]
		k := enginetest.Kernel(t, text)
		n, m, d := 1+b.Below(9), 1+b.Below(9), 1+b.Below(12)
		if b.Below(8) == 0 {
			refuses(t, k, one, b, n, d)
			return
		}
		scale := math.Ldexp(1, b.Below(40)-30)
		x, y := tamePoints(b, n, d, scale), tamePoints(b, m, d, scale)
		if b.Coin() {
			copy(y.Row(0), x.Row(n-1)) // a pair at distance 0
		}
		within := newMargins(x, y, text)
		self := newMargins(x, x, text)
		for name, sets := range map[string][2]points.Points{"dense": {x, y},
			"sparse":            {enginetest.Sparse(x), enginetest.Sparse(y)},
			"dense with sparse": {x, enginetest.Sparse(y)}, "sparse with dense": {enginetest.Sparse(x), y}} {
			what := text + ", " + name
			cross, err := k.Cross(t.Context(), one, sets[0], sets[1])
			gram, err2 := k.Gram(t.Context(), one, sets[0])
			if err != nil || err2 != nil { // values that overflow
				for _, err := range []error{err, err2} {
					if err != nil && !fault.IsInput(err) {
						t.Fatalf("%s: error %v is not an input error", what, err)
					}
				}
				continue
			}
			within.check(t, what, cross)
			self.check(t, what+", Gram matrix", gram)
			checkSymmetric(t, gram)
			consistent(t, what, k, three, sets[0], sets[1], gram, cross)
		}
	})
}

// tamePoints returns points of finite values.
func tamePoints(b *asmtest.Bytes, n, d int, scale float64) *points.Dense {
	p := &points.Dense{N: n, D: d, Data: b.Tames(n * d)}
	for i := range p.Data {
		p.Data[i] *= scale
	}
	return p
}

// refuses checks that a NaN or Inf anywhere in the points gives an input error.
func refuses(t *testing.T, k kernel.Kernel, eng *engine.Engine, b *asmtest.Bytes, n, d int) {
	t.Helper()
	x := tamePoints(b, n, d, 1)
	x.Data[b.Below(n*d)] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[b.Below(3)]
	for _, p := range []points.Points{x, enginetest.Sparse(x)} {
		_, err := k.Gram(t.Context(), eng, p)
		_, err2 := k.Cross(t.Context(), eng, p, tamePoints(b, 2, d, 1))
		_, err3 := k.Pairs(t.Context(), eng, p, [][2]int{{0, n - 1}})
		for _, err := range []error{err, err2, err3} {
			if !fault.IsInput(err) {
				t.Fatalf("%s of %T with a value that is not finite: error %v", k, p, err)
			}
		}
	}
}

// consistent checks that different ways to compute the same values are bit-identical.
func consistent(t *testing.T, what string, k kernel.Kernel, eng *engine.Engine, x, y points.Points, gram,
	cross blas.Matrix) {
	t.Helper()
	if got := gramOf(t, k, eng, x); !sameBits(got.Data, gram.Data) {
		t.Fatalf("%s: the bits of the Gram matrix differ with three workers", what)
	}
	if got := crossOf(t, k, eng, x, y); !sameBits(got.Data, cross.Data) {
		t.Fatalf("%s: the bits of the cross matrix differ with three workers", what)
	}
	whole, f := collect(t, x.Len(), x.Len())
	if err := k.GramBlocks(t.Context(), eng, x, f); err != nil {
		t.Fatal(err)
	}
	for i := range whole.Rows {
		if !sameBits(whole.Row(i)[:i+1], gram.Row(i)[:i+1]) {
			t.Fatalf("%s: row %d of the blocks is not that of the Gram matrix", what, i)
		}
	}
	whole, f = collect(t, x.Len(), y.Len())
	if err := k.CrossRows(t.Context(), eng, x, y, 1, f); err != nil {
		t.Fatal(err)
	}
	if !sameBits(whole.Data, cross.Data) {
		t.Fatalf("%s: the bits of the cross matrix differ row by row", what)
	}
	for i := range x.Len() {
		if got := crossOf(t, k, eng, x.Select([]int{i}), y); !sameBits(got.Data, cross.Row(i)) {
			t.Fatalf("%s: the bits of row %d alone differ", what, i)
		}
	}
}

// margins are the values of a kernel and bounds on their rounding errors.
type margins struct{ value, bound blas.Matrix }

func newMargins(x, y *points.Dense, text string) margins {
	m := margins{blas.NewMatrix(x.N, y.N), blas.NewMatrix(x.N, y.N)}
	exact := pairsOf(x, y)
	largest := 0.0 // squared length
	for i := range x.N {
		for j := range y.N {
			p := exact(i, j)
			largest = max(largest, p.xx, p.yy)
		}
	}
	const eps = 0x1p-52
	for i := range x.N {
		for j := range y.N {
			p := exact(i, j)
			e := measured{pair: p}
			// The error of a sum of d products. For distances it is bounded too, as canceled ones
			// are computed from differences, and centers are not larger than the points.
			terms := float64(8 * (x.D + 8))
			e.exy = terms * eps * math.Sqrt(p.xx) * math.Sqrt(p.yy)
			e.exx, e.eyy = terms*eps*p.xx, terms*eps*p.yy
			e.ed2 = terms * eps * min(4*largest, p.d2*1e3)
			stages := strings.Split(text, "@")
			for s := len(stages) - 1; s >= 0; s-- {
				e = e.through(stages[s])
			}
			m.value.Set(i, j, e.xy)
			m.bound.Set(i, j, e.exy)
		}
	}
	return m
}

func (m margins) check(t *testing.T, what string, got blas.Matrix) {
	t.Helper()
	for i := range got.Rows {
		for j, v := range got.Row(i) {
			want, bound := m.value.At(i, j), m.bound.At(i, j)
			if !(math.Abs(v-want) <= bound) && bound < 1e290 {
				t.Fatalf("%s: element (%d,%d) is %v: want %v within %.3g", what, i, j, v, want, bound)
			}
		}
	}
}

// measured is a pair with error bounds.
type measured struct {
	pair
	exy, exx, eyy, ed2 float64
}

// through applies one kernel to a pair, by its definition, and propagates the error bounds.
func (p measured) through(stage string) measured {
	f := scalarMap(stage)
	out := measured{pair: pair{xy: f(p.d2, p.xy, p.xx, p.yy), xx: f(0, p.xx, p.xx, p.xx),
		yy: f(0, p.yy, p.yy, p.yy)}}
	out.exy = spread(stage, p.xy, p.xx, p.yy, p.d2, p.exy, p.exx, p.eyy, p.ed2)
	out.exx = spread(stage, p.xx, p.xx, p.xx, 0, p.exx, p.exx, p.exx, 0)
	out.eyy = spread(stage, p.yy, p.yy, p.yy, 0, p.eyy, p.eyy, p.eyy, 0)
	out.d2 = max(0, out.xx+out.yy-2*out.xy)
	out.ed2 = out.exx + out.eyy + 2*out.exy + 4*0x1p-52*(math.Abs(out.xx)+math.Abs(out.yy)+2*math.Abs(out.xy))
	return out
}

// spread bounds the error of a map's value, given the errors of its arguments, with its own
// rounding errors.
func spread(stage string, xy, xx, yy, d2, exy, exx, eyy, ed2 float64) float64 {
	const own = 16 * 0x1p-52
	gaussian := func(gamma float64) float64 {
		return min(1, math.Expm1(gamma*ed2)) + own*(1+gamma*d2)*math.Exp(-gamma*d2)
	}
	switch stage {
	case "linear":
		return exy
	case "rbf:sigma=1.5":
		return gaussian(1 / (2 * 1.5 * 1.5))
	case "rbf:gamma=0.3":
		return gaussian(0.3)
	case "exp:width=2":
		d, e := math.Sqrt(d2), math.Sqrt(ed2)
		if d > 0 {
			e = min(e, ed2/d)
		}
		return min(1, math.Expm1(e/2)) + own*(1+d)*math.Exp(-d/2)
	case "cauchy:width=1.5":
		return min(1, ed2/(1.5*1.5)) + own
	case "poly:degree=3,coef=0.5,scale=0.25":
		base, e := 0.25*math.Abs(xy)+0.5, 0.25*exy+own*(0.25*math.Abs(xy)+0.5)
		return 3 * e * (base + e) * (base + e)
	case "cosine":
		if xx == 0 || yy == 0 {
			return 0
		}
		return min(2, exy/math.Sqrt(xx)/math.Sqrt(yy)+exx/xx+eyy/yy+own)
	case "sigmoid:scale=0.5,coef=-1":
		return min(2, 0.5*exy+own*(0.5*math.Abs(xy)+2))
	}
	panic(fmt.Sprint("no bound for ", stage, slices.Index(vectorKernels, stage)))
}

func TestParseCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"linear":                      "linear",
		" linear ":                    "linear",
		"cosine":                      "cosine",
		"rbf:sigma=1.5":               "rbf:sigma=1.5",
		"rbf:sigma=1.50e0":            "rbf:sigma=1.5",
		"rbf: sigma = 2":              "rbf:sigma=2",
		"rbf:gamma=0.1":               "rbf:gamma=0.1",
		"rbf:gamma=1e-300":            "rbf:gamma=1e-300",
		"rbf:sigma=median":            "rbf:sigma=median",
		"rbf:median":                  "rbf:sigma=median",
		"rbf:0.5mean":                 "rbf:sigma=0.5mean",
		"rbf:sigma=1mean":             "rbf:sigma=mean",
		"rbf:sigma=2knn10":            "rbf:sigma=2knn10",
		"rbf:sigma=msq":               "rbf:sigma=msq",
		"exp:lle":                     "exp:width=lle",
		"exp:width=2":                 "exp:width=2",
		"poly":                        "poly:degree=2,coef=1,scale=1",
		"poly:scale=0.5,degree=3":     "poly:degree=3,coef=1,scale=0.5",
		"poly:coef=-0":                "poly:degree=2,coef=0,scale=1",
		"sigmoid":                     "sigmoid:scale=1,coef=0",
		"sigmoid:coef=-1":             "sigmoid:scale=1,coef=-1",
		"spectrum:k=3":                "spectrum:k=3",
		"rbf:sigma=1@spectrum:k=3":    "rbf:sigma=1@spectrum:k=3",
		"rbf:mean @ cosine":           "rbf:sigma=mean@cosine",
		"rbf:mean@rbf:sigma=3@cosine": "rbf:sigma=mean@rbf:sigma=3@cosine",
	} {
		s, err := kernel.Parse(text)
		if err != nil || s.String() != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", text, s, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	cases := []struct{ text, wants string }{
		{"", "one of linear, rbf"},
		{"rfb:sigma=1", `; did you mean "rbf"?`},
		{"RBF:sigma=1", `; did you mean "rbf"?`},
		{"gaussian", "one of linear"},
		{"rbf", "rbf:sigma=NUMBER"},
		{"rbf:", "rbf:sigma=NUMBER"},
		{"exp", "exp:width=NUMBER"},
		{"rbf:sgima=1", `; did you mean "sigma"?`},
		{"rbf:width=1", "one of sigma, gamma"},
		{"rbf:medain", `; did you mean "median"?`},
		{"rbf:sigma=medain", `; did you mean "median"?`},
		{"rbf:sigma=0.5medain", `; did you mean "median"?`},
		{"rbf:sigma=0", "a number > 0"},
		{"rbf:sigma=-1", "sigma of kernel rbf is -1: want a number > 0"},
		{"rbf:sigma=NaN", "a number > 0"},
		{"rbf:sigma=inf", "a number > 0"},
		{"rbf:sigma=1e-200", "from 1e-150 to 1e+150"},
		{"rbf:sigma=1e200", "from 1e-150 to 1e+150"},
		{"rbf:gamma=1e-301", "from 1e-300 to 1e+300"},
		{"rbf:sigma=", "a value after sigma="},
		{"rbf:sigma", "a value after sigma="},
		{"rbf:sigma=1,gamma=1", "not both"},
		{"rbf:sigma=1,sigma=2", "once"},
		{"rbf:sigma=1,", "one of sigma, gamma"},
		{"rbf:sigma=x", "a rule (mean, median"},
		{"rbf:sigma=-2mean", "a factor > 0"},
		{"rbf:sigma=0mean", "a factor > 0"},
		{"rbf:sigma=nanmean", "a factor > 0"},
		{"rbf:sigma=infmean", "a factor > 0"},
		{"rbf:gamma=mean", "rules are for sigma"},
		{"exp:width=0", "width of kernel exp is 0"},
		{"linear:sigma=1", "without parameters"},
		{"cosine:1", "without parameters"},
		{"poly:degree=0", "a whole number from 1"},
		{"poly:degree=2.5", "a whole number from 1"},
		{"poly:degree=1000", "a whole number from 1"},
		{"poly:coef=-1", "a number >= 0"},
		{"poly:coef=x", "a number >= 0"},
		{"poly:scale=0", "a number > 0"},
		{"poly:scale=nan", "a number > 0"},
		{"sigmoid:coef=inf", "a number"},
		{"spectrum", "spectrum:k=LENGTH"},
		{"spectrum:k=0", "a whole number from 1"},
		{"spectrum:k=3@linear", "innermost"},
		{"rbf:sigma=1@", "one of linear"},
		{"@rbf:sigma=1", "one of linear"},
		{"linear@linear@linear@linear@linear", "at most 4"},
	}
	for _, c := range cases {
		s, err := kernel.Parse(c.text)
		var p *fault.ParamError
		if !errors.As(err, &p) {
			t.Errorf("Parse(%q) = %q, %v; want a ParamError", c.text, s, err)
			continue
		}
		if !strings.Contains(err.Error(), c.wants) {
			t.Errorf("Parse(%q): %q does not contain %q", c.text, err, c.wants)
		}
		if !s.IsZero() {
			t.Errorf("Parse(%q) returned %q together with the error", c.text, s)
		}
	}
}

func TestNames(t *testing.T) {
	if got := kernel.Names(); !slices.Equal(got,
		[]string{"linear", "rbf", "exp", "cauchy", "poly", "cosine", "sigmoid", "spectrum"}) {
		t.Errorf("got %v", got)
	}
	for _, r := range kernel.RuleNames() {
		if s, err := kernel.Parse("rbf:" + r); err != nil || !s.NeedsData() {
			t.Errorf("rule %s: %v, %v", r, s, err)
		}
	}
}
