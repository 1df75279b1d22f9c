package kmeans_test

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/kmeans"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/results"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

func TestMain(m *testing.M) { trial.Main(m) }

func matrix(x *points.Dense) blas.Matrix {
	return blas.MatrixOf(x.N, x.D, x.Data)
}

// runKMeans runs k-means on Prism and returns the centers and their summary.
func runKMeans(t *testing.T, set *shard.Set, workers int, o kmeans.Options,
	given *kmeans.State) (blas.Matrix, kmeans.Summary) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "centers.npy")
	trial.Run(t, func(s beam.Scope) error {
		source := kmeans.Over(s, trial.Config(set, workers), set.Elements)
		kmeans.Write(s, path, source.Centers(s, o, given))
		return nil
	})
	centers, err := coordinates.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	var found kmeans.Summary
	if err := results.Take(path, &found); err != nil {
		t.Fatal(err)
	}
	return centers, found
}

// blocks returns x as a single block, for the library's stream.
func blocks(x *points.Dense) iter.Seq2[blas.Matrix, error] {
	return func(yield func(blas.Matrix, error) bool) { yield(matrix(x), nil) }
}

// From the same centers the result is that of the library, which sums in another order.
func TestLloydMatchesLibrary(t *testing.T) {
	x := trial.Blobs(1, 9000, 5, 12, 1.5)
	for i := range x.Data {
		x.Data[i] += 1000
	}
	start := matrix(points.Slice(x, 40, 52).(*points.Dense))
	want, err := cluster.KMeansStream(t.Context(), trial.Engine(t), blocks(x),
		cluster.StreamParams{Params: cluster.Params{Start: start}})
	if err != nil {
		t.Fatal(err)
	}
	given := kmeans.From(start)
	set := trial.Plan(t, trial.Files(t, x, trial.Sizes(x.N)), 97) // 94 elements: two floors of merges
	got, found := runKMeans(t, set, 2, kmeans.Options{K: 12, Iterations: want.Iterations + 3}, &given)
	for i, v := range want.Centers().Data {
		if !(math.Abs(got.Data[i]-v) <= 1e-11*1000) {
			t.Fatalf("value %d of the centers is %v, the library's %v", i, got.Data[i], v)
		}
	}
	if !(math.Abs(found.Inertia-want.Inertia) <= 1e-10*want.Inertia) || !found.Converged ||
		found.Rows != int64(x.N) {
		t.Errorf("inertia %v of %d rows, converged %v; the library's %v", found.Inertia, found.Rows,
			found.Converged, want.Inertia)
	}
	for c, n := range want.Sizes {
		if found.Sizes[c] != int64(n) {
			t.Errorf("cluster %d has %d rows, the library's %d", c, found.Sizes[c], n)
		}
	}
}

