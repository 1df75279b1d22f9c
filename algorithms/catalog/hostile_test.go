package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/racetest"
)

// victim is a sound model file that the tests change, with points that the model takes.
type victim struct {
	name string
	file *model.File
	x    points.Points
}

// victims returns a file of every method, and of every other kind that methods store: maps in
// features and in kernel values, sparse points, sequences, Gram matrices, scalings, updates.
func victims(t *testing.T) []victim {
	d, _ := training(t)
	dense := d.Points.(*points.Dense)
	set, err := links.SampleByCount(d.Labels, 12, 12, 4)
	if err != nil {
		t.Fatal(err)
	}
	var list []victim
	add := func(name string, f *catalog.Fitted, x points.Points) {
		file, err := catalog.Encode(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file.Header.FormatVersion = model.FormatVersion
		list = append(list, victim{name, file, x})
	}
	fit := func(method, kernel string, x points.Points, scaling dataset.Transform, params ...string) {
		m, err := catalogtest.Lookup(method)
		if err != nil {
			t.Fatal(err)
		}
		c := catalog.Config{Kernel: kernel, Params: map[string]string{}, Seed: 1}
		for _, p := range params {
			name, value, _ := strings.Cut(p, "=")
			c.Params[name] = value
		}
		name := strings.TrimSpace(fmt.Sprintf("%s %s %T %s", method, kernel, x, strings.Join(params, " ")))
		learner, err := m.New(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fitted, err := learner.Fit(context.Background(), enginetest.New(t, 0), x, set)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		add(name, &catalog.Fitted{Model: fitted, Scaling: scaling}, x)
	}
	for _, m := range catalogtest.Methods() {
		fit(m.Name, "", d.Points, nil)
	}
	sparse, sequences, gram := otherPoints(t, dense)
	for _, x := range []points.Points{sparse, sequences, gram} {
		fit("krca", "", x, nil)
		fit("kbeta", "", x, nil)
		fit("mmc", "", x, nil)
		fit("forest", "", x, nil)
		fit("llma", "", x, nil)
	}
	// from the origin: kernels with a center
	farSparse, _, farGram := otherPoints(t, moved(dense, 500, false))
	fit("kpca", "linear", farSparse, nil)
	fit("krca", "linear", farGram, nil)
	fit("lleratio", "", sparse, nil, "mode=linear")
	fit("nca", "rbf:sigma=median", d.Points, nil)
	fit("krca", "linear", d.Points, &prepare.Scaling{Mean: []float64{1, 2}, Scale: []float64{3, 0}},
		"form=spectral")
	fit("krca", "linear", sparse, &prepare.TFIDF{Weight: make([]float64, sparse.D)})
	fit("kbeta", "", d.Points, nil, "extension=nystrom")
	fit("itml", "rbf:sigma=median", d.Points, nil)
	fit("dca", "rbf:sigma=median", d.Points, nil)
	fit("lleratio", "", d.Points, nil, "mode=linear")
	fit("gml", "", d.Points, nil, "prior=spectral")
	fit("gml", "", d.Points, nil, "prior=spectral", "extension=nystrom")
	fit("gml", "", d.Points, nil, "prior=datadep")
	updated := updated(t, fitted(t))
	x, err := updated.Prepare(d)
	if err != nil {
		t.Fatal(err)
	}
	add("krca updated", updated, x)
	return list
}

// otherPoints returns the points of dense as sparse ones, as sequences of different words, and
// as their matrix of inner products.
func otherPoints(t *testing.T, dense *points.Dense) (*points.CSR, *points.Sequences, *points.Gram) {
	start, col, val := []int{0}, []int32{}, []float64{}
	letters, begin := []byte{}, []int{0}
	gram := make([]float64, dense.N*dense.N)
	for i := range dense.N {
		for j, v := range dense.Row(i) {
			col, val = append(col, int32(j)), append(val, v)
		}
		start = append(start, len(val))
		for b := range 6 {
			letters = append(letters, "ACGT"[(i>>b+b*i)&3])
		}
		begin = append(begin, len(letters))
		for j := range dense.N {
			for k, v := range dense.Row(i) {
				gram[i*dense.N+j] += v * dense.Row(j)[k]
			}
		}
		gram[i*dense.N+i] += 1
	}
	sparse, err := points.NewCSR(dense.N, dense.D, start, col, val)
	if err != nil {
		t.Fatal(err)
	}
	sequences, err := points.NewSequences("ACGT", begin, letters)
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := points.NewGram(dense.N, dense.N, gram, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sparse, sequences, matrix
}

// damage is a replacement of a valid tensor; a nil shape removes the tensor.
type damage struct {
	name   string
	tensor model.Tensor
	fatal  bool // no method may take it
}

// damages returns what the test does to a tensor.
func damages(t model.Tensor) []damage {
	n, rank := t.Len(), len(t.Shape)
	reshaped := func(shape ...int) model.Tensor { t := t; t.Shape = shape; return t }
	list := []damage{
		{"left out", model.Tensor{}, true},
		{"as floats of 32 bits", model.Tensor{Shape: t.Shape, F32: make([]float32, n)}, t.F64 == nil},
		{"with one dimension more", reshaped(slices.Concat(t.Shape, []int{1})...), true},
		{"empty", resized(t, slices.Concat([]int{0}, t.Shape[1:])...), false},
		{"a row shorter", resized(t, slices.Concat([]int{max(0, t.Shape[0]-1)}, t.Shape[1:])...), false},
		{"a row longer", resized(t, slices.Concat([]int{t.Shape[0] + 1}, t.Shape[1:])...), false},
	}
	if rank == 2 {
		list = append(list, damage{"flat", reshaped(n), true},
			damage{"transposed", reshaped(t.Shape[1], t.Shape[0]), false},
			damage{"a column shorter", resized(t, t.Shape[0], max(0, t.Shape[1]-1)), false},
			damage{"a column longer", resized(t, t.Shape[0], t.Shape[1]+1), false})
	}
	for _, at := range slices.Compact([]int{0, n / 2, n - 1}) {
		if n == 0 {
			break
		}
		switch t.DType() {
		case model.F64:
			for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e300, -1e300, 5e-324} {
				bad := t
				bad.F64 = slices.Clone(t.F64)
				bad.F64[at] = v
				list = append(list, damage{fmt.Sprintf("with %g at %d", v, at), bad, v-v != 0})
			}
		case model.I64:
			for _, v := range []int64{-1, 0, 1, math.MaxInt32, 1 << 40, math.MaxInt64, math.MinInt64} {
				bad := t
				bad.I64 = slices.Clone(t.I64)
				bad.I64[at] = v
				list = append(list, damage{fmt.Sprintf("with %d at %d", v, at), bad,
					v < 0 || v > math.MaxInt32})
			}
		case model.U8:
			for _, v := range []byte{0, 1, 'a', 255} {
				bad := t
				bad.U8 = slices.Clone(t.U8)
				bad.U8[at] = v
				list = append(list, damage{fmt.Sprintf("with byte %d at %d", v, at), bad, false})
			}
		}
	}
	return list
}

// resized returns the first values of a tensor in another shape, with the last one repeated.
func resized(t model.Tensor, shape ...int) model.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	t.F64, t.F32, t.I64, t.U8 = repeat(t.F64, n), repeat(t.F32, n), repeat(t.I64, n), repeat(t.U8, n)
	t.Shape = shape
	return t
}

func repeat[T any](v []T, n int) []T {
	if v == nil {
		return nil
	}
	out := make([]T, n)
	for i := range out {
		if len(v) > 0 {
			out[i] = v[min(i, len(v)-1)]
		}
	}
	return out
}

// TestDamagedTensors: whatever is done to a tensor of a model, the file is refused with an
// input error, or the model that it gives can be used. What cannot mean anything (another type,
// another number of dimensions, NaN, infinity, negative indices) is always refused.
func TestDamagedTensors(t *testing.T) {
	eng := enginetest.New(t, 0)
	tried, refused := 0, 0
	for _, v := range racetest.Part(victims(t)) {
		for _, name := range slices.Sorted(maps.Keys(v.file.Tensors)) {
			for _, bad := range damages(v.file.Tensors[name]) {
				file := &model.File{Header: v.file.Header, Tensors: maps.Clone(v.file.Tensors)}
				if file.Tensors[name] = bad.tensor; bad.tensor.Shape == nil {
					delete(file.Tensors, name)
				}
				what := fmt.Sprintf("%s: tensor %s %s", v.name, name, bad.name)
				tried++
				switch err := use(t, eng, what, file, v.x); {
				case err != nil:
					refused++
				case bad.fatal:
					t.Errorf("%s: passed", what)
				}
			}
		}
	}
	t.Logf("%d damaged tensors, %d refused", tried, refused)
}

// use decodes a file and asks the model for everything; a panic, an error that is not one of the
// input, and more memory than the file accounts for are failures. The error is that of decoding.
func use(t *testing.T, eng *engine.Engine, what string, file *model.File, x points.Points) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v\n%s", what, p, stack())
		}
	}()
	const most = 32 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	defer func() {
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > most {
			t.Errorf("%s: %s allocated", what, fault.FormatBytes(int64(used)))
		}
	}()
	f, err := catalog.Decode(file)
	if err != nil {
		wantInput(t, what+", decoding", err)
		return err
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	_, fail := f.Prepare(&dataset.Data{Points: x})
	wantInput(t, what+", preparing", fail)
	y, fail := f.Model.Embed(ctx, eng, x)
	wantAnswer(t, what+", embedding", y.Data, fail)
	k, fail := f.Model.Gram(ctx, eng, x, nil)
	wantAnswer(t, what+", kernel", k.Data, fail)
	d, fail := f.Model.Distances(ctx, eng, x, [][2]int{{0, 1}, {3, 3}})
	wantAnswer(t, what+", distances", d, fail)
	if m, ok := f.Model.(algorithms.Describer); ok {
		m.Describe()
	}
	if m, ok := f.Model.(algorithms.Trace); ok {
		m.Trace()
	}
	if m, ok := f.Model.(algorithms.Objective); ok {
		m.Objective()
	}
	if m, ok := f.Model.(algorithms.Spectral); ok {
		m.Spectra()
	}
	if m, ok := f.Model.(algorithms.Inputs); ok {
		m.InputDim()
	}
	return nil
}

