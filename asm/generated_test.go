//go:build amd64 && !purego && !noasm

package asm_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The assembly in the repository is what its generator writes. The generator is a module of its
// own: where its one dependency cannot be had, there is nothing to compare.
func TestGeneratedFilesAreFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the generator")
	}
	gen := "_gen"
	if out, err := run(gen, "go", "build", "-o", os.DevNull, "."); err != nil {
		if strings.Contains(out, "lookup") || strings.Contains(out, "dial") || strings.Contains(out, "GOPROXY") || strings.Contains(out, "GOFLAGS=-mod") {
			t.Skipf("the generator's dependency cannot be had: %s", out)
		}
		t.Fatalf("the generator does not build: %v\n%s", err, out)
	}
	dir := t.TempDir()
	for _, name := range []string{"avx512_amd64", "avx2_amd64", "neon_arm64"} {
		level, _, _ := strings.Cut(name, "_")
		assembly, stubs := filepath.Join(dir, name+".s"), filepath.Join(dir, name+".go")
		if out, err := run(gen, "go", "run", ".", "-level", level, "-out", assembly, "-stubs", stubs, "-pkg", "asm"); err != nil {
			t.Fatalf("%s: %v\n%s", level, err, out)
		}
		for _, path := range []string{assembly, stubs} {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Base(path))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(body(got), body(want)) {
				t.Errorf("%s is not what the generator writes: run make generate", filepath.Base(path))
			}
		}
	}
}

// body returns a file without its first line, which holds the command with its paths.
func body(text []byte) []byte {
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest
}

func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	// The generator runs on the machine that tests, whatever the tests were built for.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOOS=", "GOARCH=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
