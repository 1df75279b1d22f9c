package sampling_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/sampling"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

func TestMain(m *testing.M) { trial.Main(m) }

// choose runs a rule on Prism, checks that the coordinates are those of the rows, and returns the
// row numbers of the landmarks.
func choose(t *testing.T, set *shard.Set, workers int, o sampling.Options, x *points.Dense) []int {
	t.Helper()
	dir := t.TempDir()
	path, rows := filepath.Join(dir, "landmarks.npy"), filepath.Join(dir, "rows.csv")
	trial.Run(t, func(s beam.Scope) error {
		sampling.Choose(s, trial.Config(set, workers), set.Elements, o, path, rows)
		return nil
	})
	text, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, line := range strings.Fields(string(text))[1:] {
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	d, err := dataset.Read(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if x != nil && !slices.Equal(d.Points.(*points.Dense).Data, x.Select(numbers).(*points.Dense).Data) {
		t.Fatal("the landmarks are not the rows of those numbers")
	}
	return numbers
}

// stream is the stream of the landmarks' random numbers.
const stream = 0x6c616e646d61726b

// smallest returns the rows with the m smallest numbers, ascending.
func smallest(keys []float64, m int) []int {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	order = order[:m]
	slices.Sort(order)
	return order
}

// A reservoir takes the rows with the smallest numbers of all, for any division into elements.
func TestReservoir(t *testing.T) {
	x := trial.Blobs(1, 3000, 4, 3, 1)
	pattern := trial.Files(t, x, trial.Sizes(x.N))
	keys := make([]float64, x.N)
	for i := range keys {
		keys[i] = rowrandom.Exponential(8, stream, int64(i), 1)
	}
	for _, rows := range []int{100, 1700} {
		got := choose(t, trial.Plan(t, pattern, rows), 2,
			sampling.Options{Rule: sampling.Reservoir, M: 120, Seed: 8}, x)
		if want := smallest(keys, 120); !slices.Equal(got, want) {
			t.Errorf("elements of %d rows: landmarks %v, want %v", rows, got, want)
		}
	}
}

// weighted writes rows with a column of weights to a CSV file.
func weighted(t *testing.T, x *points.Dense, weights []float64) string {
	t.Helper()
	var text bytes.Buffer
	text.WriteString("a,w,b\n")
	for i, w := range weights {
		row := x.Row(i)
		text.WriteString(strconv.FormatFloat(row[0], 'g', -1, 64) + "," +
			strconv.FormatFloat(w, 'g', -1, 64) + "," + strconv.FormatFloat(row[1], 'g', -1, 64) + "\n")
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWeights(t *testing.T) {
	x := trial.Blobs(2, 500, 2, 3, 1)
	weights, keys := make([]float64, x.N), make([]float64, x.N)
	for i := range weights {
		weights[i] = float64(i % 5)
		keys[i] = rowrandom.Exponential(4, stream, int64(i), weights[i])
	}
	path := weighted(t, x, weights)
	o := sampling.Options{Rule: sampling.Reservoir, M: 60, Seed: 4, Weight: "w"}
	got := choose(t, trial.Plan(t, path, 64), 2, o, x)
	if want := smallest(keys, 60); !slices.Equal(got, want) {
		t.Errorf("landmarks %v, want %v", got, want)
	}
	for _, row := range got {
		if weights[row] == 0 {
			t.Errorf("row %d of weight 0 is a landmark", row)
		}
	}
	weights[77] = -1
	set := trial.Plan(t, weighted(t, x, weights), 64)
	run := func(o sampling.Options) error {
		_, err := job.Run(t.Context(), "prism", func(s beam.Scope) error {
			sampling.Choose(s, trial.Config(set, 1), set.Elements, o, filepath.Join(t.TempDir(), "l.npy"), "")
			return nil
		})
		return err
	}
	if err := run(o); !fault.IsInput(err) || !strings.Contains(err.Error(), "row 77") {
		t.Errorf("a negative weight: %v, want row 77", err)
	}
	o.Weight = "weight"
	if err := run(o); !fault.IsInput(err) || !strings.Contains(err.Error(), "weight") {
		t.Errorf("a missing column: %v", err)
	}
}

// k-means|| puts a landmark into each of several blobs of different sizes, and leverage scores
// choose each of the few outlying rows.
func TestSpread(t *testing.T) {
	const n, apart = 4000, 5
	x := trial.Blobs(3, n, apart, 1, 0.05)
	for f := range apart {
		x.Row(700*f + 50)[f] += 30
	}
	set := trial.Plan(t, trial.Files(t, x, trial.Sizes(n)), 300)
	for _, o := range []sampling.Options{
		{Rule: sampling.KMeans, M: apart + 1, Seed: 1},
		{Rule: sampling.Leverage, M: 40, Seed: 1, Kernel: "rbf:sigma=5"},
	} {
		got := choose(t, set, 2, o, x)
		sorted := slices.Clone(got)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != o.M {
			t.Fatalf("%s: landmarks %v, want %d different ones", o.Rule, got, o.M)
		}
		for f := range apart {
			if !slices.Contains(got, 700*f+50) {
				t.Errorf("%s: the outlying row %d is no landmark", o.Rule, 700*f+50)
			}
		}
		if again := choose(t, set, 1, o, x); !slices.Equal(got, again) {
			t.Errorf("%s: another number of workers gives other landmarks", o.Rule)
		}
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]sampling.Options{
		"--rule":          {Rule: "kmeans", M: 3},
		"-m, --landmarks": {Rule: sampling.KMeans},
		"--weight":        {Rule: sampling.KMeans, M: 3, Weight: "w"},
		"kernel":          {Rule: sampling.Leverage, M: 3, Kernel: "rfb"},
	} {
		if err := o.Validate(); !fault.IsInput(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
