package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// wholeSpace returns parameters that learn in all directions.
func wholeSpace() LMNN {
	p := param.Default[LMNN]()
	p.Rank = 0
	return p
}

// labeled returns n points of d features. The classes differ in the first two features, and the
// others are noise.
func labeled(n, d, classes int, noise float64, seed uint64) (*points.Dense, []string) {
	rng := rand.New(rand.NewPCG(seed, 3))
	x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	for i := range n {
		c := rng.IntN(classes)
		labels[i] = fmt.Sprint(c)
		for j := range d {
			v := noise * rng.NormFloat64()
			if j < 2 {
				angle := 2 * math.Pi * float64(c) / float64(classes)
				v = 0.35*rng.NormFloat64() + math.Cos(angle-float64(j)*math.Pi/2)
			}
			x.Data[i*d+j] = v
		}
	}
	return x, labels
}

func fromLabels(t testing.TB, labels []string) *links.Set {
	t.Helper()
	set, err := links.FromLabels(labels)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func fit(t testing.TB, x *points.Dense, set *links.Set, p LMNN) *LMNNModel {
	t.Helper()
	return fittest.Fit[*LMNNModel](t, LMNNLearner{Params: p}, x, set)
}

// bruteForce returns the objective of the metric M = W'W, and its gradient with respect to M, by
// sums over all triples. Targets are the nearest points of the same label in x.
func bruteForce(x *points.Dense, labels []string, p LMNN, m [][]float64) (float64, [][]float64) {
	d := x.D
	outer := func(i, j int) (float64, []float64) {
		diff := make([]float64, d)
		for a := range d {
			diff[a] = x.Data[i*d+a] - x.Data[j*d+a]
		}
		sum := 0.0
		for a := range d {
			for b := range d {
				sum += diff[a] * m[a][b] * diff[b]
			}
		}
		return sum, diff
	}
	f, g := 0.0, make([][]float64, d)
	for a := range g {
		g[a] = make([]float64, d)
	}
	add := func(w float64, diff []float64) {
		for a := range d {
			for b := range d {
				g[a][b] += w * diff[a] * diff[b]
			}
		}
	}
	for i := range x.N {
		var same []int
		for j := range x.N {
			if j != i && labels[j] == labels[i] && labels[i] != "" {
				same = append(same, j)
			}
		}
		euclid := func(j int) float64 {
			sum := 0.0
			for a := range d {
				v := x.Data[i*d+a] - x.Data[j*d+a]
				sum += v * v
			}
			return sum
		}
		slices.SortFunc(same, func(a, b int) int {
			if euclid(a) < euclid(b) {
				return -1
			}
			return 1
		})
		for _, j := range same[:min(len(same), p.Neighbors)] {
			near, to := outer(i, j)
			f += (1 - p.Mu) * near
			add(1-p.Mu, to)
			for l := range x.N {
				if labels[l] == labels[i] || labels[l] == "" {
					continue
				}
				far, from := outer(i, l)
				if gap := 1 + near - far; gap > 0 {
					f += p.Mu * gap
					add(p.Mu, to)
					add(-p.Mu, from)
				}
			}
		}
	}
	return f, g
}

// lmnnSquare returns W'W.
func lmnnSquare(w blas.Matrix) [][]float64 {
	m := make([][]float64, w.Cols)
	for a := range m {
		m[a] = make([]float64, w.Cols)
		for b := range m[a] {
			for r := range w.Rows {
				m[a][b] += w.At(r, a) * w.At(r, b)
			}
		}
	}
	return m
}

// TestLMNNObjectiveIsExactAndFalls checks that the objective of the lists of nearby pairs is that
// of all triples, and that it falls.
func TestLMNNObjectiveIsExactAndFalls(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n, d, classes := rapid.IntRange(12, 60).Draw(t, "n"), rapid.IntRange(2, 6).Draw(t, "d"),
			rapid.IntRange(2, 4).Draw(t, "classes")
		x, labels := labeled(n, d, classes, rapid.Float64Range(0.1, 3).Draw(t, "noise"),
			rapid.Uint64().Draw(t, "seed"))
		for range rapid.IntRange(0, 5).Draw(t, "unlabeled") {
			labels[rapid.IntRange(0, n-1).Draw(t, "row")] = ""
		}
		p := wholeSpace()
		p.Neighbors, p.Mu = rapid.IntRange(1, 4).Draw(t, "neighbors"),
			rapid.Float64Range(0.2, 0.8).Draw(t, "mu")
		p.Dims, p.MaxIter = rapid.IntRange(0, 2).Draw(t, "dims"), rapid.IntRange(1, 40).Draw(t, "iterations")
		set, err := links.FromLabels(labels)
		if err != nil {
			t.Fatal(err)
		}
		if must, cannot := set.Count(); must == 0 || cannot == 0 {
			t.Skip("one class")
		}
		eng, err := engine.New(engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fitted, err := LMNNLearner{Params: p}.Fit(context.Background(), eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		m := fitted.(*LMNNModel)
		trace := m.Trace()
		for k := 1; k < len(trace); k++ {
			if !(trace[k] < trace[k-1]) {
				t.Fatalf("iteration %d goes from %g to %g", k, trace[k-1], trace[k])
			}
		}
		w, _ := m.Transform()
		if want, _ := bruteForce(x, labels, p,
			lmnnSquare(w)); !(math.Abs(m.Objective()-want) <= 1e-9*want+1e-12*trace[0]) {
			t.Fatalf("objective %.15g, all triples give %.15g", m.Objective(), want)
		}
	})
}

// TestLMNNGradient compares the gradient with differences of the objective, at a point without
// kinks, and the objective along a line with both.
func TestLMNNGradient(t *testing.T) {
	x, labels := labeled(40, 4, 3, 1, 5)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	set := fromLabels(t, labels)
	p := wholeSpace()
	pr, err := newLMNNProblem(ctx, eng, p, blas.MatrixOf(x.N, x.D, slices.Clone(x.Data)), nil,
		linear.NewClasses(set))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	y := blas.NewMatrix(x.N, x.D)
	for i := range y.Data {
		y.Data[i] = x.Data[i] + 0.1*rng.NormFloat64()
	}
	near, err := pr.search(ctx, y)
	if err != nil {
		t.Fatal(err)
	}
	g := blas.NewMatrix(x.N, x.D)
	f, err := pr.gradient(ctx, near, y, g)
	if err != nil {
		t.Fatal(err)
	}
	const h = 1e-6
	scratch := blas.NewMatrix(x.N, x.D)
	for at := range y.Data {
		old := y.Data[at]
		var side [2]float64
		for s := range side {
			y.Data[at] = old + h*float64(2*s-1)
			if side[s], err = pr.gradient(ctx, near, y, scratch); err != nil {
				t.Fatal(err)
			}
		}
		y.Data[at] = old
		if got, want := 2*g.Data[at], (side[1]-side[0])/(2*h); math.Abs(got-want) > 1e-6*f {
			t.Errorf("derivative %d is %g, differences give %g", at, got, want)
		}
	}
	d := enginetest.Matrix(rng, x.N, x.D, 0)
	along, err := pr.newLine(ctx, near, y, d)
	if err != nil {
		t.Fatal(err)
	}
	k, place := eng.Backend().Kernels(), blas.NewMatrix(x.N, x.D)
	for _, step := range []float64{0, 0.02, 0.3} {
		place.CopyFrom(y)
		k.Axpy(step, d.Data, place.Data)
		want, err := pr.gradient(ctx, near, place, g)
		if err != nil {
			t.Fatal(err)
		}
		got, slope, err := along.at(ctx, step)
		if err != nil || math.Abs(got-want) > 1e-9*want ||
			math.Abs(slope-2*k.Dot(g.Data, d.Data)) > 1e-9*want {
			t.Errorf("step %g: objective %g with slope %g, want %g with %g; error %v", step, got, slope, want,
				2*k.Dot(g.Data, d.Data), err)
		}
	}
}

// TestLMNNIsOptimal uses that the objective is convex in M = W'W: no step from the fitted M within
// the cone may gain more than the tolerance. The bound is f(M') >= f(M) + <G, M' - M>, minimized
// over M' by projected subgradients from several starts.
func TestLMNNIsOptimal(t *testing.T) {
	racetest.Skip(t, "thousands of steps by plain loops: TestWorkersAndUnits fits as well")
	x, labels := labeled(50, 3, 3, 0.8, 11)
	p := wholeSpace()
	p.Tol, p.MaxIter = 1e-8, 2000
	m := fit(t, x, fromLabels(t, labels), p)
	w, _ := m.Transform()
	best := math.Inf(1)
	eng := enginetest.New(t, 0)
	for start := range 2 {
		current := [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
		if start == 1 {
			current = lmnnSquare(w)
		}
		for step := range 4000 {
			f, g := bruteForce(x, labels, p, current)
			best = min(best, f)
			norm := 0.0
			for a := range g {
				for b := range g {
					norm += g[a][b] * g[a][b]
				}
			}
			size := 2 / math.Sqrt(norm) / math.Sqrt(float64(step+1))
			if start == 1 {
				size /= 20
			}
			for a := range g {
				for b := range g {
					current[a][b] -= size * g[a][b]
				}
			}
			project(t, eng, current)
		}
	}
	if got := m.Objective(); got > best*(1+1e-4) {
		t.Errorf("objective %.10g, projected subgradients find %.10g", got, best)
	}
}

// project replaces m by the nearest positive semidefinite matrix.
func project(t *testing.T, eng *engine.Engine, m [][]float64) {
	d := len(m)
	v, w := blas.NewMatrix(d, d), make([]float64, d)
	for a := range m {
		copy(v.Row(a), m[a])
	}
	if err := eng.SymEig(context.Background(), v, w, true); err != nil {
		t.Fatal(err)
	}
	for a := range m {
		for b := range m {
			m[a][b] = 0
			for r := range d {
				m[a][b] += max(0, w[r]) * v.At(r, a) * v.At(r, b)
			}
		}
	}
}

// TestLMNNNeighborsGetBetter checks on held-out points that noise gets small weights.
func TestLMNNNeighborsGetBetter(t *testing.T) {
	x, labels := labeled(600, 12, 3, 2, 7)
	train, rest := make([]int, 300), make([]int, 300)
	for i := range train {
		train[i], rest[i] = i, 300+i
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	m := fit(t, x.Select(train).(*points.Dense), fromLabels(t, labels[:300]), param.Default[LMNN]())
	accuracy := func(known, asked blas.Matrix) float64 {
		found, err := neighbors.Classify(ctx, eng, known, labels[:300], asked, 3)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for i, l := range found {
			if l == labels[300+i] {
				right++
			}
		}
		return float64(right) / 300
	}
	raw := func(rows []int) blas.Matrix {
		p := x.Select(rows).(*points.Dense)
		return blas.MatrixOf(p.N, p.D, p.Data)
	}
	embed := func(rows []int) blas.Matrix {
		y, err := m.Embed(ctx, eng, x.Select(rows))
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	before, after := accuracy(raw(train), raw(rest)), accuracy(embed(train), embed(rest))
	if after < before+0.2 {
		t.Errorf("accuracy %g before, %g after: want 0.2 more", before, after)
	}
}

// TestLMNNNoImpostors checks that the result is bit-identical for any number of workers and does
// not depend on units. If no point of another class is ever close, only the distances to targets
// are minimized, toward 0, and no margin limits them.
func TestLMNNNoImpostors(t *testing.T) {
	x, labels := labeled(60, 3, 2, 0.1, 5)
	for i, label := range labels {
		if label == "1" {
			x.Row(i)[0] += 1e3
		}
	}
	m := fit(t, x, fromLabels(t, labels), wholeSpace())
	trace := m.Trace()
	if last := trace[len(trace)-1]; last-last != 0 || last < 0 || last >= trace[0] {
		t.Errorf("objectives %v", trace)
	}
	y, err := m.Embed(context.Background(), enginetest.New(t, 0), x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range y.Rows {
		for j := range i {
			if d := points.SquaredDistance(y.Row(i), y.Row(j)); labels[i] != labels[j] && d < 1 {
				t.Fatalf("points %d and %d of different classes are %g apart: less than the margin", i, j, d)
			}
		}
	}
}

func TestLMNNWorkersAndUnits(t *testing.T) {
	x, labels := labeled(200, 9, 4, 1, 2)
	set, p := fromLabels(t, labels), param.Default[LMNN]()
	p.Tol = 1e-6
	var files [][]byte
	var objectives []float64
	for workers := 1; workers <= 3; workers++ {
		m, err := LMNNLearner{Params: p}.Fit(context.Background(), enginetest.New(t, workers), x, set)
		if err != nil {
			t.Fatal(err)
		}
		w, _ := m.(*LMNNModel).Transform()
		files = append(files, []byte(fmt.Sprintf("%x", w.Data)))
		objectives = append(objectives, m.(*LMNNModel).Objective())
	}
	if !bytes.Equal(files[0], files[1]) || !bytes.Equal(files[0], files[2]) {
		t.Error("the map depends on the number of workers")
	}
	large := &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
	for i := range large.Data {
		large.Data[i] = 1000*large.Data[i] + 5
	}
	if got := fit(t, large, set, p).Objective(); math.Abs(got-objectives[0]) > 1e-3*objectives[0] {
		t.Errorf("objective %g in other units, %g", got, objectives[0])
	}
}

func TestLMNNModelFile(t *testing.T) {
	x, labels := labeled(40, 4, 2, 1, 9)
	m := fit(t, x, fromLabels(t, labels), param.Default[LMNN]())
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.DecodeTraced[LMNN](LMNNMethod, f, fitted.ReadLinear)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := m.Transform()
	b, _ := back.Transform()
	if !slices.Equal(a.Data, b.Data) || !slices.Equal(m.Trace(), back.Trace()) ||
		back.Status().Iterations != m.Status().Iterations {
		t.Error("the model that was read differs from the one that was written")
	}
	decode := func(f *model.File) (*LMNNModel, error) {
		return fitted.DecodeTraced[LMNN](LMNNMethod, f, fitted.ReadLinear)
	}
	fittest.Spoiled(t, m, decode, map[string]func(f *model.File){
		"method":    func(f *model.File) { f.Header.Method = "rca" },
		"params":    func(f *model.File) { f.Header.Params = []byte(`{"neighbors":0}`) },
		"no trace":  func(f *model.File) { f.SetFloat64s("lmnn.trace", nil) },
		"NaN":       func(f *model.File) { f.SetFloat64s("lmnn.mean", []float64{math.NaN(), 0, 0, 0}) },
		"transform": func(f *model.File) { f.SetFloat64s("lmnn.transform", []float64{1, 2, 3}, 1, 3) },
	})
}

func TestLMNNBadInput(t *testing.T) {
	x, labels := labeled(30, 3, 2, 1, 1)
	good := fromLabels(t, labels)
	only := func(sign links.Sign) *links.Set {
		set, err := links.New(30, []links.Link{links.NewLink(0, 1, sign)})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	flat := &points.Dense{N: 30, D: 3, Data: make([]float64, 90)}
	nan := &points.Dense{N: 30, D: 3, Data: slices.Clone(x.Data)}
	nan.Data[7] = math.NaN()
	huge := &points.Dense{N: 30, D: 3, Data: slices.Clone(x.Data)}
	for i := range huge.Data {
		huge.Data[i] *= 1e300
	}
	with := func(change func(p *LMNN)) LMNN {
		p := wholeSpace()
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		x   points.Points
		set *links.Set
		p   LMNN
	}{
		"no must-links":   {x, only(links.Cannot), wholeSpace()},
		"no cannot-links": {x, only(links.Must), wholeSpace()},
		"other rows":      {x, fromLabels(t, labels[:29]), wholeSpace()},
		"all equal":       {flat, good, wholeSpace()},
		"NaN":             {nan, good, wholeSpace()},
		"overflow":        {huge, good, wholeSpace()},
		"sparse":          {&points.CSR{N: 30, D: 3, Start: make([]int, 31)}, good, wholeSpace()},
		"dims":            {x, good, with(func(p *LMNN) { p.Dims = 4 })},
		"rank":            {x, good, with(func(p *LMNN) { p.Rank = -2 })},
		"neighbors":       {x, good, with(func(p *LMNN) { p.Neighbors = 0 })},
		"mu":              {x, good, with(func(p *LMNN) { p.Mu = 1 })},
		"tol":             {x, good, with(func(p *LMNN) { p.Tol = math.NaN() })},
		"max_iter":        {x, good, with(func(p *LMNN) { p.MaxIter = 0 })},
		"rank_tol":        {x, good, with(func(p *LMNN) { p.RankTol = 1 })},
	} {
		if _, err := (LMNNLearner{Params: c.p}).Fit(context.Background(), enginetest.New(t, 0), c.x,
			c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	// Points of both classes that coincide cannot be separated; the fit still succeeds.
	same := &points.Dense{N: 30, D: 3, Data: slices.Clone(x.Data)}
	copy(same.Data[3:6], same.Data[:3])
	m := fit(t, same, good, wholeSpace())
	if o := m.Objective(); o-o != 0 {
		t.Errorf("objective %v with points that coincide", o)
	}
	// There are more features than points; the default uses few directions.
	wide, names := labeled(20, 300, 2, 1, 4)
	if d := fit(t, wide, fromLabels(t, names), wholeSpace()).Dim(); d != 19 {
		t.Errorf("20 points of 300 features: %d dimensions, want 19", d)
	}
	if d := fit(t, wide, fromLabels(t, names), param.Default[LMNN]()).Dim(); d != 3 {
		t.Errorf("20 points of 300 features: %d dimensions by default, want 3", d)
	}
}

func TestLMNNCancel(t *testing.T) {
	x, labels := labeled(200, 8, 3, 1, 1)
	ctx, cancel := context.WithCancel(context.Background())
	seen := 0
	p := wholeSpace()
	p.Tol = 1e-12
	_, err := LMNNLearner{Params: p, Progress: func(algorithms.Progress) {
		if seen++; seen == 3 {
			cancel()
		}
	}}.Fit(ctx, enginetest.New(t, 0), x, fromLabels(t, labels))
	if !errors.Is(err, context.Canceled) || seen > 4 {
		t.Errorf("error %v after %d reports, want a canceled fit after 3", err, seen)
	}
	p.MaxIter = 2
	m := fit(t, x, fromLabels(t, labels), p)
	if s := m.Status(); s.Converged || s.Iterations != 2 || s.Message == "" {
		t.Errorf("status %+v after two iterations, want one that says so", s)
	}
}

// TestLMNNEnds: a descent that finds no lower objective tries once more along the gradient, and has
// then converged, long before the last iteration.
func TestLMNNEnds(t *testing.T) {
	x, labels := labeled(40, 3, 2, 1, 9)
	p := param.Default[LMNN]()
	p.Tol, p.MaxIter = 1e-300, 100000
	m := fit(t, x, fromLabels(t, labels), p)
	if s := m.Status(); !s.Converged || s.Iterations == p.MaxIter {
		t.Errorf("converged %v after %d iterations", s.Converged, s.Iterations)
	}
}
