package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestArchives: bytes depend on names, contents and time alone, not on the order of the entries.
func TestArchives(t *testing.T) {
	when := time.Unix(1700000000, 0)
	entries := []entry{{"b/x", 0o755, []byte("program")}, {"a", 0o644, []byte("text")}}
	turned := slices.Clone(entries)
	slices.Reverse(turned)
	for name, write := range map[string]func(io.Writer, []entry, time.Time) error{
		"tar": writeTar, "tar.gz": writeTarGz, "zip": writeZip} {
		var first, second, later bytes.Buffer
		for b, c := range map[*bytes.Buffer][]entry{&first: entries, &second: turned} {
			if err := write(b, c, when); err != nil {
				t.Fatal(err)
			}
		}
		if err := write(&later, entries, when.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) || bytes.Equal(first.Bytes(), later.Bytes()) {
			t.Errorf("%s: the bytes depend on the order, or not on the time", name)
		}
	}
}

func TestNames(t *testing.T) {
	r := release{version: "1.0.0-rc.1"}
	for got, want := range map[string]string{
		r.archive("windows/amd64"): "mustlink_1.0.0-rc.1_windows_amd64.zip",
		r.archive("linux/arm64"):   "mustlink_1.0.0-rc.1_linux_arm64.tar.gz",
		debianVersion(r.version):   "1.0.0~rc.1",
		pythonVersion(r.version):   "1.0.0rc1",
		newestGlibc("Name: GLIBC_2.4 Name: GLIBC_2.34 Name: GLIBC_2.17"): "2.34",
		newestGlibc("no versions"):                                       "",
	} {
		if got != want {
			t.Errorf("%q: want %q", got, want)
		}
	}
}

// TestRefusals: bad input is one line, and no folder of the version comes to be.
func TestRefusals(t *testing.T) {
	repository := t.TempDir()
	t.Chdir(repository)
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-c", "user.name=x", "-c",
			"user.email=x@example.com"},
			args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("tag", "bench/v2.0.0")
	refused := func(want string, r release) {
		t.Helper()
		r.ctx, r.out = t.Context(), "dist"
		err := r.run()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v: want one line with %q", err, want)
		}
		if left, _ := filepath.Glob("dist/*"); left != nil {
			t.Errorf("%v is left", left)
		}
		if left, _ := filepath.Glob("dist/.release-*"); left != nil {
			t.Errorf("%v is left", left)
		}
	}
	for _, version := range []string{"", "1", "v1.0.0", "1.0.0 ", "01.0.0", "1.0.0-"} {
		refused("want MAJOR.MINOR.PATCH", release{version: version})
	}
	refused("tag bench/v2.0.0 exists", release{version: "2.0.0"})
	refused("platform \"linux\"", release{version: "1.0.0", platforms: []string{"linux"}})
	refused("the key", release{version: "1.0.0", key: "none"})
	refused("go build", release{version: "1.0.0"}) // nothing to build in this repository
	if err := os.WriteFile("new", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	refused("1 files are changed", release{version: "1.0.0"})
}
