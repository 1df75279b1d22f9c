package baseline_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// rcaProblem returns n points of d correlated features in chunklets of three.
func rcaProblem(t testing.TB, n, d int, seed uint64) (*points.Dense, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	data := make([]float64, n*d)
	for i := range n {
		shared := rng.NormFloat64()
		for j := range d {
			data[i*d+j] = float64(j+1)*rng.NormFloat64() + shared + 5
		}
	}
	var chunklets [][]int
	for i := 0; i+2 < n; i += 4 {
		chunklets = append(chunklets, []int{i, i + 1, i + 2})
	}
	set, err := links.FromChunklets(n, chunklets)
	if err != nil {
		t.Fatal(err)
	}
	return dense(t, n, d, data), set
}

func dense(t testing.TB, n, d int, data []float64) *points.Dense {
	t.Helper()
	x, err := points.NewDense(n, d, data)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func rcaFit(t testing.TB, x *points.Dense, set *links.Set, p baseline.RCA) *baseline.RCAModel {
	t.Helper()
	return fittest.Fit[*baseline.RCAModel](t, &baseline.RCALearner{Params: p}, x, set)
}

// within returns the within-chunklet covariance of rows (n x d, compact), by definition.
func within(rows []float64, d int, chunklets [][]int) [][]float64 {
	c, total := square(d), 0
	for _, members := range chunklets {
		mean := make([]float64, d)
		for _, i := range members {
			for j := range d {
				mean[j] += rows[i*d+j] / float64(len(members))
			}
		}
		for _, i := range members {
			for a := range d {
				for b := range d {
					c[a][b] += (rows[i*d+a] - mean[a]) * (rows[i*d+b] - mean[b])
				}
			}
		}
		total += len(members)
	}
	for a := range d {
		for b := range d {
			c[a][b] /= float64(total)
		}
	}
	return c
}

func square(d int) [][]float64 {
	m := make([][]float64, d)
	for i := range m {
		m[i] = make([]float64, d)
	}
	return m
}

// inverse returns the inverse by Gauss-Jordan elimination with row pivoting.
func inverse(m [][]float64) [][]float64 {
	d := len(m)
	a, inv := square(d), square(d)
	for i := range d {
		copy(a[i], m[i])
		inv[i][i] = 1
	}
	for c := range d {
		p := c
		for r := c; r < d; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
				p = r
			}
		}
		a[c], a[p], inv[c], inv[p] = a[p], a[c], inv[p], inv[c]
		f := 1 / a[c][c]
		for j := range d {
			a[c][j] *= f
			inv[c][j] *= f
		}
		for r := range d {
			if f := a[r][c]; r != c {
				for j := range d {
					a[r][j] -= f * a[c][j]
					inv[r][j] -= f * inv[c][j]
				}
			}
		}
	}
	return inv
}

// TestRCAEmbeddingIsWhiteWithinChunklets checks that the embedded points have within-chunklet
// covariance I, up to eps/(c + eps).
func TestRCAEmbeddingIsWhiteWithinChunklets(t *testing.T) {
	x, set := rcaProblem(t, 120, 6, 1)
	p := param.Default[baseline.RCA]()
	p.EpsRel = 1e-13
	y, err := rcaFit(t, x, set, p).Embed(context.Background(), enginetest.New(t, 0), x)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range within(y.Data, y.Cols, set.Chunklets()) {
		for j, v := range row {
			want := 0.0
			if i == j {
				want = 1
			}
			if d := math.Abs(v - want); !(d < 1e-11) {
				t.Errorf("covariance (%d,%d) is %g: want %g", i, j, v, want)
			}
		}
	}
}

// TestRCATransformIsInverseRoot checks that W'W = (C + eps I)^-1, with C and the inverse computed
// by definition.
func TestRCATransformIsInverseRoot(t *testing.T) {
	x, set := rcaProblem(t, 120, 5, 2)
	p := param.Default[baseline.RCA]()
	p.EpsRel = 1e-2
	w, _ := rcaFit(t, x, set, p).Transform()
	c := within(x.Data, x.D, set.Chunklets())
	trace := 0.0
	for i := range c {
		trace += c[i][i]
	}
	for i := range c {
		c[i][i] += p.EpsRel * trace / float64(len(c))
	}
	want := inverse(c)
	for i := range c {
		for j := range c {
			got := 0.0
			for r := range w.Rows {
				got += w.At(r, i) * w.At(r, j)
			}
			if d := math.Abs(got - want[i][j]); !(d < 1e-12) {
				t.Errorf("W'W (%d,%d) is %.17g: want %.17g", i, j, got, want[i][j])
			}
		}
	}
}

