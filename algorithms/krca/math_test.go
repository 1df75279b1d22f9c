package krca

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// checkIdentity verifies eps Kt + (1/n) K[:,c] H Kt[c,:] = K on all points of x.
func checkIdentity(t testingTB, m *Model, x points.Points, s *links.Set, text string, tol float64) {
	t.Helper()
	eng := enginetest.New(t, 2)
	rows, f := flatten(s.Chunklets())
	anchors := x.Select(rows)
	k := toMat(kernelOf(t, eng, text, x, x))
	kt := toMat(gramOf(t, eng, m, x, nil))
	ktc := toMat(gramOf(t, eng, m, anchors, x))
	kxc := toMat(kernelOf(t, eng, text, x, anchors))
	var sum, left mat.Dense
	left.Mul(kxc, explicitH(f))
	sum.Mul(&left, ktc)
	sum.Scale(1/float64(f.points()), &sum)
	sum.Add(&sum, scaled(m.Eps(), kt))
	within(t, fmt.Sprintf("identity, form %s", m.metric.form()), &sum, k, tol)
}

func TestIdentity(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := gaussian(120, 5, 3)
	s := chunkletSet(t, 120, runs(120, 7, 2, 2, 5, 9, 1, 3, 2, 12, 4, 2, 2, 20)...)
	for _, c := range []struct {
		kernel string
		eps    float64
		form   Form
		tol    float64
	}{
		{"rbf:sigma=2", 1e-3, FormAuto, 1e-12},
		{"rbf:sigma=2", 1e-1, FormSpectral, 1e-12},
		{"exp:width=3", 1e-3, FormAuto, 1e-12},
		{"linear", 1e-2, FormAuto, 1e-12},
		{"linear", 1e-2, FormCholesky, 1e-12},
		{"linear", 1e-8, FormAuto, 1e-10},
		// The constant coordinate of this feature space varies in no chunklet, so rho is not
		// 0 and Kt is of size 1/eps: its rounding errors, K/eps u, count in the identity.
		{"poly:degree=2,coef=1,scale=1", 1e-4, FormAuto, 1e-9},
	} {
		t.Run(fmt.Sprintf("%s,eps=%g,form=%s", c.kernel, c.eps, c.form), func(t *testing.T) {
			l := withKernel(t, c.kernel, c.eps)
			l.Params.Form = c.form
			checkIdentity(t, fittest.On[*Model](t, eng, l, x, s), x, s, c.kernel, c.tol)
		})
	}
}

// randomProblem draws points with some repeated rows, disjoint chunklets over a part of
// them (also of size 1), a kernel and eps of moderate size.
func randomProblem(t *rapid.T) (x *points.Dense, s *links.Set, text string, eps float64) {
	n := rapid.IntRange(4, 30).Draw(t, "n")
	x = gaussian(n, rapid.IntRange(1, 6).Draw(t, "d"), rapid.Uint64().Draw(t, "seed"))
	if rapid.Bool().Draw(t, "repeat") {
		copy(x.Row(n-1), x.Row(0))
	}
	order := rapid.Permutation(sequence(n)).Draw(t, "order")
	var chunklets [][]int
	for used := 0; used < n; {
		q := min(rapid.IntRange(1, 6).Draw(t, "size"), n-used)
		if q >= 2 || rapid.Bool().Draw(t, "single") {
			chunklets = append(chunklets, order[used:used+q])
		}
		used += q
	}
	chunklets = append(chunklets, order[:2]) // at least one pair (merged if it overlaps)
	text = rapid.SampledFrom([]string{"rbf:sigma=1.5", "linear", "poly:degree=2,coef=1,scale=0.5",
		"exp:width=2", "rbf:gamma=0.4@poly:degree=2,coef=0,scale=0.2"}).Draw(t, "kernel")
	eps = rapid.SampledFrom([]float64{0.3, 3e-2, 3e-3}).Draw(t, "eps")
	return x, chunkletSet(t, n, chunklets...), text, eps
}

