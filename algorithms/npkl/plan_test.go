package npkl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// drawn returns a learner with a random graph, loss and plan.
func drawn(t *rapid.T, x *points.Dense) Learner {
	l := Learner{Params: DefaultParams()}
	l.Params.Loss = rapid.SampledFrom([]Loss{Square, SquaredHinge}).Draw(t, "loss")
	l.Params.Graph = rapid.SampledFrom([]graphkernel.Graph{KNN, Dense, Within, Given}).Draw(t, "graph")
	l.Params.Radius = 2
	if l.Params.Graph == Given {
		l.Similarities = similarities(x)
	}
	return l
}

// similarities returns a matrix in which more than a fifth of all pairs, but not all, have a
// positive entry.
func similarities(x *points.Dense) blas.Matrix {
	s := blas.NewMatrix(x.N, x.N)
	for i := range x.N {
		for j := range x.N {
			s.Set(i, j, max(0, 1-points.SquaredDistance(x.Row(i), x.Row(j))/20))
		}
	}
	return s
}

// TestPlansAgree checks that sweeps over all points and sweeps over the points with links converge
// to the same optimum.
func TestPlansAgree(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		x, _, set := enginetest.Blobs(t, rapid.IntRange(12, 60).Draw(t, "n"), 3,
			rapid.IntRange(3, 9).Draw(t, "pairs"), rapid.Uint64().Draw(t, "seed"))
		l := drawn(t, x)
		l.Params.Tol, l.Params.MaxIter = 1e-10, 20000
		l.Params.Plan = Whole
		whole := fittest.Fit[*Model](t, l, x, set)
		l.Params.Plan = Boundary
		boundary := fittest.Fit[*Model](t, l, x, set)
		if !whole.Certified() || !boundary.Certified() {
			t.Fatalf("not certified: %q, %q", whole.Status().Message, boundary.Status().Message)
		}
		if a, b := whole.Objective(), boundary.Objective(); math.Abs(a-b) > 1e-8*a {
			t.Fatalf("objectives %.15g and %.15g", a, b)
		}
		// Z itself is not unique between parts of the graph that no link joins.
		a, b := gramOf(whole.Coordinates()), gramOf(boundary.Coordinates())
		for _, link := range slices.Concat(set.Must(), set.Cannot()) {
			f, g := l.Params.Loss.Slope(float64(link.Sign)*a[link.I][link.J]),
				l.Params.Loss.Slope(float64(link.Sign)*b[link.I][link.J])
			if math.Abs(f-g) > 1e-4 {
				t.Fatalf("the losses of link (%d, %d) have the slopes %g and %g", link.I, link.J, f, g)
			}
		}
	})
}

