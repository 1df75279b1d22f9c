package fitting_test

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/fitting"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/results"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/sampling"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

func TestMain(m *testing.M) { trial.Main(m) }

// linksFile writes count must-links, and as many cannot-links, between n rows at random.
func linksFile(t *testing.T, n, count int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "links.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	lines := [][]string{{"i", "j", "link"}}
	rng := rand.New(rand.NewPCG(5, 5))
	rows := rng.Perm(n)
	for p := range 2 * count {
		lines = append(lines,
			[]string{strconv.Itoa(rows[2*p]), strconv.Itoa(rows[2*p+1]), []string{"must", "cannot"}[p%2]})
	}
	if err := w.WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	return path
}

// local fits a task to all rows in memory.
func local(t *testing.T, task fitting.Task, x *points.Dense) algorithms.Model {
	t.Helper()
	method, err := catalog.Lookup(task.Method)
	if err != nil {
		t.Fatal(err)
	}
	l, err := method.New(catalog.Config{Kernel: task.Kernel, Params: task.Params, Seed: task.Seed})
	if err != nil {
		t.Fatal(err)
	}
	if task.Landmarks != "" {
		with := l.(kbeta.Learner)
		if with.Params.LandmarkRows, err = fitting.ReadRows(task.Landmarks); err != nil {
			t.Fatal(err)
		}
		l = with
	}
	set, err := dataset.ReadLinks(dataset.Input{Name: task.Links}, dataset.LinkContext{N: x.N})
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Fit(t.Context(), trial.Engine(t), x, set)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fit runs a task on Prism.
func fit(t *testing.T, set *shard.Set, task fitting.Task) (*catalog.Fitted, fitting.Summary) {
	t.Helper()
	task.Model = filepath.Join(t.TempDir(), "model.mlk")
	trial.Run(t, func(s beam.Scope) error { return fitting.Fit(s, trial.Config(set, 2), set.Elements, task) })
	m, err := catalog.Load(task.Model)
	if err != nil {
		t.Fatal(err)
	}
	var found fitting.Summary
	if err := results.Take(task.Model, &found); err != nil {
		t.Fatal(err)
	}
	return m, found
}

// The model is bit-identical to that of a fit on all rows in memory, including landmarks and
// bandwidth.
func TestFitMatchesLibrary(t *testing.T) {
	x := trial.Blobs(1, 6000, 4, 5, 1)
	set := trial.Plan(t, trial.Files(t, x, trial.Sizes(x.N)), 700)
	links := linksFile(t, x.N, 40)
	rows := filepath.Join(t.TempDir(), "rows.csv")
	if err := sampling.WriteRows(rows, []int64{17, 5999, 2500, 1, 4000}); err != nil {
		t.Fatal(err)
	}
	for name, task := range map[string]fitting.Task{
		"kbeta": {Method: "kbeta", Params: map[string]string{"landmarks": "200"}, Seed: 3},
		"kbeta, median": {Method: "kbeta", Kernel: "exp:width=2median",
			Params: map[string]string{"landmarks": "150", "cannot": "0.5"}, Seed: 4},
		"kbeta, given": {Method: "kbeta", Kernel: "rbf:sigma=3", Landmarks: rows},
		"krca, median": {Method: "krca", Kernel: "rbf:sigma=median",
			Params: map[string]string{"landmarks": "300"}, Seed: 3},
		"krca, linear": {Method: "krca", Kernel: "linear",
			Params: map[string]string{"landmarks": "100", "eps": "0.5"}, Seed: 6},
		"krca, composed": {Method: "krca", Kernel: "rbf:sigma=mean@poly:degree=2,coef=1",
			Params: map[string]string{"landmarks": "100"}, Seed: 6},
		"krca, few of Schur": {Method: "krca", Kernel: "rbf:sigma=2",
			Params: map[string]string{"landmarks": "50", "dims": "3"}},
	} {
		task.Rows, task.Links = x.N, links
		got, found := fit(t, set, task)
		want := local(t, task, x)
		if !slices.Equal(enginetest.TimelessModel(t, got.Model), enginetest.TimelessModel(t, want)) {
			t.Errorf("%s: the model is not that of a fit on all rows", name)
		}
		if found.FitRows >= 1000 || found.Gathered > found.FitRows+4096 || found.MustLinks != 40 ||
			found.CannotLinks != 40 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// Bandwidth rules that use all rows give an estimate.
func TestEstimatedBandwidth(t *testing.T) {
	x := trial.Blobs(2, 6000, 3, 4, 1)
	set := trial.Plan(t, trial.Files(t, x, trial.Sizes(x.N)), 1000)
	task := fitting.Task{Method: "krca", Params: map[string]string{"landmarks": "100"}, Rows: x.N,
		Links: linksFile(t, x.N, 20)}
	_, found := fit(t, set, task)
	want := local(t, task, x).(interface{ Describe() []algorithms.Statistic }).Describe()
	text := ""
	for _, f := range want {
		if f.Name == "kernel" {
			text = f.Value.(string)
		}
	}
	sigma := func(text string) float64 {
		_, number, _ := strings.Cut(text, "=")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatalf("kernel %q: %v", text, err)
		}
		return v
	}
	if got, want := sigma(found.Kernel), sigma(text); !(got > 0.97*want && got < 1.03*want) {
		t.Errorf("sigma %v, of all rows %v", got, want)
	}
}

func TestErrors(t *testing.T) {
	x := trial.Blobs(3, 200, 2, 3, 1)
	set := trial.Plan(t, trial.Files(t, x, []int{150, 50}), 64)
	good := fitting.Task{Method: "kbeta", Kernel: "rbf:sigma=1", Params: map[string]string{"landmarks": "60"},
		Rows: x.N, Links: linksFile(t, x.N, 10)}
	columns := filepath.Join(t.TempDir(), "columns.csv")
	if err := os.WriteFile(columns, []byte("a,b\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(t.TempDir(), "half.csv")
	if err := os.WriteFile(half, []byte("row\n1.5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(task *fitting.Task)
		want   string
	}{
		"method": {func(task *fitting.Task) { task.Method = "npkl" }, "kbeta, krca"},
		"parameter": {func(task *fitting.Task) {
			task.Params = map[string]string{"landmark": "60"}
		}, "landmarks"},
		"rule": {func(task *fitting.Task) {
			task.Params = map[string]string{"rule": "farthest"}
		}, "uniform"},
		"links":    {func(task *fitting.Task) { task.Rows = 20 }, "does not exist"},
		"no links": {func(task *fitting.Task) { task.Links = "nowhere.csv" }, "nowhere.csv"},
		"landmarks of krca": {func(task *fitting.Task) {
			task.Method, task.Params, task.Landmarks = "krca", nil, columns
		}, "kbeta"},
		"two columns": {func(task *fitting.Task) {
			task.Params, task.Landmarks = nil, columns
		}, "2 columns"},
		"half a row": {func(task *fitting.Task) { task.Params, task.Landmarks = nil, half }, "1.5"},
		"kernel":     {func(task *fitting.Task) { task.Kernel = "rfb" }, "rbf"},
		"eps_rel": {func(task *fitting.Task) {
			task.Method, task.Params, task.Kernel = "krca", nil, "linear"
		}, "eps or fixed_s"},
	} {
		task := good
		task.Model = filepath.Join(t.TempDir(), "model.mlk")
		c.change(&task)
		_, err := job.Run(t.Context(), "prism", func(s beam.Scope) error {
			return fitting.Fit(s, trial.Config(set, 1), set.Elements, task)
		})
		if !fault.IsInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := os.Stat(task.Model); err == nil {
			t.Errorf("%s: there is a model", name)
		}
	}
}