func sequence(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestPrintedFormula compares both forms with equation (7) as printed, in sample and out
// of sample, and the distances with those of its kernel matrix.
func TestPrintedFormula(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		eng := enginetest.New(t, 2)
		x, s, text, eps := randomProblem(t)
		rows, f := flatten(s.Chunklets())
		fresh := gaussian(5, x.D, 99)
		all := &points.Dense{N: x.N + 5, D: x.D,
			Data: append(append([]float64(nil), x.Data...), fresh.Data...)}
		anchors := x.Select(rows)
		k := toMat(kernelOf(t, eng, text, all, all))
		want := printed(t, k, toMat(kernelOf(t, eng, text, all, anchors)),
			toMat(kernelOf(t, eng, text, anchors, anchors)), f, eps)
		// The printed form itself loses about cond(I + KH/s) u.
		tol := 1e-11 * max(1, maxAbs(k)/eps)
		for _, form := range forms {
			l := withKernel(t, text, eps)
			l.Params.Form = Form(form)
			m := fittest.On[*Model](t, eng, l, x, s)
			within(t, form+" gram", toMat(gramOf(t, eng, m, all, nil)), want, tol)
			within(t, form+" cross", toMat(gramOf(t, eng, m, fresh, x)), want.Slice(x.N, x.N+5, 0, x.N),
				tol*10)
			checkDistances(t, m, all, want, tol)
		}
	})
}

// checkDistances compares Distances of all pairs with kt_ii + kt_jj - 2 kt_ij.
func checkDistances(t testingTB, m *Model, x points.Points, kt *mat.Dense, tol float64) {
	t.Helper()
	var pairs [][2]int
	for i := range x.Len() {
		for j := range x.Len() {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	d, err := m.Distances(context.Background(), enginetest.New(t, 2), x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	scale := maxAbs(kt)
	for p, pair := range pairs {
		i, j := pair[0], pair[1]
		want := max(0, kt.At(i, i)+kt.At(j, j)-2*kt.At(i, j))
		if !(math.Abs(d[p]-want) <= 4*tol*scale) || d[p] < 0 || (i == j && d[p] != 0) {
			t.Fatalf("distance of %v is %g, want %g", pair, d[p], want)
		}
	}
}

// TestFeatureSpaceRCA compares the linear kernel with relevant component analysis written
// out in the input space: kt(x,y) = x'(eps I + C)^-1 y.
func TestFeatureSpaceRCA(t *testing.T) {
	eng := enginetest.New(t, 2)
	const n, d = 60, 4
	x := gaussian(n, d, 5)
	s := chunkletSet(t, n, runs(n, 7, 3, 2, 6, 1, 8, 2)...)
	for _, eps := range []float64{1, 1e-2, 1e-8} {
		cov := mat.NewDense(d, d, nil)
		count := 0
		for _, c := range s.Chunklets() {
			center := make([]float64, d)
			for _, i := range c {
				blas.AddScaled(center, 1/float64(len(c)), x.Row(i))
			}
			for _, i := range c {
				v := mat.NewVecDense(d, append([]float64(nil), x.Row(i)...))
				v.SubVec(v, mat.NewVecDense(d, center))
				cov.RankOne(cov, 1, v, v)
				count++
			}
		}
		cov.Scale(1/float64(count), cov)
		for j := range d {
			cov.Set(j, j, cov.At(j, j)+eps)
		}
		var inverse, want, left mat.Dense
		if err := inverse.Inverse(cov); err != nil {
			t.Fatal(err)
		}
		points := mat.NewDense(n, d, x.Data)
		left.Mul(points, &inverse)
		want.Mul(&left, points.T())
		m := fittest.On[*Model](t, eng, withKernel(t, "linear", eps), x, s)
		within(t, fmt.Sprintf("eps=%g, form %s", eps, m.metric.form()), toMat(gramOf(t, eng, m, x, nil)),
			&want, 1e-11)
	}
}

// TestDefinite: Kt and K/eps - Kt are positive semidefinite.
func TestDefinite(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		eng := enginetest.New(t, 2)
		x, s, text, eps := randomProblem(t)
		m := fittest.On[*Model](t, eng, withKernel(t, text, eps), x, s)
		kt := toMat(gramOf(t, eng, m, x, nil))
		k := scaled(1/eps, toMat(kernelOf(t, eng, text, x, x)))
		_, scale := smallestEigenvalue(t, k)
		var rest mat.Dense
		rest.Sub(k, kt)
		for name, g := range map[string]*mat.Dense{"Kt": kt, "K/eps - Kt": &rest} {
			if low, _ := smallestEigenvalue(t, g); !(low >= -1e-12*scale) {
				t.Fatalf("%s has eigenvalue %g at scale %g", name, low, scale)
			}
		}
	})
}

// TestOrder: neither the order of the points nor that of the chunklets matters.
func TestOrder(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		eng := enginetest.New(t, 2)
		x, s, text, eps := randomProblem(t)
		to := rapid.Permutation(sequence(x.N)).Draw(t, "permutation") // row i becomes row to[i]
		moved := &points.Dense{N: x.N, D: x.D, Data: make([]float64, len(x.Data))}
		for i := range x.N {
			copy(moved.Row(to[i]), x.Row(i))
		}
		var chunklets [][]int
		for _, c := range s.Chunklets() {
			var d []int
			for _, i := range c {
				d = append(d, to[i])
			}
			chunklets = append([][]int{d}, chunklets...)
		}
		l := withKernel(t, text, eps)
		a := toMat(gramOf(t, eng, fittest.On[*Model](t, eng, l, x, s), x, nil))
		b := toMat(gramOf(t, eng, fittest.On[*Model](t, eng, l, moved, chunkletSet(t, x.N, chunklets...)), x,
			nil))
		within(t, "other order", b, a, 1e-10)
	})
}

