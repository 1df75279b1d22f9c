package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const golden = "testdata/krca-v1.safetensors"

// training returns the data and links of the golden model: 30 points of two rings.
func training(t testing.TB) (*dataset.Data, *links.Set) {
	t.Helper()
	d, err := dataset.Generate("rings", dataset.GenerateOptions{N: 30, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	set, err := links.SampleByCount(d.Labels, 12, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	return d, set
}

// fitted returns the model of the golden file, fitted again.
func fitted(t testing.TB) *catalog.Fitted {
	t.Helper()
	d, set := training(t)
	scaling, _, err := prepare.Standardize(d.Points)
	if err != nil {
		t.Fatal(err)
	}
	x, err := scaling.Apply(d.Points)
	if err != nil {
		t.Fatal(err)
	}
	method, err := catalog.Lookup("krca")
	if err != nil {
		t.Fatal(err)
	}
	learner, err := method.New(catalog.Config{Kernel: "rbf:sigma=0.5msq",
		Params: map[string]string{"dims": "3", "eps_rel": "1e-2"}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := learner.Fit(context.Background(), enginetest.New(t, 0), x, set)
	if err != nil {
		t.Fatal(err)
	}
	return &catalog.Fitted{Model: m, Features: d.Features, Scaling: scaling,
		Fingerprint:    dataset.Fingerprint(d.Points),
		LibraryVersion: "golden", Build: "golden"}
}

// distances returns the squared learned distances of the first point to all others.
func distances(t testing.TB, f *catalog.Fitted) []float64 {
	t.Helper()
	d, _ := training(t)
	x, err := f.Prepare(d)
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][2]int
	for j := 1; j < x.Len(); j++ {
		pairs = append(pairs, [2]int{0, j})
	}
	d2, err := f.Model.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return d2
}

// TestGolden: a model file of format version 1 loads in every build and gives the distances
// of the same fit, repeated.
func TestGolden(t *testing.T) {
	now := fitted(t)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := catalog.Save(golden, now); err != nil {
			t.Fatal(err)
		}
	}
	then, err := catalog.Load(golden)
	if err != nil {
		t.Fatal(err)
	}
	if then.Fingerprint != now.Fingerprint {
		t.Errorf("fingerprint %s: want %s", then.Fingerprint, now.Fingerprint)
	}
	want, got := distances(t, now), distances(t, then)
	largest := 0.0
	for _, v := range want {
		largest = max(largest, v)
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-10*largest) {
			t.Errorf("distance %d is %.17g: want %.17g", i, got[i], want[i])
		}
	}
	// The embedding is the learned geometry up to what 3 dimensions leave out: it must at
	// least be the same map in every build, up to rotation.
	compareEmbeddings(t, then, now)
}

func compareEmbeddings(t *testing.T, a, b *catalog.Fitted) {
	t.Helper()
	d, _ := training(t)
	x, err := a.Prepare(d)
	if err != nil {
		t.Fatal(err)
	}
	ya, err := a.Model.Embed(context.Background(), enginetest.New(t, 0), x)
	if err != nil {
		t.Fatal(err)
	}
	yb, err := b.Model.Embed(context.Background(), enginetest.New(t, 0), x)
	if err != nil {
		t.Fatal(err)
	}
	inner := func(y []float64, cols, i, j int) float64 {
		s := 0.0
		for c := range cols {
			s += y[i*cols+c] * y[j*cols+c]
		}
		return s
	}
	for i := range x.Len() {
		for j := range x.Len() {
			p, q := inner(ya.Data, ya.Cols, i, j), inner(yb.Data, yb.Cols, i, j)
			if !(math.Abs(p-q) <= 1e-8*math.Sqrt(inner(ya.Data, ya.Cols, i, i)*inner(ya.Data, ya.Cols, j,
				j))+1e-12) {
				t.Fatalf("inner product (%d,%d) of the embedding is %g: want %g", i, j, p, q)
			}
		}
	}
}

func TestSaveLoadKeepsEveryBit(t *testing.T) {
	before := fitted(t)
	path := filepath.Join(t.TempDir(), "m.mlk")
	if err := catalog.Save(path, before); err != nil {
		t.Fatal(err)
	}
	after, err := catalog.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := distances(t, before), distances(t, after)
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("distance %d is %v after loading, %v before", i, b[i], a[i])
		}
	}
	if strings.Join(after.Features, ",") != strings.Join(before.Features, ",") {
		t.Errorf("features %v: want %v", after.Features, before.Features)
	}
}

// TestMistakes: every mistake is an input error whose message holds what helps.
func TestMistakes(t *testing.T) {
	if _, err := catalog.Lookup("krac"); !fault.IsInput(err) || !strings.Contains(err.Error(), "krca") {
		t.Errorf("unknown method: %v", err)
	}
	method, err := catalog.Lookup("krca")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config catalog.Config
		text   string
	}{
		"unknown parameter": {catalog.Config{Params: map[string]string{"esp": "1"}}, "eps"},
		"text for a number": {catalog.Config{Params: map[string]string{"eps": "much"}}, `"much"`},
		"eps of 0":          {catalog.Config{Params: map[string]string{"eps": "0"}}, "> 0"},
		"eps NaN":           {catalog.Config{Params: map[string]string{"eps_rel": "NaN"}}, "NaN"},
		"two eps": {catalog.Config{Params: map[string]string{"eps": "1", "eps_rel": "1"}},
			"together"},
		"negative dims":    {catalog.Config{Params: map[string]string{"dims": "-1"}}, "dims"},
		"fraction of dims": {catalog.Config{Params: map[string]string{"dims": "1.5"}}, "1.5"},
		"unknown form":     {catalog.Config{Params: map[string]string{"form": "choleski"}}, "cholesky"},
		"unknown kernel":   {catalog.Config{Kernel: "rfb:sigma=1"}, "rbf"},
		"sigma of 0":       {catalog.Config{Kernel: "rbf:sigma=0"}, "sigma"},
	} {
		_, err := method.New(c.config)
		if !fault.IsInput(err) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v: want an input error that holds %q", name, err, c.text)
		}
	}
}

