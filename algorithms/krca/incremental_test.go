package krca

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func incremental(t testingTB, m *Model) *Incremental {
	t.Helper()
	u, err := m.Incremental()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// updated returns a model after three updates with new chunklets, points that join old
// ones, a merge and a chunklet of one point.
func updated(t testingTB, eng *engine.Engine, m *Model, x points.Points) *Model {
	t.Helper()
	u, ctx := incremental(t, m), context.Background()
	must(t, u.Add(ctx, eng, x, []int{3, 4, 5}, []int{8}, []int{10, 11}))
	must(t, u.Update(ctx, eng, x,
		[]algorithms.Chunklet{{ID: 0, Rows: []int{20, 21}}, {ID: 8, Rows: []int{22, 20}}}))
	must(t, u.Merge(ctx, eng, 1, 7))
	return build(t, eng, u)
}

func must(t testingTB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func build(t testingTB, eng *engine.Engine, u *Incremental) *Model {
	t.Helper()
	m, err := u.Model(context.Background(), eng)
	must(t, err)
	return m
}

func learned(t testingTB, eng *engine.Engine, u *Incremental, x points.Points) blas.Matrix {
	t.Helper()
	k, err := u.Gram(context.Background(), eng, x, nil)
	must(t, err)
	return k
}

// stream feeds an Incremental, and records which rows of x are in which chunklet.
type stream struct {
	t    testingTB
	eng  *engine.Engine
	x    *points.Dense
	u    *Incremental
	free []int // rows not used yet
	sets [][]int
	id   []int // of each chunklet ever created, its place in sets
}

// newStream fits the base chunklets with fixed s on the rows that they name.
func newStream(t testingTB, eng *engine.Engine, x *points.Dense, k string, s float64, base [][]int,
	rest []int) *stream {
	t.Helper()
	var rows []int
	var local [][]int
	for _, c := range base {
		from := len(rows)
		rows = append(rows, c...)
		local = append(local, sequenceFrom(from, len(rows)))
	}
	l := Learner{Kernel: enginetest.Spec(t, k), Params: Params{FixedS: s, Form: FormCholesky}}
	m := fittest.On[*Model](t, eng, l, x.Select(rows), chunkletSet(t, len(rows), local...))
	st := &stream{t: t, eng: eng, x: x, u: incremental(t, m), free: rest}
	for _, c := range base {
		st.id = append(st.id, len(st.sets))
		st.sets = append(st.sets, slices.Clone(c))
	}
	return st
}

func sequenceFrom(lo, hi int) []int {
	var out []int
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}

func (s *stream) take(q int) []int {
	rows := slices.Clone(s.free[:q])
	s.free = s.free[q:]
	return rows
}

func (s *stream) add(sizes ...int) {
	s.t.Helper()
	var lists [][]int
	for _, q := range sizes {
		rows := s.take(q)
		lists = append(lists, rows)
		s.id = append(s.id, len(s.sets))
		s.sets = append(s.sets, rows)
	}
	must(s.t, s.u.Add(context.Background(), s.eng, s.x, lists...))
}

func (s *stream) extend(id, q int) {
	s.t.Helper()
	rows := s.take(q)
	s.sets[s.id[id]] = append(s.sets[s.id[id]], rows...)
	must(s.t, s.u.Extend(context.Background(), s.eng, s.x, id, rows...))
}

// bridge joins two chunklets by a new point that belongs to both.
func (s *stream) bridge(a, b int) {
	s.t.Helper()
	rows := s.take(1)
	s.sets[s.id[a]] = append(s.sets[s.id[a]], rows...)
	must(s.t, s.u.Update(context.Background(), s.eng, s.x,
		[]algorithms.Chunklet{{ID: a, Rows: rows}, {ID: b, Rows: rows}}))
	s.unite(a, b)
}

func (s *stream) merge(a, b int) {
	s.t.Helper()
	if s.id[a] == s.id[b] {
		return
	}
	must(s.t, s.u.Merge(context.Background(), s.eng, a, b))
	s.unite(a, b)
}

func (s *stream) unite(a, b int) {
	to, from := s.id[a], s.id[b]
	if to == from {
		return
	}
	s.sets[to] = append(s.sets[to], s.sets[from]...)
	s.sets[from] = nil
	for i, at := range s.id {
		if at == from {
			s.id[i] = to
		}
	}
}

// batch fits the chunklets that there are now, with the same s.
func (s *stream) batch(k string, fixed float64) *Model {
	s.t.Helper()
	var sets [][]int
	for _, c := range s.sets {
		if c != nil {
			sets = append(sets, c)
		}
	}
	p := Params{FixedS: fixed, Dims: 1, Landmarks: 30, Form: FormCholesky} // the embedding is not looked at
	l := Learner{Kernel: enginetest.Spec(s.t, k), Params: p}
	return fittest.On[*Model](s.t, s.eng, l, s.x, chunkletSet(s.t, s.x.N, sets...))
}

// TestIncrementalIsBatch: 200 chunklets of mixed sizes in random order, with points that
// join old chunklets and merges among them, give the learned kernel of one fit.
func TestIncrementalIsBatch(t *testing.T) {
	eng := enginetest.New(t, 2)
	for _, c := range []struct {
		kernel string
		s      float64
	}{{"rbf:sigma=2", 0.5}, {"exp:width=3", 1e-3}, {"linear", 10}} {
		rng := rand.New(rand.NewPCG(11, 3))
		x := gaussian(1200, 6, 21)
		order := rng.Perm(x.N)
		base := [][]int{order[:3], order[3:5], order[5:6], order[6:11]}
		st := newStream(t, eng, x, c.kernel, c.s, base, order[11:])
		extended, merged := 0, 0
		for len(st.id) < 200 {
			switch rng.IntN(8) {
			case 0:
				st.extend(rng.IntN(len(st.id)), 1+rng.IntN(3))
				extended++
			case 1:
				st.merge(rng.IntN(len(st.id)), rng.IntN(len(st.id)))
				merged++
			case 2:
				st.bridge(rng.IntN(len(st.id)), rng.IntN(len(st.id)))
				merged++
			case 3:
				st.add(1+rng.IntN(4), 2, 1+rng.IntN(6))
			default:
				st.add(1 + rng.IntN(6))
			}
		}
		if extended < 10 || merged < 10 {
			t.Fatalf("%d extensions and %d merges: the test is too weak", extended, merged)
		}
		query := append(order[:150:150], st.take(50)...)
		z := x.Select(query)
		got, want := toMat(learned(t, eng, st.u, z)), toMat(gramOf(t, eng, st.batch(c.kernel, c.s), z, nil))
		t.Logf("%s: n = %d, %d updates: relative difference %.1e", c.kernel, st.u.Points(), st.u.Updates(),
			difference(got, want))
		within(t, c.kernel, got, want, 1e-10)
	}
}

// TestIncrementalProperty: any sequence of operations, with some taken back, is the batch
// fit of what is left.
func TestIncrementalProperty(t *testing.T) {
	propertytest.Check(t, incrementalProperty(enginetest.New(t, 2)))
}

func incrementalProperty(eng *engine.Engine) func(t *rapid.T) {
	return func(t *rapid.T) {
		k := rapid.SampledFrom([]string{"rbf:sigma=1.5", "poly:degree=2,coef=1,scale=0.5",
			"exp:width=2"}).Draw(t, "kernel")
		s := rapid.SampledFrom([]float64{0.01, 1, 20}).Draw(t, "s")
		x := gaussian(120, rapid.IntRange(1, 5).Draw(t, "d"), rapid.Uint64().Draw(t, "seed"))
		all := sequenceFrom(0, x.N)
		st := newStream(t, eng, x, k, s, [][]int{all[:2], all[2:3], all[3:7]}, all[7:])
		type state struct {
			kt   blas.Matrix
			sets [][]int
			id   []int
		}
		z := x.Select(all[:40])
		keep := func() state {
			sets := make([][]int, len(st.sets))
			for i, c := range st.sets {
				sets[i] = slices.Clone(c)
			}
			return state{learned(t, eng, st.u, z), sets, slices.Clone(st.id)}
		}
		past := []state{keep()}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			before := st.u.Updates()
			a := rapid.IntRange(0, len(st.id)-1).Draw(t, "a")
			b := rapid.IntRange(0, len(st.id)-1).Draw(t, "b")
			q := rapid.IntRange(1, 4).Draw(t, "q")
			switch rapid.IntRange(0, 4).Draw(t, "operation") {
			case 0:
				st.add(q, 1)
			case 1:
				st.extend(a, q)
			case 2:
				st.bridge(a, b)
			case 3:
				st.merge(a, b)
			case 4:
				if before > 0 {
					drop := min(q, before)
					must(t, st.u.DropLast(drop))
					past = past[:len(past)-drop]
					last := past[len(past)-1]
					same(t, learned(t, eng, st.u, z), last.kt)
					st.sets, st.id = last.sets, last.id
					past[len(past)-1] = keep()
				}
			}
			if st.u.Updates() > before {
				past = append(past, keep())
			}
		}
		within(t, "learned kernel", toMat(learned(t, eng, st.u, z)),
			toMat(gramOf(t, eng, st.batch(k, s), z, nil)), 1e-9)
	}
}

func same(t testingTB, a, b blas.Matrix) {
	t.Helper()
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			if math.Float64bits(v) != math.Float64bits(b.At(i, j)) {
				t.Fatalf("element (%d,%d) is %v, want the bits of %v", i, j, v, b.At(i, j))
			}
		}
	}
}