// TestRCAConstantAndCollinearColumnsDropOut checks that a constant column and a linear combination
// of others add nothing and give no NaN.
func TestRCAConstantAndCollinearColumnsDropOut(t *testing.T) {
	x, set := rcaProblem(t, 100, 4, 3)
	const d = 6
	data := make([]float64, x.N*d)
	for i := range x.N {
		row := x.Row(i)
		copy(data[i*d:], row)
		data[i*d+4] = 7
		data[i*d+5] = row[0] - 2*row[1]
	}
	wide := dense(t, x.N, d, data)
	p := param.Default[baseline.RCA]()
	p.EpsRel = 1e-12 // negligible: a larger value would regularize two different bases
	narrow, widened := rcaFit(t, x, set, p), rcaFit(t, wide, set, p)
	if widened.Dim() != 4 {
		t.Fatalf("%d dimensions: want 4, the rank of the data", widened.Dim())
	}
	pairs := [][2]int{{0, 1}, {2, 50}, {99, 3}, {7, 7}}
	a := distances(t, narrow, x, pairs)
	b := distances(t, widened, wide, pairs)
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-9*(1+a[i])) {
			t.Errorf("distance of %v is %g with the redundant columns, %g without", pairs[i], b[i], a[i])
		}
	}
}

func distances(t *testing.T, m algorithms.Model, x points.Points, pairs [][2]int) []float64 {
	t.Helper()
	d, err := m.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRCAReducedDimensionIsTheDiscriminant checks that no direction has a larger ratio of total to
// within-chunklet variance than the first discriminant, and that the rows of the reduced embedding
// stay white.
func TestRCAReducedDimensionIsTheDiscriminant(t *testing.T) {
	x, set := rcaProblem(t, 200, 5, 4)
	p := param.Default[baseline.RCA]()
	p.EpsRel, p.Dims = 1e-13, 2
	m := rcaFit(t, x, set, p)
	w, mean := m.Transform()
	if w.Rows != 2 {
		t.Fatalf("W has %d rows: want 2", w.Rows)
	}
	c := within(x.Data, x.D, set.Chunklets())
	ratio := func(v []float64) float64 {
		total, inside := 0.0, 0.0
		for i := range x.N {
			s := 0.0
			for j, f := range x.Row(i) {
				s += v[j] * (f - mean[j])
			}
			total += s * s
		}
		for a := range c {
			for b := range c {
				inside += v[a] * c[a][b] * v[b]
			}
		}
		return total / inside
	}
	best := ratio(w.Row(0))
	rng := rand.New(rand.NewPCG(4, 4))
	v := make([]float64, x.D)
	for range 2000 {
		step := math.Pow(10, -4*rng.Float64())
		for j := range v {
			v[j] = w.At(0, j) + step*rng.NormFloat64()
		}
		if r := ratio(v); r > best*(1+1e-10) {
			t.Fatalf("a direction has ratio %g > %g of the first discriminant", r, best)
		}
	}
	if second := ratio(w.Row(1)); second > best {
		t.Errorf("the second ratio %g exceeds the first %g", second, best)
	}
}

func TestRCAEncodeDecodeKeepsEveryBit(t *testing.T) {
	x, set := rcaProblem(t, 60, 4, 5)
	m := rcaFit(t, x, set, param.Default[baseline.RCA]())
	var f model.File
	if err := m.Encode(&f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.Decode[baseline.RCA](baseline.RCAMethod, &f, fitted.ReadLinear)
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]int{{0, 1}, {5, 59}}
	a, b := distances(t, m, x, pairs), distances(t, back, x, pairs)
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("distance %d is %g after decoding, %g before", i, b[i], a[i])
		}
	}
}

