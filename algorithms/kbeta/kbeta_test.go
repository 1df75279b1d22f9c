package kbeta_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/panics"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

// blobs returns points of four blobs, two of each class, as in the XOR problem, and must-links and
// cannot-links by class.
func blobs(t testing.TB, n, pairs int) (*points.Dense, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}
	class := make([]int, n)
	for i := range n {
		a, b := rng.IntN(2), rng.IntN(2)
		x.Data[2*i], x.Data[2*i+1] = float64(2*a-1)+0.227*rng.NormFloat64(),
			float64(2*b-1)+0.227*rng.NormFloat64()
		class[i] = a ^ b
	}
	var list []links.Link
	seen := map[[2]int]bool{}
	for len(list) < pairs {
		i, j := rng.IntN(n), rng.IntN(n)
		if i > j {
			i, j = j, i
		}
		if i == j || seen[[2]int{i, j}] {
			continue
		}
		seen[[2]int{i, j}] = true
		sign := links.Must
		if class[i] != class[j] {
			sign = links.Cannot
		}
		list = append(list, links.Link{I: i, J: j, Sign: sign})
	}
	set, err := links.New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	return x, set
}

func fit(t testing.TB, eng *engine.Engine, x points.Points, set *links.Set, spec string,
	change func(p *kbeta.Params)) *kbeta.Model {
	t.Helper()
	l := kbeta.Learner{Params: kbeta.DefaultParams(), Seed: 7}
	if spec != "" {
		l.Kernel = enginetest.Spec(t, spec)
	}
	if change != nil {
		change(&l.Params)
	}
	return fittest.On[*kbeta.Model](t, eng, l, x, set)
}

func full(p *kbeta.Params) { p.Rank = 0 }

