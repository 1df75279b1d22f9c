package catalog_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// topics returns n messages of 40 words out of d, every word used by one of two topics alone but
// for a fifth of them; the words are spread over all d, and messages alternate.
func topics(n, d int, seed uint64) (*points.CSR, []string) {
	const vocabulary, words = 200, 40
	rng := rand.New(rand.NewPCG(seed, 7))
	x, labels := &points.CSR{N: n, D: d, Start: []int{0}}, make([]string, n)
	for i := range n {
		labels[i] = []string{"a", "b"}[i%2]
		counts := map[int]float64{}
		for range words {
			w := rng.IntN(vocabulary / 2)
			if i%2 == 1 && rng.Float64() < 0.8 {
				w += vocabulary / 2
			}
			counts[w*(d/vocabulary)]++
		}
		used := make([]int, 0, len(counts))
		for c := range counts {
			used = append(used, c)
		}
		slices.Sort(used)
		for _, c := range used {
			x.Col, x.Val = append(x.Col, int32(c)), append(x.Val, counts[c])
		}
		x.Start = append(x.Start, len(x.Col))
	}
	return x, labels
}

// TestSparseFromEndToEnd: a fit, distances and coordinates of new rows take less memory than a
// twentieth of what the rows would, were they written with their zeros; and they are those of the
// same words numbered without gaps, as dense rows.
func TestSparseFromEndToEnd(t *testing.T) {
	const n, wide, narrow = 300, 2_000_000, 200
	x, labels := topics(n, wide, 1)
	fresh, _ := topics(50, wide, 2)
	set, err := links.SampleByCount(labels, 60, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	dense := func(p *points.CSR) *points.Dense {
		out := &points.Dense{N: p.N, D: narrow, Data: make([]float64, p.N*narrow)}
		for i := range p.N {
			col, val := p.Row(i)
			for k, c := range col {
				out.Row(i)[int(c)/(wide/narrow)] = val[k]
			}
		}
		return out
	}
	var pairs [][2]int
	for i := range n {
		pairs = append(pairs, [2]int{i, (7*i + 3) % n})
	}
	eng := enginetest.New(t, 1)
	for name, kernel := range map[string]string{"krca": "rbf:sigma=1@cosine", "kbeta": "rbf:sigma=1@cosine",
		"npkl": "cosine", "lleratio": "rbf:sigma=1@cosine", "rca": "linear", "xrca": "cosine",
		"itml": "linear"} {
		t.Run(name, func(t *testing.T) {
			method, err := catalog.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			learn := func(x, fresh points.Points) (distances, coordinates []float64) {
				l, err := method.New(catalog.Config{Kernel: kernel, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				m, err := l.Fit(t.Context(), eng, x, set)
				if err != nil {
					t.Fatal(err)
				}
				d, err := m.Distances(t.Context(), eng, x, pairs)
				if err != nil {
					t.Fatal(err)
				}
				y, err := m.Embed(t.Context(), eng, fresh)
				if err != nil {
					t.Fatal(err)
				}
				for i := range y.Rows { // lengths, since directions may have either sign
					sum := 0.0
					for _, v := range y.Row(i) {
						sum += v * v
					}
					coordinates = append(coordinates, sum)
				}
				return d, coordinates
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d, y := learn(x, fresh)
			runtime.ReadMemStats(&after)
			if took, all := after.TotalAlloc-before.TotalAlloc, uint64(8*n*wide); took > all/20 {
				t.Errorf("%d MB were allocated, of %d MB that dense rows would take", took>>20, all>>20)
			} else {
				t.Logf("%d MB", took>>20)
			}
			wantD, wantY := learn(dense(x), dense(fresh))
			near(t, "distance", d, wantD)
			near(t, "squared length of the place of a new row", y, wantY)
		})
	}
}

// near compares numbers, relative to the largest.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	largest := slices.Max(want)
	for k := range want {
		if !(math.Abs(got[k]-want[k]) <= 1e-6*largest) {
			t.Errorf("%s %d: %v, of dense rows %v", what, k, got[k], want[k])
			return
		}
	}
}
