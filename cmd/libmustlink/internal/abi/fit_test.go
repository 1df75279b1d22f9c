package abi

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

const (
	n = 60
	d = 4
)

// problem returns points and labels of three classes.
func problem() ([]float64, []int64) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, label := make([]float64, n*d), make([]int64, n)
	for i := range label {
		label[i] = int64(i % 3)
		for j := range d {
			x[i*d+j] = rng.NormFloat64()
		}
		x[i*d] += 4 * float64(i%3)
	}
	return x, label
}

func pointsIn(x []float64) *Points {
	return &Points{Kind: Dense,
		Array: Array{Type: Float64, Rows: int64(len(x) / d), Cols: d, Data: unsafe.Pointer(&x[0]),
			RowStride: d, ColStride: 1}}
}

// sampled returns 30 links of each kind.
func sampled(t *testing.T, label []int64) *Links {
	t.Helper()
	pair, sign := make([]int64, 2*60), make([]int8, 60)
	if err := SampleLinks(unsafe.Pointer(&label[0]), n, 30, 30, 4, unsafe.Pointer(&pair[0])); err != nil {
		t.Fatal(err)
	}
	for k := range sign {
		sign[k] = int8(1 - 2*(k/30))
	}
	return &Links{Pairs: 60, Pair: unsafe.Pointer(&pair[0]), Sign: unsafe.Pointer(&sign[0])}
}

func newEngine(t testing.TB, options string) *engine.Engine {
	t.Helper()
	e, err := NewEngine(Version, options)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// optionsFor returns options, with the targets of catalogtest for a method that learns from
// targets.
func optionsFor(m catalog.Method, members string) string {
	if m.UsesTargets {
		targets, _ := json.Marshal(catalogtest.Targets(n))
		members += `, "targets": ` + string(targets)
	}
	return "{" + members + "}"
}

// A fit through this package is bit-identical to the fit of the library with the same links, to
// numbers as they are.
func TestEveryMethod(t *testing.T) {
	ctx, e := context.Background(), newEngine(t, "")
	x, label := problem()
	set, err := links.SampleByCount(labelTexts(label), 30, 30, 4)
	if err != nil {
		t.Fatal(err)
	}
	known := sampled(t, label)
	dense, err := points.NewDense(n, d, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range catalogtest.Methods() {
		t.Run(m.Name, func(t *testing.T) {
			learner, err := m.New(catalog.Config{Seed: 9})
			if err != nil {
				t.Fatal(err)
			}
			want, err := learner.Fit(ctx, e, dense, set)
			if err != nil {
				t.Fatal(err)
			}
			coordinates, err := want.Embed(ctx, e, dense)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Fit(NewTurns(), e, m.Name, optionsFor(m, `"seed": 9, "prepare": "none"`), pointsIn(x),
				known, nil)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]float64, n*want.Dim())
			to := &Array{Type: Float64, Rows: n, Cols: int64(want.Dim()), Data: unsafe.Pointer(&out[0]),
				RowStride: int64(want.Dim()), ColStride: 1}
			if err := Embed(e, got, pointsIn(x), nil, to); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j, v := range coordinates.Row(i) {
					if math.Float64bits(out[i*want.Dim()+j]) != math.Float64bits(v) {
						t.Fatalf("coordinate %d, %d is %v: want %v", i, j, out[i*want.Dim()+j], v)
					}
				}
			}
			wrong := slices.Clone(x)
			wrong[len(wrong)-1] = math.NaN()
			var bad *fault.DataError
			if err := Embed(e, got, pointsIn(wrong), nil, to); !errors.As(err, &bad) || bad.Row != n-1 ||
				bad.Column != strconv.Itoa(d-1) {
				t.Fatalf("a NaN gave %v: want an error that names row %d, column %d", err, n-1, d-1)
			}
		})
	}
}

