// Package trial provides data in files and jobs on Prism for the tests of pipelines.
package trial

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
)

// Main runs the tests of a package and removes the temporary files of their jobs.
func Main(m *testing.M) {
	remove, err := job.Temporary()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// Engine returns an engine with two workers.
func Engine(t *testing.T) *engine.Engine {
	t.Helper()
	eng, err := engine.New(engine.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// Blobs returns n rows around k centers, which are far apart relative to a small spread.
func Blobs(seed uint64, n, d, k int, spread float64) *points.Dense {
	rng := rand.New(rand.NewPCG(seed, 17))
	centers := make([]float64, k*d)
	for i := range centers {
		centers[i] = 10 * rng.Float64()
	}
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range n {
		c := rng.IntN(k)
		for j := range d {
			x.Data[i*d+j] = centers[c*d+j] + spread*rng.NormFloat64()
		}
	}
	return x
}

// Sizes divides n rows into files of very different sizes, some of them empty.
func Sizes(n int) []int { return []int{0, n / 100, n - n/100 - n/7 - 1, 0, 1, n / 7, 0} }

// Files writes the rows to .npy files of the given sizes, an empty file for size 0, and returns
// their pattern.
func Files(t *testing.T, x *points.Dense, sizes []int) string {
	t.Helper()
	dir, from := t.TempDir(), 0
	for f, n := range sizes {
		path := filepath.Join(dir, fmt.Sprintf("part-%03d.npy", f))
		var err error
		if n == 0 {
			err = os.WriteFile(path, nil, 0o666)
		} else {
			err = dataset.WriteMatrix(path, n, x.D, x.Data[from*x.D:], x.D, nil, dataset.WriteOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		from += n
	}
	if from != x.N {
		t.Fatalf("files of %d rows, want %d", from, x.N)
	}
	return filepath.Join(dir, "part-*.npy")
}

// Plan divides files into elements of a few rows.
func Plan(t *testing.T, pattern string, rows int) *shard.Set {
	t.Helper()
	job.Silence() // the runner's log would fill the output of tests
	set, err := shard.Plan(t.Context(), pattern, shard.Options{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Config returns the configuration of a job on a set.
func Config(set *shard.Set, workers int) job.Config {
	return job.Config{Workers: workers, Rows: set.Rows}
}

// Run runs a pipeline on Prism.
func Run(t *testing.T, build func(s beam.Scope) error) *job.Report {
	t.Helper()
	r, err := job.Run(t.Context(), "prism", build)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Rows reads the rows of all files of a pattern, in their order.
func Rows(t *testing.T, pattern string) *points.Dense {
	t.Helper()
	all := &points.Dense{}
	for _, e := range Plan(t, pattern, 1<<20).Elements {
		block, bad, err := e.Whole(shard.Options{})
		if err != nil || len(bad) > 0 {
			t.Fatal(bad, err)
		}
		x := block.Points.(*points.Dense)
		all.N, all.D, all.Data = all.N+x.N, x.D, append(all.Data, x.Data...)
	}
	return all
}
