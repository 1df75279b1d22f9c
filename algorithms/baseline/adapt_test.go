package baseline

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// adaptRows returns n rows in three groups, at unit length on request, and weighted must-links
// within the groups.
func adaptRows(t testing.TB, n, d, must int, unit bool, seed uint64) (*points.Dense, *links.Set) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range n {
		row, length := x.Row(i), 0.0
		for j := range row {
			row[j] = rng.NormFloat64()/float64(1+j%4) + .5
		}
		row[i%3] += 3
		for _, v := range row {
			length += v * v
		}
		for j := range row {
			if unit {
				row[j] /= math.Sqrt(length)
			}
		}
	}
	var list []links.Link
	for range must {
		i := rng.IntN(n - 3)
		j := i + 3*(1+rng.IntN((n-1-i)/3))
		list = append(list, links.Link{I: i, J: j, Sign: links.Must, Weight: .5 + rng.Float64()})
	}
	return x, enginetest.Links(t, n, list)
}

func adaptFitted(t testing.TB, change func(*Adapt), x points.Points, set *links.Set) *AdaptModel {
	t.Helper()
	return fittest.Changed[*AdaptModel](func(p Adapt, c algorithms.Common) algorithms.Learner {
		return AdaptLearner{Params: p, Seed: c.Seed}
	}, AdaptDefaults())(t, change, x, set)
}

// unitRow returns a row at unit length, zeros as they are.
func unitRow(row []float64) []float64 {
	length, out := 0.0, slices.Clone(row)
	for _, v := range row {
		length += v * v
	}
	if length > 0 {
		for j := range out {
			out[j] /= math.Sqrt(length)
		}
	}
	return out
}

func unitRows(rows [][]float64) (out [][]float64) {
	for _, row := range rows {
		out = append(out, unitRow(row))
	}
	return out
}

func minusMean(rows [][]float64) (out [][]float64) {
	mean := make([]float64, len(rows[0]))
	for _, row := range rows {
		for j, v := range row {
			mean[j] += v / float64(len(rows))
		}
	}
	for _, row := range rows {
		moved := slices.Clone(row)
		for j := range moved {
			moved[j] -= mean[j]
		}
		out = append(out, moved)
	}
	return out
}