// A model gives the same results after the memory of its fit was overwritten.
func TestNoMemoryIsKept(t *testing.T) {
	e := newEngine(t, `{"workers": 1}`)
	x, label := problem()
	mine := append([]float64(nil), x...)
	known := sampled(t, label)
	for _, m := range catalogtest.Methods() {
		copy(mine, x)
		fitted, err := Fit(NewTurns(), e, m.Name, optionsFor(m, `"params": {}`), pointsIn(mine), known, nil)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		before := gramOf(t, e, fitted, x)
		for k := range mine {
			mine[k] = math.NaN()
		}
		after := gramOf(t, e, fitted, x)
		for k := range before {
			if before[k] != after[k] {
				t.Fatalf("%s: the kernel changed with the memory of its points", m.Name)
			}
		}
	}
}

func gramOf(t *testing.T, e *engine.Engine, fitted *mustlink.Model, x []float64) []float64 {
	t.Helper()
	out := make([]float64, n*n)
	if err := GramMatrix(e, fitted, pointsIn(x), nil, nil,
		&Array{Type: Float64, Rows: n, Cols: n, Data: unsafe.Pointer(&out[0]), RowStride: n,
			ColStride: 1}); err != nil {
		t.Fatal(err)
	}
	return out
}

// Unknown options, and options of a wrong type, are errors that name them.
func TestOptions(t *testing.T) {
	e := newEngine(t, "")
	x, label := problem()
	known := &Links{Rows: n, Group: unsafe.Pointer(&label[0])}
	for options, word := range map[string]string{
		`{"kernels": "linear"}`:                "kernels",
		`[]`:                                   "object",
		`{`:                                    "options",
		`{} 1`:                                 "more",
		`{"params": {"dims": null}}`:           "want a text",
		`{"params": {"dims": {}}}`:             "want a text",
		`{"params": {"dim": 1}}`:               "dims",
		`{"params": {"dims": "-1"}}`:           "dims",
		`{"seed": -1}`:                         "seed",
		`{"kernel": "rbg"}`:                    "rbf",
		`{"standardize": true, "tfidf": true}`: "one of",
		`{"features": ["a"]}`:                  "names of features",
		`{"quadruplets": [[0, 1, 2]]}`:         "four rows",
		`{"quadruplets": [[0, 1, 2, 0.5]]}`:    "four rows",
		`{"quadruplets": [[0, 1, 2, 3]]}`:      "krca does not learn from them",
		`{"targets": [1, 2]}`: "number of targets is 2: want none: krca does not " +
			"learn from them",
		`{"targets": ["high"]}`:                    "targets",
		`{"params": {"eps": 1, "eps_rel": "0.1"}}`: "eps",
	} {
		_, err := Fit(NewTurns(), e, "krca", options, pointsIn(x), known, nil)
		if err == nil || CodeOf(err) != BadInput || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %v (code %d): want one with %q", options, err, CodeOf(err), word)
		}
	}
	for options, word := range map[string]string{
		`{}`:                   "mlkr learns from targets: want a number for each of the",
		`{"targets": [1, 2]}`:  "number of targets is 2: want",
		`{"targets": [1e400]}`: "targets",
		`{"targets": [` + strings.Repeat("1,", n-1) + `1]}`: "all targets are equal",
	} {
		_, err := Fit(NewTurns(), e, "mlkr", options, pointsIn(x), nil, nil)
		if err == nil || CodeOf(err) != BadInput || !strings.Contains(err.Error(), word) {
			t.Errorf("%.40s: error %v (code %d): want one with %q", options, err, CodeOf(err), word)
		}
	}
	fitted, err := Fit(NewTurns(), e, "krca",
		`{"params": {"dims": 2, "eps_rel": 1e-2, "form": "spectral"}, "standardize": true}`, pointsIn(x),
		known, nil)
	if err != nil || fitted.Dim() != 2 || fitted.Record().Scaling == nil {
		t.Errorf("model %+v, error %v", fitted, err)
	}
}

