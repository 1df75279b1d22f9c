package rows

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// labelFiles writes labels to files of the given sizes and returns their pattern.
func labelFiles(t *testing.T, labels []string, sizes ...int) string {
	t.Helper()
	dir, from := t.TempDir(), 0
	for f, n := range sizes {
		ending := []string{"csv", "csv.gz"}[f%2]
		if err := dataset.WriteLabels(filepath.Join(dir, fmt.Sprintf("part-%d.%s", f, ending)),
			labels[from:from+n], nil, dataset.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		from += n
	}
	return filepath.Join(dir, "part-*")
}

// planned plans two patterns and aligns them.
func planned(t *testing.T, truth, other string, rows int, onlyLabels bool) []shard.Pair {
	t.Helper()
	a, err := shard.Plan(t.Context(), truth, shard.Options{Rows: rows, OnlyLabels: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := shard.Plan(t.Context(), other, shard.Options{Rows: rows + 7, OnlyLabels: onlyLabels})
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := shard.Align(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

func scored(t *testing.T, what Scoring) Scores {
	t.Helper()
	what.Output = filepath.Join(t.TempDir(), "scores.json")
	trial.Run(t, func(s beam.Scope) error {
		Score(s, job.Config{Workers: 2}, what)
		return nil
	})
	text, err := os.ReadFile(what.Output)
	if err != nil {
		t.Fatal(err)
	}
	var got Scores
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func drawn(rng *rand.Rand, n int, kinds ...string) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = kinds[rng.IntN(len(kinds))]
	}
	return labels
}

// Scores of labels are bit-identical to the library's, although truth and prediction are divided
// differently.
func TestScoreOfLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	truth, predicted := drawn(rng, 1000, "a", "b", "c"), drawn(rng, 1000, "a", "b", "1", "2", "3")
	var table score.Table
	if err := table.Add(truth, predicted); err != nil {
		t.Fatal(err)
	}
	want, err := table.Report()
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{13, 300, 2000} {
		got := scored(t, Scoring{Predicted: planned(t, labelFiles(t, truth, 400, 0, 600),
			labelFiles(t, predicted, 1, 998, 1), rows, true)})
		if got.J != nil {
			t.Error("J without an embedding")
		}
		if diff := cmp.Diff(want, got.Labels); diff != "" {
			t.Errorf("elements of %d rows: %s", rows, diff)
		}
	}
}

// J of a sample is the library's J of the same rows, and of all rows when the sample contains all.
func TestScoreOfEmbedding(t *testing.T) {
	const n = 900
	x := trial.Blobs(7, n, 3, 4, 1)
	truth := trial.Labels(x)
	for _, sample := range []int64{n / 3, 2 * n} {
		share := float64(sample) / n
		var kept []float64
		var labels []string
		for i := range n {
			if rowrandom.Uniform(5, sampleStream, int64(i)) < share {
				kept, labels = append(kept, x.Data[3*i:3*i+3]...), append(labels, truth[i])
			}
		}
		if off := math.Abs(float64(len(labels)) -
			min(n, float64(sample))); off > 4*math.Sqrt(float64(sample)) {
			t.Fatalf("%d rows were drawn of about %d", len(labels), sample)
		}
		want, err := score.JRatio(kept, len(labels), 3, labels)
		if err != nil {
			t.Fatal(err)
		}
		got := scored(t, Scoring{Embedding: planned(t, labelFiles(t, truth, 500, 400),
			trial.Files(t, x, trial.Sizes(n)), 70, false), Rows: n, Sample: sample, Seed: 5})
		if got.Labels != nil || got.J == nil || *got.J != want || got.Sample != len(labels) {
			t.Errorf("%+v: want J %v of %d rows", got, want, len(labels))
		}
	}
}

// Files with different numbers of rows are refused.
func TestAlignRefuses(t *testing.T) {
	a := trial.Plan(t, trial.Files(t, trial.Blobs(1, 10, 2, 1, 1), []int{10}), 3)
	b := trial.Plan(t, trial.Files(t, trial.Blobs(1, 11, 2, 1, 1), []int{11}), 3)
	if _, err := shard.Align(a, b); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "11 rows: want 10") {
		t.Errorf("%v: want an error of the number of rows", err)
	}
}

// A missing label is an error that names its file and row.
func TestScoreRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("label\na\nb\n\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	pairs := planned(t, path, path, 2, true)
	_, err := job.Run(t.Context(), "prism", func(s beam.Scope) error {
		Score(s, job.Config{Workers: 1},
			Scoring{Predicted: pairs, Output: filepath.Join(t.TempDir(), "s.json")})
		return nil
	})
	if !fault.IsInput(err) || !strings.Contains(err.Error(), path+", line 4, row 2") {
		t.Errorf("%v: want one of row 2", err)
	}
}

// Labels are those of the library's search among the training rows, with and without a model.
func TestClassifyMatchesLibrary(t *testing.T) {
	const n, known = 1500, 200
	x := trial.Blobs(8, n, 4, 6, 2)
	train := &points.Dense{N: known, D: 4, Data: x.Data[:known*4]}
	dir := t.TempDir()
	for f, rows := range [][2]int{{0, 1}, {1, known}} {
		part := &points.Dense{N: rows[1] - rows[0], D: 4, Data: train.Data[4*rows[0] : 4*rows[1]]}
		if err := dataset.WriteData(filepath.Join(dir, fmt.Sprintf("train-%d.csv", f)),
			&dataset.Data{Points: part, Labels: trial.Labels(train)[rows[0]:rows[1]]},
			dataset.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	set := trial.Plan(t, trial.Files(t, x, trial.Sizes(n)), 110)
	for _, model := range []string{"", trial.Model(t, "krca", train, nil)} {
		at, all := matrix(train), matrix(x)
		if model != "" {
			at, all = local(t, model, train), local(t, model, x)
		}
		want, err := neighbors.Classify(t.Context(), trial.Engine(t), at, trial.Labels(train), all, 3)
		if err != nil {
			t.Fatal(err)
		}
		config := trial.Config(set, 2)
		config.Model = model
		out := shard.Output{Path: filepath.Join(t.TempDir(), "labels.csv")}
		trial.Run(t, func(s beam.Scope) error {
			Classify(s, config, Training{Pattern: filepath.Join(dir, "train-*"), Neighbors: 3}, set.Elements,
				out)
			return nil
		})
		files, err := shard.Files(out.Pattern())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, file := range files {
			labels, err := dataset.ReadLabels(dataset.Input{Name: file}, dataset.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, labels.Labels...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("model %q: the labels differ", model)
		}
	}
}

func matrix(x *points.Dense) blas.Matrix {
	return blas.MatrixOf(x.N, x.D, x.Data)
}
