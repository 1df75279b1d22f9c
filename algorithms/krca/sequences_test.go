package krca

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

const dna = "ACGT"

// randomSequences returns n sequences of 8 to 40 letters, some with a gap.
func randomSequences(n int, seed uint64) *points.Sequences {
	rng := rand.New(rand.NewPCG(seed, 3))
	x := &points.Sequences{Alphabet: dna, Start: []int{0}}
	for range n {
		for i := range 8 + rng.IntN(33) {
			c := dna[rng.IntN(len(dna))]
			if i == 5 && rng.IntN(4) == 0 {
				c = points.Gap
			}
			x.Letters = append(x.Letters, c)
		}
		x.Start = append(x.Start, len(x.Letters))
	}
	return x
}

// unitCounts returns, by the definition, the counts of each pair of letters in the sequences,
// scaled to unit length.
func unitCounts(x *points.Sequences) *points.Dense {
	out := &points.Dense{N: x.Len(), D: 16, Data: make([]float64, 16*x.Len())}
	for i := range x.Len() {
		s, square := x.Row(i), 0.0
		for a := range 4 {
			for b := range 4 {
				for j := 0; j+1 < len(s); j++ {
					if s[j] == dna[a] && s[j+1] == dna[b] {
						out.Data[16*i+4*a+b]++
					}
				}
				square += out.Data[16*i+4*a+b] * out.Data[16*i+4*a+b]
			}
		}
		for c := range 16 {
			out.Data[16*i+c] /= math.Sqrt(square)
		}
	}
	return out
}

// A model of sequences is the model of their feature vectors: fitted, updated, on old and new
// sequences.
func TestSequences(t *testing.T) {
	eng, ctx := enginetest.New(t, 2), context.Background()
	x, fresh := randomSequences(40, 1), randomSequences(9, 2)
	v, freshV := unitCounts(x), unitCounts(fresh)
	set := chunkletSet(t, 40, runs(40, 1, 3, 2, 4, 2, 2, 5)...)
	for _, c := range []struct{ sequences, vectors string }{
		{"spectrum:k=2", "linear"}, {"rbf:sigma=0.4@spectrum:k=2", "rbf:sigma=0.4"},
	} {
		for _, form := range []Form{FormCholesky, FormSpectral} {
			one, two := withKernel(t, c.sequences, 0.05), withKernel(t, c.vectors, 0.05)
			one.Params.Form, two.Params.Form = form, form
			m, want := fittest.On[*Model](t, eng, one, x, set), fittest.On[*Model](t, eng, two, v, set)
			within(t, c.sequences+", Gram", toMat(gramOf(t, eng, m, x, nil)),
				toMat(gramOf(t, eng, want, v, nil)), 1e-11)
			within(t, c.sequences+", new", toMat(gramOf(t, eng, m, fresh, x)),
				toMat(gramOf(t, eng, want, freshV, v)), 1e-11)
			if form == FormCholesky {
				grown, wantGrown := updated(t, eng, m, x), updated(t, eng, want, v)
				within(t, c.sequences+", updated", toMat(gramOf(t, eng, grown, fresh, nil)),
					toMat(gramOf(t, eng, wantGrown, freshV, nil)), 1e-11)
			}
		}
	}
	// Without a kernel sequences get one that takes them.
	m, err := Learner{Params: DefaultParams()}.Fit(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*Model); got.Kernel().String() != "spectrum:k=3" || got.Alphabet() != dna {
		t.Errorf("kernel %s over %q: want spectrum:k=3 over %q", got.Kernel(), got.Alphabet(), dna)
	}
}

