package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestMicro: the report has a measurement and a ratio for every contender.
func TestMicro(t *testing.T) {
	dir := t.TempDir()
	r := clitest.Parse(t,
		bench.RunOK(t, dir, "micro --case peak,gemm --sizes 8,40 --threads 1 --rounds 1 --json").Stdout)
	measurements := r["figures"].([]any)
	if len(measurements) != 3 {
		t.Fatalf("%d measurements: want the peak and two sizes", len(measurements))
	}
	for _, f := range measurements[1:] {
		entries := f.(map[string]any)["entries"].([]any)
		if len(entries) != 2 {
			t.Fatalf("entries %v: want native and another backend", entries)
		}
		for i, e := range entries {
			ratio := e.(map[string]any)["ratio"].(map[string]any)["median"].(float64)
			if !(ratio > 0) || i == 0 && ratio != 1 {
				t.Errorf("entry %d: ratio %v: want a number > 0, 1 for the first", i, ratio)
			}
		}
	}
	text := bench.RunOK(t, dir, "micro --case gemm --sizes 8 --threads 1 --rounds 1").Stdout
	for _, w := range []string{"native", "backend", "SIMD", "ratio"} {
		if !strings.Contains(text, w) {
			t.Errorf("the text does not contain %q:\n%s", w, text)
		}
	}
}

// TestNeighbors: the exact search has recall 1, and that of the index is near the wanted one or
// above.
func TestNeighbors(t *testing.T) {
	dir := t.TempDir()
	line := "neighbors --rows 3000 --queries 200 --columns 4 --clusters 10 --recall .9"
	r := clitest.Parse(t, bench.RunOK(t, dir, line+" --json").Stdout)
	searches := r["searches"].([]any)
	if len(searches) != 2 {
		t.Fatalf("searches %v: want the exact one and that of the index", searches)
	}
	for i, least := range []float64{1, .87} {
		if recall := searches[i].(map[string]any)["recall"].(float64); !(recall >= least && recall <= 1) {
			t.Errorf("search %d: recall %v, want at least %v", i, recall, least)
		}
	}
	if text := bench.RunOK(t, dir, line).Stdout; !strings.Contains(text, "cells, which had recall") {
		t.Errorf("the text is %q", text)
	}
}

func TestSpeedBadInput(t *testing.T) {
	dir := t.TempDir()
	for line, words := range map[string][]string{
		"micro --case gem":                   {"gem", "gemm"},
		"micro --sizes 0":                    {"--sizes", "0"},
		"micro --threads 0":                  {"--threads", "0"},
		"micro --rounds 0":                   {"--rounds", "0"},
		"micro --against mkl":                {"--against", "mkl", "gonum"},
		"neighbors --recall 2":               {"--recall", "2"},
		"neighbors --rows 10":                {"--rows", "10", "11"},
		"neighbors --against annoy":          {"--against", "annoy", "hnswlib"},
		"peers --case rfb":                   {"rfb", "rbf"},
		"peers --python no-such-interpreter": {"no-such-interpreter", "python3-sklearn"},
	} {
		bench.WantInputError(t, dir, line, words...)
	}
}

// TestWithoutCLibrary: a build without the C library reports how to build with it, both for the
// flag and for the environment variable.
func TestWithoutCLibrary(t *testing.T) {
	if strings.Contains(clitest.Tags(), "netlib") {
		t.Skip("this build has it")
	}
	dir := t.TempDir()
	bench.WantInputError(t, dir, "micro --against netlib", "--against", "OpenBLAS and LAPACKE",
		"-tags netlib")
	cmd := bench.Command(dir, "paper", "tsang-1")
	cmd.Env = append(os.Environ(), "MUSTLINK_BACKEND=netlib")
	bench.WantInputErrorOf(t, cmd, "MUSTLINK_BACKEND", "OpenBLAS and LAPACKE", "-tags netlib")
}

// TestWithoutPeers: with a Python without the packages the program fails, with one line that says
// how to install them.
func TestWithoutPeers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an interpreter is a script here")
	}
	dir := t.TempDir()
	interpreter := func(name, script string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, words := range map[string][]string{
		interpreter("none", "echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1"):                                                  {"numpy", "apt-get install python3-sklearn"},
		interpreter("bare", `read line; echo '{"about": "Python"}'; read line; echo '{"error": "ModuleNotFoundError: No module named sklearn"}'`): {"sklearn", "apt-get install python3-sklearn"},
		interpreter("others",
			`read line; echo '{"about": "Python"}'; read line; echo '{"error": "ModuleNotFoundError: No module named metric_learn"}'`): {"metric_learn", "pip install metric-learn"},
	} {
		o := bench.Run(t, dir, "peers --case rbf --rounds 1 --threads 1 --python "+path)
		if o.Code != usage.ExitFailed || strings.Count(o.Stderr, "\n") != 1 ||
			!strings.HasPrefix(o.Stderr, "mustlink-bench: ") {
			t.Errorf("%s: exit code %d, %q: want %d and one line", path, o.Code, o.Stderr, usage.ExitFailed)
		}
		for _, w := range words {
			if !strings.Contains(o.Stderr, w) {
				t.Errorf("message does not contain %q: %s", w, o.Stderr)
			}
		}
	}
}
