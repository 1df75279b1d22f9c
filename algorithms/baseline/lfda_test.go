package baseline

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

const eps = 0x1p-52

// lfdaWith returns the default parameters with a change.
func lfdaWith(change func(p *LFDA)) LFDA {
	p := param.Default[LFDA]()
	change(&p)
	return p
}

func lfdaFitted(t enginetest.Fataler, eng *engine.Engine, p LFDA, x points.Points,
	set *links.Set) blas.Matrix {
	t.Helper()
	w, _ := fittest.On[*LFDAModel](t, eng, LFDALearner{Params: p}, x, set).Transform()
	return w
}

// pairwise returns Sw and Sb by the formulas of the comment of [LFDA], pair by pair; neighbors
// below 1 mean A_ij = 1.
func pairwise(x *points.Dense, c *linear.Classes, neighbors int) (within, between blas.Matrix) {
	within, between = blas.NewMatrix(x.D, x.D), blas.NewMatrix(x.D, x.D)
	n := float64(len(c.Rows))
	scale := func(i int) float64 {
		var near []float64
		for _, j := range c.Members[c.Of[i]] {
			if i != j {
				near = append(near, math.Sqrt(points.SquaredDistance(x.Row(c.Rows[i]), x.Row(c.Rows[j]))))
			}
		}
		slices.Sort(near)
		return near[min(neighbors, len(near))-1]
	}
	for i, a := range c.Rows {
		for j, b := range c.Rows {
			if i == j {
				continue
			}
			w, v := 0.0, 0.0
			if size := float64(len(c.Members[c.Of[i]])); c.Of[i] == c.Of[j] {
				affinity := 1.0
				if neighbors > 0 {
					affinity = math.Exp(-points.SquaredDistance(x.Row(a), x.Row(b)) / (scale(i) * scale(j)))
				}
				w, v = affinity/size, affinity*(1/n-1/size)
			} else if c.Apart(i, j) {
				v = 1 / n
			}
			for p := range x.D {
				for q := range x.D {
					d := (x.Row(a)[p] - x.Row(b)[p]) * (x.Row(a)[q] - x.Row(b)[q]) / 2
					within.Set(p, q, within.At(p, q)+w*d)
					between.Set(p, q, between.At(p, q)+v*d)
				}
			}
		}
	}
	return within, between
}

func wantEqual(t *rapid.T, what string, got, want blas.Matrix, tolerance float64) {
	t.Helper()
	size := 0.0
	for _, v := range want.Data {
		size = max(size, math.Abs(v))
	}
	for k, v := range got.Data {
		if math.Abs(v-want.Data[k]) > tolerance*size {
			t.Fatalf("%s: element %d is %g, want %g", what, k, v, want.Data[k])
		}
	}
}

// lfdaDraw returns points of several classes, far from 0; not all of the classes are known to
// differ.
func lfdaDraw(t *rapid.T, n, d int) (*points.Dense, *links.Set) {
	x, _, set := enginetest.Bands(t, n, d, rapid.IntRange(3, 30).Draw(t, "pairs"),
		rapid.Uint64().Draw(t, "seed"))
	for k := range x.Data {
		x.Data[k] += 100
	}
	return x, set
}

// TestLFDAScatters compares the scatter matrices with sums over pairs, for local affinities and for
// equal ones.
func TestLFDAScatters(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		x, set := lfdaDraw(rt, 45, rapid.IntRange(1, 5).Draw(rt, "features"))
		eng, c, neighbors := enginetest.New(rt, 2), linear.NewClasses(set),
			rapid.IntRange(1, 9).Draw(rt, "neighbors")
		z := blas.MatrixOf(x.N, x.D, x.Data).Select(c.Rows)
		p := lfdaWith(func(p *LFDA) { p.Neighbors = neighbors })
		within, between, err := lfdaScatters(context.Background(), eng, z, c, p.differences)
		if err != nil {
			rt.Fatal(err)
		}
		w, b := pairwise(x, c, neighbors)
		const tolerance = 1e4 * eps // x is 100 away from 0, some ten times its spread
		wantEqual(rt, "Sw", within, w, tolerance)
		wantEqual(rt, "Sb", between, b, tolerance)
		within, between, err = lfdaScatters(context.Background(), eng, z, c, equal)
		if err != nil {
			rt.Fatal(err)
		}
		w, b = pairwise(x, c, 0)
		wantEqual(rt, "Sw of equal affinities", within, w, tolerance)
		wantEqual(rt, "Sb of equal affinities", between, b, tolerance)
	})
}