// The learned kernel is eq (7) as printed, on products counted without the kernel package.
func TestSequencesPrintedFormula(t *testing.T) {
	eng := enginetest.New(t, 2)
	all := randomSequences(35, 7)
	v := unitCounts(all)
	set := chunkletSet(t, 35, runs(35, 1, 3, 2, 4, 2, 2, 5)...)
	rows, f := flatten(set.Chunklets())
	n, eps := all.Len(), 0.05
	for _, sigma := range []float64{0, 0.7} { // 0: the spectrum kernel itself
		text := "spectrum:k=2"
		if sigma > 0 {
			text = "rbf:sigma=0.7@" + text
		}
		k := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				product, square := 0.0, 0.0
				for c, a := range v.Row(i) {
					b := v.Row(j)[c]
					product, square = product+a*b, square+(a-b)*(a-b)
				}
				if sigma > 0 {
					product = math.Exp(-square / (2 * sigma * sigma))
				}
				k.Set(i, j, product)
			}
		}
		kxc, kc := mat.NewDense(n, len(rows), nil), mat.NewDense(len(rows), len(rows), nil)
		for b, row := range rows {
			for i := range n {
				kxc.Set(i, b, k.At(i, row))
			}
			for a, other := range rows {
				kc.Set(a, b, k.At(other, row))
			}
		}
		want := printed(t, k, kxc, kc, f, eps)
		m := fittest.On[*Model](t, eng, withKernel(t, text, eps), all, set)
		within(t, text, toMat(gramOf(t, eng, m, all, nil)), want, 1e-11)
		checkDistances(t, m, all, want, 1e-11)
	}
}

// A Gram matrix that is not positive semidefinite is refused with its smallest eigenvalue.
func TestIndefiniteGramIsRefused(t *testing.T) {
	g, err := points.NewGram(3, 3, []float64{1, 2, 0, 2, 1, 0, 0, 0, 1}, nil, nil) // eigenvalues -1, 1, 3
	if err != nil {
		t.Fatal(err)
	}
	_, err = withKernel(t, "linear", 0.1).Fit(context.Background(), enginetest.New(t, 1), g,
		chunkletSet(t, 3, []int{0, 1}))
	var de *fault.DataError
	if !errors.As(err, &de) || !strings.Contains(err.Error(), "smallest eigenvalue is -1") {
		t.Errorf("error %v: want a DataError with the eigenvalue -1", err)
	}
}

// Batch and incremental learning on sequences agree.
func TestSequencesIncremental(t *testing.T) {
	eng, ctx := enginetest.New(t, 2), context.Background()
	x := randomSequences(60, 4)
	sizes := []int{2, 3, 2, 5, 2, 4, 2, 2, 3}
	l := withKernel(t, "rbf:sigma=0.6@spectrum:k=2", 0)
	l.Params = Params{FixedS: 0.7}
	all := runs(60, 1, sizes...)
	want := fittest.On[*Model](t, eng, l, x, chunkletSet(t, 60, all...))
	u := incremental(t, fittest.On[*Model](t, eng, l, x, chunkletSet(t, 60, all[:2]...)))
	for _, c := range all[2:] {
		must(t, u.Add(ctx, eng, x, c))
	}
	within(t, "incremental", toMat(learned(t, eng, u, x)), toMat(gramOf(t, eng, want, x, nil)), 1e-10)
}

func TestSequencesOfAnotherKind(t *testing.T) {
	eng, ctx := enginetest.New(t, 1), context.Background()
	x := randomSequences(20, 1)
	set := chunkletSet(t, 20, runs(20, 1, 2, 3)...)
	m := fittest.On[*Model](t, eng, withKernel(t, "spectrum:k=2", 0.1), x, set)
	vectors := gaussian(20, 4, 1)
	onVectors := fittest.On[*Model](t, eng, withKernel(t, "linear", 0.1), vectors, set)
	protein := &points.Sequences{Alphabet: points.Protein, Start: x.Start, Letters: x.Letters}
	for name, run := range map[string]func() error{
		"vectors":   func() error { _, err := m.Embed(ctx, eng, vectors); return err },
		"alphabet":  func() error { _, err := m.Embed(ctx, eng, protein); return err },
		"sequences": func() error { _, err := onVectors.Embed(ctx, eng, x); return err },
		"update": func() error {
			return incremental(t, m).Add(ctx, eng, vectors, []int{0, 1})
		},
		"update with another alphabet": func() error {
			return incremental(t, m).Update(ctx, eng, protein, []algorithms.Chunklet{{ID: 0, Rows: []int{3}}})
		},
		"kernel for vectors": func() error {
			_, err := withKernel(t, "rbf:sigma=1", 0.1).Fit(ctx, eng, x, set)
			return err
		},
	} {
		if err := run(); !fault.IsInput(err) {
			t.Errorf("%s: error %v: want one of bad input", name, err)
		}
	}
}
