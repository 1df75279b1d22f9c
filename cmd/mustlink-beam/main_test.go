package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/usage"
)

// asCommand is the environment variable that makes the test program run as the command.
const asCommand = "MUSTLINK_BEAM_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	trial.Main(m)
}

// program returns the path of the test program.
func program(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// command returns the command as a process of its own.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

// outcome is the exit code and output of a run of the command.
type outcome struct {
	code           int
	stdout, stderr string
}

func run(t *testing.T, args ...string) outcome {
	t.Helper()
	cmd := command(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// done runs the command, which must succeed and print nothing on standard error.
func done(t *testing.T, args ...string) string {
	t.Helper()
	o := run(t, args...)
	if o.code != usage.ExitOK || o.stderr != "" {
		t.Fatalf("%v: code %d, %s", args, o.code, o.stderr)
	}
	return o.stdout
}

// problem returns the path of a model, the pattern of the files of some rows, and the coordinates
// that the library computes for all these rows at once.
func problem(t *testing.T, n int) (model, pattern string, want []float64) {
	t.Helper()
	x := trial.Blobs(9, n, 5, 4, 1)
	model = trial.Model(t, "krca", &points.Dense{N: 150, D: 5, Data: x.Data[:150*5]}, nil)
	fitted, err := catalog.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	p, err := fitted.Prepare(&dataset.Data{Points: x})
	if err != nil {
		t.Fatal(err)
	}
	y, err := fitted.Model.Embed(t.Context(), trial.Engine(t), p)
	if err != nil {
		t.Fatal(err)
	}
	return model, trial.Files(t, x, trial.Sizes(n)), y.Clone().Data
}

// A job leaves no temporary files behind.
func TestNoTemporaryFilesRemain(t *testing.T) {
	model, pattern, _ := problem(t, 300)
	folder := t.TempDir()
	cmd := command(t, "embed", model, "-i", pattern, "-o", filepath.Join(t.TempDir(), "y.npy"))
	cmd.Env = append(cmd.Env, "TMPDIR="+folder)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	left, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range left {
		t.Errorf("%s is left", file.Name())
	}
}

// A job is killed while it runs and submitted again. No row is lost or written twice, and the files
// of the killed process are removed.
func TestKilledJobIsResubmitted(t *testing.T) {
	const n, rows = 12000, 25
	model, pattern, want := problem(t, n)
	dir := t.TempDir()
	out := shard.Output{Path: filepath.Join(dir, "y.npy")}
	args := []string{"embed", model, "-i", pattern, "-o", out.Path, "--element-rows", fmt.Sprint(rows),
		"--workers", "2"}
	total := len(trial.Plan(t, pattern, rows).Elements)

	first := command(t, args...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		files, err := filepath.Glob(filepath.Join(dir, ".y.npy.new", "y-*.npy"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	for deadline := time.Now().Add(time.Minute); count() < total/8; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no file is written")
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Fatal("the process ended before it was killed")
	}
	if got := count(); got == total {
		t.Fatal("the killed process had written everything")
	}
	if early, _ := filepath.Glob(out.Pattern()); early != nil {
		t.Fatalf("a job that was killed has put %v in place", early)
	}

	done(t, args...)
	got := trial.Rows(t, out.Pattern())
	if got.N != n {
		t.Fatalf("%d rows: want %d", got.N, n)
	}
	if engineName(t) != "netlib" && !slices.Equal(got.Data, want) {
		t.Error("the coordinates differ from the library's")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != total {
		t.Errorf("%d files: want %d, one for each element", len(entries), total)
	}
}

// A job fails at its last row: the files of the earlier job, with other elements, stay as they
// were, for all outputs. The list of the bad rows is written nevertheless.
func TestFailedJobLeavesOutputs(t *testing.T) {
	const n = 600
	model, pattern, _ := problem(t, n)
	dir := t.TempDir()
	bad := filepath.Join(t.TempDir(), "x.csv")
	text := "a,b,c,d,e\n" + strings.Repeat("1,2,3,4,5\n", n) + "1,2,3,4,NaN\n"
	if err := os.WriteFile(bad, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	y, centers, rows := filepath.Join(dir, "y.npy"), filepath.Join(dir, "centers.npy"),
		filepath.Join(dir, "rows.csv")
	commands := func(pattern, size string) [][]string {
		return [][]string{
			{"embed", model, "-i", pattern, "-o", y, "--element-rows", size, "--bad-output",
				filepath.Join(dir, "bad.csv")},
			{"kmeans", "-i", pattern, "-n", "3", "-o", centers, "--element-rows", size},
			{"landmarks", "-i", pattern, "-m", "3", "-o", filepath.Join(dir, "landmarks.npy"), "--save-rows",
				rows, "--element-rows", size},
			{"neighbors", "-i", pattern, "-k", "2", "-o", filepath.Join(dir, "graph.csv"), "--element-rows",
				size},
			{"neighbors", "-i", pattern, "-k", "2", "--landmarks", filepath.Join(dir, "landmarks.npy"), "-o",
				filepath.Join(dir, "routed.csv"), "--element-rows", size},
		}
	}
	for _, args := range commands(pattern, "50") {
		done(t, args...)
	}
	before := contents(t, dir)
	for _, args := range commands(bad, "70") {
		o := run(t, args...)
		if o.code != usage.ExitInput || !strings.Contains(o.stderr, "NaN") {
			t.Errorf("%v: code %d, %s", args, o.code, o.stderr)
		}
	}
	after := contents(t, dir)
	list := fmt.Sprintf("bad-%05d-of-%05d.csv", n/70, n/70+1)
	if !strings.Contains(after[list], "NaN") {
		t.Errorf("%s is %q, want the bad row", list, after[list])
	}
	delete(after, list)
	if !maps.Equal(before, after) {
		t.Errorf("files %v, want those of the earlier jobs %v", slices.Sorted(maps.Keys(after)),
			slices.Sorted(maps.Keys(before)))
	}
}

// contents returns the texts of all files in a folder, by their names.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[e.Name()] = string(text)
	}
	return texts
}

func engineName(t *testing.T) string { return trial.Engine(t).Backend().Name() }

// Each command reads the output of the one before, and prints a report as JSON.
func TestEmbedClassifyScore(t *testing.T) {
	const n = 2000
	model, pattern, _ := problem(t, n)
	x := trial.Blobs(9, n, 5, 4, 1)
	dir := t.TempDir()
	truth := filepath.Join(dir, "truth.csv")
	if err := dataset.WriteData(truth, &dataset.Data{Points: x, Labels: trial.Labels(x)},
		dataset.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	embedded, labels := shard.Output{Path: filepath.Join(dir, "y.npy")},
		shard.Output{Path: filepath.Join(dir, "labels.csv")}
	done(t, "embed", model, "-i", pattern, "-o", embedded.Path, "--element-rows", "300")
	done(t, "classify", model, "--train", truth, "-i", pattern, "-o", labels.Path, "--neighbors", "1",
		"--element-rows", "400", "-q")
	var r struct {
		Command string
		Rows    int
		Job     struct{ Counters map[string]int }
		Figures struct {
			Labels struct {
				N        int
				Accuracy float64
			}
			J      float64
			Sample int
		}
	}
	text := done(t, "score", "--truth", truth, "--predicted", labels.Pattern(), "--embedding",
		embedded.Pattern(), "--sample", "500", "--json")
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	// The rows are their own nearest training rows, so that with one neighbor all labels are right.
	if r.Command != "score" || r.Rows != n || r.Job.Counters["rows_read"] != 2*n ||
		r.Figures.Labels.Accuracy != 1 || !(r.Figures.J > 1) || r.Figures.Sample < 300 {
		t.Errorf("%s", text)
	}
	if text := done(t, "score", "--truth", truth, "--predicted",
		truth); !strings.Contains(strings.Join(strings.Fields(text), " "), "adjusted_rand 1.0000") {
		t.Errorf("labels compared with themselves: %s", text)
	}
}

// A mistake is reported in one line that names it, with the exit code for bad input.
func TestMistakes(t *testing.T) {
	model, pattern, _ := problem(t, 300)
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.csv")
	if err := os.WriteFile(bad, []byte("a,b,c,d,e\n1,2,3,4,5\n1,2,x,4,5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	unlabeled := strings.Replace(pattern, "*", "002", 1)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"embde"}, `unknown command "embde"; did you mean "embed"?`},
		{[]string{"embed"}, "an argument is missing: want MODEL"},
		{[]string{"embed", model, "-o", "y.npy"}, "--input is missing"},
		{[]string{"embed", model, "-i", pattern, "-o", dir + "/y.svm"}, "-o, --output"},
		{[]string{"embed", model, "-i", pattern, "-o", dir + "/none/y.npy"}, "none/y.npy: cannot write"},
		{[]string{"embed", model, "-i", dir + "/*.npy", "-o", dir + "/y.npy"}, "no such file"},
		{[]string{"embed", bad, "-i", pattern, "-o", dir + "/y.npy"}, bad},
		{[]string{"embed", model, "-i", bad, "-o", dir + "/y.npy"}, bad + `, line 3, row 1, column "c"`},
		{[]string{"embed", model, "-i", bad, "-o", dir + "/y.npy", "--bad-rows", "many"}, "--bad-rows"},
		{[]string{"embed", model, "-i", bad, "-o", dir + "/y.npy", "--bad-row", "1"},
			`did you mean "--bad-rows"?`},
		{[]string{"embed", model, "-i", pattern, "-o", dir + "/y.npy", "--runner", "prisma"}, "runner"},
		{[]string{"embed", model, "-i", pattern, "-o", dir + "/y.npy", "--workers", "-1"}, "--workers"},
		{[]string{"classify", "--train", unlabeled, "-i", pattern, "-o", dir + "/l.csv"}, "no labels"},
		{[]string{"score", "--truth", bad}, "--predicted and --embedding are missing"},
		{[]string{"score", "--truth", bad, "--predicted", bad}, "want a column label"},
	} {
		o := run(t, c.args...)
		if o.code != usage.ExitInput || !strings.HasPrefix(o.stderr, "mustlink-beam: ") ||
			!strings.Contains(o.stderr, c.want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%v: code %d, %q: want code 2 and %q", c.args, o.code, o.stderr, c.want)
		}
	}
}