// The result is bit-identical for any number of workers and any order of elements. From k-means||
// the inertia is within 1 % of the library's best of 5.
func TestStart(t *testing.T) {
	x := trial.Blobs(4, 8000, 4, 10, 1)
	set := trial.Plan(t, trial.Files(t, x, trial.Sizes(x.N)), 500)
	o := kmeans.Options{K: 10, Width: 4, Seed: 3, Rounds: kmeans.DefaultRounds, Iterations: 20, Tol: 1e-6}
	centers, found := runKMeans(t, set, 1, o, nil)
	other := *set
	other.Elements = slices.Clone(set.Elements)
	slices.Reverse(other.Elements)
	again, foundAgain := runKMeans(t, &other, 3, o, nil)
	if !slices.Equal(centers.Data, again.Data) || found.Inertia != foundAgain.Inertia {
		t.Error("the result depends on workers or on the order of elements")
	}
	best, err := cluster.KMeans(t.Context(), trial.Engine(t), matrix(x),
		cluster.Params{K: 10, Restarts: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !(found.Inertia <= 1.01*best.Inertia) {
		t.Errorf("inertia %v, the library's best of 5 %v", found.Inertia, best.Inertia)
	}
	if found.Clusters != 10 || slices.Min(found.Sizes) == 0 {
		t.Errorf("%d clusters of sizes %v", found.Clusters, found.Sizes)
	}
}

// More clusters than different rows are an input error for the user.
func TestTooFewDifferentRows(t *testing.T) {
	x := &points.Dense{N: 30, D: 1, Data: slices.Repeat([]float64{1, 2, 3}, 10)}
	set := trial.Plan(t, trial.Files(t, x, []int{10, 20}), 4)
	_, err := job.Run(t.Context(), "prism", func(s beam.Scope) error {
		source := kmeans.Over(s, trial.Config(set, 1), set.Elements)
		kmeans.Write(s, filepath.Join(t.TempDir(), "c.npy"),
			source.Centers(s, kmeans.Options{K: 4, Width: 1, Rounds: 3, Iterations: 1}, nil))
		return nil
	})
	if !fault.IsInput(err) || !strings.Contains(err.Error(), "at most 3") {
		t.Errorf("error %v, want one of the input that names 3 rows", err)
	}
}

func TestOptions(t *testing.T) {
	good := kmeans.Options{K: 2, Rounds: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(o *kmeans.Options){
		"clusters":   func(o *kmeans.Options) { o.K = 0 },
		"rounds":     func(o *kmeans.Options) { o.Rounds = 0 },
		"draw":       func(o *kmeans.Options) { o.Draw = -1 },
		"iterations": func(o *kmeans.Options) { o.Iterations = -1 },
		"tol":        func(o *kmeans.Options) { o.Tol = math.NaN() },
	} {
		o := good
		change(&o)
		var want *fault.ParamError
		if err := o.Validate(); !errors.As(err, &want) || !strings.Contains(want.Param, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// assign runs assign on Prism and returns the bytes of its files.
func assign(t *testing.T, set *shard.Set, workers int, centers string,
	elements []shard.Element) (shard.Output, []byte) {
	t.Helper()
	out := shard.Output{Path: filepath.Join(t.TempDir(), "clusters.npy")}
	trial.Run(t, func(s beam.Scope) error {
		kmeans.Assign(s, trial.Config(set, workers), elements, centers, out)
		return nil
	})
	files, err := shard.Files(out.Pattern())
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return out, all
}

// Rows are assigned as by the library's Assigner. Elements that are processed twice, in any order,
// give the same bytes.
func TestAssign(t *testing.T) {
	x := trial.Blobs(6, 4000, 3, 6, 1)
	dir := t.TempDir()
	path := filepath.Join(dir, "centers.npy")
	from := kmeans.From(matrix(points.Slice(x, 5, 11).(*points.Dense)))
	trial.Run(t, func(s beam.Scope) error {
		kmeans.Write(s, path, beam.Create(s, from))
		return nil
	})
	set := trial.Plan(t, trial.Files(t, x, trial.Sizes(x.N)), 300)
	out, bytes := assign(t, set, 2, path, set.Elements)
	got := trial.Rows(t, out.Pattern())
	a, err := cluster.NewAssigner(from.Matrix())
	if err != nil {
		t.Fatal(err)
	}
	labels, squared := make([]int, x.N), make([]float64, x.N)
	if err := a.Assign(t.Context(), trial.Engine(t), matrix(x), labels, squared); err != nil {
		t.Fatal(err)
	}
	if got.N != x.N {
		t.Fatalf("%d rows, want %d", got.N, x.N)
	}
	for i, c := range labels {
		if row := got.Row(i); row[0] != float64(c) || row[1] != squared[i] {
			t.Fatalf("row %d: %v, want %d at %v", i, row, c, squared[i])
		}
	}
	twice := slices.Concat(set.Elements, set.Elements)
	slices.Reverse(twice)
	if _, again := assign(t, set, 3, path, twice); !slices.Equal(bytes, again) {
		t.Error("elements that are processed twice give other bytes")
	}
}

// A bad row ends the job and is named, or is left out within the limit.
func TestBadRows(t *testing.T) {
	x := trial.Blobs(7, 400, 2, 3, 1)
	x.Data[2*123+1] = math.NaN()
	dir := t.TempDir()
	path := filepath.Join(dir, "part.npy")
	writeRaw(t, path, x)
	set := trial.Plan(t, path, 50)
	run := func(limit job.Limit) (kmeans.Summary, error) {
		c := trial.Config(set, 2)
		c.BadRows = limit
		out := filepath.Join(t.TempDir(), "centers.npy")
		_, err := job.Run(t.Context(), "prism", func(s beam.Scope) error {
			source := kmeans.Over(s, c, set.Elements)
			kmeans.Write(s, out,
				source.Centers(s, kmeans.Options{K: 3, Width: 2, Rounds: 2, Iterations: 5}, nil))
			return nil
		})
		var found kmeans.Summary
		if err == nil {
			err = results.Take(out, &found)
		}
		return found, err
	}
	if _, err := run(job.Limit{}); !fault.IsInput(err) || !strings.Contains(err.Error(), "row 123") {
		t.Errorf("without a limit: %v, want row 123", err)
	}
	if found, err := run(job.Limit{Count: 1}); err != nil || found.Rows != 399 {
		t.Errorf("with a limit: %v, %d rows, want 399", err, found.Rows)
	}
}

// writeRaw writes values unchanged, also NaN, which the library's writer refuses.
func writeRaw(t *testing.T, path string, x *points.Dense) {
	t.Helper()
	head := "{'descr': '<f8', 'fortran_order': False, 'shape': (" + strconv.Itoa(x.N) + ", " +
		strconv.Itoa(x.D) + "), }"
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	text := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), 0)
	text = append(text, head...)
	for _, v := range x.Data {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
}