// TestPrintedUpdate compares with equation (10) of the paper as it is printed, an update of
// Y where Y = H S^-1 H, with explicit matrices.
func TestPrintedUpdate(t *testing.T) {
	eng := enginetest.New(t, 1)
	const text, s = "rbf:sigma=1.5", 0.8
	x := gaussian(14, 3, 5)
	st := newStream(t, eng, x, text, s, [][]int{{0, 1, 2}, {3, 4}}, sequenceFrom(5, 14))
	na, nb := 5, 5
	st.add(3, 2)
	h := explicitH(newHelmert([]int{3, 2}))
	k := toMat(kernelOf(t, eng, text, x, x))
	kaa, kab, kbb := k.Slice(0, na, 0, na), k.Slice(0, na, na, na+nb), k.Slice(na, na+nb, na, na+nb)
	eye := func(n int) *mat.Dense {
		out := mat.NewDense(n, n, nil)
		for i := range n {
			out.Set(i, i, 1)
		}
		return out
	}
	var ya, inner mat.Dense
	inner.Mul(kaa, h) // Y_A = H (I + K H / s)^-1
	inner.Scale(1/s, &inner)
	inner.Add(&inner, eye(na))
	must(t, ya.Inverse(&inner))
	ya.Mul(h, &ya)
	// P = I + K_BB H_B/s - K_AB' Y_A K_AB H_B/s^2
	var p, q, yk, inverse mat.Dense
	p.Mul(kbb, h)
	p.Scale(1/s, &p)
	yk.Mul(&ya, kab)
	q.Mul(kab.T(), &yk)
	q.Mul(&q, h)
	q.Scale(1/(s*s), &q)
	p.Sub(&p, &q)
	p.Add(&p, eye(nb))
	must(t, inverse.Inverse(&p))
	// Y = [Y_A 0; 0 0] + [-Y_A K_AB H_B/s; H_B] P^-1 [-K_AB' Y_A/s, I]
	left, right := mat.NewDense(na+nb, nb, nil), mat.NewDense(nb, na+nb, nil)
	var top, side mat.Dense
	top.Mul(&yk, h)
	top.Scale(-1/s, &top)
	left.Slice(0, na, 0, nb).(*mat.Dense).Copy(&top)
	left.Slice(na, na+nb, 0, nb).(*mat.Dense).Copy(h)
	side.Mul(kab.T(), &ya)
	side.Scale(-1/s, &side)
	right.Slice(0, nb, 0, na).(*mat.Dense).Copy(&side)
	right.Slice(0, nb, na, na+nb).(*mat.Dense).Copy(eye(nb))
	var y, solved, want, product mat.Dense
	solved.Mul(left, &inverse)
	y.Mul(&solved, right)
	for i := range na {
		for j := range na {
			y.Set(i, j, y.At(i, j)+ya.At(i, j))
		}
	}
	kc := k.Slice(0, 14, 0, na+nb)
	product.Mul(kc, &y)
	want.Mul(&product, kc.T())
	want.Scale(1/s, &want)
	want.Sub(k, &want)
	want.Scale(float64(na+nb)/s, &want)
	within(t, "equation (10)", toMat(learned(t, eng, st.u, x)), &want, 1e-12)
}

