package krca

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// variant is a fit that exercises one path of the model.
type variant struct {
	name  string
	model *Model
	x     points.Points
}

// variants fits one model for each path: both forms, with and without residuals, the three
// kinds of points, all points or landmarks.
func variants(t *testing.T, eng *engine.Engine) []variant {
	t.Helper()
	const n = 90
	x := gaussian(n, 4, 41)
	s := chunkletSet(t, n, runs(n, 7, 3, 2, 6, 1, 8, 2, 9)...)
	base := kernelOf(t, eng, "rbf:sigma=2", x, x)
	for i := range n {
		for j := range i {
			base.Set(i, j, base.At(j, i))
		}
		base.Set(i, i, 1)
	}
	gram, err := points.NewGram(n, n, base.Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	csr := &points.CSR{N: n, D: 4, Start: []int{0}, Val: x.Data}
	for range n {
		csr.Col = append(csr.Col, 0, 1, 2, 3)
		csr.Start = append(csr.Start, len(csr.Col))
	}
	var out []variant
	for _, c := range []struct {
		name, kernel string
		p            Params
		x            points.Points
		spectral     bool
	}{
		{"cholesky", "rbf:sigma=2", DefaultParams(), x, false},
		{"all directions", "rbf:sigma=2", Params{Eps: 0.01}, x, false},
		{"landmarks", "rbf:sigma=2", Params{Eps: 0.01, Dims: 5, Landmarks: 30}, x, false},
		{"spectral", "linear", Params{Eps: 1e-6, Dims: 3}, x, true},
		{"residual", "poly:degree=2,coef=1,scale=1", Params{Eps: 1e-4}, x, true},
		{"residual, landmarks", "poly:degree=2,coef=1,scale=1", Params{Eps: 1e-4, Dims: 4, Landmarks: 33}, x,
			true},
		{"sparse", "rbf:sigma=2", DefaultParams(), csr, false},
		{"sequences", "rbf:sigma=0.5@spectrum:k=2", DefaultParams(), randomSequences(x.N, 9), false},
		{"gram", "linear", DefaultParams(), gram, false},
		{"gram, spectral", "linear", Params{EpsRel: 0.1, Form: FormSpectral}, gram, true},
	} {
		m := fittest.On[*Model](t, eng, Learner{Kernel: enginetest.Spec(t, c.kernel), Params: c.p, Seed: 5},
			c.x, s)
		if m.metric.spectral() != c.spectral {
			t.Fatalf("%s: form %s", c.name, m.metric.form())
		}
		if strings.HasPrefix(c.name, "residual") != (len(m.embed.reference) > 0 && c.x == points.Points(x)) {
			t.Fatalf("%s: %d reference points kept for residuals", c.name, len(m.embed.reference))
		}
		out = append(out, variant{c.name, m, c.x})
		if c.name == "cholesky" || c.name == "landmarks" || c.name == "sparse" || c.name == "sequences" {
			out = append(out, variant{c.name + ", updated", updated(t, eng, m, c.x), c.x})
		}
	}
	return out
}

// results evaluates everything that a model offers.
func results(t *testing.T, eng *engine.Engine, m *Model, x points.Points) []blas.Matrix {
	t.Helper()
	ctx := context.Background()
	y, err := m.Embed(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]int{{0, 1}, {5, 2}, {3, 3}, {x.Len() - 1, 0}}
	d, err := m.Distances(ctx, eng, x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return []blas.Matrix{y, gramOf(t, eng, m, x, nil), gramOf(t, eng, m, x, x),
		{Rows: 1, Cols: len(d), Stride: len(d), Data: d}}
}

func sameResults(t *testing.T, name string, a, b []blas.Matrix) {
	t.Helper()
	for i, what := range []string{"Embed", "Gram", "Gram of two", "Distances"} {
		sameBits(t, name+", "+what, a[i], b[i])
	}
}

// through writes a model to a file in memory and reads it back.
func through(t *testing.T, m *Model) *model.File {
	t.Helper()
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := f.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	f, err := model.Read(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestEncode: a model read back computes the same bits.
func TestEncode(t *testing.T) {
	eng := enginetest.New(t, 2)
	for _, v := range variants(t, eng) {
		back, err := Decode(through(t, v.model))
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		sameResults(t, v.name, results(t, eng, back, v.x), results(t, eng, v.model, v.x))
		if back.Params() != v.model.Params() || back.Dim() != v.model.Dim() || back.InputDim() != v.x.Dim() ||
			back.Kernel().String() != v.model.Kernel().String() ||
			back.Status().Elapsed != v.model.Status().Elapsed {
			t.Errorf("%s: %+v, want %+v", v.name, back.Describe(), v.model.Describe())
		}
	}
}

// TestDecodeHostile damages every tensor and every entry of the header.
func TestDecodeHostile(t *testing.T) {
	eng := enginetest.New(t, 2)
	refused := func(name string, f *model.File) {
		t.Helper()
		m, err := Decode(f)
		if err == nil || !fault.IsInput(err) || m != nil {
			t.Errorf("%s: model %v, error %v, want a fault of the input", name, m, err)
		}
	}
	for _, v := range variants(t, eng) {
		for name := range through(t, v.model).Tensors {
			f := through(t, v.model)
			delete(f.Tensors, name)
			refused(v.name+", without "+name, f)
			for what, damage := range damages {
				f := through(t, v.model)
				if damaged, ok := damage(f.Tensors[name]); ok {
					f.Tensors[name] = damaged
					refused(v.name+", "+what+" in "+name, f)
				}
			}
		}
		for name, damage := range map[string]func(*model.File){
			"method":     func(f *model.File) { f.Header.Method = "kbeta" },
			"kernel":     func(f *model.File) { f.Header.Kernel = "rbf:sigma=median" },
			"no kernel":  func(f *model.File) { f.Header.Kernel = "" },
			"params":     func(f *model.File) { f.Header.Params = []byte("[]") },
			"bad params": func(f *model.File) { f.Header.Params = []byte(`{"eps":-1}`) },
			"status":     func(f *model.File) { f.Header.Status = []byte("{") },
			"no extra":   func(f *model.File) { f.Header.Extra = nil },
			"eps": func(f *model.File) {
				f.Header.Extra[Method] = []byte(`{"eps":0,"form":"cholesky","input_dim":4}`)
			},
			"form": func(f *model.File) {
				f.Header.Extra[Method] = []byte(`{"eps":1,"form":"auto","input_dim":4}`)
			},
			"dim": func(f *model.File) {
				f.Header.Extra[Method] = []byte(`{"eps":1,"form":"cholesky","input_dim":-4}`)
			},
		} {
			f := through(t, v.model)
			damage(f)
			refused(v.name+", "+name, f)
		}
	}
}

// damages make a tensor unusable; false when the damage does not apply to it.
var damages = map[string]func(model.Tensor) (model.Tensor, bool){
	"NaN": func(x model.Tensor) (model.Tensor, bool) {
		if len(x.F64) > 0 {
			x.F64[len(x.F64)-1] = math.NaN()
		}
		return x, len(x.F64) > 0
	},
	"infinity": func(x model.Tensor) (model.Tensor, bool) {
		if len(x.F64) > 0 {
			x.F64[0] = math.Inf(1)
		}
		return x, len(x.F64) > 0
	},
	"negative index": func(x model.Tensor) (model.Tensor, bool) {
		if len(x.I64) > 0 {
			x.I64[0] = -1
		}
		return x, len(x.I64) > 0
	},
	"huge index": func(x model.Tensor) (model.Tensor, bool) {
		if len(x.I64) > 0 {
			x.I64[len(x.I64)-1] = math.MaxInt64
		}
		return x, len(x.I64) > 0
	},
	"a missing value": func(x model.Tensor) (model.Tensor, bool) {
		switch {
		case len(x.Shape) == 1 && len(x.F64) > 0:
			return model.Tensor{Shape: []int{len(x.F64) - 1}, F64: x.F64[1:]}, true
		case len(x.Shape) == 2 && x.Shape[1] > 1 && len(x.F64) > 0:
			return model.Tensor{Shape: []int{x.Shape[0], x.Shape[1] - 1}, F64: x.F64[x.Shape[0]:]}, true
		}
		return x, false
	},
	"another type": func(x model.Tensor) (model.Tensor, bool) {
		return model.Tensor{Shape: []int{0}, F32: []float32{}}, true
	},
}

// TestWorkers: the same bits for any number of workers.
func TestWorkers(t *testing.T) {
	one := variants(t, enginetest.New(t, 1))
	for _, workers := range []int{2, 7} {
		eng := enginetest.New(t, workers)
		for i, v := range variants(t, eng) {
			sameResults(t, fmt.Sprintf("%s, %d workers", v.name, workers),
				results(t, eng, v.model, v.x), results(t, enginetest.New(t, 1), one[i].model, v.x))
		}
	}
}

// TestBatches: a row of Embed and of Gram does not depend on what else is in the call.
func TestBatches(t *testing.T) {
	eng := enginetest.New(t, 2)
	ctx := context.Background()
	const n = 2*rowBlock + 37
	for _, v := range variants(t, eng) {
		if _, ok := v.x.(*points.Dense); !ok {
			continue
		}
		x := gaussian(n, v.x.Dim(), 77)
		whole, err := v.model.Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		gram := gramOf(t, eng, v.model, x, v.x)
		for _, rows := range [][]int{{0}, {rowBlock}, {n - 1, 3, 700}, sequence(n)[5 : rowBlock+100]} {
			part, err := v.model.Embed(ctx, eng, x.Select(rows))
			if err != nil {
				t.Fatal(err)
			}
			partGram := gramOf(t, eng, v.model, x.Select(rows), v.x)
			for i, r := range rows {
				name := fmt.Sprintf("%s, row %d as row %d of %d", v.name, r, i, len(rows))
				if backends.Default() == "netlib" {
					// OpenBLAS chooses its kernels by the size of the call.
					within(t, name, toMat(part.View(i, i+1, 0, part.Cols)),
						toMat(whole.View(r, r+1, 0, part.Cols)), 1e-8)
					within(t, name, toMat(partGram.View(i, i+1, 0, gram.Cols)),
						toMat(gram.View(r, r+1, 0, gram.Cols)), 1e-8)
					continue
				}
				sameBits(t, name+", Embed", part.View(i, i+1, 0, part.Cols), whole.View(r, r+1, 0, part.Cols))
				sameBits(t, name+", Gram", partGram.View(i, i+1, 0, gram.Cols),
					gram.View(r, r+1, 0, gram.Cols))
			}
		}
	}
}

// TestGramSymmetric: exactly symmetric, in both forms.
func TestGramSymmetric(t *testing.T) {
	eng := enginetest.New(t, 2)
	for _, v := range variants(t, eng) {
		k := gramOf(t, eng, v.model, v.x, nil)
		for i := range k.Rows {
			for j := range i {
				if math.Float64bits(k.At(i, j)) != math.Float64bits(k.At(j, i)) {
					t.Fatalf("%s: (%d,%d) is %v, its mirror %v", v.name, i, j, k.At(i, j), k.At(j, i))
				}
			}
		}
		within(t, v.name+", Gram of two", toMat(gramOf(t, eng, v.model, v.x, v.x)), toMat(k), 1e-10)
	}
}

// TestManyDistances crosses the groups in which distances are computed.
func TestManyDistances(t *testing.T) {
	eng := enginetest.New(t, 2)
	const n = maxGroup + 500
	x := gaussian(n, 3, 6)
	m := fittest.On[*Model](t, eng,
		Learner{Kernel: enginetest.Spec(t, "rbf:sigma=2"), Params: Params{Eps: 0.01, Dims: 2, Landmarks: 20}},
		x,
		chunkletSet(t, n, runs(n, 7, 3, 2, 6)...))
	var pairs [][2]int
	for i := range n {
		pairs = append(pairs, [2]int{i, (i + 1) % n})
	}
	d, err := m.Distances(context.Background(), eng, x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{0, 1, maxGroup - 2, maxGroup - 1, maxGroup, n - 1} {
		k := gramOf(t, eng, m, x.Select(pairs[p][:]), nil)
		want := k.At(0, 0) + k.At(1, 1) - 2*k.At(0, 1)
		if !(math.Abs(d[p]-want) <= 1e-10*k.At(0, 0)) {
			t.Errorf("pair %d: %g, want %g", p, d[p], want)
		}
	}
}

// TestLandmarksKeepGram: landmarks change the embedding only, and the seed matters.
func TestLandmarksKeepGram(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := gaussian(100, 4, 9)
	s := chunkletSet(t, 100, runs(100, 7, 3, 2, 6, 9)...)
	l := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=2"), Params: Params{Eps: 0.01, Dims: 6}, Seed: 1}
	all := fittest.On[*Model](t, eng, l, x, s)
	l.Params.Landmarks = 60
	some := fittest.On[*Model](t, eng, l, x, s)
	sameBits(t, "Gram", gramOf(t, eng, some, x, nil), gramOf(t, eng, all, x, nil))
	l.Seed = 2
	other := fittest.On[*Model](t, eng, l, x, s)
	if fmt.Sprint(some.embed.offset) == fmt.Sprint(other.embed.offset) {
		t.Error("two seeds gave one embedding")
	}
	// The leading eigenvalue of a sample of 60 per cent is about 60 per cent of all.
	a, b := leadingLength(t, eng, all, x), leadingLength(t, eng, some, x)
	if !(b > 0.8*a && b < 1.2*a) {
		t.Errorf("leading direction holds %g with landmarks, %g with all points", b, a)
	}
}

func leadingLength(t *testing.T, eng *engine.Engine, m *Model, x points.Points) float64 {
	t.Helper()
	y, err := m.Embed(context.Background(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := range y.Rows {
		sum += y.At(i, 0) * y.At(i, 0)
	}
	return sum
}

// TestCancel cancels at every report of progress: the error wraps ctx.Err(), no model
// comes back, no goroutine stays (TestMain looks for them).
func TestCancel(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := gaussian(80, 4, 1)
	s := chunkletSet(t, 80, runs(80, 3, 4, 9, 2, 2)...)
	for _, k := range []string{"rbf:sigma=median", "poly:degree=2,coef=1,scale=1"} {
		reports := 0
		for at := 0; ; at++ {
			ctx, cancel := context.WithCancel(context.Background())
			seen, last := 0, algorithms.Progress{Done: -1}
			l := withKernel(t, k, 1e-4)
			l.Progress = func(p algorithms.Progress) {
				if p.Stage == "" || p.Done < last.Done || p.Done > p.Total || p.Elapsed < last.Elapsed {
					t.Errorf("report %+v after %+v", p, last)
				}
				if last = p; seen == at {
					cancel()
				}
				seen++
			}
			m, err := l.Fit(ctx, eng, x, s)
			cancel()
			if at >= seen {
				if err != nil || last.Done != last.Total {
					t.Fatalf("uncanceled fit: error %v, last report %+v", err, last)
				}
				reports = seen
				break
			}
			if !errors.Is(err, context.Canceled) || m != nil {
				t.Fatalf("canceled at report %d: model %v, error %v", at, m, err)
			}
		}
		if reports < 5 {
			t.Errorf("%s: only %d reports", k, reports)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=2", 1e-3), x, s)
	_, embedErr := m.Embed(ctx, eng, x)
	_, gramErr := m.Gram(ctx, eng, x, nil)
	_, crossErr := m.Gram(ctx, eng, x, x)
	_, distanceErr := m.Distances(ctx, eng, x, [][2]int{{0, 1}})
	for _, err := range []error{embedErr, gramErr, crossErr, distanceErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want it to wrap %v", err, context.Canceled)
		}
	}
}

// TestFitErrors: every refusal is a fault of the input, and names what was wrong.
func TestFitErrors(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := gaussian(10, 2, 1)
	good := chunkletSet(t, 10, []int{0, 1, 2})
	bad := &points.Dense{N: 10, D: 2, Data: append([]float64(nil), x.Data...)}
	bad.Data[7] = math.NaN()
	cannot, err := links.New(10, []links.Link{links.NewLink(1, 2, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	same := &points.Dense{N: 10, D: 2, Data: make([]float64, 20)}
	ones := &points.Dense{N: 10, D: 2, Data: bytesOf(20)}
	huge := &points.Dense{N: 10, D: 2, Data: append([]float64(nil), x.Data...)}
	huge.Data[3] = 1e40
	indefinite := make([]float64, 100)
	for i := range indefinite {
		indefinite[i] = 2
		if i%11 == 0 {
			indefinite[i] = 1
		}
	}
	gram, err := points.NewGram(10, 10, indefinite, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	small, err := engine.New(engine.Options{MemoryLimit: 2000})
	if err != nil {
		t.Fatal(err)
	}
	with := func(p Params) Learner { return Learner{Kernel: enginetest.Spec(t, "rbf:sigma=1"), Params: p} }
	rbf, linear := withKernel(t, "rbf:sigma=1", 0.1), withKernel(t, "linear", 0.1)
	for _, c := range []struct {
		name, text string
		l          Learner
		x          points.Points
		s          *links.Set
		eng        *engine.Engine
	}{
		{"no links", "must-link", rbf, x, chunkletSet(t, 10), eng},
		{"cannot-links only", "1 cannot-link,", rbf, x, cannot, eng},
		{"chunklets of one point only", "2 chunklets of size 1", rbf, x,
			chunkletSet(t, 10, []int{3}, []int{4}), eng},
		{"other number of rows", "number of rows", rbf, x, chunkletSet(t, 11, []int{0, 1}), eng},
		{"NaN", "row 3", rbf, bad, good, eng},
		{"no eps", "eps_rel", with(Params{}), x, good, eng},
		{"two eps", "eps_rel is given together with eps", with(Params{EpsRel: 1, Eps: 1}), x, good, eng},
		{"three eps", "eps_rel is given together with eps and fixed_s",
			with(Params{EpsRel: 1, Eps: 1, FixedS: 1}), x, good, eng},
		{"negative eps", "eps is -1", with(Params{Eps: -1}), x, good, eng},
		{"NaN eps", "eps_rel is NaN", with(Params{EpsRel: math.NaN()}), x, good, eng},
		{"infinite s", "fixed_s is +Inf", with(Params{FixedS: math.Inf(1)}), x, good, eng},
		{"denormal eps", "eps is", with(Params{Eps: 1e-310}), x, good, eng},
		{"negative dims", "dims is -1", with(Params{Eps: 1, Dims: -1}), x, good, eng},
		{"negative landmarks", "landmarks is -2", with(Params{Eps: 1, Landmarks: -2}), x, good, eng},
		{"unknown form", "cholesky", with(Params{Eps: 1, Form: "choleski"}), x, good, eng},
		{"all points at the origin", "mean of k(x,x)",
			Learner{Kernel: enginetest.Spec(t, "linear"), Params: DefaultParams()}, same, good, eng},
		{"all points equal", "coincide",
			Learner{Kernel: enginetest.Spec(t, "linear"), Params: DefaultParams()}, ones, good, eng},
		{"all points equal, bandwidth rule", "sigma", Learner{Params: DefaultParams()}, ones, good, eng},
		{"overflow", "not representable", withKernel(t, "poly:degree=9", 0.1), huge, good, eng},
		{"negative eigenvalues", "positive semidefinite", linear, gram, good, eng},
		{"memory", "limit 2.0 KiB", rbf, x, good, small},
	} {
		m, err := c.l.Fit(context.Background(), c.eng, c.x, c.s)
		if m != nil || !fault.IsInput(err) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: model %v, error %v, want a fault of the input that says %q", c.name, m, err, c.text)
		}
	}
	l := withKernel(t, "linear", 1e-30)
	l.Params.Form = FormCholesky
	var want *fault.ParamError
	if _, err := l.Fit(context.Background(), eng, gaussian(40, 2, 1),
		chunkletSet(t, 40, sequence(40))); !errors.As(err, &want) {
		t.Errorf("Cholesky form of a singular matrix: error %v", err)
	}
}

func bytesOf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// TestQueryErrors: points that a model cannot take.
func TestQueryErrors(t *testing.T) {
	eng := enginetest.New(t, 2)
	ctx := context.Background()
	var dense, gram *Model
	var reference *points.Gram
	for _, v := range variants(t, eng) {
		switch v.name {
		case "cholesky":
			dense = v.model
		case "gram":
			gram, reference = v.model, v.x.(*points.Gram)
		}
	}
	nan := gaussian(3, 4, 1)
	nan.Data[9] = math.NaN()
	stranger := reference.Select([]int{1, 2}).(*points.Gram)
	stranger.Reference[1] = -1
	for _, c := range []struct {
		name, text string
		m          *Model
		x          points.Points
	}{
		{"other number of features", "number of features is 3: want 4", dense, gaussian(5, 3, 1)},
		{"NaN", "row 2", dense, nan},
		{"Gram matrix for vectors", "precomputed Gram", dense, reference},
		{"vectors for a Gram matrix", "90 reference objects", gram, gaussian(5, 90, 1)},
		{"nil", "no points", dense, nil},
	} {
		_, embed := c.m.Embed(ctx, eng, c.x)
		_, distances := c.m.Distances(ctx, eng, c.x, nil)
		_, whole := c.m.Gram(ctx, eng, c.x, nil)
		for _, err := range []error{embed, distances, whole} {
			if !fault.IsInput(err) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: error %v, want a fault of the input that says %q", c.name, err, c.text)
			}
		}
	}
	if _, err := gram.Embed(ctx, eng, stranger); err != nil {
		t.Errorf("new object of a Gram matrix: %v", err)
	}
	if _, err := gram.Gram(ctx, eng, reference, stranger); !fault.IsInput(err) {
		t.Errorf("kernel values with an object that is no column: error %v", err)
	}
	for _, pair := range [][2]int{{0, 4}, {-1, 0}} {
		_, err := dense.Distances(ctx, eng, gaussian(4, 4, 1), [][2]int{{0, 1}, pair})
		var want *fault.DataError
		if !errors.As(err, &want) || want.Row != 1 {
			t.Errorf("pair %v: error %v", pair, err)
		}
	}
	limited, err := engine.New(engine.Options{MemoryLimit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	x := gaussian(50, 4, 1)
	_, embed := dense.Embed(ctx, limited, x)
	_, whole := dense.Gram(ctx, limited, x, nil)
	_, distances := dense.Distances(ctx, limited, x, [][2]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}})
	for _, err := range []error{embed, whole, distances} {
		var want *fault.MemoryError
		if !errors.As(err, &want) {
			t.Errorf("error %v, want a MemoryError", err)
		}
	}
}

// TestEmpty: no points and no pairs are legal questions.
func TestEmpty(t *testing.T) {
	eng := enginetest.New(t, 2)
	for _, v := range variants(t, eng) {
		none := v.x.Select(nil)
		y, err := v.model.Embed(context.Background(), eng, none)
		if err != nil || y.Rows != 0 || y.Cols != v.model.Dim() {
			t.Errorf("%s: %dx%d, error %v", v.name, y.Rows, y.Cols, err)
		}
		if k := gramOf(t, eng, v.model, none, v.x); k.Rows != 0 || k.Cols != v.x.Len() {
			t.Errorf("%s: Gram %dx%d", v.name, k.Rows, k.Cols)
		}
		if d, err := v.model.Distances(context.Background(), eng, v.x, nil); err != nil || len(d) != 0 {
			t.Errorf("%s: distances %v, error %v", v.name, d, err)
		}
	}
}

func TestNotices(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := gaussian(10, 2, 1)
	one, err := links.New(10,
		[]links.Link{links.NewLink(1, 2, links.Cannot), links.NewLink(3, 4, links.Must)})
	if err != nil {
		t.Fatal(err)
	}
	status := fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=1", 0.1), x, one).Status()
	if !status.Converged || len(status.Notices) != 1 ||
		!strings.Contains(status.Notices[0], "1 cannot-link ignored") {
		t.Errorf("status %+v", status)
	}
	status = fittest.On[*Model](t, eng, withKernel(t, "rbf:sigma=1", 0.1), x,
		chunkletSet(t, 10, []int{1, 2}, []int{6})).Status()
	if len(status.Notices) != 0 { // links.Set.Warnings tells of the single row
		t.Errorf("status %+v", status)
	}
}

// TestDescribe: the form and rank are there for people to see.
func TestDescribe(t *testing.T) {
	for _, v := range variants(t, enginetest.New(t, 2)) {
		figures := map[string]any{}
		for _, f := range v.model.Describe() {
			figures[f.Name] = f.Value
		}
		if figures["form"] != string(v.model.metric.form()) || figures["dim"] != v.model.Dim() ||
			figures["rank"] == 0 {
			t.Errorf("%s: %v", v.name, figures)
		}
	}
}

// TestConcurrentUse: one model, many goroutines (for the race detector).
func TestConcurrentUse(t *testing.T) {
	eng := enginetest.New(t, 2)
	v := variants(t, eng)[4]
	want := results(t, eng, v.model, v.x)
	done := make(chan []blas.Matrix)
	for range runtime.GOMAXPROCS(0) + 1 {
		go func() { done <- results(t, eng, v.model, v.x) }()
	}
	for range runtime.GOMAXPROCS(0) + 1 {
		got := <-done
		for i := range want {
			if d := difference(toMat(got[i]), toMat(want[i])); !(d <= 1e-12) {
				t.Errorf("result %d differs by %g", i, d)
			}
		}
	}
}
