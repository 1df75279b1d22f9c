package nearest_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/nearest"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/results"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

func TestMain(m *testing.M) { trial.Main(m) }

// rowsOf returns rows with many ties: three copies of some rows, and small integers.
func rowsOf(n int) *points.Dense {
	x := trial.Blobs(9, n, 3, 8, 2)
	for i := range n / 4 {
		for j := range 3 {
			x.Data[3*i+j] = math.Round(x.Data[3*i+j])
		}
	}
	copy(x.Row(n-1), x.Row(5))
	copy(x.Row(n/2), x.Row(5))
	return x
}

// graphOf reads a graph from files. The index is the row number.
func graphOf(t *testing.T, pattern string, n, k int) (numbers [][]int64, squared [][]float64) {
	t.Helper()
	got := trial.Rows(t, pattern)
	if got.N != n || got.D != 2*k+1 {
		t.Fatalf("a graph of %d x %d values, want %d x %d", got.N, got.D, n, 2*k+1)
	}
	numbers, squared = make([][]int64, n), make([][]float64, n)
	for i := range got.N {
		row := got.Row(i)
		own := int(row[0])
		if numbers[own] != nil {
			t.Fatalf("row %d occurs twice", own)
		}
		for _, v := range row[1 : k+1] {
			numbers[own] = append(numbers[own], int64(v))
		}
		squared[own] = slices.Clone(row[k+1:])
	}
	return numbers, squared
}

// library returns the graph that the library computes.
func library(t *testing.T, x *points.Dense, k int) *graph.Neighbors {
	t.Helper()
	want, err := graph.Nearest(t.Context(), trial.Engine(t), kernel.Linear(), x, k)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func checkExact(t *testing.T, x *points.Dense, pattern string, k int) {
	t.Helper()
	want := library(t, x, k)
	numbers, squared := graphOf(t, pattern, x.N, k)
	for i := range x.N {
		index, d := want.Of(i)
		for a, j := range index {
			if numbers[i][a] != int64(j) || squared[i][a] != d[a] {
				t.Fatalf("row %d: neighbor %d is %d at %v, want %d at %v", i, a, numbers[i][a], squared[i][a],
					j, d[a])
			}
		}
	}
}

// The exact graph is the library's on all rows, also for ties and for elements with fewer rows than
// neighbors.
func TestExact(t *testing.T) {
	x := rowsOf(1500)
	for _, c := range []struct{ rows, k, workers int }{{200, 7, 2}, {1500, 3, 1}, {90, 95, 3}} {
		set := trial.Plan(t, trial.Files(t, x, trial.Sizes(x.N)), c.rows)
		out := shard.Output{Path: filepath.Join(t.TempDir(), "graph.npy")}
		elements := append(slices.Clone(set.Elements), set.Elements[0]) // one of them twice
		trial.Run(t, func(s beam.Scope) error {
			nearest.ExactOf(s, trial.Config(set, c.workers), elements, set.Elements, c.k, out)
			return nil
		})
		checkExact(t, x, out.Pattern(), c.k)
	}
}

// routed runs the search by landmarks.
func routed(t *testing.T, set *shard.Set, x *points.Dense, k, buckets, routes int,
	chance float64) (shard.Output, nearest.Recall) {
	t.Helper()
	dir := t.TempDir()
	landmarks := filepath.Join(dir, "landmarks.npy")
	some := x.Select(spreadRows(x.N, buckets)).(*points.Dense)
	if err := dataset.WriteMatrix(landmarks, some.N, some.D, some.Data, some.D, nil,
		dataset.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	out := shard.Output{Path: filepath.Join(dir, "graph.npy")}
	pieces, err := nearest.Pieces(out)
	if err != nil {
		t.Fatal(err)
	}
	g := nearest.Routing{Landmarks: landmarks, Nearest: routes, Pieces: pieces,
		Sampling: nearest.Sampling{Seed: 2, Chance: chance}}
	trial.Run(t, func(s beam.Scope) error {
		nearest.Routed(s, trial.Config(set, 2), set.Elements, k, g, buckets, out)
		return nil
	})
	var recall nearest.Recall
	if err := results.Take(out.Path, &recall); err != nil {
		t.Fatal(err)
	}
	return out, recall
}

func spreadRows(n, count int) []int {
	rows := make([]int, count)
	for i := range rows {
		rows[i] = i * n / count
	}
	return rows
}

// When every row is in every bucket, the approximate graph is the exact one.
func TestRoutedWithAllBuckets(t *testing.T) {
	x := rowsOf(900)
	set := trial.Plan(t, trial.Files(t, x, trial.Sizes(x.N)), 110)
	out, recall := routed(t, set, x, 6, 5, 5, 1)
	checkExact(t, x, out.Pattern(), 6)
	if recall.Recall != 1 || recall.Rows != x.N {
		t.Errorf("recall %v of %d rows, want 1 of all", recall.Recall, recall.Rows)
	}
}

// The recall is the one from a comparison with the library's graph. More routes increase it.
func TestRecall(t *testing.T) {
	const k = 5
	x := rowsOf(2000)
	want := library(t, x, k)
	set := trial.Plan(t, trial.Files(t, x, trial.Sizes(x.N)), 256)
	before := 0.0
	for _, routes := range []int{1, 3} {
		out, recall := routed(t, set, x, k, 12, routes, 1)
		_, squared := graphOf(t, out.Pattern(), x.N, k)
		hits := 0
		for i := range x.N {
			_, exact := want.Of(i)
			for _, d := range squared[i] {
				if d >= 0 && d <= exact[k-1] {
					hits++
				}
			}
		}
		if got := float64(hits) / float64(k*x.N); got != recall.Recall {
			t.Errorf("%d routes: reported recall %v, from a comparison %v", routes, recall.Recall, got)
		}
		if recall.Recall <= before || recall.Recall > 1 {
			t.Errorf("%d routes: recall %v, with fewer routes %v", routes, recall.Recall, before)
		}
		before = recall.Recall
		if routes == 1 {
			continue
		}
		if _, sampled := routed(t, set, x, k, 12, routes, 0.3); sampled.Rows < 450 || sampled.Rows > 750 ||
			!(math.Abs(sampled.Recall-recall.Recall) < 0.05) {
			t.Errorf("%d routes: recall %v on a sample of %d rows, %v on all", routes, sampled.Recall,
				sampled.Rows, recall.Recall)
		}
	}
	if before < 0.9 {
		t.Errorf("recall %v with three routes of 12", before)
	}
}

// Landmarks with another number of columns are an error that names them.
func TestLandmarksWithWrongWidth(t *testing.T) {
	x := rowsOf(100)
	set := trial.Plan(t, trial.Files(t, x, []int{100}), 50)
	dir := t.TempDir()
	landmarks := filepath.Join(dir, "landmarks.npy")
	if err := dataset.WriteMatrix(landmarks, 2, 2, []float64{1, 2, 3, 4}, 2, nil,
		dataset.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	out := shard.Output{Path: filepath.Join(dir, "graph.npy")}
	pieces, err := nearest.Pieces(out)
	if err != nil {
		t.Fatal(err)
	}
	_, err = job.Run(t.Context(), "prism", func(s beam.Scope) error {
		nearest.Routed(s, trial.Config(set, 1), set.Elements, 3,
			nearest.Routing{Landmarks: landmarks, Nearest: 1, Pieces: pieces}, 2, out)
		return nil
	})
	if !fault.IsInput(err) || !strings.Contains(err.Error(), "landmarks") {
		t.Errorf("error %v, want one about the landmarks", err)
	}
}
