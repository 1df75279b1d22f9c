package shard_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/fault"
)

// files returns the texts of the files in a folder, by their names.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			texts[e.Name()] = "folder"
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[e.Name()] = string(text)
	}
	return texts
}

// put writes a file.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// earlier returns a folder with the output of two elements, and other files that resemble them.
func earlier(t *testing.T) (dir string, out shard.Output, others map[string]string) {
	dir = filepath.Join(t.TempDir(), "a[b]*") // no pattern
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	out = shard.Output{Path: filepath.Join(dir, "part.csv.gz")}
	if want := filepath.Join(dir, "part-00002-of-00003.csv.gz"); out.Name(2, 3) != want {
		t.Fatalf("%s: want %s", out.Name(2, 3), want)
	}
	others = map[string]string{"part.csv.gz": "x", "part-x.csv.gz": "x", "other-00000-of-00002.csv.gz": "x",
		"part-00000-of-00002.csv": "x"}
	for name, text := range others {
		put(t, filepath.Join(dir, name), text)
	}
	put(t, out.Name(0, 2), "old 0")
	put(t, out.Name(1, 2), "old 1")
	return dir, out, others
}

// staged begins a job and writes the files of three elements, of which the second wrote none.
func staged(t *testing.T, out shard.Output) *shard.Staging {
	t.Helper()
	s, err := shard.StageFiles(out.Path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s.Output().Name(0, 3), "new 0")
	put(t, s.Output().Name(2, 3), "new 2")
	return s
}

// A job replaces all files of an earlier one when it succeeds, none when it fails, and no others.
func TestStaging(t *testing.T) {
	dir, out, others := earlier(t)
	before := files(t, dir)
	s := staged(t, out)
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); !maps.Equal(got, before) {
		t.Errorf("after a job that failed: %v, want %v", got, before)
	}
	staged(t, out) // its process is killed
	s = staged(t, out)
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(others)
	want["part-00000-of-00003.csv.gz"], want["part-00002-of-00003.csv.gz"] = "new 0", "new 2"
	if got := files(t, dir); !maps.Equal(got, want) {
		t.Errorf("after a job that succeeded: %v, want %v", got, want)
	}
	if err := s.Discard(); err != nil {
		t.Errorf("discarding what is published: %v", err)
	}
}

// A file cannot be replaced, and then it can: meanwhile nothing reads the files, and the next job
// replaces the rest before it begins.
func TestInterruptedPublish(t *testing.T) {
	dir, out, _ := earlier(t)
	s := staged(t, out)
	if err := os.Mkdir(out.Name(2, 3), 0o777); err != nil { // a file cannot replace a folder
		t.Fatal(err)
	}
	if err := s.Publish(); err == nil {
		t.Fatal("no error")
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	pattern := strings.NewReplacer("[", "\\[", "*", "\\*").Replace(dir) + "/part-*.csv.gz"
	if _, err := shard.Files(pattern); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "part-00000-of-00003") {
		t.Errorf("reading files of two jobs: %v", err)
	}
	if _, err := shard.StageFiles(out.Path); err == nil {
		t.Error("the next job: no error")
	}
	if err := os.Remove(out.Name(2, 3)); err != nil {
		t.Fatal(err)
	}
	s, err := shard.StageFiles(out.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	got, err := shard.Files(pattern)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{out.Name(0, 3), out.Name(2, 3), filepath.Join(dir, "part-x.csv.gz")}
	if !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if text := files(t, dir)["part-00002-of-00003.csv.gz"]; text != "new 2" {
		t.Errorf("the text of the last file is %q, want that of the job", text)
	}
}

// An output of one file.
func TestStageFile(t *testing.T) {
	dir, out, _ := earlier(t)
	before := files(t, dir)
	s, err := shard.StageFile(out.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(); err == nil {
		t.Error("a job without output: no error")
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); !maps.Equal(got, before) {
		t.Errorf("after a job without output: %v, want %v", got, before)
	}
	if s, err = shard.StageFile(out.Path); err != nil {
		t.Fatal(err)
	}
	put(t, s.Output().Path, "new")
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	before["part.csv.gz"] = "new"
	if got := files(t, dir); !maps.Equal(got, before) {
		t.Errorf("after a job: %v, want %v", got, before)
	}
	if _, err := shard.StageFile(filepath.Join(dir, "none", "x.csv")); !fault.IsInput(err) {
		t.Errorf("a missing folder: %v", err)
	}
	if err := (shard.Output{Path: "part.svm"}).Check([]string{"csv", "npy"}); !fault.IsInput(err) {
		t.Errorf("an unsupported format: %v", err)
	}
}