// equal is Learner.differences with A_ij = 1, for points of mean 0.
func equal(_ context.Context, eng *engine.Engine, x blas.Matrix) (blas.Matrix, error) {
	y := x.Clone()
	eng.Backend().Kernels().Scale(float64(x.Rows), y.Data)
	return y, nil
}

// TestLFDAFisher checks that with A_ij = 1 and classes that all differ, Sw is the scatter within
// classes and Sb that of their means: Fisher's discriminant.
func TestLFDAFisher(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		x, labels, _ := enginetest.Bands(rt, 40, 4, 1, rapid.Uint64().Draw(rt, "seed"))
		set, err := links.FromLabels(labels)
		if err != nil {
			rt.Fatal(err)
		}
		c := linear.NewClasses(set)
		z := blas.MatrixOf(x.N, x.D, x.Data)
		within, between, err := lfdaScatters(context.Background(), enginetest.New(rt, 1), z, c, equal)
		if err != nil {
			rt.Fatal(err)
		}
		mean := func(rows []int) []float64 {
			m := make([]float64, x.D)
			for _, i := range rows {
				for k, v := range x.Row(i) {
					m[k] += v / float64(len(rows))
				}
			}
			return m
		}
		w, b, all := blas.NewMatrix(4, 4), blas.NewMatrix(4, 4), mean(c.Rows)
		for _, rows := range c.Members {
			own := mean(rows)
			for p := range 4 {
				for q := range 4 {
					b.Set(p, q, b.At(p, q)+float64(len(rows))*(own[p]-all[p])*(own[q]-all[q]))
					for _, i := range rows {
						w.Set(p, q, w.At(p, q)+(x.Row(i)[p]-own[p])*(x.Row(i)[q]-own[q]))
					}
				}
			}
		}
		wantEqual(rt, "scatter within", within, w, 1e3*eps)
		wantEqual(rt, "scatter of means", between, b, 1e3*eps)
	})
}

