package points

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestIndex: the first equal row is that of a comparison of all rows, for every kind of points.
func TestIndex(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n, m := rapid.IntRange(1, 12).Draw(rt, "n"), rapid.IntRange(0, 4).Draw(rt, "m")
		value := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 2})
		dense := func(rows int) *Dense {
			return &Dense{N: rows, D: 2, Data: rapid.SliceOfN(value, 2*rows, 2*rows).Draw(rt, "values")}
		}
		y, x := dense(n), dense(m)
		same := func(i, j int) bool { return slices.Equal(x.Row(i), y.Row(j)) }
		for name, pair := range map[string][2]Points{
			"dense":     {x, y},
			"sparse":    {sparseOf(x), sparseOf(y)},
			"sequences": {lettersOf(x), lettersOf(y)},
		} {
			ix := NewIndex(pair[1])
			for i := range m {
				want := -1
				for j := n - 1; j >= 0; j-- {
					if same(i, j) {
						want = j
					}
				}
				if got := ix.Find(pair[0], i); got != want {
					rt.Fatalf("%s: row %d is %v: want %v", name, i, got, want)
				}
			}
		}
	})
}

// sparseOf stores every value, zeros too.
func sparseOf(x *Dense) *CSR {
	out := &CSR{N: x.N, D: x.D, Start: []int{0}, Val: x.Data}
	for range x.N {
		out.Col = append(out.Col, 0, 1)
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}

func lettersOf(x *Dense) *Sequences {
	out := &Sequences{Alphabet: "ACG", Start: []int{0}}
	for i := range x.N {
		for _, v := range x.Row(i) {
			out.Letters = append(out.Letters, byte(v))
		}
		out.Start = append(out.Start, len(out.Letters))
	}
	return out
}

// TestIndexOfReferences: a row of a Gram matrix is found as its reference object.
func TestIndexOfReferences(t *testing.T) {
	y := &Gram{N: 3, M: 3, Reference: []int{0, 1, 2}}
	x := &Gram{N: 3, M: 3, Reference: []int{2, -1, 0}}
	ix := NewIndex(y)
	for i, want := range []int{2, -1, 0} {
		if got := ix.Find(x, i); got != want {
			t.Errorf("row %d is %v: want %v", i, got, want)
		}
	}
	if got := ix.Find(&Dense{N: 1, D: 3, Data: []float64{1, 2, 3}}, 0); got != -1 {
		t.Errorf("a vector is row %v of a Gram matrix", got)
	}
}
