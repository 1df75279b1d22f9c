package blend

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

func blender(p Params) algorithms.Learner { return learner.New(p, algorithms.Common{Seed: 1}) }

// TestSideBySide: the columns are those of the members' own fits, to points or to the coordinates
// that the fit before learned. Each member's are divided by the root of its total variance, on
// training rows and on new ones; distances follow.
func TestSideBySide(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 60, 4, 30, 3)
	fresh, _, _ := enginetest.Blobs(t, 20, 4, 5, 9)
	eng := enginetest.New(t, 2)
	for _, dims := range []int{0, 2} {
		p := param.Default[Params]()
		p.Dims = dims
		m := fittest.Fit[*Model](t, blender(p), x, set)
		y := [2]blas.Matrix{embedded(t, m, x), embedded(t, m, fresh)}
		first := 0
		for _, path := range []string{"lleratio", "krca", "krca > npkl", "gml", "npkl > krca"} {
			z := [2]blas.Matrix{{Rows: x.N, Cols: x.D, Stride: x.D, Data: x.Data},
				{Rows: fresh.N, Cols: x.D, Stride: x.D, Data: fresh.Data}}
			last := ""
			for last = range strings.SplitSeq(path, " > ") {
				own, err := kinds()[last].new(p, algorithms.Common{Seed: 1}).Fit(t.Context(), eng,
					kernel.Rows(z[0]), set)
				if err != nil {
					t.Fatal(err)
				}
				z = [2]blas.Matrix{embedded(t, own, kernel.Rows(z[0])), embedded(t, own, kernel.Rows(z[1]))}
			}
			if dims > 0 && last != "npkl" && last != "gml" && z[0].Cols > dims {
				t.Errorf("%s has %d columns: want at most %d", path, z[0].Cols, dims)
			}
			for k := range z {
				compareScaled(t, path, y[k].View(0, y[k].Rows, first, first+z[k].Cols), z[k])
			}
			// 60 links give gml the same weight
			if v := totalVariance(y[0].View(0, x.N, first, first+z[0].Cols)); math.Abs(v-1) > 1e-12 {
				t.Errorf("%s: total variance %g on the training rows: want 1", path, v)
			}
			first += z[0].Cols
		}
		if first != m.Dim() {
			t.Errorf("%d columns: want %d", m.Dim(), first)
		}
		d, err := m.Distances(t.Context(), eng, fresh, [][2]int{{0, 1}, {2, 5}})
		if err != nil {
			t.Fatal(err)
		}
		for k, pair := range [][2]int{{0, 1}, {2, 5}} {
			if want := points.SquaredDistance(y[1].Row(pair[0]),
				y[1].Row(pair[1])); math.Abs(d[k]-want) > 1e-12*want {
				t.Errorf("squared distance %g: want %g", d[k], want)
			}
		}
	}
}