// TestLFDAEigen checks that the rows of the map solve the generalized eigenproblem in descending
// order: T (Sw + eps I) T' = I and T Sb T' = V, and with all rows Sb t = v (Sw + eps I) t. Other
// values of metric give the same rows with other lengths, or an orthonormal basis of them.
func TestLFDAEigen(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		const d = 5
		x, set := lfdaDraw(rt, 60, d)
		be := enginetest.New(rt, 1).Backend()
		params := lfdaWith(func(p *LFDA) {
			p.Scaling, p.EpsRel = LFDAPlain, rapid.SampledFrom([]float64{1e-6, 1e-2, 1}).Draw(rt, "eps")
		})
		plain := lfdaFitted(rt, enginetest.New(rt, 1), params, x, set)
		within, between := pairwise(x, linear.NewClasses(set), params.Neighbors)
		mean := 0.0
		for i := range d {
			mean += within.At(i, i) / d
		}
		for i := range d {
			within.Set(i, i, within.At(i, i)+params.EpsRel*mean)
		}
		form := func(s blas.Matrix) blas.Matrix {
			half, out := blas.NewMatrix(d, d), blas.NewMatrix(d, d)
			be.Gemm(false, false, 1, plain, s, 0, half)
			be.Gemm(false, true, 1, half, plain, 0, out)
			return out
		}
		one, values := form(within), form(between)
		size := max(1, math.Abs(values.At(0, 0)), math.Abs(values.At(d-1, d-1)))
		const tolerance = 1e7 * eps // times the condition of Sw + eps I, up to 1e3 here
		for i := range d {
			for j := range d {
				if want := map[bool]float64{true: 1}[i == j]; math.Abs(one.At(i, j)-want) > tolerance {
					rt.Fatalf("T (Sw + eps I) T' has %g at %d, %d", one.At(i, j), i, j)
				}
				if i != j && math.Abs(values.At(i, j)) > tolerance*size {
					rt.Fatalf("T Sb T' has %g at %d, %d: want 0", values.At(i, j), i, j)
				}
			}
			if i > 0 && values.At(i, i) > values.At(i-1, i-1)+tolerance*size {
				rt.Fatalf("eigenvalue %d is %g after %g", i, values.At(i, i), values.At(i-1, i-1))
			}
		}
		params.Scaling = LFDAWeighted
		for r, weighted := 0, lfdaFitted(rt, enginetest.New(rt, 1), params, x, set); r < weighted.Rows; r++ {
			for j, v := range weighted.Row(r) {
				if want := math.Sqrt(values.At(r, r)) *
					plain.At(r, j); math.Abs(v-want) > 1e-6*math.Sqrt(size)*slices.Max(plain.Data) {
					rt.Fatalf("weighted row %d has %g, want %g", r, v, want)
				}
			}
		}
		params.Scaling, params.Dims = LFDAOrthonormalized, 3
		q, span := lfdaFitted(rt, enginetest.New(rt, 1), params, x, set), blas.NewMatrix(3, 3)
		be.Gemm(false, true, 1, q, q, 0, span)
		for i := range 3 {
			for j := range 3 {
				if want := map[bool]float64{true: 1}[i == j]; math.Abs(span.At(i, j)-want) > 100*eps {
					rt.Fatalf("product of rows %d and %d is %g", i, j, span.At(i, j))
				}
			}
		}
		be.Gemm(false, true, 1, plain.View(0, 3, 0, d), q, 0, span)
		for r := range 3 { // T = (T Q')Q in the same space
			for j := range d {
				v := plain.At(r, j)
				for k := range 3 {
					v -= span.At(r, k) * q.At(k, j)
				}
				if math.Abs(v) > 1e-10*slices.Max(plain.Data) {
					rt.Fatalf("row %d leaves the space of the orthonormal ones by %g", r, v)
				}
			}
		}
	})
}

// TestLFDAParts has a class of two parts on both sides of another one. The means are equal, so
// Fisher's discriminant finds only noise; local scatter finds the direction in which the parts lie.
func TestLFDAParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	x, labels := &points.Dense{N: 120, D: 2, Data: make([]float64, 240)}, make([]string, 120)
	for i := range x.N {
		x.Row(i)[0], x.Row(i)[1] = rng.NormFloat64(), rng.NormFloat64()
		x.Row(i)[0] += []float64{-10, 0, 10, 0}[i%4]
		labels[i] = []string{"outer", "inner"}[i%2]
	}
	set, err := links.FromLabels(labels)
	if err != nil {
		t.Fatal(err)
	}
	w := lfdaFitted(t, enginetest.New(t, 1), lfdaWith(func(p *LFDA) { p.Dims = 1 }), x, set)
	if math.Abs(w.At(0, 0)) < 10*math.Abs(w.At(0, 1)) {
		t.Errorf("the direction is %v: want the first feature", w.Row(0))
	}
}

// TestLFDASame checks that links in any order, and any number of workers, give bit-identical
// results.
func TestLFDASame(t *testing.T) {
	x, _, set := enginetest.Bands(t, 300, 5, 250, 4)
	list := slices.Concat(set.Must(), set.Cannot())
	slices.Reverse(list)
	for k := range list {
		list[k].I, list[k].J = list[k].J, list[k].I
	}
	for _, metric := range []LFDAScaling{LFDAWeighted, LFDAOrthonormalized, LFDAPlain} {
		params := lfdaWith(func(p *LFDA) { p.Scaling = metric })
		w := lfdaFitted(t, enginetest.New(t, 1), params, x, set)
		if other := lfdaFitted(t, enginetest.New(t, 4), params, x,
			enginetest.Links(t, 300, list)); !slices.Equal(w.Data, other.Data) {
			t.Errorf("%s: links in another order, or another number of workers, change the map", metric)
		}
	}
}

