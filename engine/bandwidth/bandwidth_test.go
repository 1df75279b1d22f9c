package bandwidth_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// resolve returns the outermost bandwidth that Resolve finds.
func resolve(t testing.TB, eng *engine.Engine, text string, x points.Points) float64 {
	t.Helper()
	s, err := bandwidth.Resolve(t.Context(), eng, enginetest.Spec(t, text), x)
	if err != nil {
		t.Fatal(err)
	}
	return outermost(t, s)
}

func outermost(t testing.TB, s kernel.Spec) float64 {
	t.Helper()
	first, _, _ := strings.Cut(s.String(), "@")
	_, number, _ := strings.Cut(first, "=")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatalf("%q has no number: %v", s, err)
	}
	return v
}

// naive evaluates a rule from its definition, given all distances.
func naive(rule string, n int, dist func(i, j int) float64) float64 {
	var all []float64
	sum, squares, nearest := 0.0, 0.0, 0.0
	for i := range n {
		var others []float64
		for j := range n {
			if j != i {
				others = append(others, dist(i, j))
			}
			if j < i {
				all = append(all, dist(i, j))
				sum += dist(i, j)
				squares += dist(i, j) * dist(i, j)
			}
		}
		slices.Sort(others)
		k := min(10, n-1)
		for _, d := range others[:k] {
			nearest += d / float64(k) / float64(n)
		}
	}
	slices.Sort(all)
	pairs := len(all)
	switch rule {
	case "mean":
		return sum / float64(pairs)
	case "median":
		return (all[(pairs-1)/2] + all[pairs/2]) / 2
	case "knn10":
		return nearest
	case "msq":
		return math.Sqrt(0.8 * squares / float64(pairs) / 2)
	default: // math: w = 2*1.5*sum_{i<j}|x_i-x_j| / (n(n+1))
		return 2 * 1.5 * sum / float64(n*(n+1))
	}
}

func euclid(x *points.Dense) func(i, j int) float64 {
	return func(i, j int) float64 {
		s := 0.0
		for c, v := range x.Row(i) {
			s += (v - x.Row(j)[c]) * (v - x.Row(j)[c])
		}
		return math.Sqrt(s)
	}
}

// Every rule agrees with its definition, for few and many points, shifted and sparse.
func TestRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	eng := enginetest.New(t, 0)
	for _, n := range []int{2, 3, 11, 12, 60} {
		for _, shift := range []float64{0, 1e6} {
			x := enginetest.Normal(rng, n, 4, shift)
			for i := range x.Data {
				if shift == 0 && rng.IntN(3) == 0 {
					x.Data[i] = 0
				}
			}
			for _, rule := range kernel.RuleNames() {
				want := naive(rule, n, euclid(x))
				for _, p := range []points.Points{x, enginetest.Sparse(x)} {
					t.Run(fmt.Sprintf("%s/n=%d/shift=%g/%T", rule, n, shift, p), func(t *testing.T) {
						for text, factor := range map[string]float64{"rbf:sigma=": 1, "exp:width=": 1,
							"rbf:sigma=0.5": 0.5, "exp:3": 3} {
							if got := resolve(t, eng, text+rule,
								p); !(math.Abs(got-factor*want) <= 1e-12*want) {
								t.Errorf("%s%s is %v, want %v", text, rule, got, factor*want)
							}
						}
					})
				}
			}
		}
	}
}

