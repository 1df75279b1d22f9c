package peers

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func TestSampleChunklets(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c", "a"}), 1, 14).Draw(t, "labels")
		size := rapid.IntRange(1, 4).Draw(t, "size")
		count := make(map[string]int)
		for _, l := range labels {
			count[l]++
		}
		possible := count["a"]/size + count["b"]/size + count["c"]/size
		k := rapid.IntRange(0, possible).Draw(t, "chunklets")
		s, err := sampleChunklets(labels, k, size, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Chunklets()) != k || s.Merged() != 0 {
			t.Fatalf("%d chunklets, %d merged, want %d disjoint ones", len(s.Chunklets()), s.Merged(), k)
		}
		for _, c := range s.Chunklets() {
			if len(c) != size || labels[c[0]] == "" {
				t.Fatalf("chunklet %v, want %d labeled rows", c, size)
			}
		}
		for _, l := range s.Must() {
			if labels[l.I] != labels[l.J] {
				t.Fatalf("link %+v between labels %q and %q", l, labels[l.I], labels[l.J])
			}
		}
		for _, ask := range [][2]int{{possible + 1, size}, {-1, size}, {0, 0}} {
			if _, err := sampleChunklets(labels, ask[0], ask[1], 1); !fault.IsInput(err) {
				t.Fatalf("%d chunklets of %d: error %v, want an input error", ask[0], ask[1], err)
			}
		}
	})
}

// A single chunklet of two of the four rows of a class: all six choices are equally likely.
// 20.5 is the 0.1 % point for 5 degrees of freedom.
func TestSampleChunkletsIsUniform(t *testing.T) {
	labels := []string{"a", "b", "a", "", "a", "a"}
	index := make(map[[2]int]int)
	observed := make([]int, 6)
	for seed := range uint64(3000) {
		s, err := sampleChunklets(labels, 1, 2, seed)
		if err != nil {
			t.Fatal(err)
		}
		c := s.Chunklets()[0]
		key := [2]int{c[0], c[1]}
		if _, ok := index[key]; !ok {
			index[key] = len(index)
		}
		observed[index[key]]++
	}
	x, expected := 0.0, float64(500)
	for _, o := range observed {
		x += (float64(o) - expected) * (float64(o) - expected) / expected
	}
	if len(index) != 6 || x > 20.5 {
		t.Errorf("%d choices of 6, chi-square %.1f on 5 degrees of freedom, want below 20.5", len(index), x)
	}
}