// TestUpdateIdentity: eps Kt + (1/n) K[:,c] H Kt[c,:] = K, with H of the grown chunklets.
func TestUpdateIdentity(t *testing.T) {
	eng := enginetest.New(t, 2)
	const text = "rbf:sigma=2"
	x := gaussian(80, 3, 9)
	st := newStream(t, eng, x, text, 0.3, [][]int{{0, 1, 2}, {3, 4}, {5}}, sequenceFrom(6, 80))
	st.add(4, 3)
	st.extend(2, 2)
	st.bridge(0, 3)
	st.merge(1, 4)
	st.extend(3, 3)
	var rows, sizes []int
	for _, c := range st.sets {
		if c != nil {
			rows, sizes = append(rows, c...), append(sizes, len(c))
		}
	}
	if len(rows) != st.u.Points() {
		t.Fatalf("%d points in chunklets, want %d", st.u.Points(), len(rows))
	}
	k, kt := toMat(kernelOf(t, eng, text, x, x)), toMat(learned(t, eng, st.u, x))
	xc := toMat(kernelOf(t, eng, text, x, x.Select(rows)))
	kc, err := st.u.Gram(context.Background(), eng, x.Select(rows), x)
	must(t, err)
	var sum, half mat.Dense
	half.Mul(xc, explicitH(newHelmert(sizes)))
	sum.Mul(&half, toMat(kc))
	sum.Scale(1/float64(len(rows)), &sum)
	sum.Add(&sum, scaled(st.u.Eps(), kt))
	within(t, "identity", &sum, k, 1e-12)
}