// byDefinition returns the coordinates of the rows by the formulas, in loops: with the symmetric
// root of T, in all features. q of the directions vary.
func byDefinition(x *points.Dense, set *links.Set, unit bool, dims, q int) (z [][]float64) {
	var y [][]float64
	for i := range x.N {
		y = append(y, x.Row(i))
	}
	if y = minusMean(y); unit {
		y = minusMean(unitRows(y))
	}
	d, m := x.D, 0.0
	total, t := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	for _, l := range set.Must() {
		m += l.Weight
	}
	for a := range d {
		for b := a; b < d; b++ {
			c, s := 0.0, 0.0
			for _, row := range y {
				c += row[a] * row[b] / float64(x.N)
			}
			for _, l := range set.Must() {
				s += l.Weight * (y[l.I][a] - y[l.J][a]) * (y[l.I][b] - y[l.J][b]) / (2 * m)
			}
			total.SetSym(a, b, c)
			t.SetSym(a, b, s)
		}
	}
	prior := float64(q) / (float64(q) + m)
	mean := mat.Trace(t) / float64(q)
	for a := range d {
		for b := a; b < d; b++ {
			t.SetSym(a, b, (1-prior)*t.At(a, b))
		}
		t.SetSym(a, a, t.At(a, a)+prior*mean)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(t, true) {
		panic("no eigenvalues")
	}
	var v, root, inner, ratios mat.Dense
	eigen.VectorsTo(&v)
	roots := eigen.Values(nil)
	for a, w := range roots {
		roots[a] = 1 / math.Sqrt(w)
	}
	root.Product(&v, mat.NewDiagDense(d, roots), v.T())
	inner.Product(&root, total, &root)
	symmetric := mat.NewSymDense(d, nil)
	for a := range d {
		for b := a; b < d; b++ {
			symmetric.SetSym(a, b, inner.At(a, b))
		}
	}
	if !eigen.Factorize(symmetric, true) {
		panic("no eigenvalues")
	}
	eigen.VectorsTo(&v)
	values := eigen.Values(nil)
	ratios.Product(v.T(), &root)
	for _, row := range y {
		var out []float64
		for r := d - 1; r >= d-dims; r-- {
			sum := 0.0
			for j, c := range row {
				sum += ratios.At(r, j) * c
			}
			out = append(out, sum*math.Pow(values[r], (1-prior)/2))
		}
		z = append(z, out)
	}
	if unit {
		return unitRows(z)
	}
	return z
}

// averagedByDefinition returns the local average of coordinates over themselves, in loops.
func averagedByDefinition(z [][]float64, near int, unit bool) (out [][]float64) {
	usual := 0.0
	for _, row := range z {
		usual += squaredLength(row) / float64(len(z))
	}
	for _, own := range z {
		type other struct {
			row     int
			squared float64
		}
		var list []other
		for r, row := range z {
			if g := enginetest.SquaredDistance(own, row); g >= 1e-6*usual {
				list = append(list, other{r, g})
			}
		}
		slices.SortFunc(list, func(a, b other) int { return int(math.Copysign(1, a.squared-b.squared)) })
		list = list[:near+1]
		mean, sum := make([]float64, len(own)), 0.0
		for _, o := range list {
			w := 1 - o.squared/list[near].squared
			sum += w
			for j, v := range z[o.row] {
				mean[j] += w * v
			}
		}
		for j := range mean {
			mean[j] /= sum
		}
		var row []float64
		if unit {
			row = append(slices.Clone(own), unitRow(mean)...)
			for j := range row {
				row[j] /= math.Sqrt2
			}
		} else {
			for j, v := range own {
				row = append(row, (v+mean[j])/2)
			}
		}
		out = append(out, row)
	}
	return out
}

func squaredLength(row []float64) (sum float64) {
	for _, v := range row {
		sum += v * v
	}
	return sum
}

// wantDistances compares the squared distances of all pairs of rows with those of coordinates.
func wantDistances(t *testing.T, what string, m algorithms.Model, x points.Points, z [][]float64,
	tol float64) {
	t.Helper()
	var pairs [][2]int
	for i := range z {
		for j := range i {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	got, err := m.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	worst, largest := 0.0, slices.Max(got)
	for k, p := range pairs {
		worst = max(worst, math.Abs(got[k]-enginetest.SquaredDistance(z[p[0]], z[p[1]])))
	}
	if !(worst <= tol*largest) {
		t.Errorf("%s: squared distances differ by %.2g of the largest", what, worst/largest)
	}
}

// TestAdaptIsItsDefinition compares the metric, which is found by a Cholesky factor and, of few
// rows, in principal coordinates, with loops over the formulas and the symmetric root of T.
func TestAdaptIsItsDefinition(t *testing.T) {
	for _, c := range []struct {
		name             string
		n, d, must, dims int
		unit, rows       bool // scaled, and given at unit length
		q                int
	}{
		{"table", 50, 5, 20, 5, false, false, 5},
		{"few directions", 50, 5, 20, 2, false, false, 5},
		{"one must-link", 50, 5, 1, 5, false, false, 5},
		{"fewer rows than features", 20, 30, 12, 19, false, false, 19},
		{"embeddings", 90, 40, 25, 40, true, true, 40},
		{"embeddings of other lengths", 50, 5, 30, 5, true, false, 5},
		{"few directions of embeddings", 90, 40, 25, 6, true, true, 40},
		{"fewer embeddings than features", 25, 40, 30, 24, true, true, 24},
	} {
		x, set := adaptRows(t, c.n, c.d, c.must, c.rows, 1)
		want := byDefinition(x, set, c.unit, c.dims, c.q)
		for _, smooth := range []int{0, 4} {
			m := adaptFitted(t, func(p *Adapt) {
				p.Dims, p.Smooth = c.dims, smooth
				if c.unit && !c.rows {
					p.Unit = AdaptYes
				}
			}, x, set)
			if m.Directed() != c.unit {
				t.Fatalf("%s: at unit length: %v", c.name, m.Directed())
			}
			if smooth == 0 {
				wantDistances(t, c.name, m, x, want, 1e-10)
			} else {
				wantDistances(t, c.name+", averaged", m, x, averagedByDefinition(want, smooth, c.unit), 1e-6)
			}
		}
	}
}

// TestAdaptWithoutEvidence: with weights near 0 the metric is that of the centered rows, or of
// these at unit length, times a constant.
func TestAdaptWithoutEvidence(t *testing.T) {
	x, set := adaptRows(t, 60, 6, 9, false, 2)
	var tiny []links.Link
	for _, l := range set.Must() {
		l.Weight *= 1e-13
		tiny = append(tiny, l)
	}
	for _, unit := range []AdaptUnit{AdaptNo, AdaptYes} {
		var rows [][]float64
		for i := range x.N {
			rows = append(rows, x.Row(i))
		}
		if rows = minusMean(rows); unit == AdaptYes { // the rows, and then the coordinates
			rows = unitRows(minusMean(unitRows(rows)))
		}
		m := adaptFitted(t, func(p *Adapt) { p.Unit = unit }, x, enginetest.Links(t, x.N, tiny))
		d := distancesOf(t, m, x, [][2]int{{0, 1}})[0]
		ratio := math.Sqrt(d / enginetest.SquaredDistance(rows[0], rows[1]))
		for _, row := range rows {
			for j := range row {
				row[j] *= ratio
			}
		}
		wantDistances(t, "unit="+string(unit), m, x, rows, 1e-11)
	}
}

func distancesOf(t *testing.T, m algorithms.Model, x points.Points, pairs [][2]int) []float64 {
	t.Helper()
	d, err := m.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAdaptWithMuchEvidence: with large weights the prior vanishes, and linked rows vary equally in
// all directions but for the weights of these, the ratios of total to within-class variance.
func TestAdaptWithMuchEvidence(t *testing.T) {
	x, set := adaptRows(t, 60, 5, 40, false, 3)
	for _, weight := range []float64{1e9, 1e300, math.MaxFloat64} {
		var large []links.Link
		for _, l := range set.Must() {
			l.Weight = weight
			large = append(large, l)
		}
		m := adaptFitted(t, func(*Adapt) {}, x, enginetest.Links(t, x.N, large))
		y, err := m.Embed(context.Background(), enginetest.New(t, 0), x)
		if err != nil {
			t.Fatal(err)
		}
		for a := range 5 {
			for b := range 5 {
				within, total := 0.0, 0.0
				for _, l := range large {
					within += (y.At(l.I, a) - y.At(l.J, a)) * (y.At(l.I, b) - y.At(l.J, b))
				}
				for i := range x.N {
					total += y.At(i, a) * y.At(i, b) / float64(x.N)
				}
				within /= float64(2 * len(large))
				if a == b { // mu within, and mu^2 in total
					within, total = within/math.Sqrt(total)-1, 0
				}
				if !(math.Abs(within) < 1e-6 && math.Abs(total) < 1e-6) {
					t.Errorf("weight %g: (%d,%d) is %g off within, %g in total", weight, a, b, within, total)
				}
			}
		}
	}
}

// TestAdaptWeights: a weight of 2 is a link twice, between copies of its rows that lie where these
// do, if the rows that the links do not join stay as they are.
func TestAdaptWeights(t *testing.T) {
	x, set := adaptRows(t, 40, 4, 8, false, 4)
	twice := &points.Dense{N: 2 * x.N, D: x.D, Data: slices.Concat(x.Data, x.Data)}
	var once, copied []links.Link
	for _, l := range set.Must() {
		l.Weight = 2
		once = append(once, l)
		l.Weight = 1
		copied = append(copied, l, links.NewLink(l.I+x.N, l.J+x.N, links.Must))
	}
	a := adaptFitted(t, func(*Adapt) {}, x, enginetest.Links(t, x.N, once))
	b := adaptFitted(t, func(*Adapt) {}, twice, enginetest.Links(t, twice.N, copied))
	pairs := [][2]int{{0, 1}, {5, 30}, {17, 39}}
	for k, d := range distancesOf(t, a, x, pairs) {
		if e := distancesOf(t, b, twice, pairs)[k]; !(math.Abs(d-e) < 1e-11*d) {
			t.Errorf("squared distance %g with weights, %g with copies", d, e)
		}
	}
}

// TestAdaptEmbeddings checks which rows are taken for embeddings.
func TestAdaptEmbeddings(t *testing.T) {
	unit, set := adaptRows(t, 60, 40, 20, true, 5)
	change := func(f func(i, j int, v float64) float64) *points.Dense {
		out := &points.Dense{N: unit.N, D: unit.D, Data: slices.Clone(unit.Data)}
		for i := range out.N {
			for j, v := range out.Row(i) {
				out.Row(i)[j] = f(i, j, v)
			}
		}
		return out
	}
	plain, _ := adaptRows(t, 60, 40, 20, false, 5)
	narrow, few := adaptRows(t, 60, 32, 20, true, 5)
	for _, c := range []struct {
		name string
		x    *points.Dense
		set  *links.Set
		want bool
	}{
		{"unit length", unit, set, true},
		{"length 700", change(func(_, _ int, v float64) float64 { return 700 * v }), set, true},
		{"half precision", change(func(_, _ int, v float64) float64 {
			return math.Round(v*(1<<12)) / (1 << 12)
		}), set, true},
		{"some rows of zeros", change(func(i, _ int, v float64) float64 {
			return v * math.Min(1, float64(i%7))
		}), set, true},
		{"lengths that differ by a percent", change(func(i, _ int, v float64) float64 {
			return v * (1 + .01*float64(i%3))
		}), set, false},
		{"integers of one length", change(func(_, _ int, v float64) float64 {
			return math.Copysign(1, v-.1)
		}), set, false},
		{"a table far from the origin", change(func(i, j int, _ float64) float64 {
			return plain.Row(i)[j] + 1e4
		}), set, false},
		{"a table", plain, set, false},
		{"32 columns", narrow, few, false},
	} {
		if got := adaptFitted(t, func(*Adapt) {}, c.x, c.set).Directed(); got != c.want {
			t.Errorf("%s: embeddings %v, want %v", c.name, got, c.want)
		}
		if adaptFitted(t, func(p *Adapt) { p.Unit = AdaptNo }, c.x, c.set).Directed() ||
			!adaptFitted(t, func(p *Adapt) { p.Unit = AdaptYes }, c.x, c.set).Directed() {
			t.Errorf("%s: the parameter does not decide", c.name)
		}
	}
}

// TestAdaptZeroLength: a row at the mean, which has no direction, is not scaled; coordinates of all
// rows, and of rows of zeros, are finite and at unit length.
func TestAdaptZeroLength(t *testing.T) {
	half, set := adaptRows(t, 30, 4, 9, false, 6)
	x := &points.Dense{N: 61, D: 4, Data: make([]float64, 61*4)}
	for i := range 30 {
		for j, v := range half.Row(i) { // the mean is 0
			x.Row(i)[j], x.Row(i + 30)[j] = v, -v
		}
	}
	set = enginetest.Links(t, 61, set.Must())
	for _, smooth := range []int{0, 3} {
		m := adaptFitted(t, func(p *Adapt) { p.Unit, p.Smooth = AdaptYes, smooth }, x, set)
		y, err := m.Embed(context.Background(), enginetest.New(t, 0), x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			if s := squaredLength(y.Row(i)); !(math.Abs(s-1) < 1e-12) {
				t.Errorf("row %d has the squared length %g", i, s)
			}
		}
		if s := squaredLength(y.Row(60)[:4]); !(s <= 1+1e-12) {
			t.Errorf("the row at the mean has the squared length %g", s)
		}
		notices := m.Status().Notices
		if !strings.Contains(strings.Join(notices, "\n"), "1 of 61, the first is row 60") {
			t.Errorf("notices %q: want the row of zeros", notices)
		}
	}
}

// TestAdaptIsStored: models of all forms have every bit after a file, for any number of workers, in
// any batch, and single precision is near.
func TestAdaptIsStored(t *testing.T) {
	ctx := context.Background()
	for _, unit := range []AdaptUnit{AdaptNo, AdaptYes} {
		for _, smooth := range []int{0, 5} {
			x, set := adaptRows(t, 200, 40, 30, true, 7)
			change := func(p *Adapt) { p.Unit, p.Smooth = unit, smooth }
			m := adaptFitted(t, change, x, set)
			var f model.File
			if err := m.Encode(&f); err != nil {
				t.Fatal(err)
			}
			back, err := fitted.Decode[Adapt](AdaptMethod, &f, fitted.ReadAveraged)
			if err != nil {
				t.Fatal(err)
			}
			p := AdaptDefaults()
			change(&p)
			again := fittest.On[*AdaptModel](t, enginetest.New(t, 3), AdaptLearner{Params: p}, x, set)
			want, err := m.Embed(ctx, enginetest.New(t, 2), x)
			if err != nil {
				t.Fatal(err)
			}
			for name, m := range map[string]*AdaptModel{"read": back, "of three workers": again} {
				y, err := m.Embed(ctx, enginetest.New(t, 1), x)
				if err != nil || !slices.Equal(y.Data, want.Data) {
					t.Errorf("unit=%s smooth=%d: the model %s differs (%v)", unit, smooth, name, err)
				}
			}
			for i := range 3 {
				y, err := m.Embed(ctx, enginetest.New(t, 1), x.Select([]int{17 * i}))
				if err != nil {
					t.Fatal(err)
				}
				off := math.Sqrt(enginetest.SquaredDistance(y.Row(0), want.Row(17*i)))
				if off > 0 && (backends.Default() != "netlib" || !(off < 1e-12)) { // as OpenBLAS sums by shape
					t.Errorf("unit=%s smooth=%d: row %d alone differs by %g", unit, smooth, 17*i, off)
				}
			}
			narrow, err := points.Narrow(x)
			if err != nil {
				t.Fatal(err)
			}
			y, err := m.EmbedSingle(ctx, enginetest.New(t, 2), narrow)
			if err != nil {
				t.Fatal(err)
			}
			for i := range x.N {
				for j, v := range y.Row(i) {
					if !(math.Abs(float64(v)-want.At(i, j)) < 1e-5*math.Sqrt(squaredLength(want.Row(i)))) {
						t.Fatalf("unit=%s: (%d,%d) is %g in single precision, %g in double", unit, i, j, v,
							want.At(i, j))
					}
				}
			}
		}
	}
}

// TestAdaptDamaged: unusable tensors are errors.
func TestAdaptDamaged(t *testing.T) {
	x, set := adaptRows(t, 50, 4, 9, false, 8)
	for name, damage := range map[string]func(f *model.File){
		"center":   func(f *model.File) { f.SetFloat64s("adapt.center", []float64{1, 2}) },
		"NaN":      func(f *model.File) { f.SetFloat64s("adapt.center", []float64{1, 2, math.NaN(), 4}) },
		"shortest": func(f *model.File) { f.SetFloat64s("adapt.shortest", []float64{1e-9, 0}) },
		"lengths":  func(f *model.File) { f.SetFloat64s("adapt.shortest", []float64{1e-9}) },
		"near 0":   func(f *model.File) { f.SetInt64s("adapt.near", []int64{0}) },
		"no near":  func(f *model.File) { delete(f.Tensors, "adapt.near") },
		"support":  func(f *model.File) { f.SetFloat32s("adapt.support", []float32{1, 2, 3}, 1, 3) },
		"empty":    func(f *model.File) { f.SetFloat32s("adapt.support", nil, 0, 4) },
		"infinite": func(f *model.File) {
			f.SetFloat32s("adapt.support", []float32{1, 2, 3, float32(math.Inf(1))}, 1, 4)
		},
	} {
		var f model.File
		m := adaptFitted(t, func(p *Adapt) { p.Unit, p.Smooth = AdaptYes, 3 }, x, set)
		if err := m.Encode(&f); err != nil {
			t.Fatal(err)
		}
		damage(&f)
		if _, err := fitted.Decode[Adapt](AdaptMethod, &f, fitted.ReadAveraged); !fault.IsInput(err) {
			t.Errorf("%s: error %v: want one of the input", name, err)
		}
	}
}

// TestAdaptSmallSupport: an average over too few rows changes no distance, and one over equal rows
// is finite.
func TestAdaptSmallSupport(t *testing.T) {
	x := &points.Dense{N: 3, D: 2, Data: []float64{0, 0, 1, 0, 1, 5}}
	set := enginetest.Links(t, 3, []links.Link{links.NewLink(0, 1, links.Must)})
	for _, unit := range []AdaptUnit{AdaptNo, AdaptYes} {
		for _, smooth := range []int{1, 1000} {
			m := adaptFitted(t, func(p *Adapt) { p.Unit, p.Smooth = unit, smooth }, x, set)
			for _, d := range distancesOf(t, m, x, [][2]int{{0, 1}, {0, 2}, {1, 2}}) {
				if !(d > 0) {
					t.Errorf("unit=%s smooth=%d: squared distance %g", unit, smooth, d)
				}
			}
		}
	}
}

func TestAdaptBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, set := adaptRows(t, 40, 4, 9, false, 9)
	equal := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	copy(equal.Row(1), equal.Row(0))
	one := enginetest.Links(t, 40, []links.Link{links.NewLink(0, 1, links.Must)})
	nothing := func(*Adapt) {}
	for name, c := range map[string]struct {
		change func(*Adapt)
		x      points.Points
		set    *links.Set
	}{
		"no links": {nothing, x, enginetest.Links(t, 40, nil)},
		"no must":  {nothing, x, enginetest.Links(t, 40, []links.Link{links.NewLink(0, 1, links.Cannot)})},
		"equal":    {nothing, equal, one},
		"dims":     {func(p *Adapt) { p.Dims = -1 }, x, set},
		"rank_tol": {func(p *Adapt) { p.RankTol = 1 }, x, set},
		"unit":     {func(p *Adapt) { p.Unit = "maybe" }, x, set},
		"smooth":   {func(p *Adapt) { p.Smooth = -2 }, x, set},
		"one place": {func(p *Adapt) { p.Unit = AdaptYes },
			&points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, set},
		"no spread": {nothing, &points.Dense{N: 40, D: 4, Data: slices.Repeat([]float64{7}, 160)}, set},
		"large": {nothing,
			&points.Dense{N: 40, D: 1, Data: append([]float64{1e200, -1e200}, make([]float64, 38)...)}, one},
		"rows": {nothing, x.Select([]int{1, 2}), set},
	} {
		l := AdaptLearner{Params: AdaptDefaults()}
		c.change(&l.Params)
		if _, err := l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	tight := enginetest.With(t, engine.Options{MemoryLimit: 20000})
	var memory *fault.MemoryError
	if _, err := (AdaptLearner{Params: AdaptDefaults()}).Fit(ctx, tight, x, set); err != nil {
		t.Errorf("within 20 kB: %v", err)
	}
	wide, few := adaptRows(t, 40, 3000, 9, false, 9)
	if _, err := (AdaptLearner{Params: AdaptDefaults()}).Fit(ctx, tight, wide, few); !errors.As(err,
		&memory) {
		t.Errorf("3000 features within 20 kB: %v", err)
	}
	if m := adaptFitted(t, nothing, wide, few); m.Dim() != 39 {
		t.Errorf("%d dimensions of 40 points", m.Dim())
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (AdaptLearner{Params: AdaptDefaults()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// TestShrink: rca and xrca with shrinkage whiten (1 - a) C + a tr(C)/q I, and are what they are
// with the eps_rel that it stands for, times a constant.
func TestShrink(t *testing.T) {
	x, _, set := enginetest.Bands(t, 60, 4, 12, 3)
	must := 0
	for _, c := range set.Chunklets() {
		must += len(c) - 1
	}
	ratio := 4 / float64(must)
	pairs := [][2]int{{0, 1}, {5, 50}, {17, 39}}
	of := func(l algorithms.Learner) []float64 {
		return distancesOf(t, fittest.Fit[algorithms.Model](t, l, x, set), x, pairs)
	}
	for _, dims := range []int{0, 2} {
		rca, xrca := param.Default[RCA](), param.Default[XRCA]()
		rca.Shrink, rca.Dims, xrca.Shrink, xrca.Dims = true, dims, true, dims
		plain, plainX := param.Default[RCA](), param.Default[XRCA]()
		plain.EpsRel, plain.Dims, plainX.EpsRel, plainX.Dims = ratio, dims, ratio, dims
		got, want := of(&RCALearner{Params: rca}), of(&RCALearner{Params: plain})
		gotX, wantX := of(&XRCALearner{Params: xrca}), of(&XRCALearner{Params: plainX})
		for k := range pairs {
			if by := 1 + ratio; !(math.Abs(got[k]-by*want[k]) < 1e-9*got[k]) {
				t.Errorf("rca dims=%d: squared distance %g, want %g", dims, got[k], by*want[k])
			}
			if by := (1 + ratio) * (1 + ratio); !(math.Abs(gotX[k]-by*wantX[k]) < 1e-9*gotX[k]) {
				t.Errorf("xrca dims=%d: squared distance %g, want %g", dims, gotX[k], by*wantX[k])
			}
		}
	}
	// by definition: |x - y|^2 = (x - y)' T^-1 (x - y)
	p := param.Default[RCA]()
	p.Shrink = true
	m := fittest.Fit[*RCAModel](t, &RCALearner{Params: p}, x, set)
	c, n, trace := mat.NewSymDense(4, nil), 0, 0.0
	for _, group := range set.Chunklets() {
		var rows [][]float64
		for _, i := range group {
			rows = append(rows, x.Row(i))
		}
		for _, row := range minusMean(rows) {
			c.SymRankOne(c, 1, mat.NewVecDense(4, row))
			n++
		}
	}
	c.ScaleSym(1/float64(n), c)
	trace, prior := mat.Trace(c), 4/(4+float64(must))
	c.ScaleSym(1-prior, c)
	for j := range 4 {
		c.SetSym(j, j, c.At(j, j)+prior*trace/4)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(c); err != nil {
		t.Fatal(err)
	}
	for k, d := range distancesOf(t, m, x, pairs) {
		diff := mat.NewVecDense(4, nil)
		for j := range 4 {
			diff.SetVec(j, x.Row(pairs[k][0])[j]-x.Row(pairs[k][1])[j])
		}
		if want := mat.Inner(diff, &inverse, diff); !(math.Abs(d-want) < 1e-9*want) {
			t.Errorf("squared distance %g, %g by definition", d, want)
		}
	}
}
