package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Links returns the set of links between n points.
func Links(t Fataler, n int, list []links.Link) *links.Set {
	t.Helper()
	set, err := links.New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Bands returns n points of d features with the given number of links of each kind. The first
// feature separates three classes; the others are noise of larger variance.
func Bands(t Fataler, n, d, pairs int, seed uint64) (*points.Dense, []string, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 3)
		for j := range d {
			x.Data[i*d+j] = 3 * rng.NormFloat64()
		}
		x.Data[i*d] = float64(i%3) + 0.1*rng.NormFloat64()
	}
	return x, labels, Drawn(t, labels, pairs, pairs, seed)
}

// Rings returns n points on two concentric circles with the given number of links of each kind.
func Rings(t Fataler, n, pairs int, seed uint64) (*points.Dense, []string, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}, make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 2)
		a, r := 2*math.Pi*rng.Float64(), float64(1+2*(i%2))+0.1*rng.NormFloat64()
		copy(x.Row(i), []float64{r * math.Cos(a), r * math.Sin(a)})
	}
	return x, labels, Drawn(t, labels, pairs, pairs, seed)
}

// Blobs returns n points of three overlapping classes with the given number of links of each kind.
// The mean of a class has one feature of 3.
func Blobs(t Fataler, n, d, pairs int, seed uint64) (*points.Dense, []string, *links.Set) {
	t.Helper()
	x, labels := Normal(rand.New(rand.NewPCG(seed, 8)), n, d, 0), make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 3)
		x.Row(i)[i%3%d] += 3
	}
	return x, labels, Drawn(t, labels, pairs, pairs, seed)
}

// Drawn returns must must-links and cannot cannot-links between points with the given labels.
func Drawn(t Fataler, labels []string, must, cannot int, seed uint64) *links.Set {
	t.Helper()
	set, err := links.SampleByCount(labels, must, cannot, seed)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Mixed returns count links of distinct pairs (or of all pairs, when there are fewer) of n points
// whose class is the row modulo classes; a fifth of the links are mislabeled.
func Mixed(n, classes, count int, seed uint64) []links.Link {
	rng := rand.New(rand.NewPCG(seed, 4))
	var out []links.Link
	seen := map[[2]int]bool{}
	for len(out) < min(count, n*(n-1)/2) {
		i, j := rng.IntN(n), rng.IntN(n)
		if i == j || seen[[2]int{min(i, j), max(i, j)}] {
			continue
		}
		seen[[2]int{min(i, j), max(i, j)}] = true
		sign := links.Must
		if wrong := rng.IntN(5) == 0; (i%classes == j%classes) == wrong {
			sign = links.Cannot
		}
		out = append(out, links.NewLink(i, j, sign))
	}
	return out
}