func embedded(t *testing.T, m algorithms.Model, x points.Points) blas.Matrix {
	t.Helper()
	y, err := m.Embed(t.Context(), enginetest.New(t, 2), x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// totalVariance returns the sum over the columns of the mean of squares less the squared mean.
func totalVariance(y blas.Matrix) (sum float64) {
	for c := range y.Cols {
		squares, mean := 0.0, 0.0
		for i := range y.Rows {
			squares += y.At(i, c) * y.At(i, c) / float64(y.Rows)
			mean += y.At(i, c) / float64(y.Rows)
		}
		sum += squares - mean*mean
	}
	return sum
}

// compareScaled checks that y is z times one number.
func compareScaled(t *testing.T, name string, y, z blas.Matrix) {
	t.Helper()
	factor := 0.0
	for i := range z.Rows {
		for c, v := range z.Row(i) {
			if factor == 0 && math.Abs(v) > 1e-3 {
				factor = y.At(i, c) / v
			}
		}
	}
	for i := range z.Rows {
		for c, v := range z.Row(i) {
			if math.Abs(y.At(i, c)-factor*v) > 1e-12*(1+math.Abs(factor*v)) {
				t.Fatalf("%s: coordinate (%d, %d) is %g: want %g times %g", name, i, c, y.At(i, c), factor, v)
			}
		}
	}
}

// TestWrongLinks: a must-link that cannot-links contradict is left out of krca, as in a fit of its
// own.
func TestWrongLinks(t *testing.T) {
	x, labels, _ := enginetest.Blobs(t, 60, 4, 5, 3)
	right := enginetest.Drawn(t, labels, 60, 60, 4)
	other := slices.IndexFunc(labels, func(c string) bool { return c != labels[0] })
	list := slices.Concat(right.Must(), right.Cannot(), []links.Link{links.NewLink(0, other, links.Must)})
	for name, c := range map[string]struct {
		list []links.Link
		want bool
	}{"right": {list[:len(list)-1], false}, "wrong": {list, true}} {
		m := fittest.Fit[*Model](t, blender(param.Default[Params]()), x, enginetest.Links(t, x.N, c.list))
		notices := strings.Join(m.Status().Notices, "\n")
		if got := strings.Contains(notices, "krca left out 1 of 61 must-links"); got != c.want {
			t.Errorf("%s links: a must-link is left out: %v, want %v\n%s", name, got, c.want, notices)
		}
	}
}

// TestLeftOut: a method that cannot learn from the links is left out with a notice that names it,
// and npkl learns from the points if krca is left out; where none can learn, the fit fails.
func TestLeftOut(t *testing.T) {
	x, labels, _ := enginetest.Blobs(t, 40, 3, 5, 2)
	for name, c := range map[string]struct {
		must, cannot int
		out          []string
		members      string
	}{
		"both kinds":   {20, 20, nil, "lleratio,krca,krca > npkl,gml,npkl > krca"},
		"must-links":   {20, 0, []string{"lleratio"}, "krca,krca > npkl,gml,npkl > krca"},
		"cannot-links": {0, 20, []string{"lleratio", "krca"}, "npkl,gml"},
		"few links":    {20, 10, nil, "lleratio,krca,krca > npkl,gml,npkl > krca"},
		"many links":   {200, 101, nil, "lleratio,krca,krca > npkl,npkl > krca"},
		"three links":  {2, 1, nil, "lleratio,krca,krca > npkl,gml,npkl > krca"},
	} {
		m := fittest.Fit[*Model](t, blender(param.Default[Params]()), x,
			enginetest.Drawn(t, labels, c.must, c.cannot, 4))
		notices := strings.Join(m.Status().Notices, "\n")
		for method := range kinds() {
			if got, want := strings.Contains(notices, method+" is left out: "),
				slices.Contains(c.out, method); got != want {
				t.Errorf("%s: %s left out %v: want %v\n%s", name, method, got, want, notices)
			}
		}
		var members []string
		for _, s := range m.stages {
			if s.scale > 0 {
				members = append(members, m.path(s))
			}
		}
		if c.must == 0 && len(m.stages) != 2 {
			t.Errorf("%s: %d stages: want npkl once, and gml", name, len(m.stages))
		}
		if got := strings.Join(members, ","); got != c.members {
			t.Errorf("%s: members %s: want %s", name, got, c.members)
		}
	}
	eng := enginetest.New(t, 1)
	if _, err := blender(param.Default[Params]()).Fit(t.Context(), eng, x,
		enginetest.Links(t, x.N, nil)); !fault.IsInput(err) {
		t.Errorf("without links: error %v, want one of the input", err)
	}
}

// TestAddLinks: a blend that learns more links is that of a fit of all of them, also when it was
// read from its file. Other points and a contradiction are refused.
func TestAddLinks(t *testing.T) {
	x, labels, _ := enginetest.Blobs(t, 60, 4, 5, 3)
	all := enginetest.Drawn(t, labels, 40, 40, 4)
	list := slices.Concat(all.Must(), all.Cannot())
	first := slices.DeleteFunc(slices.Clone(list), func(l links.Link) bool { return (l.I+l.J)%3 == 0 })
	second := slices.DeleteFunc(slices.Clone(list), func(l links.Link) bool { return (l.I+l.J)%3 != 0 })
	m := fittest.Fit[*Model](t, blender(param.Default[Params]()), x, enginetest.Links(t, x.N, first))
	want := embedded(t, fittest.Fit[*Model](t, blender(param.Default[Params]()), x,
		enginetest.Links(t, x.N, slices.Concat(first, second))), x)
	eng := enginetest.New(t, 2)
	for _, from := range []*Model{m, enginetest.Reread(t, m, Decode)} {
		added, err := from.AddLinks(t.Context(), eng, x, enginetest.Links(t, x.N, second))
		if err != nil {
			t.Fatal(err)
		}
		if got := embedded(t, added, x); !slices.Equal(got.Data, want.Data) {
			t.Error("the model with more links is not that of a fit with all links")
		}
	}
	wrong := []links.Link{links.NewLink(first[0].I, first[0].J, -first[0].Sign)}
	if _, err := m.AddLinks(t.Context(), eng, x, enginetest.Links(t, x.N, wrong)); !fault.IsInput(err) {
		t.Errorf("a contradiction: error %v, want one of the input", err)
	}
	few, _, _ := enginetest.Blobs(t, 50, 4, 5, 3)
	if _, err := m.AddLinks(t.Context(), eng, few,
		enginetest.Links(t, few.N, second[:0])); !fault.IsInput(err) {
		t.Errorf("other points: error %v, want one of the input", err)
	}
}

// TestStatus: a blend has converged if all of its stages have.
func TestStatus(t *testing.T) {
	for _, c := range []struct{ first, second bool }{{true, true}, {true, false}, {false, true}} {
		b := &builder{fit: &learner.Fit{}}
		for _, converged := range []bool{c.first, c.second} {
			b.stages = append(b.stages, stage{Model: ended{status: algorithms.Status{Converged: converged,
				Iterations: 3, Notices: []string{"a notice"}}}})
		}
		got := b.status()
		if got.Converged != (c.first && c.second) || got.Iterations != 6 || len(b.fit.Notices) != 2 ||
			b.fit.Notices[0] != "ended: a notice" {
			t.Errorf("%v: status %+v, notices %q", c, got, b.fit.Notices)
		}
	}
}

// ended is a model that only has a status.
type ended struct {
	algorithms.Model
	status algorithms.Status
}

func (e ended) Status() algorithms.Status { return e.status }
func (e ended) Method() string            { return "ended" }

// TestWeight: the weight of gml falls with the number of links.
func TestWeight(t *testing.T) {
	x, labels, _ := enginetest.Blobs(t, 40, 3, 5, 2)
	for _, links := range []int{15, 30, 120} {
		m := fittest.Fit[*Model](t, blender(param.Default[Params]()), x,
			enginetest.Drawn(t, labels, links/2, links-links/2, 4))
		y, first := embedded(t, m, x), 0
		for _, s := range m.stages {
			if s.scale == 0 {
				continue
			}
			want := 1.0
			if s.Method() == "gml" {
				want = 60 / float64(links)
			}
			if v := totalVariance(y.View(0, x.N, first,
				first+s.Dim())); math.Abs(v-want) > 1e-12*want {
				t.Errorf("%d links: %s has total variance %g: want %g", links, m.path(s), v, want)
			}
			first += s.Dim()
		}
	}
}

// TestFile: a model survives its file exactly, the file holds the training points once, and what
// cannot be used is refused.
func TestFile(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 20, 1)
	m := fittest.Fit[*Model](t, blender(param.Default[Params]()), x, set)
	back := enginetest.Reread(t, m, Decode)
	eng := enginetest.New(t, 1)
	fresh, _, _ := enginetest.Blobs(t, 10, 3, 2, 7)
	a, errA := m.Embed(t.Context(), eng, fresh)
	b, errB := back.Embed(t.Context(), eng, fresh)
	if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) {
		t.Errorf("the model that was read differs (%v, %v)", errA, errB)
	}
	encode := func() *model.File {
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, tensor := range encode().Tensors {
		if strings.HasPrefix(name, "blend.") && strings.HasSuffix(name, ".points.dense") &&
			tensor.Len() == len(x.Data) {
			t.Errorf("tensor %s: want the training points once", name)
		}
	}
	head := string(encode().Header.Extra[Method])
	fittest.Spoiled(t, m, Decode, map[string]func(f *model.File){
		"no members": func(f *model.File) { f.Header.Extra[Method] = []byte(`{"input_dim":3}`) },
		"a negative scale": func(f *model.File) {
			f.Header.Extra[Method] = []byte(strings.Replace(head, `"scale":`, `"scale":-1,"was":`, 1))
		},
		"no scales": func(f *model.File) {
			f.Header.Extra[Method] = []byte(strings.ReplaceAll(head, `"scale":`, `"was":`))
		},
		"a later stage": func(f *model.File) {
			f.Header.Extra[Method] = []byte(strings.Replace(head, `"from":2`, `"from":3`, 1))
		},
		"another number of features": func(f *model.File) {
			f.Header.Extra[Method] = []byte(strings.Replace(head, `"from":2`, `"from":1`, 1))
		},
		"an unknown": func(f *model.File) {
			f.Header.Extra[Method] = []byte(strings.Replace(head, `"method":"krca"`, `"method":"gml"`, 1))
		},
		"a missing tensor": func(f *model.File) { delete(f.Tensors, "blend.2.npkl.links") },
		"no points":        func(f *model.File) { delete(f.Tensors, "points.dense") },
	})
}

// Members that fit at the same time report one after the other, and after a cancel no more.
func TestReports(t *testing.T) {
	var order, after int
	ctx, cancel := context.WithCancel(t.Context())
	b := &builder{fit: &learner.Fit{}, stop: cancel, steps: []step{{method: "a"}, {method: "b"}},
		done: make([]float64, 2)}
	b.fit.Common.Progress = func(algorithms.Progress) {
		if order++; order == 50 { // without the lock the race detector reports this counter
			cancel()
		}
		if order > 50 {
			after++
		}
	}
	var group sync.WaitGroup
	for k := range b.steps {
		group.Go(func() {
			for range 100 {
				b.report(ctx, k, algorithms.Progress{})
			}
		})
	}
	group.Wait()
	if order != 50 || after != 0 {
		t.Errorf("%d reports, %d after the cancel: want 50 and none", order, after)
	}
}

// TestLarge: a model of a large table has no rows but those that members evaluate. It recognizes
// training rows among others, in batches of any size, also when it was read from its file. Their
// coordinates, and those of new rows, are those of a model with all rows.
func TestLarge(t *testing.T) {
	defer func(size int64) { storedBytes = size }(storedBytes)
	p := param.Default[Params]()
	n := 5100 // of up to 5000 krca stores all rows
	if racetest.Enabled {
		n = 2100
	}
	x, labels, _ := enginetest.Blobs(t, n, 4, 30, 3)
	copy(x.Row(9), x.Row(4))
	set := enginetest.Drawn(t, labels, 160, 160, 4) // of fewer links gml stores all rows
	whole := fittest.Fit[*Model](t, blender(p), x, set)
	storedBytes = 0
	m := fittest.Fit[*Model](t, blender(p), x, set)
	if whole.Digested() || !m.Digested() || n > 5000 && m.Stored().Len() >= n {
		t.Fatalf("digests %v and %v, %d rows", whole.Digested(), m.Digested(), m.Stored().Len())
	}
	fresh, _, _ := enginetest.Blobs(t, 50, 4, 5, 9)
	mixed := &points.Dense{N: x.N + fresh.N, D: x.D, Data: slices.Concat(x.Data, fresh.Data)}
	want, order := embedded(t, whole, mixed), rand.New(rand.NewPCG(1, 2)).Perm(mixed.N)
	order = slices.DeleteFunc(order, func(i int) bool { return i == 4 || i == 9 })
	for _, from := range []*Model{m, enginetest.Reread(t, m, Decode)} {
		for _, batch := range []int{1, 7, len(order)} {
			for rows := range slices.Chunk(order[:max(batch, 140)], batch) {
				y := embedded(t, from, mixed.Select(rows))
				for k, i := range rows {
					for j, v := range y.Row(k) {
						if w := want.At(i, j); math.Abs(v-w) > 1e-9*(1+math.Abs(w)) {
							t.Fatalf("batches of %d: coordinate (%d, %d) is %g: want %g", batch, i, j, v, w)
						}
					}
				}
			}
		}
		if y := embedded(t, from, x.Select([]int{4, 9})); !slices.Equal(y.Row(0), y.Row(1)) {
			t.Error("equal rows differ")
		}
	}
	for _, from := range []*Model{m, enginetest.Reread(t, m, Decode)} {
		if from.Links().Len() != 320 {
			t.Errorf("%d links: want 320", from.Links().Len())
		}
	}
	fittest.Spoiled(t, m, Decode, map[string]func(f *model.File){
		"no digests":      func(f *model.File) { delete(f.Tensors, "blend.digests") },
		"a digest less":   func(f *model.File) { f.SetInt64s("blend.digests", make([]int64, x.N-1)) },
		"no coordinates":  func(f *model.File) { delete(f.Tensors, "blend.2.npkl.places") },
		"other landmarks": func(f *model.File) { f.SetInt64s("blend.2.npkl.ridge.rows", make([]int64, 3)) },
		"rows too often": func(f *model.File) {
			f.SetInt64s("blend.1.points.rows", make([]int64, x.N+1))
		},
		"a wrong row": func(f *model.File) { f.SetInt64s("blend.1.points.rows", []int64{int64(x.N)}) },
	})
}

// TestLimit: a memory limit refuses a blend or changes nothing. No step is left out for it.
func TestLimit(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 20, 2)
	want := fittest.Fit[*Model](t, blender(param.Default[Params]()), x, set)
	refusals, fits := 0, 0
	for limit := int64(1 << 10); fits == 0; limit += limit / 2 {
		eng := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: limit})
		m, err := blender(param.Default[Params]()).Fit(t.Context(), eng, x, set)
		switch {
		case err != nil && outOfMemory(err):
			refusals++
		case err != nil:
			t.Fatal(err)
		default:
			fits++
			if !slices.Equal(embedded(t, m, x).Data, embedded(t, want, x).Data) {
				t.Errorf("%d bytes: another result, notices %q", limit, m.Status().Notices)
			}
		}
	}
	if refusals < 3 {
		t.Errorf("%d refusals: want some", refusals)
	}
}
