package logdetmetric

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// Each link and triplet becomes a constraint, except those that no metric satisfies.
func TestConstraints(t *testing.T) {
	x := &points.Dense{N: 6, D: 1, Data: []float64{0, 0, 1, 2, 3, 4}}
	w := Supervision{
		Links: enginetest.Links(t, 6, []links.Link{links.NewLink(0, 1, links.Cannot),
			links.NewLink(2, 3, links.Cannot), links.NewLink(4, 5, links.Must)}),
		Triplets: []links.Triplet{{I: 2, J: 3, K: 5}, {I: 0, J: 2, K: 1}},
	}
	notices, err := w.Drop(t.Context(), enginetest.New(t, 1), kernel.Linear(), x)
	if err != nil || w.Dropped() != 2 || len(notices) != 1 || !strings.Contains(notices[0], "0 and 1") {
		t.Fatalf("%d left out, notices %v (%v)", w.Dropped(), notices, err)
	}
	want := []logdet.Constraint{{Kind: logdet.AtMost, I: 4, J: 5, Bound: 1, Weight: 1},
		{Kind: logdet.AtLeast, I: 2, J: 3, Bound: 2, Weight: 1},
		{Kind: logdet.Nearer, I: 2, J: 3, K: 5, Bound: 3, Weight: 1}}
	b := Bounds{Upper: 1, Lower: 2, Margin: 3}
	if got := b.Constraints(w, nil); !slices.Equal(got, want) {
		t.Errorf("constraints %v: want %v", got, want)
	}
	for k := range want {
		want[k].I, want[k].J = want[k].I-1, want[k].J-1
	}
	want[2].K = 4
	if got := b.Constraints(w, map[int]int{0: 0, 2: 1, 3: 2, 4: 3, 5: 4}); !slices.Equal(got, want) {
		t.Errorf("constraints by indices %v: want %v", got, want)
	}
}

// problem is points of which three are linked, and a small change of their kernel.
func problem(t *testing.T) (Linked, blas.Matrix) {
	x := enginetest.Normal(rand.New(rand.NewPCG(1, 2)), 14, 3, 0)
	return Linked{Method: "test", Kernel: enginetest.Kernel(t, "rbf:gamma=0.5"), Scale: 3, X: x,
		Rows: []int{2, 5, 11}}, blas.MatrixOf(3, 3, []float64{-0.3, 0.1, 0, 0.1, -0.2, 0, 0, 0, 0.1})
}

// The coordinates have the inner products of the learned kernel K0 - K0_C B K0_C'.
func TestLearned(t *testing.T) {
	l, b := problem(t)
	eng, n := enginetest.New(t, 2), l.X.Len()
	m, err := l.Learned(t.Context(), eng, b)
	if err != nil {
		t.Fatal(err)
	}
	k, err := l.Kernel.Gram(t.Context(), eng, l.X)
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.Embed(t.Context(), eng, l.X)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range n {
			want := l.Scale * k.At(i, j)
			for p, c := range l.Rows {
				for q, d := range l.Rows {
					want -= l.Scale * k.At(i, c) * b.At(p, q) * l.Scale * k.At(d, j)
				}
			}
			if got := blas.Dot(y.Row(i), y.Row(j)); math.Abs(got-want) > 1e-7 {
				t.Fatalf("kernel value (%d, %d) is %v: want %v", i, j, got, want)
			}
		}
	}
}

// A map of landmarks that does not fit into the memory, or whose context ends, is an
// error.
func TestReducedFails(t *testing.T) {
	l, b := problem(t)
	r, err := l.Reduce(t.Context(), enginetest.New(t, 1), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	a := b.View(0, 2, 0, 2).Clone()
	a.Shift(1)
	enginetest.FailEverywhere(t, "landmarks", 30, func(ctx context.Context) error {
		m, err := r.Learned(ctx, enginetest.New(t, 1), l, a)
		if err == nil && m == nil {
			t.Error("no map")
		}
		return err
	})
	small := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: 1000})
	_, err = r.Learned(t.Context(), small, l, a)
	if memory, is := errors.AsType[*fault.MemoryError](err); !is || memory.What != "learned kernel matrix" {
		t.Errorf("little memory: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = r.Learned(ctx, small, l, a); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled, with little memory: error %v", err)
	}
}
