package main

import (
	"strings"
	"testing"
)

// TestBenchMicro: the report holds a figure for every contender, with its ratio.
func TestBenchMicro(t *testing.T) {
	dir := t.TempDir()
	r := parse(t, runOK(t, dir, "bench micro --case peak,gemm --sizes 8,40 --threads 1 --rounds 1 --json").stdout)
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
	text := runOK(t, dir, "bench micro --case gemm --sizes 8 --threads 1 --rounds 1").stdout
	for _, w := range []string{"native", "backend", "SIMD", "ratio"} {
		if !strings.Contains(text, w) {
			t.Errorf("the text does not contain %q:\n%s", w, text)
		}
	}
}

func TestBenchSpeedBadInput(t *testing.T) {
	dir := t.TempDir()
	for line, words := range map[string][]string{
		"bench micro --case gem":                   {"gem", "gemm"},
		"bench micro --sizes 0":                    {"--sizes", "0"},
		"bench micro --threads 0":                  {"--threads", "0"},
		"bench micro --rounds 0":                   {"--rounds", "0"},
		"bench micro --against mkl":                {"mkl", "gonum"},
		"bench peers --case rfb":                   {"rfb", "rbf"},
		"bench peers --python no-such-interpreter": {"no-such-interpreter", "python3-sklearn"},
	} {
		wantInputError(t, dir, run(t, dir, line), nil, words...)
	}
}
