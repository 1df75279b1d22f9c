package lleratio_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// problem returns points of two classes on noisy half circles in d dimensions, with links of both
// kinds.
func problem(t enginetest.Fataler, n, d, pairs int, seed uint64) (*points.Dense, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	for i := range n {
		c := i % 2
		labels[i] = fmt.Sprint(c)
		angle := math.Pi * rng.Float64()
		for j := range d {
			v := 0.2 * rng.NormFloat64()
			switch j {
			case 0:
				v += math.Cos(angle) + float64(c)
			case 1:
				v += math.Sin(angle)*(1-2*float64(c)) + 0.3*float64(c)
			}
			x.Data[i*d+j] = v
		}
	}
	set, err := links.SampleByCount(labels, pairs, pairs, seed)
	if err != nil {
		t.Fatal(err)
	}
	return x, set
}

func embed(t enginetest.Fataler, m algorithms.Model, x points.Points) blas.Matrix {
	t.Helper()
	y, err := m.Embed(context.Background(), enginetest.New(t, 0), x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func distances(t enginetest.Fataler, m algorithms.Model, x points.Points) []float64 {
	t.Helper()
	var pairs [][2]int
	for i := range x.Len() {
		for j := range i {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	d, err := m.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// near compares lists of distances, relative to the largest.
func near(t interface{ Fatalf(string, ...any) }, what string, got, want []float64, tol float64) {
	size := slices.Max(want)
	for k := range want {
		if !(math.Abs(got[k]-want[k]) <= tol*size) {
			t.Fatalf("%s: distance %d is %.15g, want %.15g", what, k, got[k], want[k])
		}
	}
}

// weights computes the weights S of locally linear embedding by their definition: neighbors by a
// sort, the regularized system by elimination. It returns I - S, n x n.
func residualMatrix(x *points.Dense, k int, reg float64) [][]float64 {
	n := x.N
	out := make([][]float64, n)
	for i := range n {
		out[i] = make([]float64, n)
		out[i][i] = 1
		order := make([]int, 0, n-1)
		squared := make([]float64, n)
		for j := range n {
			for a := range x.D {
				d := x.Data[i*x.D+a] - x.Data[j*x.D+a]
				squared[j] += d * d
			}
			if j != i {
				order = append(order, j)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case squared[a] < squared[b]:
				return -1
			case squared[a] > squared[b]:
				return 1
			}
			return 0
		})
		g, trace := make([][]float64, k), 0.0
		for a := range k {
			g[a] = make([]float64, k+1)
			g[a][k] = 1
			for b := range k {
				for f := range x.D {
					g[a][b] += (x.Data[i*x.D+f] - x.Data[order[a]*x.D+f]) *
						(x.Data[i*x.D+f] - x.Data[order[b]*x.D+f])
				}
			}
			trace += g[a][a]
		}
		for a := range k {
			g[a][a] += reg * trace
		}
		for c := range k {
			for r := range k {
				if r != c {
					f := g[r][c] / g[c][c]
					for a := c; a <= k; a++ {
						g[r][a] -= f * g[c][a]
					}
				}
			}
		}
		sum := 0.0
		for a := range k {
			sum += g[a][k] / g[a][a]
		}
		for a := range k {
			out[i][order[a]] -= g[a][k] / g[a][a] / sum
		}
	}
	return out
}

// ratioOf evaluates the objective of coordinates y by its definition.
func ratioOf(y blas.Matrix, set *links.Set, residual [][]float64, alpha float64) float64 {
	apart := func(list []links.Link) float64 {
		sum := 0.0
		for _, l := range list {
			for c := range y.Cols {
				d := y.At(l.I, c) - y.At(l.J, c)
				sum += d * d
			}
		}
		return sum
	}
	shape := 0.0
	for i := range residual {
		for c := range y.Cols {
			v := 0.0
			for j, w := range residual[i] {
				v += w * y.At(j, c)
			}
			shape += v * v
		}
	}
	return apart(set.Cannot()) / (apart(set.Must()) + alpha*shape)
}

// The ratio of the model is that of its coordinates, summed by the definition, and it is a maximum:
// small rotations of the basis decrease it.
func TestRatioByDefinition(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(24, 50).Draw(t, "n"), rapid.IntRange(2, 8).Draw(t, "d")
		x, set := problem(t, n, d, rapid.IntRange(5, 15).Draw(t, "pairs"), rapid.Uint64().Draw(t, "seed"))
		l := lleratio.Learner{Params: lleratio.DefaultParams(), Kernel: enginetest.Spec(t, "exp:width=1.3")}
		p := &l.Params
		p.Mode = rapid.SampledFrom([]lleratio.Mode{lleratio.Kernel, lleratio.Linear, lleratio.Full}).Draw(t,
			"mode")
		p.Orthogonality = rapid.SampledFrom([]lleratio.Orthogonality{lleratio.Feature,
			lleratio.Coefficient}).Draw(t, "orthogonality")
		p.Alpha, p.Neighbors = rapid.SampledFrom([]float64{lleratio.AlphaByDimension, 0.02, 1}).Draw(t,
			"alpha"), rapid.IntRange(2, 9).Draw(t, "neighbors")
		if p.Mode == lleratio.Linear {
			l.Kernel = kernel.Spec{}
		}
		m := fittest.Fit[*lleratio.Model](t, l, x, set)
		alpha := p.Alpha
		if alpha == lleratio.AlphaByDimension {
			alpha = 0.02
			if d > 5 {
				alpha = 0.2
			}
		}
		y := embed(t, m, x)
		if got, want := m.Objective(),
			ratioOf(y, set, residualMatrix(x, p.Neighbors, p.RegG),
				alpha); !(math.Abs(got-want) <= 1e-7*want) {
			t.Fatalf("ratio %.12g, by definition %.12g", got, want)
		}
		trace := m.Trace()
		for k := 1; k < len(trace); k++ {
			if trace[k] < trace[k-1]*(1-1e-12) {
				t.Fatalf("step %d goes from %g to %g", k, trace[k-1], trace[k])
			}
		}
		if len(trace) > 21 {
			t.Errorf("%d eigenproblems", len(trace)-1)
		}
	})
}

// With the linear kernel, all points as a basis and orthonormal directions, the kernel method is
// the linear one.
func TestFullLinearKernelIsLinear(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		x, set := problem(t, 40, rapid.IntRange(3, 7).Draw(t, "d"), 10, rapid.Uint64().Draw(t, "seed"))
		l := lleratio.Learner{Params: lleratio.DefaultParams()}
		l.Params.Mode, l.Params.Dims = lleratio.Linear, rapid.IntRange(1, x.D-1).Draw(t, "dims")
		flat := fittest.Fit[*lleratio.Model](t, l, x, set)
		if flat.Gap() < 1e-5 {
			t.Skip("not unique")
		}
		l.Params.Mode, l.Kernel = lleratio.Full, enginetest.Spec(t, "linear")
		full := fittest.Fit[*lleratio.Model](t, l, x, set)
		if a, b := flat.Objective(), full.Objective(); !(math.Abs(a-b) <= 1e-8*a) {
			t.Fatalf("ratio %.12g in linear mode, %.12g with the linear kernel", a, b)
		}
		near(t, "linear kernel", distances(t, full, x), distances(t, flat, x), 1e-6)
	})
}

