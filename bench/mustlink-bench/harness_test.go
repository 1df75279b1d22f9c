package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/internal/clitest"
)

// bench is the program of this package, built once with the tags of the test.
var bench clitest.Program

func TestMain(m *testing.M) {
	os.Exit(clitest.Main(m, "mustlink-bench", ".", &bench))
}

// buildMustlink builds the measured program, once.
var buildMustlink = sync.OnceValues(func() (clitest.Program, error) {
	return clitest.Build("mustlink", filepath.Join("..", "..", "cmd", "mustlink"), filepath.Dir(bench.Path))
})

// mustlink returns the measured program.
func mustlink(t *testing.T) clitest.Program {
	t.Helper()
	p, err := buildMustlink()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
