package forest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

func forester(p Params, c algorithms.Common) algorithms.Learner { c.Seed = 1; return learner.New(p, c) }

var fit = fittest.Changed[*Model](forester, param.Default[Params]())

func embed(t *testing.T, m *Model, x *points.Dense) blas.Matrix {
	t.Helper()
	y, err := m.Embed(t.Context(), enginetest.New(t, 2), x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// share returns the share of the trees in which two points have a common leaf.
func share(m *Model, x, y []float64) float64 {
	common := 0
	for _, root := range m.grown.roots {
		if m.grown.leaf(root, x) == m.grown.leaf(root, y) {
			common++
		}
	}
	return float64(common) / float64(len(m.grown.roots))
}

// TestShareOfCommonLeaves: at full rank, squared distances of training points are 2 - 2 s for the
// share s of common leaves; and the inner products of new points with training points are the
// centered shares.
func TestShareOfCommonLeaves(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 30, 3)
	fresh, _, _ := enginetest.Blobs(t, 15, 3, 5, 9)
	m := fit(t, func(p *Params) { p.Trees, p.Rank, p.Dims = 25, 1000, 0 }, x, set)
	y, z := embed(t, m, x), embed(t, m, fresh)
	n := x.N
	s, mean, all := blas.NewMatrix(n, n), make([]float64, n), 0.0
	for i := range n {
		for j := range n {
			s.Set(i, j, share(m, x.Row(i), x.Row(j)))
			mean[j] += s.At(i, j) / float64(n)
			all += s.At(i, j) / float64(n*n)
		}
	}
	for i := range n {
		for j := range n {
			if got, want := points.SquaredDistance(y.Row(i), y.Row(j)),
				2-2*s.At(i, j); math.Abs(got-want) > 1e-8 {
				t.Fatalf("squared distance of points %d and %d is %g: want %g", i, j, got, want)
			}
		}
	}
	for i := range fresh.N {
		own := 0.0
		for j := range n {
			own += share(m, fresh.Row(i), x.Row(j)) / float64(n)
		}
		for j := range n {
			got := 0.0
			for c, v := range z.Row(i) {
				got += v * y.At(j, c)
			}
			if want := share(m, fresh.Row(i), x.Row(j)) - own - mean[j] + all; math.Abs(got-want) > 1e-8 {
				t.Fatalf("inner product of new point %d and point %d is %g: want %g", i, j, got, want)
			}
		}
	}
}

// TestLowRank: with a lower rank, the coordinates are the first ones of full rank, up to signs.
func TestLowRank(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 60, 3, 40, 3)
	full := embed(t, fit(t, func(p *Params) { p.Rank, p.Dims = 1000, 0 }, x, set), x)
	few := embed(t, fit(t, func(p *Params) { p.Rank, p.Dims = 4, 0 }, x, set), x)
	for c := range few.Cols {
		sign := math.Copysign(1, few.At(0, c)*full.At(0, c))
		for i := range x.N {
			if math.Abs(few.At(i, c)-sign*full.At(i, c)) > 1e-6 {
				t.Fatalf("coordinate (%d, %d) is %g at rank 4, %g at full rank", i, c, few.At(i, c),
					sign*full.At(i, c))
			}
		}
	}
}

// TestOnlyTheOrderOfValuesCounts: strictly increasing functions of the features change no bit, for
// training points and for new ones.
func TestOnlyTheOrderOfValuesCounts(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 60, 3, 40, 3)
	fresh, _, _ := enginetest.Blobs(t, 30, 3, 5, 9)
	changed := func(x *points.Dense) *points.Dense {
		y := &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
		for i := range y.N {
			r := y.Row(i)
			r[0], r[1], r[2] = math.Exp(r[0]/4), 1e12*r[1]-5, math.Cbrt(r[2])
		}
		return y
	}
	m, other := fit(t, func(*Params) {}, x, set), fit(t, func(*Params) {}, changed(x), set)
	for _, part := range []*points.Dense{x, fresh} {
		if !slices.Equal(embed(t, m, part).Data, embed(t, other, changed(part)).Data) {
			t.Error("coordinates change with the scale of features")
		}
	}
}