// In linear mode without unlabeled points it is the method of Xiang, Nie and Zhang.
func TestLinearWithoutShapeIsXiang(t *testing.T) {
	x, set := problem(t, 40, 6, 20, 3)
	l := lleratio.Learner{Params: lleratio.DefaultParams()}
	l.Params.Mode, l.Params.Alpha, l.Params.Dims = lleratio.Linear, 0, 3
	m, err := baseline.XiangLearner{}.Fit(context.Background(), enginetest.New(t, 0), x, set)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "xiang", distances(t, m, x), distances(t, fittest.Fit[*lleratio.Model](t, l, x, set), x), 1e-8)
}

// The directions of the feature space or the coefficients are orthonormal, as the coordinates of
// the support points show.
func TestOrthogonality(t *testing.T) {
	x, set := problem(t, 40, 3, 8, 5)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	k, err := kernel.New(enginetest.Spec(t, "exp:width=1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []lleratio.Orthogonality{lleratio.Feature, lleratio.Coefficient} {
		l := lleratio.Learner{Params: lleratio.DefaultParams(), Kernel: k.Spec()}
		l.Params.Orthogonality, l.Params.Mode = o, lleratio.Full
		y := embed(t, fittest.Fit[*lleratio.Model](t, l, x, set), x) // K V'
		gram, err := k.Gram(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		// V K V' = Y'K^-1 Y, V V' = Y'K^-2 Y.
		if err := eng.Cholesky(ctx, gram); err != nil {
			t.Fatal(err)
		}
		z := y.Clone()
		eng.Backend().Trsm(true, false, gram, z)
		if o == lleratio.Coefficient {
			eng.Backend().Trsm(true, true, gram, z)
		}
		for a := range z.Cols {
			for b := range z.Cols {
				sum, want := 0.0, 0.0
				if a == b {
					want = 1
				}
				for i := range z.Rows {
					sum += z.At(i, a) * z.At(i, b)
				}
				if math.Abs(sum-want) > 1e-9 {
					t.Errorf("%s: product %d, %d is %g, want %g", o, a, b, sum, want)
				}
			}
		}
	}
}

// Sparse points give the results of dense ones, and a Gram matrix without neighborhoods those of
// its kernel. Duplicate points only reduce the number of directions. The order of points does not
// matter.
func TestKindsOfPoints(t *testing.T) {
	x, set := problem(t, 40, 4, 10, 9)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	l := lleratio.Learner{Params: lleratio.DefaultParams(), Kernel: enginetest.Spec(t, "rbf:sigma=1.5")}
	want := distances(t, fittest.Fit[*lleratio.Model](t, l, x, set), x)

	sparse := &points.CSR{N: x.N, D: x.D, Start: []int{0}}
	for i := range x.N {
		for j, v := range x.Row(i) {
			sparse.Col, sparse.Val = append(sparse.Col, int32(j)), append(sparse.Val, v)
		}
		sparse.Start = append(sparse.Start, len(sparse.Val))
	}
	near(t, "sparse", distances(t, fittest.Fit[*lleratio.Model](t, l, sparse, set), sparse), want, 1e-7)

	order := rand.New(rand.NewPCG(1, 1)).Perm(x.N)
	place := make([]int, x.N)
	for k, i := range order {
		place[i] = k
	}
	var moved []links.Link
	for _, link := range slices.Concat(set.Must(), set.Cannot()) {
		moved = append(moved, links.NewLink(place[link.I], place[link.J], link.Sign))
	}
	other, err := links.New(x.N, moved)
	if err != nil {
		t.Fatal(err)
	}
	m := fittest.Fit[*lleratio.Model](t, l, x.Select(order), other)
	near(t, "another order", distances(t, m, x), want, 1e-7)

	l.Kernel, l.Params.Alpha, l.Params.Dims = enginetest.Spec(t, "exp:width=1"), 0, 2
	k, err := kernel.New(l.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	gram, err := k.Gram(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	precomputed := &points.Gram{N: x.N, M: x.N, Data: gram.Data, Diagonal: make([]float64, x.N),
		Reference: make([]int, x.N)}
	for i := range x.N {
		precomputed.Diagonal[i], precomputed.Reference[i] = gram.At(i, i), i
	}
	byKernel := fittest.Fit[*lleratio.Model](t, l, x, set)
	l.Kernel = kernel.Spec{}
	near(t, "Gram matrix", distances(t, fittest.Fit[*lleratio.Model](t, l, precomputed, set), precomputed),
		distances(t, byKernel, x), 1e-7)

	twice := &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
	a, b := set.Must()[0].I, set.Must()[1].J
	copy(twice.Row(b), twice.Row(a))
	l = lleratio.Learner{Params: lleratio.DefaultParams()}
	y := embed(t, fittest.Fit[*lleratio.Model](t, l, twice, set), twice)
	for c := range y.Cols {
		if d := y.At(a, c) - y.At(b, c); math.Abs(d) > 1e-9*(1+math.Abs(y.At(a, c))) {
			t.Errorf("points in one place are %g apart in column %d", d, c)
		}
	}
}

func TestSequences(t *testing.T) {
	letters := []string{"AACAACCA", "ACAACCAA", "CAACAACC", "GGTGGTTG", "GTGGTTGG", "TGGTGGTT", "AACACAAC",
		"GGTGTGGT", "CCAACCAA", "TTGGTTGG", "ACACACAC", "GTGTGTGT"}
	var all []byte
	start := []int{0}
	for _, s := range letters {
		all = append(all, s...)
		start = append(start, len(all))
	}
	x := &points.Sequences{Alphabet: "ACGT", Letters: all, Start: start}
	set, err := links.New(12,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(3, 4, links.Must),
			links.NewLink(0, 3, links.Cannot), links.NewLink(1, 5, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	l := lleratio.Learner{Params: lleratio.DefaultParams()}
	l.Params.Neighbors = 3
	y := embed(t, fittest.Fit[*lleratio.Model](t, l, x, set), x)
	if y.Rows != 12 {
		t.Errorf("%d rows", y.Rows)
	}
}

// The bits depend only on the seed, and a file restores them.
func TestSameBits(t *testing.T) {
	x, set := problem(t, 500, 3, 250, 2)
	l := lleratio.Learner{Params: lleratio.DefaultParams()}
	var first blas.Matrix
	for workers := 1; workers <= 3; workers++ {
		m, err := l.Fit(context.Background(), enginetest.New(t, workers), x, set)
		if err != nil {
			t.Fatal(err)
		}
		y := embed(t, m, x)
		if first.Data == nil {
			first = y
		}
		if !slices.Equal(first.Data, y.Data) {
			t.Errorf("%d workers give other bits", workers)
		}
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		back, err := lleratio.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(embed(t, back, x).Data, y.Data) ||
			back.Objective() != m.(*lleratio.Model).Objective() {
			t.Error("the model that was read is another one")
		}
	}
}

// With few must-links there are directions on which all of them vanish: the ratio has no bound, and
// the status reports it.
func TestUnbounded(t *testing.T) {
	x, set := problem(t, 30, 9, 3, 6)
	l := lleratio.Learner{Params: lleratio.DefaultParams()}
	l.Params.Mode, l.Params.Alpha, l.Params.Dims = lleratio.Linear, 0, 4
	m := fittest.Fit[*lleratio.Model](t, l, x, set)
	if !math.IsInf(m.Objective(), 1) || !m.Status().Converged ||
		!strings.Contains(m.Status().Message, "no bound") {
		t.Errorf("ratio %g, status %+v: want no bound, and a message that says so", m.Objective(), m.Status())
	}
	if steps := m.Status().Iterations; steps != 0 {
		t.Errorf("%d iterations to directions of which none is needed", steps)
	}
	y := embed(t, m, x)
	for _, link := range set.Must() {
		for c := range y.Cols {
			if d := y.At(link.I, c) - y.At(link.J, c); math.Abs(d) > 1e-10 {
				t.Errorf("must-link %d-%d is %g apart", link.I, link.J, d)
			}
		}
	}
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := lleratio.Decode(f)
	if err != nil || !math.IsInf(back.Objective(), 1) {
		t.Errorf("from a file: %v, error %v", back, err)
	}
}

func TestBadInput(t *testing.T) {
	x, set := problem(t, 30, 4, 6, 1)
	only := func(sign links.Sign) *links.Set {
		s, err := links.New(30, []links.Link{links.NewLink(0, 2, sign), links.NewLink(4, 6, sign)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	with := func(change func(p *lleratio.Params)) lleratio.Learner {
		l := lleratio.Learner{Params: lleratio.DefaultParams()}
		change(&l.Params)
		return l
	}
	plain := with(func(*lleratio.Params) {})
	nan := &points.Dense{N: 30, D: 4, Data: slices.Clone(x.Data)}
	nan.Data[5] = math.NaN()
	for name, c := range map[string]struct {
		l    lleratio.Learner
		x    points.Points
		set  *links.Set
		word string
	}{
		"no cannot-links": {plain, x, only(links.Must), "cannot-link"},
		"no must-links":   {plain, x, only(links.Cannot), "must-link"},
		"nothing holds": {with(func(p *lleratio.Params) {
			p.Mode, p.Alpha = lleratio.Linear, 0
		}), x, only(links.Cannot), "alpha"},
		"too many dims": {with(func(p *lleratio.Params) { p.Dims = 12 }), x, set, "the same ratio"},
		"too many dims, linear": {with(func(p *lleratio.Params) {
			p.Mode, p.Dims = lleratio.Linear, 4
		}), x, set, "the same ratio"},
		"too many neighbors": {with(func(p *lleratio.Params) { p.Neighbors = 30 }), x, set, "neighbors"},
		"no neighbors":       {with(func(p *lleratio.Params) { p.Neighbors = 0 }), x, set, "neighbors"},
		"alpha below 0":      {with(func(p *lleratio.Params) { p.Alpha = -0.5 }), x, set, "alpha"},
		"alpha NaN":          {with(func(p *lleratio.Params) { p.Alpha = math.NaN() }), x, set, "alpha"},
		"mode":               {with(func(p *lleratio.Params) { p.Mode = "kernal" }), x, set, "kernel"},
		"orthogonality":      {with(func(p *lleratio.Params) { p.Orthogonality = "" }), x, set, "feature"},
		"NaN":                {plain, nan, set, "NaN"},
		"rows":               {plain, x.Select([]int{0, 1, 2}), set, "3"},
		"one place":          {plain, &points.Dense{N: 30, D: 4, Data: make([]float64, 120)}, set, ""},
		"one place, linear": {with(func(p *lleratio.Params) {
			p.Mode = lleratio.Linear
		}), &points.Dense{N: 30, D: 4, Data: make([]float64, 120)}, set, "equal"},
	} {
		_, err := c.l.Fit(context.Background(), enginetest.New(t, 0), c.x, c.set)
		if !fault.IsInput(err) || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: error %v, want one of the input that speaks of %q", name, err, c.word)
		}
	}
	// A constant feature does not count.
	flat := &points.Dense{N: 30, D: 4, Data: slices.Clone(x.Data)}
	for i := range 30 {
		flat.Row(i)[2] = 7
	}
	l := with(func(p *lleratio.Params) { p.Mode, p.Dims = lleratio.Linear, 2 })
	m := fittest.Fit[*lleratio.Model](t, l, flat, set)
	flat.Row(0)[2], flat.Row(1)[2] = 7, 1e6
	y := embed(t, m, flat)
	if y.Cols != 2 {
		t.Errorf("%d columns", y.Cols)
	}
	if d := distances(t, m, flat.Select([]int{0, 1}))[0]; d > 1e6 {
		t.Errorf("a feature that was constant moves points by %g", d)
	}
}

func TestCancel(t *testing.T) {
	x, set := problem(t, 60, 3, 10, 1)
	for stop := 1; stop <= 4; stop++ {
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		l := lleratio.Learner{Params: lleratio.DefaultParams(), Progress: func(algorithms.Progress) {
			if seen++; seen == stop {
				cancel()
			}
		}}
		if _, err := l.Fit(ctx, enginetest.New(t, 0), x, set); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled at report %d: error %v", stop, err)
		}
	}
}

func TestDecodeBadFile(t *testing.T) {
	x, set := problem(t, 30, 3, 5, 1)
	m := fittest.Fit[*lleratio.Model](t, lleratio.Learner{Params: lleratio.DefaultParams()}, x, set)
	fittest.Spoiled(t, m, lleratio.Decode, map[string]func(f *model.File){
		"method": func(f *model.File) { f.Header.Method = "krca" },
		"mode":   func(f *model.File) { f.Header.Params = []byte(`{"mode":"flat"}`) },
		"status": func(f *model.File) { f.Header.Status = []byte(`[`) },
		"kernel": func(f *model.File) { f.Header.Kernel = "exp:width=-1" },
		"ratio": func(f *model.File) {
			f.Header.Extra["lleratio"] = []byte(`{"ratio":"NaN","gap":"1","input_dim":3}`)
		},
		"no number": func(f *model.File) { f.Header.Extra["lleratio"] = []byte(`{"ratio":"x"}`) },
		"NaN": func(f *model.File) {
			f.SetFloat64s("lleratio.expansion", slices.Repeat([]float64{math.NaN()}, 10), 1, 10)
		},
		"expansion": func(f *model.File) { f.SetFloat64s("lleratio.expansion", []float64{1, 2}, 1, 2) },
		"empty":     func(f *model.File) { f.SetFloat64s("lleratio.expansion", nil, 0, 10) },
		"trace":     func(f *model.File) { f.SetFloat64s("lleratio.trace", []float64{math.Inf(1)}) },
		"linear": func(f *model.File) {
			f.Header.Params = []byte(strings.Replace(string(f.Header.Params), "kernel", "linear", 1))
		},
	})
}
