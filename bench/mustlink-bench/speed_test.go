package main

import (
	"strings"
	"testing"

	"github.com/mustlink/mustlink/internal/clitest"
)

// TestMicro: the report holds a figure for every contender, with its ratio.
func TestMicro(t *testing.T) {
	dir := t.TempDir()
	r := clitest.Parse(t, bench.RunOK(t, dir, "micro --case peak,gemm --sizes 8,40 --threads 1 --rounds 1 --json").Stdout)
	figures := r["figures"].([]any)
	if len(figures) != 3 {
		t.Fatalf("%d figures: want the peak and two sizes", len(figures))
	}
	for _, f := range figures[1:] {
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

func TestSpeedBadInput(t *testing.T) {
	dir := t.TempDir()
	for line, words := range map[string][]string{
		"micro --case gem":                   {"gem", "gemm"},
		"micro --sizes 0":                    {"--sizes", "0"},
		"micro --threads 0":                  {"--threads", "0"},
		"micro --rounds 0":                   {"--rounds", "0"},
		"micro --against mkl":                {"mkl", "gonum"},
		"peers --case rfb":                   {"rfb", "rbf"},
		"peers --python no-such-interpreter": {"no-such-interpreter", "python3-sklearn"},
	} {
		bench.WantInputError(t, dir, line, words...)
	}
}