// TestColumns: F of a basis that grew is orthonormal, sums to zero over every chunklet,
// and apply and expand are its products.
func TestColumns(t *testing.T) {
	g := replay(0, nil, nil)
	for range 12 {
		g.add()
	}
	f := helmert{start: []int{0, 1}, count: 12}
	for _, c := range [][2]int{{0, 1}, {3, 4}, {3, 5}, {0, 3}, {7, 8}, {0, 2}, {9, 7}, {9, 11}, {0, 9}} {
		f.columns = append(f.columns, g.join(c[0], c[1]))
	}
	r := f.order()
	if r != 9 || f.chunklets() != 3 {
		t.Fatalf("order %d and %d chunklets, want 9 and 3", r, f.chunklets())
	}
	dense := mat.NewDense(12, r, nil) // F by its products with unit vectors
	for i := range 12 {
		v := make([]float64, 12)
		v[i] = 1
		f.apply(v)
		dense.SetRow(i, v[:r])
	}
	var eye, sums mat.Dense
	eye.Mul(dense.T(), dense)
	for i := range r {
		eye.Set(i, i, eye.At(i, i)-1)
	}
	indicator := mat.NewDense(3, 12, nil)
	for i, name := range g.name {
		indicator.Set(map[int]int{0: 0, 9: 0, 6: 1, 10: 2}[name], i, 1)
	}
	sums.Mul(indicator, dense)
	if d := max(maxAbs(&eye), maxAbs(&sums)); !(d < 1e-15*12) {
		t.Errorf("F'F - I or sums over chunklets: %.1e", d)
	}
	w := blas.NewMatrix(r, 2)
	for i := range w.Data {
		w.Data[i] = math.Sin(float64(i + 1))
	}
	var want mat.Dense
	want.Mul(dense, toMat(w))
	within(t, "expand", toMat(f.expand(w)), &want, 1e-14)
}

// TestHelmertColumns: the written-out columns of plain chunklets are the same basis.
func TestHelmertColumns(t *testing.T) {
	plain := newHelmert([]int{3, 1, 4, 2})
	grown := helmert{start: plain.start, columns: columnsOf(plain.start), count: plain.points()}
	if plain.order() != grown.order() || plain.chunklets() != grown.chunklets() {
		t.Fatal("order or number of chunklets differ")
	}
	v := gaussian(1, plain.points(), 3).Data
	a, b := slices.Clone(v), slices.Clone(v)
	plain.apply(a)
	grown.apply(b)
	for i := range plain.order() {
		if d := math.Abs(a[i] - b[i]); !(d <= 1e-15*10) {
			t.Errorf("element %d: %v and %v", i, a[i], b[i])
		}
	}
}

