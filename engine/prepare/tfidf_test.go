package prepare_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// Rows have unit length and the proportions of the definition; sparse and dense points agree; new
// points get the weights of the training points.
func TestTFIDF(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 12).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "d")
		data := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 1, 2, 5, 1e200}), n*d, n*d).Draw(t, "counts")
		x, err := points.NewDense(n, d, data)
		if err != nil {
			t.Fatal(err)
		}
		start, col, val := []int{0}, []int32{}, []float64{}
		for i := range n {
			for j, v := range x.Row(i) {
				if v != 0 {
					col, val = append(col, int32(j)), append(val, v)
				}
			}
			start = append(start, len(col))
		}
		thin, err := points.NewCSR(n, d, start, col, val)
		if err != nil {
			t.Fatal(err)
		}
		w, err := prepare.CountTerms(x)
		if err != nil {
			t.Fatal(err)
		}
		other, err := prepare.CountTerms(thin)
		if err != nil {
			t.Fatal(err)
		}
		for j := range d {
			f := 0.0
			for i := range n {
				if x.Row(i)[j] > 0 {
					f++
				}
			}
			if want := 1 + math.Log((1+float64(n))/(1+f)); w.Weight[j] != want || other.Weight[j] != want {
				t.Fatalf("term %d has the weights %g and %g, want %g", j, w.Weight[j], other.Weight[j], want)
			}
		}
		got, err := w.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		sparse, err := w.Apply(thin)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			length, row := 0.0, make([]float64, d)
			c, v := sparse.(*points.CSR).Row(i)
			for k, j := range c {
				row[j] = v[k]
			}
			largest := 0.0
			for j, v := range x.Row(i) {
				largest = max(largest, v*w.Weight[j])
			}
			for j, v := range got.(*points.Dense).Row(i) {
				length += v * v
				if v != row[j] {
					t.Fatalf("(%d, %d) is %g dense and %g sparse", i, j, v, row[j])
				}
				if want := x.Row(i)[j] * w.Weight[j] /
					max(largest, 1); math.Abs(v*got.(*points.Dense).Row(i)[j]) > 1 || (v > 0) != (want > 0) {
					t.Fatalf("(%d, %d) is %g of %g", i, j, v, want)
				}
			}
			if largest > 0 && math.Abs(length-1) > 1e-14 || largest == 0 && length != 0 {
				t.Fatalf("row %d has the squared length %g", i, length)
			}
			for j, v := range got.(*points.Dense).Row(i) {
				for k, u := range got.(*points.Dense).Row(i) {
					a, b := v*x.Row(i)[k]*w.Weight[k]/max(largest, 1),
						u*x.Row(i)[j]*w.Weight[j]/max(largest, 1)
					if math.Abs(a-b) > 1e-14 {
						t.Fatalf("row %d: features %d and %d have other proportions than the definition", i,
							j, k)
					}
				}
			}
		}
	})
}

func TestTFIDFRejects(t *testing.T) {
	x := &points.Dense{N: 2, D: 2, Data: []float64{1, 2, -1, 0}}
	if _, err := prepare.CountTerms(x); !fault.IsInput(err) {
		t.Errorf("a negative count: error %v", err)
	} else if d, ok := errors.AsType[*fault.DataError](err); !ok || d.Row != 1 || d.Column != "0" {
		t.Errorf("a negative count: error %v, want row 1, column 0", err)
	}
	letters, err := points.NewSequences("AC", []int{0, 2}, []byte("AC"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepare.CountTerms(letters); !fault.IsInput(err) {
		t.Errorf("sequences: error %v", err)
	}
	w := &prepare.TFIDF{Weight: []float64{1, 1, 1}}
	for _, p := range []points.Points{&points.Dense{N: 1, D: 2, Data: []float64{1, 2}}, letters} {
		if _, err := w.Apply(p); !fault.IsInput(err) {
			t.Errorf("%T: error %v", p, err)
		}
	}
}
