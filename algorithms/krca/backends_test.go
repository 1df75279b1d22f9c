package krca

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/racetest"
)

// learnedKernel returns kt on all of x by one backend, without the embedding, whose
// eigendecomposition would dominate the time.
func learnedKernel(t *testing.T, eng *engine.Engine, spec kernel.Spec, x points.Points,
	s *links.Set) *metric {
	t.Helper()
	k, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	rows, f := flatten(s.Chunklets())
	m, err := newMetric(context.Background(), eng,
		&metric{kernel: k, anchors: x.Select(rows), f: f, eps: 1e-3}, FormAuto, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// agree compares the learned kernel of every backend of the build with gonum's:
// max |difference| <= 1e-9 max |Kt|. The native backend on generic kernels, which is all
// that the pure-Go build has, is among them, so a netlib build compares the three builds.
func agree(t *testing.T, name string, text string, x points.Points, s *links.Set) {
	t.Helper()
	reference := enginetest.With(t, engine.Options{Workers: 2, Backend: enginetest.Backend(t, "gonum", 2)})
	spec, err := bandwidth.Resolve(context.Background(), reference, enginetest.Spec(t, text), x)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	first := learnedKernel(t, reference, spec, x, s)
	want, err := first.gram(context.Background(), reference, x)
	if err != nil {
		t.Fatal(err)
	}
	largest := 0.0
	for i := range want.kt.Rows {
		largest = max(largest, want.kt.At(i, i)) // of a semidefinite matrix, the diagonal has it
	}
	for _, o := range variantsOfBuild() {
		b, err := backends.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		eng, err := engine.New(engine.Options{Backend: b, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		m := learnedKernel(t, eng, spec, x, s)
		got, err := m.gram(context.Background(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := range got.kt.Rows {
			for j, v := range got.kt.Row(i) {
				worst = max(worst, v-want.kt.At(i, j), want.kt.At(i, j)-v)
			}
		}
		t.Logf("%s, n=%d, in chunklets %d, form %s: %s %s differs from gonum by %.1e", name, x.Len(),
			m.f.points(), m.form(), o.Name, o.SIMD, worst/largest)
		if !(worst <= 1e-9*largest) {
			t.Errorf("%s: %s %s differs by %.1e of the largest element", name, o.Name, o.SIMD, worst/largest)
		}
	}
}

// variantsOfBuild lists the backends of this build besides gonum, native also on generic
// kernels.
func variantsOfBuild() []backends.Options {
	out := []backends.Options{{Name: "native", SIMD: "generic", Threads: 2}}
	for _, name := range backends.Names() {
		if name == "gonum" || name == "native" && asm.Best() == asm.Generic {
			continue
		}
		out = append(out, backends.Options{Name: name, Threads: 2})
	}
	return out
}

// TestBackendsAgree runs on generated data in every build.
func TestBackendsAgree(t *testing.T) {
	x := gaussian(150, 6, 3)
	s := chunkletSet(t, 150, runs(150, 7, 3, 2, 6, 30, 8, 2, 2, 2, 50)...)
	for _, text := range []string{"rbf:sigma=median", "linear", "poly:degree=2,coef=1,scale=1"} {
		agree(t, text, text, x, s)
	}
}

// TestBackendsAgreeOnData runs on every dense set of the data folder up to 2500 rows:
// standardized, rbf:sigma=median, as many must-links as 0.6 n drawn from the labels, or
// as leave 70 % of n components.
func TestBackendsAgreeOnData(t *testing.T) {
	folder := os.Getenv("MUSTLINK_DATA")
	if folder == "" {
		t.Skip("MUSTLINK_DATA is not set")
	}
	plain, err := filepath.Glob(filepath.Join(folder, "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := filepath.Glob(filepath.Join(folder, "*.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, path := range append(plain, packed...) {
		if strings.HasSuffix(path, "-labels.csv") { // of rows in another file
			continue
		}
		d, err := dataset.Read(path, dataset.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		n := d.Points.Len()
		// A build without netlib has less to compare: it leaves the large sets to the other.
		if n > 2500 || n > 700 && backends.Default() != "netlib" || n > 500 && testing.Short() || n > 200 &&
			racetest.Enabled {
			continue
		}
		tried++
		scaling, _, err := prepare.Standardize(d.Points)
		if err != nil {
			t.Fatal(err)
		}
		x, err := scaling.Apply(d.Points)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".gz")
		byCount, err := links.SampleByCount(d.Labels, n*6/10, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, name+", 0.6 n links", "rbf:sigma=median", x, byCount)
		if n > 1000 { // to save time: the other rule has more points in chunklets
			continue
		}
		byComponents, err := links.SampleByComponents(d.Labels, 0.7, 1)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, name+", 70 % components", "rbf:sigma=median", x, byComponents)
	}
	if tried < 5 {
		t.Error(fmt.Sprint("only ", tried, " data sets found in ", folder))
	}
}