// TestScale: (a k, a eps) gives the same learned kernel, and as eps grows eps Kt -> K.
func TestScale(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := gaussian(50, 4, 8)
	s := chunkletSet(t, 50, runs(50, 3, 4, 2, 6, 9)...)
	one := toMat(gramOf(t, eng,
		fittest.On[*Model](t, eng, withKernel(t, "poly:degree=1,coef=0,scale=1", 1e-2), x, s), x, nil))
	six := toMat(gramOf(t, eng,
		fittest.On[*Model](t, eng, withKernel(t, "poly:degree=1,coef=0,scale=6", 6e-2), x, s), x, nil))
	within(t, "6k, 6eps", six, one, 1e-11)

	const text = "rbf:sigma=2"
	k := toMat(kernelOf(t, eng, text, x, x))
	last := math.Inf(1)
	for _, eps := range []float64{1, 1e2, 1e4} {
		kt := toMat(gramOf(t, eng, fittest.On[*Model](t, eng, withKernel(t, text, eps), x, s), x, nil))
		d := difference(scaled(eps, kt), k)
		if !(d < last/50) || d == 0 {
			t.Fatalf("eps=%g: eps Kt differs from K by %g, after %g", eps, d, last)
		}
		last = d
	}
}

// TestCentering: distances do not change when k is centered.
func TestCentering(t *testing.T) {
	eng := enginetest.New(t, 2)
	const n, text = 40, "rbf:sigma=1.2"
	x := gaussian(n, 3, 11)
	s := chunkletSet(t, n, runs(n, 3, 5, 2, 4, 1)...)
	k := toMat(kernelOf(t, eng, text, x, x))
	centering := explicitH(newHelmert([]int{n}))
	var left, centered mat.Dense
	left.Mul(centering, k)
	centered.Mul(&left, centering)
	for i := range n { // exactly symmetric
		for j := range i {
			centered.Set(i, j, centered.At(j, i))
		}
	}
	g, err := points.NewGram(n, n, centered.RawMatrix().Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][2]int
	for i := range n {
		pairs = append(pairs, [2]int{i, (i * 7) % n}, [2]int{i, (i + 1) % n})
	}
	a, err := fittest.On[*Model](t, eng, withKernel(t, text, 1e-3), x, s).Distances(context.Background(), eng,
		x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	b, err := fittest.On[*Model](t, eng, withKernel(t, "linear", 1e-3), g, s).Distances(context.Background(),
		eng, g, pairs)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "distances", mat.NewVecDense(len(b), b), mat.NewVecDense(len(a), a), 1e-10)
}