// TestDropLast restores models bit for bit, embedding included, back to the one that was
// fitted, also through a file.
func TestDropLast(t *testing.T) {
	eng, ctx := enginetest.New(t, 2), context.Background()
	x := gaussian(60, 4, 2)
	for _, p := range []Params{{FixedS: 0.37, Dims: 3, Form: FormCholesky}, {EpsRel: 0.013, Form: FormAuto},
		{Eps: unevenEps(t, 10), Dims: 4, Landmarks: 12}} {
		m := fittest.On[*Model](t, eng,
			Learner{Kernel: enginetest.Spec(t, "rbf:sigma=2"), Params: p, Seed: 3}, x,
			chunkletSet(t, 60, runs(60, 7, 3, 2, 4, 1)...))
		u := incremental(t, m)
		models := []*Model{build(t, eng, u)}
		sameResults(t, "no update", results(t, eng, models[0], x), results(t, eng, m, x))
		for i := range 4 {
			must(t, u.Update(ctx, eng, x, []algorithms.Chunklet{
				{ID: algorithms.NewChunklet, Rows: []int{i, 2 * i, 50 + i}},
				{ID: i, Rows: []int{40 + i, 45 + i, 50 + i}}}))
			models = append(models, build(t, eng, u))
		}
		if p.Landmarks > 0 && len(u.refs) != p.Landmarks {
			t.Errorf("%d reference points, want %d", len(u.refs), p.Landmarks)
		}
		back, err := Decode(through(t, models[4]))
		must(t, err)
		for drop := 1; drop <= 4; drop++ {
			got, err := back.DropLast(ctx, eng, drop)
			must(t, err)
			want := models[4-drop]
			sameResults(t, "dropped", results(t, eng, got.(*Model), x), results(t, eng, want, x))
			if a, b := got.(*Model).Eps(), want.Eps(); a != b {
				t.Errorf("eps %v, want %v", a, b)
			}
			if a, b := got.(*Model).Describe(), want.Describe(); !reflect.DeepEqual(a, b) {
				t.Errorf("figures differ: %v, %v", a, b)
			}
		}
		// What is learned after a drop is what would have been learned without it.
		must(t, u.DropLast(3))
		must(t, u.Add(ctx, eng, x, []int{33, 34}))
		direct := incremental(t, models[1])
		must(t, direct.Add(ctx, eng, x, []int{33, 34}))
		sameResults(t, "after a drop", results(t, eng, build(t, eng, u), x),
			results(t, eng, build(t, eng, direct), x))
	}
}

// unevenEps returns an eps that n eps / n, in floating point, does not give back.
func unevenEps(t testingTB, n float64) float64 {
	t.Helper()
	for eps := 0.01; eps < 0.02; eps += 1e-5 {
		if s := n * eps; s/n != eps {
			return eps
		}
	}
	t.Fatal("no such eps")
	return 0
}

// TestUpdateThroughFile: a model that was saved and read goes on as one that was not.
func TestUpdateThroughFile(t *testing.T) {
	eng, ctx := enginetest.New(t, 2), context.Background()
	for _, v := range variants(t, eng) {
		if v.model.metric.spectral() || v.name == "gram" {
			continue
		}
		back, err := Decode(through(t, v.model))
		must(t, err)
		list := []algorithms.Chunklet{{ID: 2, Rows: []int{1, 2}}, {ID: 0, Rows: []int{2}},
			{ID: algorithms.NewChunklet, Rows: []int{7, 6, 9}}}
		a, err := v.model.Update(ctx, eng, v.x, list)
		must(t, err)
		b, err := back.Update(ctx, eng, v.x, list)
		must(t, err)
		sameResults(t, v.name, results(t, eng, a.(*Model), v.x), results(t, eng, b.(*Model), v.x))
		if notices := a.Status().Notices; len(notices) != 1 || !strings.Contains(notices[0], "row 2") {
			t.Errorf("%s: notices %q, want one about row 2", v.name, notices)
		}
	}
}