// The rules of a composition use distances in the inner kernel's feature space, and on a Gram
// matrix the distances that its inner products imply.
func TestInnerDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	eng := enginetest.New(t, 0)
	const n = 60
	x := enginetest.Normal(rng, n, 5, 0.5)
	for _, inner := range []string{"linear", "cosine", "rbf:sigma=2", "poly:degree=2"} {
		k, err := kernel.New(enginetest.Spec(t, inner))
		if err != nil {
			t.Fatal(err)
		}
		g, err := k.Gram(t.Context(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		dist := func(i, j int) float64 { return math.Sqrt(max(0, g.At(i, i)+g.At(j, j)-2*g.At(i, j))) }
		pre, err := points.NewGram(n, n, g.Data, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range kernel.RuleNames() {
			want := naive(rule, n, dist)
			if got := resolve(t, eng, "rbf:"+rule+"@"+inner, x); !(math.Abs(got-want) <= 1e-10*want) {
				t.Errorf("%s inside %s: %v, want %v", inner, rule, got, want)
			}
			if got := resolve(t, eng, "rbf:"+rule, pre); !(math.Abs(got-want) <= 1e-10*want) {
				t.Errorf("%s on the Gram matrix of %s: %v, want %v", rule, inner, got, want)
			}
		}
	}
}

// Inner rules are resolved first, and the outer one uses the resolved inner kernel.
func TestNestedRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	eng := enginetest.New(t, 0)
	x := enginetest.Normal(rng, 50, 3, 0)
	s, err := bandwidth.Resolve(t.Context(), eng, enginetest.Spec(t, "rbf:median@exp:2mean"), x)
	if err != nil {
		t.Fatal(err)
	}
	inner := enginetest.Spec(t,
		"exp:width="+strconv.FormatFloat(resolve(t, eng, "exp:2mean", x), 'g', 17, 64))
	want, err := bandwidth.Resolve(t.Context(), eng, enginetest.Spec(t, "rbf:median@"+inner.String()), x)
	if err != nil || s != want {
		t.Errorf("got %q, want %q (%v)", s, want, err)
	}
	if again := enginetest.Spec(t, s.String()); again != s {
		t.Errorf("%q reads back as %q", s, again)
	}
}

func TestResolveWithoutRules(t *testing.T) {
	eng := enginetest.New(t, 0)
	for _, text := range []string{"linear", "rbf:sigma=2", "rbf:gamma=3@cosine"} {
		s := enginetest.Spec(t, text)
		if got, err := bandwidth.Resolve(t.Context(), eng, s, &points.Dense{}); err != nil || got != s {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// Coinciding points give an error that names the cause, in every storage and through inner kernels
// whose rounding would hide it.
func TestConstantData(t *testing.T) {
	eng := enginetest.New(t, 0)
	x := &points.Dense{N: 30, D: 3}
	for range x.N {
		x.Data = append(x.Data, 0.1, -7e5, 1.0/3)
	}
	proportional := &points.Dense{N: 30, D: 3}
	for i := range proportional.N {
		for _, v := range x.Row(0) {
			proportional.Data = append(proportional.Data, v*(1+0.37*float64(i)))
		}
	}
	ones := make([]float64, 900)
	for i := range ones {
		ones[i] = 0.7
	}
	gram, err := points.NewGram(30, 30, ones, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range kernel.RuleNames() {
		for name, c := range map[string]struct {
			spec string
			x    points.Points
		}{
			"dense": {"rbf:" + rule, x}, "sparse": {"exp:" + rule, enginetest.Sparse(x)},
			"gram":          {"rbf:" + rule, gram},
			"inside cosine": {"rbf:" + rule + "@cosine", proportional},
			"inside rbf":    {"exp:" + rule + "@rbf:sigma=2", x},
			"inside poly":   {"rbf:" + rule + "@poly:scale=1e-3", x},
		} {
			_, err := bandwidth.Resolve(t.Context(), eng, enginetest.Spec(t, c.spec), c.x)
			if !fault.IsInput(err) || !strings.Contains(err.Error(), "data are constant") ||
				!strings.Contains(err.Error(), rule) {
				t.Errorf("%s, %s: %v", name, rule, err)
			}
		}
	}
}

// TestRoundedDistances: objects of a Gram matrix coincide if their distance is rounding of its
// entries, and not if it is more.
func TestRoundedDistances(t *testing.T) {
	for square, constant := range map[float64]bool{0.8e-13: true, 2e-13: false} {
		near := 1 - square/2
		x, err := points.NewGram(2, 2, []float64{1, near, near, 1}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = bandwidth.Resolve(t.Context(), enginetest.New(t, 1), enginetest.Spec(t, "rbf:mean"), x)
		if is := err != nil && strings.Contains(err.Error(), "data are constant"); is != constant ||
			!is && err != nil {
			t.Errorf("a squared distance of %v: error %v", square, err)
		}
	}
}

// When most points coincide the median is 0, though the data are not constant.
func TestZeroMedian(t *testing.T) {
	eng := enginetest.New(t, 0)
	x := &points.Dense{N: 20, D: 1, Data: make([]float64, 20)}
	x.Data[3] = 5
	_, err := bandwidth.Resolve(t.Context(), eng, enginetest.Spec(t, "rbf:median"), x)
	if !fault.IsInput(err) || !strings.Contains(err.Error(), "most points coincide") {
		t.Errorf("got %v", err)
	}
	if v := resolve(t, eng, "rbf:mean", x); math.Abs(v-5*19/190.0) > 1e-15 {
		t.Errorf("mean is %v", v)
	}
}

// Rules around the spectrum kernel use distances in its feature space: two sequences without a
// common word are sqrt 2 apart, two with the same words 0.
func TestRulesOnSequences(t *testing.T) {
	rows := []string{"AAAAA", "CCCCC", "GGGGG", "AAAACCC"}
	x := &points.Sequences{Alphabet: "ACGT", Start: []int{0}}
	for _, r := range rows {
		x.Letters = append(x.Letters, r...)
		x.Start = append(x.Start, len(x.Letters))
	}
	// Words of 3 letters: AAA 3 times; CCC 3; GGG 3; AAA 2, AAC, ACC, CCC 1.
	cosines := [4][4]float64{{1, 0, 0, 2 / math.Sqrt(7)}, {0, 1, 0, 1 / math.Sqrt(7)}, {0, 0, 1, 0},
		{2 / math.Sqrt(7), 1 / math.Sqrt(7), 0, 1}}
	distance := func(i, j int) float64 { return math.Sqrt(2 - 2*cosines[i][j]) }
	eng := enginetest.New(t, 0)
	for _, rule := range []string{"mean", "median", "msq"} {
		want := naive(rule, len(rows), distance)
		if got := resolve(t, eng, "rbf:sigma="+rule+"@spectrum:k=3", x); !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("%s is %v, want %v", rule, got, want)
		}
	}
	var d *fault.DataError
	if _, err := bandwidth.Resolve(t.Context(), eng, enginetest.Spec(t, "rbf:sigma=median@spectrum:k=6"),
		x); !errors.As(err, &d) || d.Row != 0 {
		t.Errorf("error %v: want a DataError of row 0, which is shorter than 6", err)
	}
	if _, err := bandwidth.Resolve(t.Context(), eng, enginetest.Spec(t, "rbf:sigma=median"),
		x); !fault.IsInput(err) {
		t.Errorf("error %v: want an input error, as rbf takes no sequences", err)
	}
}

func TestErrors(t *testing.T) {
	eng := enginetest.With(t, engine.Options{MemoryLimit: 1000})
	for _, rule := range kernel.RuleNames() {
		spec := enginetest.Spec(t, "rbf:"+rule)
		var d *fault.DataError
		for n := range 2 {
			if _, err := bandwidth.Resolve(t.Context(), eng, spec,
				&points.Dense{N: n, D: 1, Data: make([]float64, n)}); !errors.As(err, &d) ||
				!strings.Contains(err.Error(), "at least 2 points") {
				t.Errorf("%s of %d points: %v", rule, n, err)
			}
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), 1e300} {
			x := &points.Dense{N: 3, D: 1, Data: []float64{0, v, 2}}
			for _, p := range []points.Points{x, enginetest.Sparse(x)} {
				if _, err := bandwidth.Resolve(t.Context(), eng, spec, p); !errors.As(err, &d) {
					t.Errorf("%s with %v: %v, want a DataError", rule, v, err)
				} else if v != 1e300 && d.Row != 1 {
					t.Errorf("%s with %v: %v, want one of row 1", rule, v, err)
				}
			}
		}
		var m *fault.MemoryError
		big := &points.Dense{N: 100, D: 1, Data: make([]float64, 100)}
		if _, err := bandwidth.Resolve(t.Context(), eng, spec, big); (rule == "median" || rule == "knn10") &&
			!errors.As(err, &m) {
			t.Errorf("%s beyond the memory limit: %v", rule, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := bandwidth.Resolve(ctx, eng, spec,
			&points.Dense{N: 2, D: 1, Data: []float64{1, 2}}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s canceled: %v", rule, err)
		}
	}
}

// Above 4096 points the rules over pairs use a sample, whose value is close.
func TestLargeData(t *testing.T) {
	if testing.Short() {
		t.Skip("8 million pairs")
	}
	x := enginetest.Normal(rand.New(rand.NewPCG(4, 1)), 5000, 2, 0)
	want := math.Sqrt(math.Pi) // mean distance of two standard normal points in the plane
	if got := resolve(t, enginetest.New(t, 0), "rbf:mean", x); math.Abs(got-want) > 0.02*want {
		t.Errorf("mean is %v, want about %v", got, want)
	}
}

// On the rows that rules use, mean and median equal those of all points, and the other rules are
// close.
func TestRowsAlone(t *testing.T) {
	eng := enginetest.New(t, 0)
	for _, n := range []int{100, 6000} {
		x := enginetest.Normal(rand.New(rand.NewPCG(9, uint64(n))), n, 3, 1)
		few := x.Select(bandwidth.Rows(n))
		if few.Len() != min(n, 4096) {
			t.Fatalf("%d rows of %d", few.Len(), n)
		}
		for rule, tolerance := range map[string]float64{"mean": 0, "median": 0, "lle": 2 / 4096.0,
			"msq": 0.02, "knn10": 0.2} {
			want, got := resolve(t, eng, "rbf:sigma="+rule, x), resolve(t, eng, "rbf:sigma="+rule, few)
			if !(math.Abs(got-want) <= tolerance*want) {
				t.Errorf("n=%d, %s is %v on these rows, %v on all", n, rule, got, want)
			}
		}
	}
	if rows := bandwidth.Rows(0); len(rows) != 0 {
		t.Errorf("rows %v of no points", rows)
	}
}

// Points scaled by a power of two have bandwidths scaled by it, or an error that states what was
// expected: never 0, Inf or NaN.
func TestRulesAtAnyScale(t *testing.T) {
	ctx, eng, rng := context.Background(), enginetest.New(t, 1), rand.New(rand.NewPCG(2, 8))
	width := func(rule string, x points.Points) (float64, error) {
		spec, err := kernel.Parse("rbf:sigma=" + rule)
		if err != nil {
			t.Fatal(err)
		}
		if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
			return 0, err
		}
		var v float64
		if _, err := fmt.Sscanf(spec.String(), "rbf:sigma=%g", &v); err != nil {
			t.Fatal(spec, err)
		}
		return v, nil
	}
	for _, n := range []int{2, 3, 20} {
		x := &points.Dense{N: n, D: 3, Data: make([]float64, 3*n)}
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		for _, rule := range []string{"mean", "median", "knn10", "msq", "lle"} {
			want, err := width(rule, x)
			if err != nil {
				t.Fatal(err)
			}
			for _, power := range []int{-1060, -1000, -600, -500, -200, 200, 500, 511, 520, 1000} {
				y := &points.Dense{N: n, D: 3, Data: make([]float64, 3*n)}
				for i, v := range x.Data {
					y.Data[i] = math.Ldexp(v, power)
				}
				got, err := width(rule, y)
				switch {
				case err != nil && (!fault.IsInput(err) || !strings.Contains(err.Error(), "want") ||
					power > -300 && power < 500):
					t.Errorf("rule %s, %d points times 2^%d: error %v", rule, n, power, err)
				case err == nil && !(math.Abs(got-math.Ldexp(want, power)) <= 1e-6*math.Ldexp(want, power)):
					t.Errorf("rule %s, %d points times 2^%d: %g, want %g", rule, n, power, got,
						math.Ldexp(want, power))
				}
			}
		}
	}
}

// FuzzResolve: any kernel text on any few points gives an input error, or a kernel without rules
// whose text parses to itself and which is the same for dense and sparse points. A single rule of
// distances has the value of its definition.
func FuzzResolve(f *testing.F) {
	for k, text := range []string{"rbf:sigma=0.5mean", "rbf:median", "exp:width=2knn10", "rbf:sigma=msq",
		"exp:lle", "rbf:median@poly:degree=2", "exp:width=3lle@rbf:sigma=0.5mean@cosine",
		"rbf:sigma=1e300mean", "rbf:gamma=mean", "linear", "rbf:sigma=-1mean", "rbf:sigma=1e-160median",
		"cosine@rbf:mean"} {
		f.Add(text, []byte{byte(7 * k), byte(k), byte(k % 5), byte(3 * k), byte(k), 1, 2})
	}
	eng := enginetest.New(f, 1)
	f.Fuzz(func(t *testing.T, text string, input []byte) {
		spec, err := kernel.Parse(text)
		if err != nil {
			return // FuzzParse covers this
		}
		b := asmtest.NewBytes(input)
		n, d := 1+b.Below(14), 1+b.Below(4)
		x := &points.Dense{N: n, D: d, Data: b.Tames(n * d)}
		if b.Below(8) == 0 {
			x.Data = b.Values(n * d)
		}
		got, err := bandwidth.Resolve(t.Context(), eng, spec, x)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("%s: error %v is not an input error", spec, err)
			}
			return
		}
		again, err := kernel.Parse(got.String())
		if got.NeedsData() || err != nil || again != got {
			t.Fatalf("%s resolves to %s, which parses to %s, error %v", spec, got, again, err)
		}
		rule, inner, open := spec.Open()
		if open && inner == kernel.Linear().Spec() && !strings.Contains(text, "@") {
			want := rule.Factor * naive(rule.Name, n, euclid(x))
			if v := outermost(t, got); !(math.Abs(v-want) <= 1e-12*want) && want > 1e-140 && want < 1e140 {
				t.Fatalf("%s of %d points is %v: want %v", spec, n, v, want)
			}
			sparse, err := bandwidth.Resolve(t.Context(), eng, spec, enginetest.Sparse(x))
			if err != nil {
				t.Fatalf("%s of sparse points: %v", spec, err)
			}
			if v := outermost(t, sparse); !(math.Abs(v-want) <= 1e-12*want) && want > 1e-140 && want < 1e140 {
				t.Fatalf("%s of %d sparse points is %v: want %v", spec, n, v, want)
			}
		}
	})
}

func ExampleResolve() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		panic(err)
	}
	x, err := points.NewDense(3, 1, []float64{0, 1, 5})
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"rbf:sigma=median", "rbf:sigma=0.5median", "exp:width=lle"} {
		spec, err := kernel.Parse(text)
		if err != nil {
			panic(err)
		}
		resolved, err := bandwidth.Resolve(context.Background(), eng, spec, x)
		if err != nil {
			panic(err)
		}
		fmt.Println(resolved)
	}
	// Output:
	// rbf:sigma=4
	// rbf:sigma=2
	// exp:width=2.5
}

// TestFailures: what fails on the way fails the rule, with its error.
func TestFailures(t *testing.T) {
	x := enginetest.Normal(rand.New(rand.NewPCG(2, 7)), 60, 3, 1)
	for _, rule := range []string{"mean", "lle", "median", "msq", "knn10", "median@exp:2mean"} {
		enginetest.FailEverywhere(t, rule, 40, func(ctx context.Context) error {
			_, err := bandwidth.Resolve(ctx, enginetest.New(t, 1), enginetest.Spec(t, "rbf:"+rule), x)
			return err
		})
	}
}