// TestKinds: dense, sparse and precomputed points give one learned kernel and embedding.
func TestKinds(t *testing.T) {
	eng := enginetest.New(t, 2)
	const n, d = 40, 6
	x := gaussian(n, d, 12)
	rng := rand.New(rand.NewPCG(1, 2))
	sparse := &points.CSR{N: n, D: d, Start: []int{0}}
	for i := range n {
		for j := range d {
			if rng.IntN(2) == 0 {
				x.Row(i)[j] = 0
				continue
			}
			sparse.Col = append(sparse.Col, int32(j))
			sparse.Val = append(sparse.Val, x.Row(i)[j])
		}
		sparse.Start = append(sparse.Start, len(sparse.Col))
	}
	base := kernelOf(t, eng, "linear", x, x)
	gram, err := points.NewGram(n, n, base.Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := chunkletSet(t, n, runs(n, 3, 4, 2, 6, 3)...)
	for _, text := range []string{"rbf:sigma=2", "linear"} {
		for _, form := range []Form{FormCholesky, FormSpectral} {
			l := withKernel(t, text, 1e-2)
			l.Params.Form = form
			want := toMat(gramOf(t, eng, fittest.On[*Model](t, eng, l, x, s), x, nil))
			for _, other := range []points.Points{x, sparse, gram} {
				m := fittest.On[*Model](t, eng, l, other, s)
				name := fmt.Sprintf("%s %s %T", text, form, other)
				within(t, name, toMat(gramOf(t, eng, m, other, nil)), want, 1e-11)
				within(t, name+" cross", toMat(gramOf(t, eng, m, other, other)), want, 1e-11)
				y, err := m.Embed(context.Background(), eng, other)
				if err != nil {
					t.Fatal(err)
				}
				var kt mat.Dense
				kt.Mul(toMat(y), toMat(y).T())
				within(t, name+" embedding", &kt, want, 1e-8)
			}
		}
	}
}

// TestTinyEps: where the terms of (1b) cancel, the spectral form is chosen and right: for
// a linear kernel it tends to x' C^-1 y.
func TestTinyEps(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := gaussian(80, 3, 21)
	s := chunkletSet(t, 80, runs(80, 3, 20, 20, 30)...)
	limit := toMat(gramOf(t, eng, fittest.On[*Model](t, eng, withKernel(t, "linear", 1e-10), x, s), x, nil))
	for _, eps := range []float64{1e-13, 1e-20, 1e-100} {
		m := fittest.On[*Model](t, eng, withKernel(t, "linear", eps), x, s)
		if m.metric.form() != FormSpectral {
			t.Errorf("eps=%g: form %s", eps, m.metric.form())
		}
		within(t, fmt.Sprintf("eps=%g", eps), toMat(gramOf(t, eng, m, x, nil)), limit, 1e-8)
	}
}

// TestForms checks the rule that chooses between the forms.
func TestForms(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := gaussian(60, 4, 31)
	repeated := &points.Dense{N: 60, D: 4, Data: append([]float64(nil), x.Data...)}
	for i := range 30 {
		copy(repeated.Row(i+30), repeated.Row(i))
	}
	s := chunkletSet(t, 60, runs(60, 7, 10, 10, 10, 10)...)
	twins := chunkletSet(t, 60, []int{0, 30, 1, 31}, []int{2, 32}, []int{3, 33, 4})
	for _, c := range []struct {
		name   string
		x      points.Points
		s      *links.Set
		kernel string
		eps    float64
		want   Form
	}{
		{"gaussian", x, s, "rbf:sigma=2", 1e-3, FormCholesky},
		{"gaussian, repeated rows: singular without cancellation", repeated, twins, "rbf:sigma=2", 1e-3,
			FormCholesky},
		{"gaussian, repeated rows, tiny eps", repeated, twins, "rbf:sigma=2", 1e-9, FormCholesky},
		{"linear, large eps: singular, nothing cancels", x, s, "linear", 1, FormCholesky},
		{"linear, small eps", x, s, "linear", 1e-6, FormSpectral},
		{"quadratic, small eps", x, s, "poly:degree=2,coef=1,scale=1", 1e-6, FormSpectral},
	} {
		if got := fittest.On[*Model](t, eng, withKernel(t, c.kernel, c.eps), c.x,
			c.s).metric.form(); got != c.want {
			t.Errorf("%s: form %s, want %s", c.name, got, c.want)
		}
	}
}

// TestFormsAgree compares the two forms where both are accurate.
func TestFormsAgree(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		eng := enginetest.New(t, 2)
		x, s, text, eps := randomProblem(t)
		l := withKernel(t, text, eps)
		l.Params.Form = FormCholesky
		a := fittest.On[*Model](t, eng, l, x, s)
		l.Params.Form = FormSpectral
		b := fittest.On[*Model](t, eng, l, x, s)
		fresh := gaussian(7, x.D, 5)
		within(t, "gram", toMat(gramOf(t, eng, b, fresh, x)), toMat(gramOf(t, eng, a, fresh, x)), 1e-9)
		ya, err := a.Embed(context.Background(), eng, fresh)
		if err != nil {
			t.Fatal(err)
		}
		yb, err := b.Embed(context.Background(), eng, fresh)
		if err != nil {
			t.Fatal(err)
		}
		// The bases are free where eigenvalues repeat; inner products are not.
		var pa, pb mat.Dense
		pa.Mul(toMat(ya), toMat(ya).T())
		pb.Mul(toMat(yb), toMat(yb).T())
		within(t, "embedding", &pb, &pa, 1e-6)
	})
}