// TestTrees: no tree has a cannot-link between different points in a leaf, leaves have the least
// number of points, and the recorded leaves of points are those that a walk finds.
func TestTrees(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 80, 3, 40, 3)
	for _, least := range []int{1, 4} {
		f := learner.Begin(learner.Rules{About: About}, algorithms.Common{Seed: 1}, enginetest.New(t, 2), x,
			set)
		f.Dense = x
		grown, l, err := Params{Trees: 20, MinLeaf: least, Rank: 5}.grow(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		count := make([]int, l.count())
		for tree, of := range l.of {
			for i, k := range of {
				count[k]++
				if got := grown.leaf(grown.roots[tree], x.Row(i)); got != int(k) {
					t.Fatalf("tree %d: point %d falls into leaf %d: want %d", tree, i, got, k)
				}
			}
			for _, c := range set.Cannot() {
				if least == 1 && of[c.I] == of[c.J] {
					t.Errorf("tree %d does not separate points %d and %d", tree, c.I, c.J)
				}
			}
		}
		if slices.Min(count) < least {
			t.Errorf("a leaf has %d points: want at least %d", slices.Min(count), least)
		}
	}
}

// TestDirections: the learned directions are orthonormal in the principal coordinates, and no other
// directions tried have a larger ratio.
func TestDirections(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 80, 3, 60, 3)
	const q, d = 12, 3
	y := embed(t, fit(t, func(p *Params) { p.Rank, p.Dims = q, d }, x, set), x)
	z := embed(t, fit(t, func(p *Params) { p.Rank, p.Dims = q, 0 }, x, set), x)
	ratio := func(y blas.Matrix, total float64) float64 {
		a, b := blas.NewMatrix(y.Cols, y.Cols), blas.NewMatrix(y.Cols, y.Cols)
		if err := errors.Join(linear.LinkScatter(t.Context(), enginetest.New(t, 1), y, set.Cannot(), a),
			linear.LinkScatter(t.Context(), enginetest.New(t, 1), y, set.Must(), b)); err != nil {
			t.Fatal(err)
		}
		must, _ := set.Count()
		return a.Trace() / (b.Trace() + 0.1*float64(must)*(variance(y)+d*total/q))
	}
	total := variance(z)
	best, rng := ratio(y, total), rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		w := enginetest.Matrix(rng, d, q, 0)
		for r := range d { // orthonormal rows
			for s := range r {
				axpy(-dot(w.Row(r), w.Row(s)), w.Row(s), w.Row(r))
			}
			norm := math.Sqrt(dot(w.Row(r), w.Row(r)))
			for c := range q {
				w.Row(r)[c] /= norm
			}
		}
		other := blas.NewMatrix(x.N, d)
		for i := range x.N {
			for r := range d {
				other.Set(i, r, dot(w.Row(r), z.Row(i)))
			}
		}
		if got := ratio(other, total); got > best*(1+1e-9) {
			t.Fatalf("trial %d: ratio %g above the learned %g", trial, got, best)
		}
	}
}

func dot(x, y []float64) (sum float64) {
	for k, v := range x {
		sum += v * y[k]
	}
	return sum
}

func axpy(a float64, x, y []float64) {
	for k, v := range x {
		y[k] += a * v
	}
}

// variance returns the sum of the variances of the columns of centered coordinates.
func variance(y blas.Matrix) float64 { return dot(y.Data, y.Data) / float64(y.Rows) }

// stripes draws points of three classes that differ in intervals of two features, among noise of
// other scales.
func stripes(n, noise int, seed uint64) (*points.Dense, []string) {
	rng := rand.New(rand.NewPCG(seed, 7))
	x, labels := &points.Dense{N: n, D: 2 + noise, Data: make([]float64, n*(2+noise))}, make([]string, n)
	for i := range n {
		r := x.Row(i)
		for j := range r {
			r[j] = rng.NormFloat64() * math.Pow(3, float64(j%4))
		}
		switch {
		case r[0] < 0:
			labels[i] = "a"
		case r[1] < 0:
			labels[i] = "b"
		default:
			labels[i] = "c"
		}
	}
	return x, labels
}

// TestNoise: among noise, pairs of new points are ranked far better than by the points themselves.
func TestNoise(t *testing.T) {
	x, labels := stripes(300, 20, 1)
	fresh, truth := stripes(300, 20, 2)
	y := embed(t, fit(t, func(*Params) {}, x, enginetest.Drawn(t, labels, 180, 180, 3)), fresh)
	learned, err := score.PairAUC(y.Data, y.Rows, y.Cols, truth)
	raw, errRaw := score.PairAUC(slices.Clone(fresh.Data), fresh.N, fresh.D, truth)
	if err != nil || errRaw != nil {
		t.Fatal(err, errRaw)
	}
	t.Logf("AUC of new points: %.3f learned, %.3f raw", learned, raw)
	if learned < raw+0.15 {
		t.Errorf("AUC %.3f: want far more than %.3f", learned, raw)
	}
}

