package input_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Points outside the accepted range are refused with their row and column; those at the limits are
// accepted.
func TestRange(t *testing.T) {
	dense := func(values ...float64) points.Points {
		return &points.Dense{N: len(values) / 2, D: 2, Data: values}
	}
	gram := func(values ...float64) points.Points {
		return &points.Gram{N: 2, M: 2, Data: values, Diagonal: []float64{values[0], values[3]},
			Reference: []int{0, 1}}
	}
	for _, c := range []struct {
		name  string
		x     points.Points
		wants []string // parts of the message; nil for accepted points
	}{
		{"at the upper limit", dense(0, 0, input.Largest, -input.Largest), nil},
		{"beyond it", dense(0, 0, 1, -2*input.Largest), []string{"row 1", `column "1"`, "standardize"}},
		{"all beyond it", dense(1e200, 1e200, -1e200, 2e200), []string{"row 0", `column "0"`, "standardize"}},
		{"infinite", dense(0, math.Inf(1), 1, 1), []string{"row 0", `column "1"`, "finite"}},
		{"sparse, beyond it",
			&points.CSR{N: 3, D: 4, Start: []int{0, 0, 1, 2}, Col: []int32{3, 2}, Val: []float64{1, 1e80}},
			[]string{"row 2", `column "2"`}},
		{"products at the upper limit", gram(1e150, 1, 1, 1), nil},
		{"products beyond it", gram(1e150, 1e151, 1e151, 1e150), []string{"row 0", `column "1"`}},
		{"products at the lower limit", gram(1e-150, 0, 0, 1e-150), nil},
		{"at the lower limit", dense(0, 0, 0, 1e-75), nil},
		{"below it", dense(0, 0, 0, 1e-76), []string{"1e-76", "multiply"}},
		{"far from 0, and nearer to each other than a product", dense(1, 1, 1, 1+0x1p-52), nil},
		{"a column below it", dense(0, 0, 1, 1e-300), nil},
		{"sparse, below it",
			&points.CSR{N: 2, D: 4, Start: []int{0, 0, 1}, Col: []int32{3}, Val: []float64{1e-90}},
			[]string{"1e-90"}},
		{"products below it", gram(1e-160, 0, 0, 1e-160), []string{"1e-160"}},
		{"all equal", dense(5, 5, 5, 5), nil},
		{"none", &points.Dense{D: 3}, []string{"no points"}},
		{"without features", &points.Dense{N: 3}, []string{"no features"}},
	} {
		set, err := links.New(c.x.Len(), nil)
		if err != nil {
			t.Fatal(err)
		}
		err = input.Check(c.x, set)
		if c.wants == nil && err != nil || c.wants != nil && !fault.IsInput(err) {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		for _, text := range c.wants {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: error %q, want one with %q", c.name, err, text)
			}
		}
	}
}

// The product of a point with itself has a limit, too, where it is not in the matrix.
func TestRangeOfDiagonal(t *testing.T) {
	x := &points.Gram{N: 1, M: 2, Data: []float64{1, 2}, Diagonal: []float64{3e150}, Reference: []int{-1}}
	err := input.Points(x)
	for _, text := range []string{"row 0", "is 3e+150", "at most 1e+150"} {
		if !fault.IsInput(err) || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want one with %q", err, text)
		}
	}
}

// A polynomial kernel can have values out of range for points in range.
func TestKernelRange(t *testing.T) {
	x := &points.Dense{N: 2, D: 1, Data: []float64{1, 1e40}}
	for text, refused := range map[string]bool{"poly:degree=1": false, "poly:degree=2": true,
		"rbf:sigma=1": false} {
		spec, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = input.Kernel(context.Background(), enginetest.New(t, 1), spec, x, "linear")
		if (err != nil) != refused || refused &&
			(!fault.IsInput(err) || !strings.Contains(err.Error(), "row 1")) {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