func TestRCABadInput(t *testing.T) {
	x, set := rcaProblem(t, 20, 3, 6)
	noLinks, err := links.New(20, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := links.New(20, []links.Link{links.NewLink(0, 1, links.Must)})
	if err != nil {
		t.Fatal(err)
	}
	nan := append([]float64(nil), x.Data...)
	nan[4] = math.NaN()
	for name, c := range map[string]struct {
		x   points.Points
		set *links.Set
		p   baseline.RCA
	}{
		"eps_rel=0":    {x, set, baseline.RCA{EpsRel: 0}},
		"eps_rel=NaN":  {x, set, baseline.RCA{EpsRel: math.NaN()}},
		"dims<0":       {x, set, baseline.RCA{EpsRel: 1, Dims: -1}},
		"rank_tol=1":   {x, set, baseline.RCA{EpsRel: 1, RankTol: 1}},
		"no must-link": {x, noLinks, param.Default[baseline.RCA]()},
		"NaN":          {&points.Dense{N: 20, D: 3, Data: nan}, set, param.Default[baseline.RCA]()},
		"equal points": {&points.Dense{N: 20, D: 3, Data: make([]float64, 60)}, set,
			param.Default[baseline.RCA]()},
		"equal chunklet": {&points.Dense{N: 20, D: 1, Data: append([]float64{1, 1}, make([]float64, 18)...)},
			pair, param.Default[baseline.RCA]()},
		"too large": {&points.Dense{N: 20, D: 1,
			Data: append([]float64{1e200, -1e200}, make([]float64, 18)...)}, pair,
			param.Default[baseline.RCA]()},
		"no values": {&points.CSR{N: 20, D: 3, Start: make([]int, 21)}, set, param.Default[baseline.RCA]()},
		"sequences": {&points.Sequences{Alphabet: "AB", Start: make([]int, 21)}, set,
			param.Default[baseline.RCA]()},
	} {
		_, err := (&baseline.RCALearner{Params: c.p}).Fit(context.Background(), enginetest.New(t, 0), c.x,
			c.set)
		if !fault.IsInput(err) {
			t.Errorf("%s: error %v: want a typed input error", name, err)
		}
	}
}

// TestRCARobust checks that a wrong must-link between two groups does not change the metric, and
// that right links give the same bits as robust=false.
func TestRCARobust(t *testing.T) {
	x, _ := rcaProblem(t, 60, 3, 8)
	var list []links.Link
	for i := range x.N {
		x.Row(i)[0] += 40 * float64(i%2)
		if i+4 < x.N {
			list = append(list, links.NewLink(i, i+4-2*(i/2%2), links.Must))
		}
		if i%3 == 0 {
			list = append(list, links.NewLink(i, (i+7)%x.N, links.Cannot))
		}
	}
	right, err := links.New(x.N, list)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := links.New(x.N, append(list, links.NewLink(20, 33, links.Must)))
	if err != nil {
		t.Fatal(err)
	}
	for _, dims := range []int{0, 2} {
		robust := param.Default[baseline.RCA]()
		robust.Dims = dims
		plain := robust
		plain.Robust = false
		pairs := [][2]int{{0, 1}, {20, 33}, {5, 50}}
		want := distances(t, rcaFit(t, x, right, plain), x, pairs)
		m := rcaFit(t, x, wrong, robust)
		if got := distances(t, m, x, pairs); !slices.Equal(got, want) {
			t.Errorf("distances %v with a wrong must-link, %v without", got, want)
		}
		if notices := m.Status().Notices; len(notices) != 1 ||
			!strings.Contains(notices[0], "left out 1 of") {
			t.Errorf("notices %q: want one about a must-link", notices)
		}
		if got := distances(t, rcaFit(t, x, right, robust), x, pairs); !slices.Equal(got, want) {
			t.Errorf("distances %v of right links, %v with robust=false", got, want)
		}
		if harmed := distances(t, rcaFit(t, x, wrong, plain), x, pairs); slices.Equal(harmed, want) {
			t.Error("robust=false leaves out the wrong must-link")
		}
	}
}

func ExampleRCA_fit() {
	// The second feature varies inside chunklets: it is noise.
	x, _ := points.NewDense(4, 2, []float64{0, -3, 0.1, 3, 1, -2, 0.9, 4})
	set, _ := links.FromChunklets(4, [][]int{{0, 1}, {2, 3}})
	eng, _ := engine.New(engine.Options{})
	m, err := (&baseline.RCALearner{Params: param.Default[baseline.RCA]()}).Fit(context.Background(), eng, x,
		set)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := m.Distances(context.Background(), eng, x, [][2]int{{0, 1}, {0, 2}})
	fmt.Println("linked points are closer:", d[0] < d[1])
	// Output: linked points are closer: true
}