// TestInput: what can be learned from is, and the rest are typed errors.
func TestInput(t *testing.T) {
	x, labels, set := enginetest.Blobs(t, 40, 3, 30, 3)
	one := &points.Dense{N: x.N, D: 1, Data: make([]float64, x.N)}
	constant := &points.Dense{N: x.N, D: 4, Data: make([]float64, 4*x.N)}
	pairs := &points.Dense{N: x.N, D: 1, Data: make([]float64, x.N)}
	for i := range x.N {
		one.Data[i], constant.Data[4*i+2], constant.Data[4*i] = x.Row(i)[0], x.Row(i)[0], 7
		pairs.Data[i] = float64(i / 20)
	}
	same := enginetest.Links(t, x.N,
		[]links.Link{links.NewLink(0, 1, links.Cannot), links.NewLink(2, 3, links.Cannot)})
	for name, c := range map[string]struct {
		x   *points.Dense
		set *links.Set
		bad bool
	}{
		"one feature":           {one, set, false},
		"constant features":     {constant, set, false},
		"cannot-links only":     {x, enginetest.Drawn(t, labels, 0, 20, 1), false},
		"one cannot-link":       {x, enginetest.Drawn(t, labels, 0, 1, 1), false},
		"must-links only":       {x, enginetest.Drawn(t, labels, 20, 0, 1), true},
		"no links":              {x, enginetest.Links(t, x.N, nil), true},
		"links of equal points": {pairs, same, true},
	} {
		fitted, err := forester(param.Default[Params](), algorithms.Common{}).Fit(t.Context(),
			enginetest.New(t, 1), c.x, c.set)
		if c.bad {
			if !fault.IsInput(err) {
				t.Errorf("%s: error %v, want one of the input", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if y := embed(t, fitted.(*Model), c.x); variance(y) <= 0 {
			t.Errorf("%s: all points have the same place", name)
		}
	}
}

// TestMemory: more trees than memory are refused before they grow.
func TestMemory(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 30, 3)
	p := param.Default[Params]()
	p.Trees = 1 << 40
	_, err := forester(p, algorithms.Common{}).Fit(t.Context(), enginetest.New(t, 1), x, set)
	if _, is := errors.AsType[*fault.MemoryError](err); !is {
		t.Errorf("error %v, want a MemoryError", err)
	}
	p = param.Default[Params]()
	_, err = forester(p, algorithms.Common{}).Fit(t.Context(),
		enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: 20 << 10}), x, set)
	if _, is := errors.AsType[*fault.MemoryError](err); !is {
		t.Errorf("error %v, want a MemoryError", err)
	}
}

// TestFile: a model survives its file bit for bit, and damaged trees are refused.
func TestFile(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 30, 3)
	m := fit(t, func(*Params) {}, x, set)
	back := enginetest.Reread(t, m, Decode)
	if !slices.Equal(m.grown.nodes, back.grown.nodes) || !slices.Equal(m.grown.roots, back.grown.roots) ||
		m.grown.leaves != back.grown.leaves {
		t.Error("the trees that were read differ")
	}
	fresh, _, _ := enginetest.Blobs(t, 15, 3, 5, 9)
	if !slices.Equal(embed(t, m, fresh).Data, embed(t, back, fresh).Data) {
		t.Error("the model that was read differs")
	}
	for name, spoil := range map[string]func(features []int64){
		"no end":    func(f []int64) { f[len(f)-1] = 1 },
		"a leaf":    func(f []int64) { f[0] = 0 },
		"a feature": func(f []int64) { f[0] = 4 },
	} {
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		features := slices.Clone(f.Tensors[tensorFeatures].I64)
		spoil(features)
		f.SetInt64s(tensorFeatures, features)
		if _, err := Decode(f); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
}

// FuzzTrees checks that any nodes are refused, or make trees in which every point finds a leaf.
func FuzzTrees(f *testing.F) {
	f.Add([]byte{1, 0, 0})
	f.Add([]byte{1, 2, 0, 0, 0, 0, 1, 0, 0})
	f.Add([]byte{1, 0})
	f.Fuzz(func(t *testing.T, nodes []byte) {
		features, thresholds := make([]int64, len(nodes)), make([]float64, len(nodes))
		for k, b := range nodes {
			features[k], thresholds[k] = int64(b), float64(b%7)
		}
		grown, err := rebuilt(features, thresholds, 3)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v, want one of the input", err)
			}
			return
		}
		for _, x := range [][]float64{{0, 0, 0}, {1, 2, 3}, {9, 9, 9}} {
			for k, root := range grown.roots {
				leaf := grown.leaf(root, x)
				if leaf < 0 || leaf >= grown.leaves {
					t.Fatalf("tree %d: leaf %d of %d", k, leaf, grown.leaves)
				}
			}
		}
	})
}

// TestCanceled: a canceled fit ends with the error of the context.
func TestCanceled(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 30, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := forester(param.Default[Params](), algorithms.Common{}).Fit(ctx, enginetest.New(t, 1), x,
		set); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