func wantInput(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil && (!fault.IsInput(err) || strings.Contains(err.Error(), "\n")) {
		t.Errorf("%s: error %q: want an input error of one line", what, err)
	}
}

// wantAnswer demands finite values or an input error: a model whose numbers leave the range of
// float64 is to say so.
func wantAnswer(t *testing.T, what string, values []float64, err error) {
	t.Helper()
	if err != nil {
		wantInput(t, what, err)
		return
	}
	for i, v := range values {
		if v-v != 0 {
			t.Errorf("%s: value %d is %v", what, i, v)
			return
		}
	}
}

// stack returns the frames of the module at a panic.
func stack() string {
	buf := make([]byte, 1<<14)
	buf = buf[:runtime.Stack(buf, false)]
	var frames []string
	for line := range strings.Lines(string(buf)) {
		if strings.HasPrefix(line, "\t") && strings.Contains(line, "mustlink") &&
			!strings.Contains(line, "_test.go") {
			frames = append(frames, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(frames[:min(4, len(frames))], "\n")
}

// TestDamagedHeaders: every number, text and object of the header is replaced by what may not stand
// there. The file is refused with an input error, or the model can be used.
func TestDamagedHeaders(t *testing.T) {
	eng := enginetest.New(t, 0)
	tried, refused := 0, 0
	for _, v := range racetest.Part(victims(t)) {
		text, err := json.Marshal(v.file.Header)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatal(err)
		}
		eachLeaf(tree, "header", func(path string, set func(any)) {
			for _, value := range []any{nil, -1, 0, 3, 1e9, 2147483647, 1e300, -1e300, 0.5, "", "no such",
				true, []any{}, map[string]any{}} {
				set(value)
				what := fmt.Sprintf("%s: %s is %v", v.name, path, value)
				text, err := json.Marshal(tree)
				if err != nil {
					t.Fatal(err)
				}
				tried++
				file := &model.File{Tensors: v.file.Tensors}
				if err := json.Unmarshal(text, &file.Header); err != nil {
					refused++ // as model.Read does
				} else if use(t, eng, what, file, v.x) != nil {
					refused++
				}
			}
		})
	}
	t.Logf("%d damaged headers, %d refused", tried, refused)
}

// eachLeaf calls f with a setter for every value below tree, and puts the value back after it.
func eachLeaf(tree any, path string, f func(path string, set func(any))) {
	object, ok := tree.(map[string]any)
	if !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		value := object[key]
		f(path+"."+key, func(v any) { object[key] = v })
		object[key] = value
		eachLeaf(value, path+"."+key, f)
	}
}
