package export

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/kernel"
)

// TestSpellings compares the spellings of words with what lower case makes of them.
func TestSpellings(t *testing.T) {
	for word, want := range map[string]int{"yes": 8, "über": 16, "ok": 6, "ßa": 4, "no 1": 4, "σ": 2, "": 1,
		"abcdefghijk": 3, "außergewöhnliches": 3} {
		list := spellings(word, anyRune)
		if len(list) != want {
			t.Errorf("%q: %d spellings %.3q: want %d", word, len(list), list, want)
		}
		for k, text := range list {
			if strings.ToLower(text) != word || slices.Contains(list[:k], text) {
				t.Errorf("%q is no spelling of %q, or there twice", text, word)
			}
		}
	}
	if list := spellings("über", notASCII); !slices.Equal(list, []string{"über", "Über"}) {
		t.Errorf("spellings %q: want two", list)
	}
}

// TestViews: a matrix that is part of another one is written without the rest.
func TestViews(t *testing.T) {
	whole := blas.MatrixOf(2, 3, []float64{1, 2, 3, 4, 5, 6})
	var of [2]graph
	of[0].matrix(whole.View(0, 2, 1, 3))
	of[1].matrix(blas.MatrixOf(2, 2, []float64{2, 3, 5, 6}))
	if got, want := of[0].constants[0].encoded(), of[1].constants[0].encoded(); !bytes.Equal(got, want) {
		t.Errorf("% x: want % x", got, want)
	}
}

// TestKernels finds kernels that graphs do not have.
func TestKernels(t *testing.T) {
	for _, name := range kernel.Names() {
		if name != "linear" && name != "spectrum" && !slices.ContainsFunc(kernels, func(n nodes) bool {
			return n.kernel == name
		}) {
			t.Errorf("graphs have no nodes for the kernel %s", name)
		}
	}
}

// TestLeast: the number is the one with the smallest exponent of a normal number, and no fraction.
func TestLeast(t *testing.T) {
	if v, want := (&graph{}).least(), math.Float64frombits(1<<52); v != want {
		t.Errorf("%g, want %g", v, want)
	}
	if v, want := (&graph{single: true}).least(), float64(math.Float32frombits(1<<23)); v != want {
		t.Errorf("single: %g, want %g", v, want)
	}
}