// TestUpdateWorkers: the same bits from any number of workers.
func TestUpdateWorkers(t *testing.T) {
	x := gaussian(300, 5, 8)
	var want []blas.Matrix
	for _, workers := range []int{1, 2, 5} {
		eng := enginetest.New(t, workers)
		all := sequenceFrom(0, 300)
		st := newStream(t, eng, x, "rbf:sigma=2", 0.1, [][]int{all[:90], all[90:100]}, all[100:])
		st.add(40, 2, 50)
		st.extend(1, 30)
		st.bridge(0, 2)
		got := results(t, eng, build(t, eng, st.u), x)
		if want == nil {
			want = got
		}
		sameResults(t, "workers", got, want)
	}
}

// TestUpdatedEmbedding: with all directions, distances between embedded points of the fit
// and of the updates are the learned ones.
func TestUpdatedEmbedding(t *testing.T) {
	eng, ctx := enginetest.New(t, 2), context.Background()
	x := gaussian(50, 4, 6)
	st := newStream(t, eng, x, "rbf:sigma=2", 0.2, [][]int{{0, 1, 2, 3}, {4, 5}}, sequenceFrom(6, 50))
	st.add(3, 2)
	st.extend(0, 2)
	z := x.Select(sequenceFrom(0, 13))
	m := build(t, eng, st.u)
	y, err := m.Embed(ctx, eng, z)
	must(t, err)
	var inner mat.Dense
	inner.Mul(toMat(y), toMat(y).T())
	within(t, "inner products", &inner, toMat(gramOf(t, eng, m, z, nil)), 1e-8)
	// The model is not touched by what happens to its Incremental afterwards.
	before := results(t, eng, m, x)
	must(t, st.u.DropLast(2))
	st.free = sequenceFrom(20, 50)
	st.sets, st.id = st.sets[:2], st.id[:2]
	st.add(5, 6)
	sameResults(t, "model", results(t, eng, m, x), before)
}

// TestUpdateKinds: sparse points join a dense model and dense ones a sparse model.
func TestUpdateKinds(t *testing.T) {
	eng, ctx := enginetest.New(t, 1), context.Background()
	x := gaussian(40, 3, 4)
	for i := range x.Data {
		if i%3 == 1 {
			x.Data[i] = 0
		}
	}
	csr := &points.CSR{D: 3, Start: []int{0}}
	for i := range x.N {
		appendSparse(csr, x, i)
		csr.N++
	}
	s := chunkletSet(t, 40, []int{0, 1, 2}, []int{3, 4})
	l := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=2"), Params: Params{Eps: 0.05}}
	var want blas.Matrix
	for i, c := range [][2]points.Points{{x, x}, {x, csr}, {csr, x}, {csr, csr}} {
		u := incremental(t, fittest.On[*Model](t, eng, l, c[0], s))
		must(t, u.Add(ctx, eng, c[1], []int{10, 12}, []int{13, 14, 15}))
		must(t, u.Extend(ctx, eng, c[1], 1, 20))
		must(t, u.anchors.Validate())
		must(t, u.store.Validate())
		kt := learned(t, eng, u, x)
		if i == 0 {
			want = kt
		}
		within(t, "kinds of points", toMat(kt), toMat(want), 1e-12)
	}
}