// A flag and a report cancel the work. Reports come on the caller's goroutine.
func TestControl(t *testing.T) {
	forever := func(ctx context.Context, progress algorithms.ProgressFunc) error {
		for ctx.Err() == nil {
			if progress != nil {
				progress(algorithms.Progress{Stage: "waiting"})
			}
			time.Sleep(time.Millisecond)
		}
		return ctx.Err()
	}
	var flag int32
	time.AfterFunc(20*time.Millisecond, func() { atomic.StoreInt32(&flag, 1) })
	if err := (&Control{Cancel: &flag}).run(forever); !errors.Is(err, context.Canceled) {
		t.Errorf("the flag gave %v", err)
	}
	if err := (&Control{Cancel: &flag}).run(func(context.Context, algorithms.ProgressFunc) error {
		t.Error("work began")
		return nil
	}); CodeOf(err) != Canceled {
		t.Errorf("a flag that was set before gave %v", err)
	}
	reports := 0
	err := (&Control{Interval: time.Millisecond, Report: func(p *algorithms.Progress) bool {
		if p != nil && p.Stage == "waiting" {
			reports++
		}
		return reports < 3
	}}).run(forever)
	if !errors.Is(err, context.Canceled) || reports != 3 {
		t.Errorf("%d reports gave %v", reports, err)
	}
	for _, c := range []*Control{nil, {}, {Cancel: new(int32)}} {
		err := c.run(func(context.Context, algorithms.ProgressFunc) error { panic("a bug") })
		if CodeOf(err) != Failed || !strings.Contains(err.Error(), "a bug") {
			t.Errorf("a panic gave %v", err)
		}
	}
}

// Numbers are never reused, and each belongs to one kind of object.
func TestHandles(t *testing.T) {
	var h Handles
	e := h.Put(newEngine(t, ""))
	m := h.Put(&mustlink.Model{})
	if _, err := Get[*engine.Engine](&h, m); CodeOf(err) != BadHandle {
		t.Errorf("a model as engine: %v", err)
	}
	if _, err := Get[*mustlink.Model](&h, e); CodeOf(err) != BadHandle {
		t.Errorf("an engine as model: %v", err)
	}
	if err := Free[*mustlink.Model](&h, e); CodeOf(err) != BadHandle || len(h.objects) != 2 {
		t.Errorf("an engine freed as model: %v", err)
	}
	if err := Free[*mustlink.Model](&h, m); err != nil || len(h.objects) != 1 {
		t.Errorf("freed: %v, %d objects", err, len(h.objects))
	}
	if err := Free[*mustlink.Model](&h, m); CodeOf(err) != BadHandle {
		t.Errorf("freed twice: %v", err)
	}
	if again := h.Put(&mustlink.Model{}); again == m {
		t.Error("a number was reused")
	}
}

// Missing files are not input errors.
func TestCodes(t *testing.T) {
	e := newEngine(t, `{"memory_limit": 100}`)
	_, err := mustlink.Load(filepath.Join(t.TempDir(), "none"), mustlink.Engine(e))
	if CodeOf(err) != BadFile {
		t.Errorf("code %d of %v", CodeOf(err), err)
	}
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, make([]byte, 200), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := mustlink.Load(path, mustlink.Engine(e)); CodeOf(err) != NoMemory {
		t.Errorf("code %d of %v", CodeOf(err), err)
	}
	if _, err := NewEngine(Version+1, ""); CodeOf(err) != BadVersion {
		t.Errorf("code %d of %v", CodeOf(err), err)
	}
	if CodeOf(nil) != OK || CodeOf(errors.New("disk full")) != Failed {
		t.Error("codes of nil and of an unknown error")
	}
}

// BenchmarkEmbed embeds the points in the folder MUSTLINK_FIGURES with the model there, as `make
// lib-figures` does in Python.
func BenchmarkEmbed(b *testing.B) {
	folder := os.Getenv("MUSTLINK_FIGURES")
	if folder == "" {
		b.Skip("MUSTLINK_FIGURES is not set")
	}
	fitted, err := catalog.Load(filepath.Join(folder, "model.mlk"))
	if err != nil {
		b.Fatal(err)
	}
	data, err := dataset.Read(filepath.Join(folder, "points.npy"), dataset.ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	e := newEngine(b, "")
	for b.Loop() {
		x, err := fitted.Prepare(data)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := fitted.Model.Embed(context.Background(), e, x); err != nil {
			b.Fatal(err)
		}
	}
}
