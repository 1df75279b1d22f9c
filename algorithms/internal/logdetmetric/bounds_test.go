package logdetmetric

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/quickselect"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// TestQuantile: quantiles of whole numbers from 0 on, in any order, are those of the uniform
// distribution.
func TestQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	keys := make([]quickselect.Key, 101)
	for i, p := range rng.Perm(len(keys)) {
		keys[i] = quickselect.Key{Value: float64(p), Row: int32(i)}
	}
	for _, q := range []float64{0.05, 0.95, 1, 0, 0.125, 0.5} {
		if got := quantile(keys, q); got-100*q > 1e-12 || 100*q-got > 1e-12 {
			t.Errorf("quantile %v is %v: want %v", q, got, 100*q)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("quantile of no values is %v: want 0", got)
	}
}

// TestBoundsOfTies: bounds are percentiles of the distances above 0, also where most pairs are
// equal (0 and 1, two categories, rounded numbers), as vectors and as a Gram matrix with rounding
// errors. Copies of all points change nothing.
func TestBoundsOfTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	eng, rules := enginetest.New(t, 2), BoundRules{"p5", "p95", "p40"}
	bounds := func(x points.Points) Bounds {
		b, err := rules.Bounds(context.Background(), eng, kernel.Linear(), x, true, 1)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	near := func(a, b Bounds) bool {
		return math.Abs(a.Upper-b.Upper) < 1e-9 && math.Abs(a.Lower-b.Lower) < 1e-9 &&
			math.Abs(a.Margin-b.Margin) < 1e-9
	}
	for name, value := range map[string]func() float64{
		"rare ones": func() float64 { return math.Floor(1.02 * rng.Float64()) },
		"0 and 1":   func() float64 { return float64(rng.IntN(2)) },
		"rounded":   func() float64 { return math.Round(rng.NormFloat64()) / 3 },
		"distinct":  rng.NormFloat64,
	} {
		const n, d = 90, 3
		x := &points.Dense{N: n, D: d}
		for range n * d {
			x.Data = append(x.Data, value())
		}
		x.Data[0] = 1 // at least one row differs
		var apart []float64
		for i := range n {
			for j := range i {
				if v := points.SquaredDistance(x.Row(i), x.Row(j)); v > 0 {
					apart = append(apart, v)
				}
			}
		}
		slices.Sort(apart)
		at := func(q float64) float64 {
			position := q * float64(len(apart)-1)
			i := int(position)
			return apart[i] + (position-float64(i))*(apart[min(i+1, len(apart)-1)]-apart[i])
		}
		want := Bounds{at(.05), at(.95), at(.4)}
		if got := bounds(x); !near(got, want) {
			t.Errorf("%s: bounds %v, want %v", name, got, want)
		}
		twice := &points.Dense{N: 2 * n, D: d, Data: slices.Concat(x.Data, x.Data)}
		if got := bounds(twice); name != "distinct" && !near(got, want) { // there the interpolation differs
			t.Errorf("%s: bounds of two copies are %v, want %v", name, got, want)
		}
		gram, zero := make([]float64, n*n), make([]float64, d)
		for i := range n {
			for j := range i + 1 {
				v := 0.0
				for c, a := range x.Row(i) {
					v += a * x.Row(j)[c]
				}
				v += 1e-15 * rng.NormFloat64() *
					math.Sqrt(points.SquaredDistance(x.Row(i), zero)*points.SquaredDistance(x.Row(j), zero))
				gram[i*n+j], gram[j*n+i] = v, v
			}
		}
		g, err := points.NewGram(n, n, gram, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := bounds(g); !near(got, want) {
			t.Errorf("%s: bounds of the Gram matrix are %v, want %v", name, got, want)
		}
	}
}

// TestNoBounds: where a percentile is no bound, the message says what to set.
func TestNoBounds(t *testing.T) {
	eng := enginetest.New(t, 1)
	far := &points.Dense{N: 40, D: 1, Data: make([]float64, 40)}
	for i := range far.Data {
		far.Data[i] = float64(i)
	}
	far.Data[39] = 1e12 // compared with it the others coincide
	for want, x := range map[string]points.Points{
		"upper=p50": far,
		"upper=0.5": &points.Dense{N: 3, D: 1, Data: []float64{2, 2, 2}},
	} {
		_, err := BoundRules{"p5", "p95", "p5"}.Bounds(context.Background(), eng, kernel.Linear(), x,
			false, 1)
		if !fault.IsInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %s", err, want)
		}
	}
}
