package mustlink_test

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// sourceOf gives the rows of data.
func sourceOf(d *dataset.Data) func(context.Context) (*mustlink.RowSource, error) {
	return func(context.Context) (*mustlink.RowSource, error) {
		at, n := 0, d.Points.Len()
		next := func(_ context.Context, limit int) (*dataset.Data, error) {
			if at == n {
				return nil, io.EOF
			}
			lo := at
			at = min(at+limit, n)
			return &dataset.Data{Name: d.Name, Points: points.Slice(d.Points, lo, at)}, nil
		}
		return &mustlink.RowSource{Rows: n, Next: next, Close: func() {}}, nil
	}
}

// TestRows: the coordinates of blocks are those of the whole, for a model and without one, whatever
// the size of the blocks.
func TestRows(t *testing.T) {
	table, pairs := problem(t, 40)
	model := try(mustlink.Fit(t.Context(), table, pairs, mustlink.Method("itml")))
	for name, m := range map[string]*mustlink.Model{"itml": model,
		"raw": mustlink.Unlearned(enginetest.New(t, 2), nil, nil)} {
		want := try(m.Embed(t.Context(), table))
		for _, most := range []int{0, 1, 7} {
			rows := &mustlink.Rows{Model: m, Open: sourceOf(table.Data()), Most: most}
			at := 0
			for x, err := range rows.All(t.Context()) {
				if err != nil {
					t.Fatal(name, err)
				}
				for i := range x.Rows {
					if !slices.Equal(x.Row(i), want.RawRowView(at)) {
						t.Fatalf("%s: other coordinates of row %d in blocks of %d", name, at, most)
					}
					at++
				}
			}
			if at != table.Rows() {
				t.Errorf("%s: %d rows, want %d", name, at, table.Rows())
			}
		}
	}
}

// TestEachBlock: an error of the function is about a row of all rows, and about the file.
func TestEachBlock(t *testing.T) {
	table, _ := problem(t, 40)
	rows := &mustlink.Rows{
		Model: mustlink.Unlearned(enginetest.New(t, 2), nil, nil),
		Open:  sourceOf(table.Data()),
		Most:  7,
	}
	next, stop, err := mustlink.EachBlock(t.Context(), rows,
		func(_ context.Context, b mustlink.Block) (int, error) {
			if b.First == 15 {
				return 0, &fault.DataError{Row: 3, Err: errors.New("it is odd")}
			}
			return b.Coordinates.Rows, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, want := range []int{1, 7, 7} { // without a model the first row has the width
		if n, err := next(); err != nil || n != want {
			t.Fatal(n, err)
		}
	}
	if _, err := next(); err == nil || err.Error() != "moons, row 18: it is odd" {
		t.Errorf("error is %v", err)
	}
}

// TestUnlearnedWide: one large number of a feature does not make a matrix of its width.
func TestUnlearnedWide(t *testing.T) {
	x, err := points.NewCSR(4, math.MaxInt32, []int{0, 1, 1, 1, 1}, []int32{math.MaxInt32 - 1}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	eng := enginetest.New(t, 2)
	_, err = mustlink.Unlearned(eng, nil, nil).Record().Model.Embed(t.Context(), eng, x)
	if _, is := errors.AsType[*fault.MemoryError](err); !is {
		t.Errorf("error %v, want a *fault.MemoryError", err)
	}
}

// TestUnlearned: rows as they are have their features as coordinates and Euclidean distances, and
// what has no coordinates or no file is refused.
func TestUnlearned(t *testing.T) {
	m := mustlink.Unlearned(enginetest.New(t, 2), nil, nil)
	if m.Learned() || m.Dim() != 0 || m.Describe().Method != "raw" {
		t.Errorf("learned %v, %d dimensions, method %q", m.Learned(), m.Dim(), m.Describe().Method)
	}
	table := try(mustlink.FromRows([][]float64{{0, 0}, {3, 4}, {0, 1}}))
	if d := try(m.Distances(t.Context(), table, [][2]int{{0, 1}, {2, 2}})); d[0] != 5 || d[1] != 0 {
		t.Errorf("distances %g", d)
	}
	sparse := try(mustlink.FromSparse(2, 3, []int{0, 1, 2}, []int32{2, 0}, []float64{5, 7}))
	if x := try(m.Coordinates(t.Context(), sparse.Data())); !slices.Equal(
		x.Data,
		[]float64{0, 0, 5, 7, 0, 0},
	) {
		t.Errorf("coordinates of sparse rows %g", x.Data)
	}
	if k := try(m.Gram(t.Context(), table, nil)); k.At(1, 1) != 25 || k.At(1, 2) != 4 {
		t.Errorf("inner products %v", k)
	}
	blocks := 0
	err := m.CoordinateBlocks(t.Context(), table, func(_ int, y blas.Matrix) error { blocks++; return nil })
	if err != nil || blocks != 1 {
		t.Error(blocks, err)
	}
	letters := try(mustlink.FromSequences("dna", []string{"ACG"}))
	gram := try(mustlink.FromGram(mat.NewDense(1, 1, []float64{1}), nil))
	for want, err := range map[string]error{
		"sequences have no coordinates: want a model":    second(m.Coordinates(t.Context(), letters.Data())),
		"a Gram matrix has no coordinates: want a model": second(m.Coordinates(t.Context(), gram.Data())),
		"the metric of rows without learning has no file: want a model of the method raw": m.Save(
			filepath.Join(t.TempDir(), "m.mlk")),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("error is %v: want %s", err, want)
		}
	}
	var none *mustlink.Model
	if none.Learned() {
		t.Error("a nil model is learned")
	}
}

// second returns the error of a call.
func second[T any](_ T, err error) error { return err }