// TestReduction checks that the boundary form agrees with its definition, the inverse of the block
// of Delta^-1 (Proposition 1 of the paper): if the coordinates of the points without links minimize
// the energy, the objectives are the same, and Delta Z is 0 in the rows of these points.
func TestReduction(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 40).Draw(t, "n")
		x, _, set := enginetest.Blobs(t, n, 3, rapid.IntRange(1, 6).Draw(t, "pairs"),
			rapid.Uint64().Draw(t, "seed"))
		l := drawn(t, x)
		l.Params.Neighbors = 4
		ctx, eng := context.Background(), enginetest.New(t, 0)
		setup := graphkernel.Setup{Method: Method,
			Settings: graphkernel.Settings{Neighborhood: l.Params.Neighborhood, Loss: l.Params.Loss, C: 1,
				Delta: 0.3}, Given: l.Similarities}
		task, err := setup.Start(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		r, err := task.Reduce(ctx, eng)
		if err != nil {
			t.Fatal(err)
		}
		energy, boundary := task.Energy(), task.Boundary()
		inverse := enginetest.Inverse(t, energy)
		small := blas.NewMatrix(len(boundary), len(boundary))
		for a, i := range boundary {
			for b, j := range boundary {
				small.Set(a, b, inverse.At(i, j))
			}
		}
		want, got := enginetest.Inverse(t, small), r.Energy()
		for i := range boundary {
			for j := range boundary {
				if math.Abs(got.At(i, j)-want.At(i, j)) > 1e-11 {
					t.Fatalf("the reduced energy is %g at (%d, %d), want %g", got.At(i, j), i, j,
						want.At(i, j))
				}
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		v := blas.NewMatrix(len(boundary), 3)
		for i := range v.Data {
			v.Data[i] = rng.NormFloat64()
		}
		all, err := r.Restore(v)
		if err != nil {
			t.Fatal(err)
		}
		objective := func(p *graphkernel.Problem, v blas.Matrix) float64 {
			value, err := p.Objective(ctx, eng, v)
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
		if a, b := objective(r.Problem, v), objective(task.Problem, all); math.Abs(a-b) > 1e-11*(1+a) {
			t.Fatalf("reduced objective %.15g, whole %.15g", a, b)
		}
		for i := range n {
			if slices.Contains(boundary, i) {
				continue
			}
			for c := range 3 {
				sum := 0.0
				for j := range n {
					sum += energy.At(i, j) * all.At(j, c)
				}
				if math.Abs(sum) > 1e-10 {
					t.Fatalf("Delta V is %g at (%d, %d), a point without links", sum, i, c)
				}
			}
		}
	})
}

// TestWorkers checks that the coordinates are bit-identical for any number of workers, on sparse
// and on full graphs, with and without multipliers.
func TestWorkers(t *testing.T) {
	x, labels := clouds(2000, 5, 3)
	set, err := links.SampleByCount(labels, 600, 600, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := Learner{Params: DefaultParams()}
	l.Params.MaxIter, l.Params.Plan = racetest.Fewer(10), Whole
	for _, c := range []struct {
		g    graphkernel.Graph
		loss Loss
		c    float64
	}{{KNN, Square, 1}, {Dense, Square, 1}, {KNN, Hinge, 1}, {KNN, SquaredHinge, 1e5}} {
		g := c.g
		l.Params.Graph, l.Params.Loss, l.Params.C = g, c.loss, c.c
		var first []float64
		for _, workers := range []int{1, 2, 5} {
			m, err := l.Fit(context.Background(), enginetest.New(t, workers), x, set)
			if err != nil {
				t.Fatal(err)
			}
			coordinates := m.(*Model).Coordinates().Data
			if first == nil {
				first = coordinates
			}
			if !slices.Equal(first, coordinates) {
				t.Errorf("%s, %s, C = %g: %d workers and one give different bits", g, c.loss, c.c, workers)
			}
		}
	}
}

// TestColors checks that no two points of a class share an edge or a link, and that every point is
// in one class.
func TestColors(t *testing.T) {
	x, labels := clouds(500, 3, 3)
	set, err := links.SampleByCount(labels, 300, 300, 1)
	if err != nil {
		t.Fatal(err)
	}
	setup := graphkernel.Setup{Method: Method,
		Settings: graphkernel.Settings{Neighborhood: Neighborhood{Graph: KNN, Neighbors: 7}, Loss: Square,
			C: 1, Delta: 1}}
	p, err := setup.Start(context.Background(), enginetest.New(t, 0), x, set)
	if err != nil {
		t.Fatal(err)
	}
	o := color(p.Problem)
	class := make([]int, 500)
	for c := range len(o.start) - 1 {
		for _, i := range o.order[o.start[c]:o.start[c+1]] {
			class[i] += 1 + c
		}
	}
	energy := p.Energy()
	for i := range class {
		lo, hi := p.Links(i)
		for j := range i {
			joined := energy.At(i, j) != 0 || slices.Contains(p.To[lo:hi], int32(j))
			if joined && class[i] == class[j] {
				t.Fatalf("points %d and %d are neighbors of class %d", i, j, class[i]-1)
			}
		}
	}
	if sorted := slices.Sorted(slices.Values(o.order)); sorted[0] != 0 || sorted[499] != 499 ||
		len(slices.Compact(sorted)) != 500 {
		t.Fatal("the order is not a permutation")
	}
}

// problemOn returns the problem of the links on a graph of all points. If the graph is sparse, the
// points are in the order of their classes, which begin at start.
func problemOn(t *testing.T, ctx context.Context, eng *engine.Engine, g graphkernel.Graph, x points.Points,
	set *links.Set) (p *graphkernel.Problem, start []int) {
	t.Helper()
	setup := graphkernel.Setup{Method: Method,
		Settings: graphkernel.Settings{Neighborhood: Neighborhood{Graph: g, Neighbors: 7}, Loss: Square, C: 1,
			Delta: 1}}
	task, err := setup.Start(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	if g != KNN {
		return task.Problem, nil
	}
	c := color(task.Problem)
	return task.Permute(c.order), c.start
}

// TestSweep compares a sweep with updates of one row after the other by the definition, and its
// objective with the definition: over the panels of a full graph, and over the classes of a sparse
// one.
func TestSweep(t *testing.T) {
	x, labels := clouds(1200, 3, 3) // more than two panels
	set, err := links.SampleByCount(labels, 300, 300, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	for _, g := range []graphkernel.Graph{KNN, Dense} {
		p, start := problemOn(t, ctx, eng, g, x, set)
		d := newDescent(eng, p, start, 4, 1)
		want, k := d.v.Clone(), newBlock(Square, 4, 50)
		for i := range 1200 {
			g := make([]float64, 4)
			p.N.Each(i, func(j int, w float64) {
				for c, v := range want.Row(j) {
					g[c] += w * v
				}
			})
			k.load(p, want, i)
			k.update(want.Row(i), 2, g)
		}
		done, err := d.order.sweep(ctx, d)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range d.v.Data {
			if math.Abs(v-want.Data[i]) > 1e-12 {
				t.Fatalf("%s: element %d is %g, want %g", g, i, v, want.Data[i])
			}
		}
		value, err := p.Objective(ctx, eng, want)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(done.value-value) > 1e-11*value {
			t.Fatalf("%s: objective %.15g, want %.15g", g, done.value, value)
		}
	}
}

// TestMemoryIsReused checks that earlier contents of the engine's memory, such as NaN, do not
// change the result, on all points and on those with links.
func TestMemoryIsReused(t *testing.T) {
	x, labels := clouds(300, 3, 3)
	set, err := links.SampleByCount(labels, 40, 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := Learner{Params: DefaultParams()}
	l.Params.Graph = Dense
	for _, plan := range []Plan{Whole, Boundary} {
		l.Params.Plan = plan
		eng := enginetest.New(t, 2)
		want := fittest.On[*Model](t, eng, l, x, set).Coordinates().Data
		var used []blas.Matrix
		for n := 100; n <= 300; n += 25 {
			m := eng.GetMatrix(n, n)
			for i := range m.Data {
				m.Data[i] = math.NaN()
			}
			used = append(used, m)
		}
		for _, m := range used {
			eng.PutMatrix(m)
		}
		for range 2 {
			if !slices.Equal(fittest.On[*Model](t, eng, l, x, set).Coordinates().Data, want) {
				t.Errorf("%s: the coordinates depend on earlier contents of memory", plan)
			}
		}
	}
}

// TestManyCopies: a linked point with thousands of copies has as many neighbors, and the rounding
// of their sum does not end the fit.
func TestManyCopies(t *testing.T) {
	const copies = 4000
	for _, row := range []int{1, 2, 3} {
		x, _ := clouds(40, 2, 2)
		for range copies {
			x.Data = append(x.Data, x.Row(row)...)
		}
		x.N += copies
		var list []links.Link
		for i := range 12 {
			list = append(list, links.NewLink(i, i+12, links.Must), links.NewLink(i, i+13, links.Cannot))
		}
		set, err := links.New(x.N, list)
		if err != nil {
			t.Fatal(err)
		}
		l := Learner{Params: DefaultParams()}
		if m := fittest.Fit[*Model](t, l, x, set); !m.Certified() {
			t.Errorf("copies of row %d: %+v", row, m.Status())
		}
	}
}
