//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// put creates a file directly.
func put(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("part"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The next write to a target removes the files of killed writers, even if it fails; files with
// similar names stay.
func TestStaleIsRemoved(t *testing.T) {
	long := strings.Repeat("n", 100)
	for _, target := range []string{"out.csv", long} {
		dir := t.TempDir()
		_, prefix := temporaryPrefix(target)
		stay := []string{".other.csv.tmp-abc", "." + target[:min(len(target), 64)] + ".tmp-abc", prefix,
			prefix + "ABC", prefix + "a.b", prefix + strings.Repeat("a", 14), "x" + prefix + "abc"}
		for _, name := range stay {
			put(t, filepath.Join(dir, name))
		}
		if err := os.Mkdir(filepath.Join(dir, prefix+"folder"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(prefix, filepath.Join(dir, prefix+"link")); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, prefix+"pipe"), 0o644); err != nil {
			t.Fatal(err)
		}
		want := entries(t, dir)
		for _, f := range []func(io.Writer) error{text("new"),
			func(io.Writer) error { return errors.New("f") }} {
			for _, name := range []string{prefix + "0", prefix + "3w5e11264sgsf"} {
				put(t, filepath.Join(dir, name))
			}
			_ = Write(filepath.Join(dir, target), f)
			os.Remove(filepath.Join(dir, target))
			if got := entries(t, dir); got != want {
				t.Errorf("the folder contains %s: want %s", got, want)
			}
		}
	}
}

// The file of a running writer stays while others write to the same target.
func TestLivingWriterKeepsItsFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	err := Write(path, func(w io.Writer) error {
		for range 3 {
			if err := Write(path, text("inner")); err != nil {
				return err
			}
		}
		if got := strings.Count(entries(t, dir), ".tmp-"); got != 1 {
			t.Errorf("there are %d temporary files while their writer runs: want 1", got)
		}
		return text("outer")(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "outer" {
		t.Errorf("content is %q: want that of the last writer", got)
	}
	if got := entries(t, dir); got != "out" {
		t.Errorf("the folder contains %s: want out alone", got)
	}
}

// Many concurrent writers to one target all succeed, while each removes stale files.
func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	whole := strings.Repeat("x", 1000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if err := Write(path, text(whole)); err != nil {
					t.Errorf("one of several writers failed: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if got := content(t, path); got != whole {
		t.Errorf("content has %d bytes: want %d", len(got), len(whole))
	}
	if got := entries(t, dir); got != "out" {
		t.Errorf("the folder contains %s: want out alone", got)
	}
}

// A temporary file is not claimed if another process has locked or replaced it.
func TestClaim(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := open()
	if !claim(first) {
		t.Fatal("the writer's own file cannot be claimed")
	}
	second := open()
	defer second.Close()
	if claim(second) {
		t.Error("the file of another writer was claimed")
	}
	first.Close()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if claim(second) {
		t.Error("a file that has been removed was claimed")
	}
	defer open().Close()
	if claim(second) {
		t.Error("a file was claimed although another one has its name")
	}
}

// The error of a full device names the path, not the temporary file.
func TestFullDevice(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no /dev/full on this system")
	}
	err := Write(full, text(strings.Repeat("x", 2*bufferSize)))
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "writing /dev/full: no space left on device" {
		t.Errorf("error %v: want one that names the path and the cause", err)
	}
}

// A write leaves no file open, neither its own nor the folder.
func TestNothingStaysOpen(t *testing.T) {
	const descriptors = "/proc/self/fd"
	if _, err := os.Stat(descriptors); err != nil {
		t.Skip("no list of open files on this system")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it closes forgotten files
	path := filepath.Join(t.TempDir(), "out")
	open := func() int {
		for range 20 {
			if err := Write(path, text("x")); err != nil {
				t.Fatal(err)
			}
		}
		return len(strings.Fields(entries(t, descriptors)))
	}
	if first, second := open(), open(); second > first {
		t.Errorf("%d files are open, and %d after 20 more writes", first, second)
	}
}