// TestUpdateErrors: mistakes have types and change nothing.
func TestUpdateErrors(t *testing.T) {
	eng, ctx := enginetest.New(t, 1), context.Background()
	x := gaussian(30, 3, 1)
	s := chunkletSet(t, 30, []int{0, 1, 2}, []int{3, 4})
	m := fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=2", 0.01), x, s)
	u := incremental(t, m)
	must(t, u.Add(ctx, eng, x, []int{5, 6}))
	before := learned(t, eng, u, x)
	canceledCtx, cancel := context.WithCancel(ctx)
	cancel()
	small, err := engine.New(engine.Options{Backend: eng.Backend(), MemoryLimit: 100})
	must(t, err)
	nan := gaussian(3, 3, 1)
	nan.Data[4] = math.NaN()
	gram := &points.Gram{N: 1, M: 3, Data: make([]float64, 3), Diagonal: []float64{1}, Reference: []int{-1}}
	list := func(id int, rows ...int) []algorithms.Chunklet {
		return []algorithms.Chunklet{{ID: id, Rows: rows}}
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"features", u.Add(ctx, eng, gaussian(5, 2, 1), []int{0, 1}), "number of features is 2"},
		{"no points", u.Add(ctx, eng, nil, []int{0, 1}), "no points"},
		{"NaN", u.Add(ctx, eng, nan, []int{0, 1}), "finite"},
		{"gram", u.Add(ctx, eng, gram, []int{0}), "Gram"},
		{"no chunklets", u.Add(ctx, eng, x), "at least one"},
		{"empty", u.Add(ctx, eng, x, []int{}), "empty"},
		{"row", u.Add(ctx, eng, x, []int{0, 30}), "row 30 does not exist: want 0 to 29"},
		{"chunklet", u.Update(ctx, eng, x, list(3, 1)),
			"chunklet 3 does not exist in the model: want 0 to 2"},
		{"negative", u.Update(ctx, eng, x, list(-2, 1)), "chunklet -2"},
		{"merge", u.Merge(ctx, eng, 0, 7), "chunklet 7"},
		{"one already", u.Merge(ctx, eng, 1, 1), "one already"},
		{"drop", u.DropLast(2), "number of updates to drop is 2: want 1 to 1"},
		{"drop none", u.DropLast(0), "want 1 to 1"},
		{"drop negative", u.DropLast(-1), "want 1 to 1"},
		{"memory", u.Add(ctx, small, x, []int{7, 8}), "limit"},
	} {
		if c.err == nil || !fault.IsInput(c.err) && c.name != "memory" ||
			!strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: error %v, want a fault of the input with %q", c.name, c.err, c.want)
		}
	}
	if err := u.Add(canceledCtx, eng, x, []int{7, 8}, []int{8, 9}); !errors.Is(err, context.Canceled) ||
		len(u.Notices()) != 0 {
		t.Errorf("canceled: %v, notices %q", err, u.Notices())
	}
	same(t, learned(t, eng, u, x), before)
	if u.Updates() != 1 || u.Points() != 7 || u.Chunklets() != 3 {
		t.Errorf("%d updates, %d points, %d chunklets after errors, want 1, 7, 3", u.Updates(), u.Points(),
			u.Chunklets())
	}
	if err := incremental(t, m).DropLast(1); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "no updates") {
		t.Errorf("drop without updates: %v", err)
	}
	spectral := fittest.On[*Model](t, eng,
		Learner{Kernel: enginetest.Spec(t, "linear"), Params: Params{Eps: 1, Form: FormSpectral}}, x, s)
	if _, err := spectral.Update(ctx, eng, x, list(-1, 1, 2)); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "spectral") {
		t.Errorf("spectral form: %v", err)
	}
	base := kernelOf(t, eng, "linear", x, x)
	g, err := points.NewGram(30, 30, base.Data, nil, nil)
	must(t, err)
	onGram := fittest.On[*Model](t, eng, Learner{Params: Params{Eps: 1, Form: FormCholesky}}, g, s)
	if _, err := onGram.Update(ctx, eng, g, list(-1, 1, 2)); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "Gram") {
		t.Errorf("Gram matrix: %v", err)
	}
}

// TestOverlap: chunklets of one update that share rows are one, and the order of the rows
// does not matter.
func TestOverlap(t *testing.T) {
	eng, ctx := enginetest.New(t, 1), context.Background()
	x := gaussian(30, 3, 1)
	m := fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=2", 0.01), x, chunkletSet(t, 30, []int{0, 1, 2}))
	u, v := incremental(t, m), incremental(t, m)
	must(t, u.Add(ctx, eng, x, []int{5, 6, 5}, []int{7, 8}, []int{8, 9, 6}))
	must(t, v.Add(ctx, eng, x, []int{9, 8, 7, 6, 5}))
	within(t, "overlap", toMat(learned(t, eng, u, x)), toMat(learned(t, eng, v, x)), 1e-12)
	if len(u.Notices()) != 1 || !strings.Contains(u.Notices()[0], "2 times") || len(v.Notices()) != 0 {
		t.Errorf("notices %q and %q, want one about two merges and none", u.Notices(), v.Notices())
	}
	// The numbers of merged chunklets name the union.
	must(t, u.Extend(ctx, eng, x, 2, 10))
	must(t, u.Extend(ctx, eng, x, 3, 11))
	must(t, v.Extend(ctx, eng, x, 1, 10, 11))
	within(t, "numbers", toMat(learned(t, eng, u, x)), toMat(learned(t, eng, v, x)), 1e-12)
	if err := u.Merge(ctx, eng, 1, 2); err == nil {
		t.Error("chunklets that are one were merged")
	}
}