// TestPrepare: data that are not the model's are refused with the difference named.
func TestPrepare(t *testing.T) {
	f := fitted(t)
	row := func(d int) points.Points { return &points.Dense{N: 1, D: d, Data: make([]float64, d)} }
	var shape *fault.ShapeError
	if _, err := f.Prepare(&dataset.Data{Points: row(3)}); !errors.As(err, &shape) || shape.Got != 3 {
		t.Errorf("three features: error %v", err)
	}
	x, err := f.Prepare(&dataset.Data{Points: row(2)})
	if err != nil {
		t.Fatal(err)
	}
	scaling := f.Scaling.(*prepare.Scaling)
	for j, v := range x.(*points.Dense).Data {
		if want := -scaling.Mean[j] / scaling.Scale[j]; math.Abs(v-want) > 1e-15*math.Abs(want) {
			t.Errorf("feature %d of the origin is scaled to %g: want %g", j, v, want)
		}
	}
}

// FuzzLoad: any bytes give a model or an input error.
func FuzzLoad(f *testing.F) {
	good, err := os.ReadFile(golden)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte("{}"))
	for _, m := range catalogtest.Methods() {
		f.Add(fileOf(f, m))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "m")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := catalog.Load(path)
		switch {
		case err != nil && !fault.IsInput(err):
			t.Errorf("error %v is not an input error", err)
		case err == nil && m.Model == nil:
			t.Error("no model and no error")
		case err == nil: // what was read can be used
			in, ok := m.Model.(algorithms.Inputs)
			if !ok || in.InputDim() < 1 || in.InputDim() > 1000 {
				return
			}
			x := &points.Dense{N: 2, D: in.InputDim(), Data: make([]float64, 2*in.InputDim())}
			if _, err := m.Model.Embed(context.Background(), enginetest.New(t, 0), x); err != nil &&
				!fault.IsInput(err) {
				t.Errorf("embedding the origin: error %v", err)
			}
		}
	})
}

// fileOf fits a method with its defaults and returns the bytes of the model's file.
func fileOf(t testing.TB, m catalog.Method) []byte {
	t.Helper()
	d, _ := training(t)
	set, err := links.SampleByCount(d.Labels, 12, 12, 4)
	if err != nil {
		t.Fatal(err)
	}
	learner, err := m.New(catalog.Config{Seed: 1})
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	fitted, err := learner.Fit(context.Background(), enginetest.New(t, 0), d.Points, set)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	file, err := catalog.Encode(&catalog.Fitted{Model: fitted, Features: d.Features})
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEveryMethod: each fits with its defaults, and its file gives the same model.
func TestEveryMethod(t *testing.T) {
	d, _ := training(t)
	for _, m := range catalogtest.Methods() {
		t.Run(m.Name, func(t *testing.T) {
			data := fileOf(t, m)
			path := filepath.Join(t.TempDir(), "m")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			back, err := catalog.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if back.Model.Method() != m.Name {
				t.Errorf("the file of %s holds a model of %s", m.Name, back.Model.Method())
			}
			y, err := back.Model.Embed(context.Background(), enginetest.New(t, 0), d.Points)
			if err != nil || y.Rows != d.Points.Len() || y.Cols != back.Model.Dim() {
				t.Errorf("%d x %d places, error %v", y.Rows, y.Cols, err)
			}
			gram, err := back.Model.Gram(context.Background(), enginetest.New(t, 0), d.Points, nil)
			if err != nil {
				t.Fatal(err)
			}
			distance, err := back.Model.Distances(context.Background(), enginetest.New(t, 0), d.Points,
				[][2]int{{3, 8}})
			if err != nil {
				t.Fatal(err)
			}
			want := gram.At(3, 3) + gram.At(8, 8) - 2*gram.At(3, 8)
			if math.Abs(distance[0]-want) > 1e-9*(gram.At(3, 3)+gram.At(8, 8)) {
				t.Errorf("squared distance %g, by the kernel %g", distance[0], want)
			}
			if _, err := back.Model.Distances(context.Background(), enginetest.New(t, 0), d.Points,
				[][2]int{{0, 30}}); !fault.IsInput(err) {
				t.Errorf("a pair with a point that does not exist: error %v", err)
			}
		})
	}
}

// TestDuration: the estimate for a method that was chosen grows with rows and links, is that of the
// measured order, and there is none for a method that was named.
func TestDuration(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 400, 5, 3)
	few, many := enginetest.Drawn(t, labels, 20, 20, 4), enginetest.Drawn(t, labels, 200, 200, 4)
	for _, set := range []*links.Set{few, many} {
		c, err := catalog.Choose(set, algorithms.Lesson{})
		if err != nil || c.Method.Name != "blend" {
			t.Fatalf("%+v, %v", c, err)
		}
		if d := c.Duration(x, set); d < 5*time.Millisecond || d > 500*time.Millisecond {
			t.Errorf("400 rows take %v", d)
		}
	}
	c, _ := catalog.Choose(few, algorithms.Lesson{})
	if c.Duration(x, few) >= c.Duration(x, many) ||
		c.Duration(points.Slice(x, 0, 200), few) >= c.Duration(x, few) {
		t.Error("more rows or links do not take longer")
	}
	if c.Why = ""; c.Duration(x, few) != 0 {
		t.Error("a method that was named has an estimate")
	}
}
