package kernel_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// TestSteps evaluates kernels by their steps.
func TestSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	x := &points.Dense{N: 12, D: 4, Data: make([]float64, 48)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for _, text := range []string{
		"linear", "rbf:sigma=1.5", "rbf:gamma=0.3", "exp:width=2", "poly:degree=3,coef=1,scale=0.5", "cosine",
		"sigmoid:scale=0.2,coef=-0.1", "rbf:sigma=2@poly:degree=2", "cosine@poly:degree=2,coef=0.5@rbf:sigma=3",
	} {
		spec, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		k, err := kernel.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		want, err := k.Gram(context.Background(), enginetest.New(t, 2), x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.N {
			for j := range x.N {
				if got, want := bySteps(k, x.Row(i), x.Row(j)), want.At(i, j); math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
					t.Errorf("%s: element %d, %d is %v by its steps and %v in the matrix", text, i, j, got, want)
				}
			}
		}
	}
}

func bySteps(k kernel.Kernel, x, y []float64) float64 {
	xx, yy, xy := 0.0, 0.0, 0.0
	for j := range x {
		xx, yy, xy = xx+x[j]*x[j], yy+y[j]*y[j], xy+x[j]*y[j]
	}
	for _, s := range k.Steps() {
		d2 := max(0, xx+yy-2*xy)
		switch s.Name {
		case "rbf":
			xy = math.Exp(-s.Decay * d2)
		case "exp":
			xy = math.Exp(-s.Decay * math.Sqrt(d2))
		case "poly":
			xy = math.Pow(s.Scale*xy+s.Coef, float64(s.Degree))
		case "sigmoid":
			xy = math.Tanh(s.Scale*xy + s.Coef)
		case "cosine":
			xy /= math.Sqrt(xx) * math.Sqrt(yy)
		}
		xx, yy = s.Self(xx), s.Self(yy)
	}
	return xy
}