// TestInvariants checks the basic form on its training points: K_beta agrees with its definition;
// it is positive semidefinite, is centered and commutes with K; its weights add up to c; beta D is
// constant; and the mean squared distance of must-links is c^2 / sum 1/D, below that of other
// weights with the same sum.
func TestInvariants(t *testing.T) {
	const n = 60
	eng := enginetest.New(t, 2)
	ctx := context.Background()
	x, set := blobs(t, n, 30)
	for name, change := range map[string]func(p *kbeta.Params){
		"all directions": full,
		"capped":         func(p *kbeta.Params) { p.Rank = 9 },
		"no regulation":  func(p *kbeta.Params) { p.Rank = 12; p.RegD = 0 },
	} {
		m := fit(t, eng, x, set, "rbf:sigma=1", change)
		g, err := m.Gram(ctx, eng, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		mu, beta, d := m.Spectrum()
		size := 0.0
		for i := range n {
			size = max(size, g.At(i, i))
		}
		for i := range n {
			if sum := total(g.Row(i)); !(math.Abs(sum) <= 1e-10*size*n) {
				t.Errorf("%s: row %d adds up to %g: want 0", name, i, sum)
			}
		}
		w := make([]float64, n)
		if err := eng.SymEig(ctx, g.Clone(), w, true); err != nil {
			t.Fatal(err)
		}
		if w[0] < -1e-12*w[n-1] {
			t.Errorf("%s: smallest eigenvalue %g", name, w[0])
		}
		squares := make([]float64, len(beta))
		for r, b := range beta {
			squares[r] = b * b
		}
		slices.Sort(squares)
		for r, s := range squares {
			if got := w[n-len(squares)+r]; !(math.Abs(got-s) <= 1e-9*w[n-1]) {
				t.Errorf("%s: eigenvalue %d is %g: want beta^2 = %g", name, r, got, s)
			}
		}
		c, inverse := 0.0, 0.0
		for r, v := range mu {
			c += math.Sqrt(v)
			inverse += 1 / d[r]
		}
		if got := total(beta); !(math.Abs(got-c) <= 1e-12*c) {
			t.Errorf("%s: beta adds up to %v: want %v", name, got, c)
		}
		if want := c * c / inverse; !(math.Abs(m.Objective()-want) <= 1e-4*want) {
			t.Errorf("%s: mean squared distance %v: want %v", name, m.Objective(), want)
		}
		var pairs [][2]int
		for _, l := range set.Must() {
			pairs = append(pairs, [2]int{l.I, l.J})
		}
		d2, err := m.Distances(ctx, eng, x, pairs)
		if err != nil {
			t.Fatal(err)
		}
		if got := total(d2) / float64(len(d2)); !(math.Abs(got-m.Objective()) <= 1e-9*got) {
			t.Errorf("%s: mean squared distance of must-links is %v: want %v", name, got, m.Objective())
		}
		// Other weights with the same sum have a larger mean.
		rng := rand.New(rand.NewPCG(3, 3))
		for range 20 {
			other, objective := make([]float64, len(beta)), 0.0
			for r := range other {
				other[r] = beta[r] * (1 + 0.3*rng.Float64())
			}
			scale := c / total(other)
			for r := range other {
				objective += math.Pow(scale*other[r], 2) * d[r]
			}
			if objective < m.Objective()*(1-1e-5) {
				t.Errorf("%s: other weights reach %v, below %v", name, objective, m.Objective())
			}
		}
		// K_beta commutes with the centered kernel matrix.
		k, err := m.Kernel().Gram(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kernel.Center(ctx, eng, k); err != nil {
			t.Fatal(err)
		}
		a, b := blas.NewMatrix(n, n), blas.NewMatrix(n, n)
		eng.Backend().Gemm(false, false, 1, k, g, 0, a)
		eng.Backend().Gemm(false, false, 1, g, k, 0, b)
		for i := range a.Data {
			if !(math.Abs(a.Data[i]-b.Data[i]) <= 1e-9*size*mu[0]) {
				t.Fatalf("%s: the kernels do not commute: %g", name, a.Data[i]-b.Data[i])
			}
		}
	}
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

// TestScale checks that a multiple of the kernel gives the same multiple of the learned kernel.
func TestScale(t *testing.T) {
	eng := enginetest.New(t, 1)
	x, set := blobs(t, 50, 25)
	one, err := fit(t, eng, x, set, "poly:degree=2,coef=1,scale=1", nil).Gram(context.Background(), eng, x,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	scaled := *x
	scaled.Data = slices.Clone(x.Data)
	for i := range scaled.Data {
		scaled.Data[i] *= 3
	}
	// (3x)'(3y) + 9 = 9 (x'y + 1)
	nine, err := fit(t, eng, &scaled, set, "poly:degree=2,coef=9,scale=1", nil).Gram(context.Background(),
		eng, &scaled, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range one.Data {
		if !(math.Abs(nine.Data[i]-81*v) <= 1e-8*81*one.Data[0]) {
			t.Fatalf("element %d is %v: want 81 times %v", i, nine.Data[i], v)
		}
	}
}

// brute computes coordinates by the formulas, one point at a time, with its own dense linear
// algebra.
func brute(t *testing.T, eng *engine.Engine, m *kbeta.Model, support, x *points.Dense, v blas.Matrix,
	beta []float64, p kbeta.Params) blas.Matrix {
	t.Helper()
	ctx := context.Background()
	place := blas.NewMatrix(support.N, len(beta))
	for i := range support.N {
		for r, b := range beta {
			place.Set(i, r, b*v.At(r, i))
		}
	}
	out := blas.NewMatrix(x.N, len(beta))
	k := p.Neighbors
	for i := range x.N {
		both := &points.Dense{N: support.N + 1, D: x.D, Data: append(slices.Clone(support.Data), x.Row(i)...)}
		values, err := m.Kernel().Gram(ctx, eng, both)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float64, len(beta))
		for iteration := range p.Iterations {
			squared := make([]float64, support.N)
			inner := func(a, b int) float64 {
				if iteration == 0 {
					e := support.N
					return values.At(e, e) - values.At(e, a) - values.At(e, b) + values.At(a, b)
				}
				s := 0.0
				for r := range y {
					s += (y[r] - place.At(a, r)) * (y[r] - place.At(b, r))
				}
				return s
			}
			order := make([]int, support.N)
			for a := range order {
				order[a], squared[a] = a, inner(a, a)
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
			g, w, trace := blas.NewMatrix(k, k), blas.NewMatrix(k, 1), 0.0
			for a := range k {
				trace += squared[order[a]]
			}
			for a := range k {
				w.Set(a, 0, 1)
				for b := range k {
					g.Set(a, b, inner(order[a], order[b]))
				}
				g.Set(a, a, g.At(a, a)+p.RegG*trace)
			}
			if err := eng.Cholesky(ctx, g); err != nil {
				t.Fatal(err)
			}
			eng.Backend().Trsm(true, false, g, w)
			eng.Backend().Trsm(true, true, g, w)
			sum := total(w.Data)
			clear(y)
			for a := range k {
				for r := range y {
					y[r] += w.Data[a] / sum * place.At(order[a], r)
				}
			}
		}
		copy(out.Row(i), y)
	}
	return out
}

// TestCoordinates checks that new points get the coordinates of the formulas, for one and several
// iterations, and that landmarks keep their own.
func TestCoordinates(t *testing.T) {
	eng := enginetest.New(t, 2)
	ctx := context.Background()
	x, set := blobs(t, 120, 20)
	fresh, _ := blobs(t, 40, 1)
	for _, iterations := range []int{1, 3} {
		var p kbeta.Params
		m := fit(t, eng, x, set, "rbf:sigma=0.8", func(q *kbeta.Params) {
			q.Landmarks, q.Iterations, q.Rank, q.Neighbors = 50, iterations, 8, 4
			p = *q
		})
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		data, err := f.Float64s("points.dense", 50, 2)
		if err != nil {
			t.Fatal(err)
		}
		vectors, err := f.Float64s("kbeta.vectors", 8, 50)
		if err != nil {
			t.Fatal(err)
		}
		support := &points.Dense{N: 50, D: 2, Data: data}
		v := blas.MatrixOf(8, 50, vectors)
		_, beta, _ := m.Spectrum()
		want := brute(t, eng, m, support, fresh, v, beta, p)
		got, err := m.Gram(ctx, eng, fresh, support)
		if err != nil {
			t.Fatal(err)
		}
		for i := range fresh.N {
			for j := range support.N {
				sum := 0.0
				for r, b := range beta {
					sum += want.At(i, r) * b * v.At(r, j)
				}
				if !(math.Abs(got.At(i, j)-sum) <= 1e-7*math.Abs(beta[0]*beta[0])) {
					t.Fatalf("%d iterations: learned kernel (%d, %d) is %v: want %v", iterations, i, j,
						got.At(i, j), sum)
				}
			}
		}
		own, err := m.Gram(ctx, eng, support, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range support.N {
			sum := 0.0
			for r, b := range beta {
				sum += math.Pow(b*v.At(r, i), 2)
			}
			if !(math.Abs(own.At(i, i)-sum) <= 1e-13*sum) {
				t.Errorf("landmark %d has moved: %v, want %v", i, own.At(i, i), sum)
			}
		}
	}
}

// TestAllLandmarks checks that all points as landmarks, in any order, are equivalent to the basic
// form.
func TestAllLandmarks(t *testing.T) {
	eng := enginetest.New(t, 2)
	ctx := context.Background()
	x, set := blobs(t, 80, 30)
	want, err := fit(t, eng, x, set, "", nil).Gram(ctx, eng, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	backwards := make([]int, x.N)
	for i := range backwards {
		backwards[i] = x.N - 1 - i
	}
	for name, change := range map[string]func(p *kbeta.Params){
		"number": func(p *kbeta.Params) { p.Landmarks = x.N },
		"rows":   func(p *kbeta.Params) { p.LandmarkRows = backwards },
		"thrice": func(p *kbeta.Params) { p.Iterations = 3 },
	} {
		got, err := fit(t, eng, x, set, "", change).Gram(ctx, eng, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Data {
			if !(math.Abs(got.Data[i]-v) <= 1e-9*want.Data[0]) {
				t.Fatalf("%s: element %d is %v: want %v", name, i, got.Data[i], v)
			}
		}
	}
}

// TestNystrom checks that Nystrom's extension is exact on landmarks, and continuous there.
func TestNystrom(t *testing.T) {
	eng := enginetest.New(t, 1)
	ctx := context.Background()
	x, set := blobs(t, 100, 20)
	for _, spec := range []string{"rbf:sigma=1", "linear", "poly:degree=2,coef=1,scale=1"} {
		a, err := fit(t, eng, x, set, spec, func(p *kbeta.Params) {
			p.Rank = 5
			p.RankTol = 1e-9
			p.Neighbors = 2
		}).Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		m := fit(t, eng, x, set, spec, func(p *kbeta.Params) {
			p.Rank = 5
			p.RankTol = 1e-9
			p.Extension = kbeta.Nystrom
		})
		b, err := m.Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		near := *x
		near.Data = slices.Clone(x.Data)
		for i := range near.Data {
			near.Data[i] += 1e-7
		}
		c, err := m.Embed(ctx, eng, &near)
		if err != nil {
			t.Fatal(err)
		}
		size := 0.0
		for _, v := range a.Data {
			size = max(size, math.Abs(v))
		}
		for i, v := range a.Data {
			if !(math.Abs(b.Data[i]-v) <= 1e-8*size) || !(math.Abs(c.Data[i]-v) <= 1e-3*size) {
				t.Fatalf("%s: element %d is %v, and %v at a nearby point: want %v", spec, i, b.Data[i],
					c.Data[i], v)
			}
		}
	}
}

// TestCannot checks that cannot-links at full weight keep dissimilar pairs apart, relative to
// similar ones.
func TestCannot(t *testing.T) {
	eng := enginetest.New(t, 1)
	ctx := context.Background()
	x, set := blobs(t, 200, 80)
	ratio := func(t_ float64) float64 {
		m := fit(t, eng, x, set, "rbf:sigma=1", func(p *kbeta.Params) { p.Cannot = t_; p.Rank = 30 })
		if ignored := slices.ContainsFunc(m.Status().Notices, func(s string) bool {
			return strings.Contains(s, "ignored")
		}); ignored != (t_ == 0) {
			t.Errorf("cannot = %v: notices %q", t_, m.Status().Notices)
		}
		means := [2]float64{}
		for side, list := range [][]links.Link{set.Must(), set.Cannot()} {
			var pairs [][2]int
			for _, l := range list {
				pairs = append(pairs, [2]int{l.I, l.J})
			}
			d, err := m.Distances(ctx, eng, x, pairs)
			if err != nil {
				t.Fatal(err)
			}
			means[side] = total(d) / float64(len(d))
		}
		return means[1] / means[0]
	}
	if without, with := ratio(0), ratio(1); !(with > 1.05*without) {
		t.Errorf("dissimilar over similar is %v with cannot-links, %v without", with, without)
	}
}

// TestEncode checks that a model that was stored and read is bit-identical, for every kind of
// points.
func TestEncode(t *testing.T) {
	eng := enginetest.New(t, 2)
	ctx := context.Background()
	x, set := blobs(t, 60, 25)
	rows, err := kernel.Linear().Gram(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows.Data {
		rows.Data[i] = math.Exp(rows.Data[i] / 4)
	}
	gram, err := points.NewGram(60, 60, rows.Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	start, col := []int{0}, []int32(nil)
	for range 60 {
		col = append(col, 0, 1)
		start = append(start, len(col))
	}
	csr, err := points.NewCSR(60, 2, start, col, x.Data)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]points.Points{"dense": x, "sparse": csr, "gram": gram} {
		for _, extension := range []kbeta.Extension{kbeta.Reconstruction, kbeta.Nystrom} {
			before := fit(t, eng, p, set, "", func(p *kbeta.Params) {
				p.Landmarks = 45
				p.Extension = extension
			})
			f := &model.File{}
			if err := before.Encode(f); err != nil {
				t.Fatal(err)
			}
			after, err := kbeta.Decode(f)
			if err != nil {
				t.Fatal(name, err)
			}
			a, err := before.Embed(ctx, eng, p)
			if err != nil {
				t.Fatal(name, err)
			}
			b, err := after.Embed(ctx, eng, p)
			if err != nil {
				t.Fatal(name, err)
			}
			if !slices.Equal(a.Data, b.Data) || a.Cols != before.Dim() {
				t.Errorf("%s, %s: other coordinates after reading", name, extension)
			}
			if len(after.DistantMustLinks()) == 0 || after.InputDim() != p.Dim() ||
				len(after.Describe()) == 0 {
				t.Errorf("%s: %+v", name, after.Describe())
			}
		}
	}
}

// TestSameBits checks that results are bit-identical for any number of workers and any batch.
func TestSameBits(t *testing.T) {
	ctx := context.Background()
	x, set := blobs(t, 500, 30)
	var want blas.Matrix
	for workers := 1; workers <= 3; workers++ {
		eng := enginetest.New(t, workers)
		m := fit(t, eng, x, set, "", func(p *kbeta.Params) { p.Landmarks, p.Iterations = 100, 2 })
		got, err := m.Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		if want.Data == nil {
			want = got
		}
		if !slices.Equal(got.Data, want.Data) {
			t.Fatalf("%d workers give different bits", workers)
		}
		some, err := m.Embed(ctx, eng, x.Select([]int{3, 499, 77}))
		if err != nil {
			t.Fatal(err)
		}
		for at, i := range []int{3, 499, 77} {
			if !slices.Equal(some.Row(at), want.Row(i)) {
				t.Errorf("point %d has different bits in another batch", i)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	eng := enginetest.New(t, 1)
	ctx := context.Background()
	x, set := blobs(t, 50, 20)
	same := &points.Dense{N: 50, D: 2, Data: slices.Repeat([]float64{1, 2}, 50)}
	none, err := links.New(50, []links.Link{{I: 1, J: 2, Sign: links.Cannot}})
	if err != nil {
		t.Fatal(err)
	}
	try := func(x points.Points, set *links.Set, change func(p *kbeta.Params)) error {
		spec, err := kernel.Parse("rbf:sigma=1")
		if err != nil {
			t.Fatal(err)
		}
		l := kbeta.Learner{Params: kbeta.DefaultParams(), Kernel: spec}
		if change != nil {
			change(&l.Params)
		}
		_, err = l.Fit(ctx, eng, x, set)
		return err
	}
	nan := *x
	nan.Data = slices.Clone(x.Data)
	nan.Data[7] = math.NaN()
	for what, err := range map[string]error{
		"only cannot-links":   try(x, none, nil),
		"rows of links":       try(x.Select([]int{0, 1, 2}), set, nil),
		"NaN":                 try(&nan, set, nil),
		"one place":           try(same, set, nil),
		"neighbors":           try(x, set, func(p *kbeta.Params) { p.Neighbors = 50 }),
		"no neighbors":        try(x, set, func(p *kbeta.Params) { p.Neighbors = 0 }),
		"landmarks":           try(x, set, func(p *kbeta.Params) { p.Landmarks = 51 }),
		"landmark row":        try(x, set, func(p *kbeta.Params) { p.LandmarkRows = []int{3, 50} }),
		"rule":                try(x, set, func(p *kbeta.Params) { p.Rule = "unform" }),
		"extension":           try(x, set, func(p *kbeta.Params) { p.Extension = "nystroem" }),
		"rank":                try(x, set, func(p *kbeta.Params) { p.Rank = -2 }),
		"rank_tol":            try(x, set, func(p *kbeta.Params) { p.RankTol = 1 }),
		"reg_d":               try(x, set, func(p *kbeta.Params) { p.RegD = math.NaN() }),
		"cannot":              try(x, set, func(p *kbeta.Params) { p.Cannot = 1.5 }),
		"iterations":          try(x, set, func(p *kbeta.Params) { p.Iterations = 0 }),
		"features of a model": embedError(t, eng, x, set),
	} {
		if !fault.IsInput(err) {
			t.Errorf("%s: %v: want an error of input", what, err)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (kbeta.Learner{Params: kbeta.DefaultParams()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func embedError(t *testing.T, eng *engine.Engine, x *points.Dense, set *links.Set) error {
	_, err := fit(t, eng, x, set, "", nil).Embed(context.Background(), eng,
		&points.Dense{N: 1, D: 3, Data: make([]float64, 3)})
	return err
}

// TestNotices checks the notices of conditions that do not stop a fit: landmarks raised to the
// linked points, directions in which no must-link differs, repeated eigenvalues.
func TestNotices(t *testing.T) {
	eng := enginetest.New(t, 1)
	x, set := blobs(t, 60, 25)
	notice := func(m *kbeta.Model, text string) {
		t.Helper()
		if !slices.ContainsFunc(m.Status().Notices, func(s string) bool {
			return strings.Contains(s, text)
		}) {
			t.Errorf("notices %q: want one with %q", m.Status().Notices, text)
		}
	}
	notice(fit(t, eng, x, set, "", func(p *kbeta.Params) {
		p.Landmarks = 8
		p.Neighbors = 3
	}), "raised from 8")
	notice(fit(t, eng, x, set, "", func(p *kbeta.Params) {
		p.LandmarkRows = []int{1, 2, 3, 4, 5, 6, 7}
		p.Neighbors = 3
	}), "in addition to the given ones")

	// A square has two directions with the same eigenvalue; its must-link differs in only one of
	// them.
	square := &points.Dense{N: 4, D: 2, Data: []float64{1, 0, -1, 0, 0, 1, 0, -1}}
	pair, err := links.New(4, []links.Link{{I: 0, J: 1, Sign: links.Must}})
	if err != nil {
		t.Fatal(err)
	}
	m := fit(t, eng, square, pair, "linear", func(p *kbeta.Params) { p.Neighbors = 2 })
	notice(m, "equal the one before")
	if _, beta, _ := m.Spectrum(); !(beta[0]+beta[1] > 0) || math.IsInf(beta[0]+beta[1], 0) {
		t.Errorf("weights %v", beta)
	}
	// A must-link to a copy of a point differs in no direction.
	copyOf := &points.Dense{N: 4, D: 1, Data: []float64{1, 1, 2, 5}}
	notice(fit(t, eng, copyOf, pair, "linear", func(p *kbeta.Params) {
		p.Neighbors = 1
	}), "all weights are equal")
}

func BenchmarkFit(b *testing.B) {
	eng := enginetest.New(b, 0)
	x, set := blobs(b, 4000, 50)
	for _, m := range []int{100, 400, 1000, 0} {
		for _, rule := range []string{landmarks.Uniform} {
			b.Run(fmt.Sprintf("n=4000/m=%d/%s", m, rule), func(b *testing.B) {
				for b.Loop() {
					fit(b, eng, x, set, "rbf:sigma=1", func(p *kbeta.Params) {
						p.Landmarks, p.Rule = m, rule
					})
				}
			})
		}
	}
}

// TestTogether: a model as read from a file answers goroutines at the same time as it answers one.
func TestTogether(t *testing.T) {
	x, set := blobs(t, 60, 25)
	fresh, _ := blobs(t, 30, 5)
	eng := enginetest.New(t, 1)
	m := fit(t, eng, x, set, "rbf:sigma=1", nil)
	want, err := m.Embed(t.Context(), eng, fresh)
	if err != nil {
		t.Fatal(err)
	}
	again := enginetest.Reread(t, m, kbeta.Decode)
	panics.Run(4, func() {
		got, err := again.Embed(t.Context(), eng, fresh)
		if err != nil || !slices.Equal(got.Clone().Data, want.Clone().Data) {
			t.Errorf("another embedding, error %v", err)
		}
	})
}

// TestMemory: the landmarks need three matrices of their number.
func TestMemory(t *testing.T) {
	x, set := blobs(t, 50, 20)
	const need, what = 3 * 8 * 50 * 50, "kbeta on 50 landmarks"
	for limit, fits := range map[int64]bool{need: true, need - 1: false} {
		eng := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: limit})
		_, err := kbeta.Learner{Params: kbeta.DefaultParams()}.Fit(t.Context(), eng, x, set)
		memory, is := errors.AsType[*fault.MemoryError](err)
		if (is && memory.What == what) == fits {
			t.Errorf("%d bytes: error %v", limit, err)
		}
	}
}