// TestLFDANoDirection checks that no direction has v > 0 if the classes coincide: the weighted map
// is then the first row of the plain one, and the status reports it.
func TestLFDANoDirection(t *testing.T) {
	x := &points.Dense{N: 6, D: 2, Data: []float64{-1, 0, 1, 0, 0, -2, 0, 2, 0, 0, 0, 0}}
	set := enginetest.Links(t, 6,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 3, links.Must),
			links.NewLink(4, 5, links.Cannot)})
	eng := enginetest.New(t, 1)
	m, err := LFDALearner{Params: param.Default[LFDA]()}.Fit(t.Context(), eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := m.(*LFDAModel).Transform()
	plain := lfdaFitted(t, eng, lfdaWith(func(p *LFDA) { p.Scaling = LFDAPlain }), x, set)
	if w.Rows != 1 || !slices.Equal(w.Row(0), plain.Row(0)) ||
		!strings.Contains(m.Status().Message, "no direction") {
		t.Errorf("%d rows, %v of %v, status %+v", w.Rows, w.Data, plain.Data, m.Status())
	}
}

func TestLFDABadInput(t *testing.T) {
	eng := enginetest.New(t, 1)
	x, _, set := enginetest.Bands(t, 40, 4, 20, 6)
	twins := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	copy(twins.Row(1), twins.Row(0))
	list := func(l ...links.Link) *links.Set { return enginetest.Links(t, 40, l) }
	must, cannot := links.NewLink(0, 1, links.Must), links.NewLink(0, 2, links.Cannot)
	nothing := func(*LFDA) {}
	inf := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	inf.Row(3)[2] = math.Inf(1)
	for name, c := range map[string]struct {
		change func(p *LFDA)
		x      points.Points
		set    *links.Set
		says   string
	}{
		"no links":      {nothing, x, list(), "got 0 and 0"},
		"no must":       {nothing, x, list(cannot), "got 0 and 1"},
		"no cannot":     {nothing, x, list(must), "got 1 and 0"},
		"one class":     {nothing, x, list(must, links.NewLink(1, 2, links.Must), cannot), "between classes"},
		"equal classes": {nothing, twins, list(must, cannot), "vary"},
		"dims":          {func(p *LFDA) { p.Dims = -1 }, x, set, "dims"},
		"many dims":     {func(p *LFDA) { p.Dims = 5 }, x, set, "from 0 to 4"},
		"neighbors":     {func(p *LFDA) { p.Neighbors = 0 }, x, set, "neighbors"},
		"metric":        {func(p *LFDA) { p.Scaling = "weight" }, x, set, "orthonormalized"},
		"eps_rel":       {func(p *LFDA) { p.EpsRel = 0 }, x, set, "eps_rel"},
		"rank_tol":      {func(p *LFDA) { p.RankTol = 1 }, x, set, "rank_tol"},
		"one place":     {nothing, &points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, set, "equal"},
		"rows":          {nothing, x.Select([]int{1, 2}), set, "40"},
		"infinity":      {nothing, inf, set, "row 3"},
		"zeros":         {nothing, &points.CSR{N: 40, D: 4, Start: make([]int, 41)}, set, "no variance"},
	} {
		if _, err := (LFDALearner{Params: lfdaWith(c.change)}).Fit(t.Context(), eng, c.x,
			c.set); !fault.IsInput(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one of the input that says %q", name, err, c.says)
		}
	}
	for i := range 40 { // a constant column
		twins.Row(i)[2] = 7
	}
	if w := lfdaFitted(t, eng, param.Default[LFDA](), twins, set); w.Rows > 3 {
		t.Errorf("%d dimensions of 3 features that vary", w.Rows)
	}
	wide, _, few := enginetest.Bands(t, 60, 1000, 30, 7)
	if w := lfdaFitted(t, eng, param.Default[LFDA](), wide, few); w.Rows > 59 {
		t.Errorf("%d dimensions of 60 points", w.Rows)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (LFDALearner{Params: param.Default[LFDA]()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
