package catalog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// blobs returns points of two classes.
func blobs(n, d int, seed uint64) (*points.Dense, []string) {
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 2)
		for j := range d {
			x.Data[i*d+j] = rng.NormFloat64()
		}
		x.Data[i*d] += float64(4 * (i % 2))
	}
	return x, labels
}

// What breaks other implementations is no trouble to any method: identical points under links of both kinds, constant and
// collinear columns, more features than points by far, features of very unlike size, links of one kind only. The fit gives
// finite places, or an error of the input that says why; never NaN, never a panic.
func TestEveryMethodTakesOddInput(t *testing.T) {
	type problem struct {
		x   *points.Dense
		set *links.Set
	}
	pairs := func(labels []string, must, cannot int) *links.Set {
		set, err := links.SampleByCount(labels, must, cannot, 1)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	cases := map[string]problem{}
	x, labels := blobs(60, 6, 1)
	cases["plain"] = problem{x, pairs(labels, 20, 20)}
	x, labels = blobs(60, 6, 2)
	for i := range 20 { // rows 0 to 39 in pairs of equal ones, a class apart
		copy(x.Row(2*i+1), x.Row(2*i))
	}
	cases["identical points"] = problem{x, pairs(labels, 20, 20)}
	x, labels = blobs(60, 6, 3)
	for i := range 60 {
		x.Row(i)[4] = 7
		x.Row(i)[5] = x.Row(i)[0] - 2*x.Row(i)[1]
	}
	cases["constant and collinear columns"] = problem{x, pairs(labels, 20, 20)}
	x, labels = blobs(100, 10000, 4)
	cases["10,000 features"] = problem{x, pairs(labels, 30, 30)}
	x, labels = blobs(60, 6, 5)
	for i := range 60 {
		x.Row(i)[1] *= 1e9
		x.Row(i)[2] *= 1e-9
	}
	cases["unlike features"] = problem{x, pairs(labels, 20, 20)}
	x, labels = blobs(60, 6, 6)
	cases["must-links only"] = problem{x, pairs(labels, 20, 0)}
	cases["cannot-links only"] = problem{x, pairs(labels, 0, 20)}
	x = &points.Dense{N: 60, D: 6, Data: make([]float64, 360)}
	cases["one place"] = problem{x, pairs(labels, 20, 20)}

	ctx, eng := context.Background(), enginetest.New(t, 0)
	for _, method := range catalog.Methods() {
		for name, p := range cases {
			learner, err := method.New(catalog.Config{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			m, err := learner.Fit(ctx, eng, p.x, p.set)
			if err != nil {
				if !fault.IsInput(err) || name == "plain" {
					t.Errorf("%s, %s: error %v", method.Name, name, err)
				}
				continue
			}
			y, err := m.Embed(ctx, eng, p.x)
			if err != nil {
				t.Errorf("%s, %s: embedding: %v", method.Name, name, err)
				continue
			}
			for i, v := range y.Data {
				if v-v != 0 {
					t.Errorf("%s, %s: place %d is %v", method.Name, name, i/y.Cols, v)
					break
				}
			}
		}
	}
}