// TestEmbeddingExact: with dims = 0 the embedding of the training points has the learned
// distances; with dims > 0 it is the best rank-dims part of the centered kernel matrix.
func TestEmbeddingExact(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		eng := enginetest.New(t, 2)
		x, s, text, eps := randomProblem(t)
		l := withKernel(t, text, eps)
		l.Params.Form = Form(rapid.SampledFrom(forms).Draw(t, "form"))
		m := fittest.On[*Model](t, eng, l, x, s)
		kt := toMat(gramOf(t, eng, m, x, nil))
		y, err := m.Embed(context.Background(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		var product mat.Dense
		product.Mul(toMat(y), toMat(y).T())
		within(t, "dims=0", &product, kt, 1e-8)

		l.Params.Dims = 3
		m = fittest.On[*Model](t, eng, l, x, s)
		if y, err = m.Embed(context.Background(), eng, x); err != nil {
			t.Fatal(err)
		}
		checkLeading(t, toMat(y), kt)

		l.Params.Power = rapid.Float64Range(0.1, 2).Draw(t, "power")
		scaled, err := fittest.On[*Model](t, eng, l, x, s).Embed(context.Background(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		checkPower(t, scaled, y, l.Params.Power)
	})
}

// checkPower checks that scaled is y with each column times (eigenvalue / largest)^power; the
// eigenvalues are the squared lengths of the columns of y.
func checkPower(t testingTB, scaled, y blas.Matrix, power float64) {
	t.Helper()
	lengths := make([]float64, y.Cols)
	for i := range y.Rows {
		for c, v := range y.Row(i) {
			lengths[c] += v * v
		}
	}
	for i := range y.Rows {
		for c, v := range y.Row(i) {
			want := v * math.Pow(lengths[c]/lengths[0], power)
			if math.Abs(scaled.At(i, c)-want) > 1e-8*(math.Sqrt(lengths[0])) {
				t.Fatalf("coordinate (%d, %d) with power %g is %g: want %g", i, c, power, scaled.At(i, c),
					want)
			}
		}
	}
}

// checkLeading checks that y has the leading directions of the centered kt: columns that
// sum to 0, are orthogonal, and have the leading eigenvalues as squared lengths.
func checkLeading(t testingTB, y, kt *mat.Dense) {
	t.Helper()
	n, dim := y.Dims()
	h := explicitH(newHelmert([]int{n}))
	var left, centered, lengths mat.Dense
	left.Mul(h, kt)
	centered.Mul(&left, h)
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, centered.At(i, j))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, false) {
		t.Fatal("no convergence")
	}
	w := e.Values(nil)
	lengths.Mul(y.T(), y)
	tol := 1e-8 * maxAbs(kt) * float64(n)
	for a := range dim {
		for b := range dim {
			want := 0.0
			if a == b {
				want = w[n-1-a]
			}
			if !(math.Abs(lengths.At(a, b)-want) <= tol) {
				t.Fatalf("y'y at (%d,%d) is %g, want %g", a, b, lengths.At(a, b), want)
			}
		}
		if sum := mat.Sum(y.ColView(a)); !(math.Abs(sum) <= 1e-7*math.Sqrt(maxAbs(kt))*float64(n)) {
			t.Fatalf("column %d sums to %g", a, sum)
		}
	}
}

