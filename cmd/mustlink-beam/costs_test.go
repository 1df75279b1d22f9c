package main

import (
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

// The slowest of reading, computing and writing counts, divided by the number of machines. The
// fixed cost of elements is added.
func TestCosts(t *testing.T) {
	s := shape{Features: 10, Dim: 5, Landmarks: 20}
	const n = 1e9
	for name, c := range map[string]struct {
		m    machine
		want float64
	}{
		"reading":   {machine{Read: 80, Write: 1e9, Flops: 1e12}, n},
		"writing":   {machine{Read: 1e9, Write: 20, Flops: 1e12}, 2 * n},
		"computing": {machine{Read: 1e9, Write: 1e9, Flops: 200}, 3 * n},
	} {
		for _, machines := range []float64{1, 10} {
			if got := c.m.embed(s, n, machines).Seconds; math.Abs(got-c.want/machines) > 1e-12*c.want {
				t.Errorf("%s on %g machines: %g s, want %g", name, machines, got, c.want/machines)
			}
		}
	}
	m := machine{Read: 1e9, Write: 1e9, Flops: 1e9, Element: 1}
	more := m
	more.Element = 2
	if got, want := more.embed(s, n, 1e9).Seconds-m.embed(s, n, 1e9).Seconds,
		n/shard.DefaultRows; math.Abs(got-want) > 1e-9*want {
		t.Errorf("elements take %g s: want %g", got, want)
	}
	for v, want := range map[float64]string{999: "999 B", 1e3: "1 kB", 8e12: "8 TB", 2e18: "2e+03 PB"} {
		if got := inUnits(v); got != want {
			t.Errorf("%g bytes are %s: want %s", v, got, want)
		}
	}
}

// The measurements run on small problems.
func TestBench(t *testing.T) {
	text := done(t, "bench", "costs", "--rows", "2000", "--features", "4", "--landmarks", "10", "--rounds",
		"1", "--dir", t.TempDir())
	if !strings.Contains(text, "| 1e+10 | 1000 |") || strings.Contains(text, "NaN") ||
		strings.Contains(text, "Inf") {
		t.Errorf("%s", text)
	}
	// This program takes the part of mustlink, because it accepts the same arguments.
	t.Setenv(asCommand, "1")
	text = done(t, "bench", "embed", "--rows", "3000", "--features", "4", "--landmarks", "10", "--rounds",
		"1", "--dir", t.TempDir(), "--mustlink", program(t))
	if !strings.Contains(text, "ratio") {
		t.Errorf("%s", text)
	}
}
