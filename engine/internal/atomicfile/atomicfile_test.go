package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	for _, s := range []string{"a long first content", "short", strings.Repeat("x", 3*bufferSize+1)} {
		if err := Write(path, text(s)); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != s {
			t.Fatalf("content has %d bytes, want %d", len(got), len(s))
		}
		if got := entries(t, dir); got != "out.csv" {
			t.Fatalf("folder contains %q, want out.csv only", got)
		}
	}
}

// While f runs, a reader must still see the old content.
func TestOldContentStaysUntilTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	err := Write(path, func(w io.Writer) error {
		if err := text(strings.Repeat("n", 2*bufferSize))(w); err != nil {
			return err
		}
		if got := content(t, path); got != "old" {
			t.Errorf("reader sees %d bytes of the new content before the end", len(got))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNothingLeftOnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	stop := fmt.Errorf("stopped: %w", context.Canceled)
	fail := func(w io.Writer) error {
		_ = text(strings.Repeat("n", 2*bufferSize))(w)
		return stop
	}
	if err := Write(path, fail); err != stop {
		t.Fatalf("error %v, want that of f unchanged", err)
	}
	if got := entries(t, dir); got != "" {
		t.Fatalf("folder contains %q after an error, want nothing", got)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of f did not reach the caller")
			}
		}()
		_ = Write(path, func(io.Writer) error { panic("f") })
	}()
	if got := entries(t, dir); got != "" {
		t.Fatalf("folder contains %q after a panic, want nothing", got)
	}
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	_ = Write(path, fail)
	if got := content(t, path); got != "old" {
		t.Fatalf("old content was lost: %q", got)
	}
}

func TestModeFollowsUmaskAndOldFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	dir := t.TempDir()
	plain, path := filepath.Join(dir, "plain"), filepath.Join(dir, "out")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, text("1")); err != nil {
		t.Fatal(err)
	}
	if got, want := mode(t, path), mode(t, plain); got != want {
		t.Errorf("new file has mode %v, want %v", got, want)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, text("2")); err != nil {
		t.Fatal(err)
	}
	if got := mode(t, path); got != 0o600 {
		t.Errorf("replaced file has mode %v, want 0600", got)
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := Write(real, text("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced (%v)", err)
	}
	if got := content(t, real); got != "new" {
		t.Errorf("target contains %q", got)
	}
}

func TestDeviceIsWrittenDirectly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /dev/null")
	}
	if err := Write(os.DevNull, text("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s was replaced", os.DevNull)
	}
}

func TestCannotWrite(t *testing.T) {
	dir := t.TempDir()
	file, protected, readOnly := filepath.Join(dir, "file"), filepath.Join(dir, "protected"),
		filepath.Join(dir, "ro")
	for _, p := range []string{file, protected} {
		if err := Write(p, text("keep")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(protected, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(readOnly, 0o555); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, path string
		is         error
	}{
		{"folder missing", filepath.Join(dir, "no", "out"), fs.ErrNotExist},
		{"path is a folder", dir, nil},
		{"a file instead of a folder", filepath.Join(file, "out"), nil},
		{"write-protected file", protected, fs.ErrPermission},
		{"read-only folder", filepath.Join(readOnly, "out"), fs.ErrPermission},
		{"name too long", filepath.Join(dir, strings.Repeat("n", 300)), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "read-only folder" && os.Geteuid() <= 0 {
				t.Skip("permissions do not apply to this user")
			}
			err := Write(c.path, func(io.Writer) error { t.Error("f was called"); return nil })
			if c.name == "name too long" {
				err = Write(c.path, text(""))
			}
			var de *fault.DataError
			if !errors.As(err, &de) || de.File != c.path {
				t.Fatalf("error %v, want a DataError naming %s", err, c.path)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v does not wrap %v", err, c.is)
			}
			if strings.Contains(err.Error(), ".tmp-") {
				t.Errorf("message shows the temporary name: %v", err)
			}
		})
	}
	if err := Write("", text("")); !fault.IsInput(err) {
		t.Errorf("empty path: error %v, want an input error", err)
	}
}

// TestDanglingLink: a link to a file that does not exist yet stays a link, and the file appears
// where it points to. A link to a missing folder, and links in a circle, are refused and stay.
func TestDanglingLink(t *testing.T) {
	dir := t.TempDir()
	link := func(to, name string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink(to, path); err != nil {
			t.Skip("no symbolic links: ", err)
		}
		return path
	}
	link("target", "second")
	for _, path := range []string{link("second", "first"), link(filepath.Join(dir, "other"), "absolute")} {
		if err := Write(path, text("new")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 ||
			content(t, path) != "new" {
			t.Errorf("%s is no link to the new file: %v, %v", path, info, err)
		}
	}
	if got := content(t, filepath.Join(dir, "target")); got != "new" {
		t.Errorf("the target has %q", got)
	}
	link("b", "a")
	link("a", "b")
	link(filepath.Join(dir, "none", "x"), "folder")
	before := entries(t, dir)
	for _, name := range []string{"a", "folder"} {
		if err := Write(filepath.Join(dir, name), text("new")); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	if got := entries(t, dir); got != before {
		t.Errorf("the folder contains %s: want %s", got, before)
	}
}
