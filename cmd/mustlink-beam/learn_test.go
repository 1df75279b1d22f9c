package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/trial"
	"github.com/mustlink/mustlink/internal/usage"
)

// summary returns the results that a command prints with --json.
func summary(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var r struct{ Figures map[string]any }
	if err := json.Unmarshal([]byte(done(t, append(args, "--json")...)), &r); err != nil {
		t.Fatal(err)
	}
	return r.Figures
}

// hidden returns the names of the hidden files in a folder.
func hidden(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

// From rows in files to a model, centers, clusters, landmarks and a graph: each command reads the
// output of others.
func TestLearnAndApply(t *testing.T) {
	x := trial.Blobs(3, 1200, 3, 4, 0.3)
	pattern, dir := trial.Files(t, x, trial.Sizes(x.N)), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("links.csv"), []byte("i,j,link\n3,900,must\n77,1100,must\n4,5,cannot\n"),
		0o666); err != nil {
		t.Fatal(err)
	}
	f := summary(t, "landmarks", "-i", pattern, "-m", "30", "--rule", "kmeans||", "-o", at("landmarks.npy"),
		"--save-rows", at("rows.csv"))
	if f["landmarks"] != 30.0 {
		t.Errorf("landmarks: %v", f)
	}
	if o := run(t, "fit", "-m", "kbeta", "-i", pattern, "-c", at("links.csv"), "--landmarks", at("rows.csv"),
		"-o", at("model.mlk")); o.code != usage.ExitOK || !strings.Contains(o.stderr, "warning: ") ||
		!strings.Contains(o.stdout, "kbeta") {
		t.Fatalf("fit: %+v", o)
	}
	if _, err := catalog.Load(at("model.mlk")); err != nil {
		t.Fatal(err)
	}
	f = summary(t, "kmeans", at("model.mlk"), "-i", pattern, "-n", "4", "--element-rows", "200", "-o",
		at("centers.npy"))
	if f["rows"] != 1200.0 || f["clusters"] != 4.0 {
		t.Errorf("kmeans: %v", f)
	}
	done(t, "assign", at("model.mlk"), "-i", pattern, "--centers", at("centers.npy"), "--element-rows", "200",
		"-o", at("clusters.npy"))
	inertia := 0.0
	clusters := trial.Rows(t, shard.Output{Path: at("clusters.npy")}.Pattern())
	for i := range clusters.N {
		inertia += clusters.Row(i)[1]
	}
	if reported := f["inertia"].(float64); clusters.N != x.N ||
		!(inertia > 0.999999*reported && inertia < 1.000001*reported) {
		t.Errorf("%d rows, squared distances add up to %v, inertia %v", clusters.N, inertia, reported)
	}
	again := summary(t, "kmeans", at("model.mlk"), "-i", pattern, "--centers", at("centers.npy"), "--tol",
		"0", "-o", at("more.npy"))
	if again["inertia"].(float64) > (1+1e-12)*f["inertia"].(float64) {
		t.Errorf("more iterations: inertia %v after %v", again["inertia"], f["inertia"])
	}
	f = summary(t, "neighbors", "-i", pattern, "-k", "3", "--landmarks", at("landmarks.npy"), "--routes",
		"30", "--sample", "100", "-o", at("graph.npy"))
	if f["recall"] != 1.0 {
		t.Errorf("neighbors: %v, want a recall of 1", f)
	}
	if left := hidden(t, dir); left != nil {
		t.Errorf("files left behind: %v", left)
	}
}

// Errors on the command line or in the files are reported before a job begins, with exit code 2.
func TestLearningErrors(t *testing.T) {
	x := trial.Blobs(3, 60, 2, 3, 1)
	pattern, dir := trial.Files(t, x, []int{60}), t.TempDir()
	out := filepath.Join(dir, "out.npy")
	for want, args := range map[string][]string{
		"--clusters is missing": {"kmeans", "-i", pattern, "-o", out},
		"at most 60":            {"kmeans", "-i", pattern, "-n", "61", "-o", out},
		"[0, 1)":                {"kmeans", "-i", pattern, "-n", "3", "--tol", "1", "-o", out},
		"which is also read": {"kmeans", "-i", pattern, "-n", "3", "-o",
			filepath.Join(filepath.Dir(pattern), "part-000.npy")},
		"output": {"kmeans", "-i", pattern, "-n", "3", "-o", filepath.Join(dir, "out.idx")},
		"centers.npy": {"assign", "-i", pattern, "--centers", filepath.Join(dir, "centers.npy"),
			"-o", out},
		"at most 59":          {"neighbors", "-i", pattern, "-k", "60", "-o", out},
		"--routes is 0":       {"neighbors", "-i", pattern, "-k", "3", "--routes", "0", "-o", out},
		"reservoir, kmeans||": {"landmarks", "-i", pattern, "-m", "3", "--rule", "leverages", "-o", out},
		"-m, --landmarks":     {"landmarks", "-i", pattern, "-m", "-1", "-o", out},
		"kbeta, krca":         {"fit", "-m", "lmnn", "-i", pattern, "-c", pattern, "-o", out},
		"want name=value": {"fit", "-m", "kbeta", "-i", pattern, "-c", pattern, "-p", "landmarks",
			"-o", out},
		"links.csv": {"fit", "-m", "kbeta", "-i", pattern, "-c",
			filepath.Join(dir, "links.csv"), "-o", out},
		"want none: only --rule r": {"landmarks", "-i", pattern, "-m", "3", "--rule", "kmeans||", "--weight",
			"w", "-o", out},
	} {
		o := run(t, args...)
		if o.code != usage.ExitInput || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: code %d, %q: want %q", args, o.code, o.stderr, want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A search by landmarks is killed between its two passes and submitted again. Its files are then
// those of a search that was never killed.
func TestKilledNeighbors(t *testing.T) {
	x := trial.Blobs(5, 6000, 4, 6, 1)
	pattern, dir := trial.Files(t, x, trial.Sizes(x.N)), t.TempDir()
	landmarks, out := filepath.Join(dir, "landmarks.npy"), shard.Output{Path: filepath.Join(dir, "graph.npy")}
	done(t, "landmarks", "-i", pattern, "-m", "20", "-o", landmarks)
	args := func(path string) []string {
		return []string{"neighbors", "-i", pattern, "-k", "5", "--landmarks", landmarks, "--element-rows",
			"100", "-o", path}
	}
	first := command(t, args(out.Path)...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	pieces := filepath.Join(dir, ".graph.npy.new", ".graph.npy.pieces", "piece-*.npy")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(pieces); len(found) > 10 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no pieces are written")
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Fatal("the process ended before it was killed")
	}
	if len(hidden(t, dir)) == 0 {
		t.Fatal("the killed process has left nothing behind")
	}
	done(t, args(out.Path)...)
	if left := hidden(t, dir); left != nil {
		t.Errorf("files left behind: %v", left)
	}
	calm := shard.Output{Path: filepath.Join(t.TempDir(), "graph.npy")}
	done(t, args(calm.Path)...)
	got, want := trial.Rows(t, out.Pattern()), trial.Rows(t, calm.Pattern())
	if got.N != x.N || !slices.Equal(got.Data, want.Data) {
		t.Errorf("%d rows, want the %d of a job that was not killed", got.N, want.N)
	}
}