// TestXOR: four blobs whose diagonals are the classes, chunklets that mix both blobs of a
// class. In the learned space every point is nearer to its own class's mean; in the input
// space the class means coincide.
func TestXOR(t *testing.T) {
	eng := enginetest.New(t, 2)
	const n = 200
	rng := rand.New(rand.NewPCG(4, 4))
	x := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}
	class := make([]int, n)
	for i := range n {
		a, b := float64(i%2)*2-1, float64(i/2%2)*2-1
		x.Row(i)[0], x.Row(i)[1] = a+0.25*rng.NormFloat64(), b+0.25*rng.NormFloat64()
		if a*b > 0 {
			class[i] = 1
		}
	}
	var chunklets [2][]int
	for i := range 40 {
		chunklets[class[i]] = append(chunklets[class[i]], i)
	}
	l := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=1"), Params: DefaultParams()}
	m := fittest.On[*Model](t, eng, l, x, chunkletSet(t, n, chunklets[0], chunklets[1]))
	y, err := m.Embed(context.Background(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	var centers [2][]float64
	for c := range centers {
		centers[c] = make([]float64, y.Cols)
	}
	for i := range n {
		blas.AddScaled(centers[class[i]], 2.0/n, y.Row(i))
	}
	wrong := 0
	for i := range n {
		own, other := squaredDistance(y.Row(i), centers[class[i]]),
			squaredDistance(y.Row(i), centers[1-class[i]])
		if own >= other {
			wrong++
		}
	}
	if wrong > n/100 {
		t.Errorf("%d of %d points nearer to the other class's mean", wrong, n)
	}
}

// TestEpsilon: eps_rel is relative to the mean diagonal over all points, fixed_s to n.
func TestEpsilon(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := gaussian(30, 3, 2)
	s := chunkletSet(t, 30, []int{0, 1, 2}, []int{3, 4}, []int{9})
	k, err := kernel.New(enginetest.Spec(t, "linear"))
	if err != nil {
		t.Fatal(err)
	}
	diagonal, err := k.Diagonal(context.Background(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, v := range diagonal {
		sum += v
	}
	for _, c := range []struct {
		p    Params
		want float64
	}{
		{Params{EpsRel: 0.1}, 0.1 * sum / 30},
		{Params{Eps: 0.25}, 0.25},
		{Params{FixedS: 3}, 3.0 / 6}, // the chunklet of one point counts
	} {
		got := fittest.On[*Model](t, eng, Learner{Kernel: enginetest.Spec(t, "linear"), Params: c.p}, x,
			s).Eps()
		if !(math.Abs(got-c.want) <= 1e-14*c.want) {
			t.Errorf("%+v: eps %g, want %g", c.p, got, c.want)
		}
	}
}
