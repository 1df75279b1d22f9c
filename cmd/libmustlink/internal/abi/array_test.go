package abi

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Values of any strides and type are read row by row and written back to the same elements. Other
// memory is not changed.
func TestLayouts(t *testing.T) {
	rng, e := rand.New(rand.NewPCG(1, 1)), newEngine(t, "")
	for range 300 {
		rows, cols := 1+rng.IntN(70), 1+rng.IntN(70)
		rs, cs := int64(cols+rng.IntN(3)), int64(1)
		if rng.IntN(2) == 0 {
			rs, cs = 1+int64(rng.IntN(2)), 0
			cs = (int64(rows-1))*rs + 1 + int64(rng.IntN(3))
		}
		a := Array{Type: Float64, Rows: int64(rows), Cols: int64(cols), RowStride: rs, ColStride: cs}
		memory := make([]float64, a.extent())
		for k := range memory {
			memory[k] = float64(float32(rng.NormFloat64()))
		}
		single := make([]float32, len(memory))
		for k, v := range memory {
			single[k] = float32(v)
		}
		a.Data = unsafe.Pointer(&memory[0])
		b := a
		b.Type, b.Data = Float32, unsafe.Pointer(&single[0])
		for _, each := range []*Array{&a, &b} {
			if err := each.check("the matrix"); err != nil {
				t.Fatalf("%+v: %v", each, err)
			}
			for _, keep := range []bool{true, false} {
				got := each.values(keep)
				for i := range rows {
					for j := range cols {
						if want := memory[int64(i)*rs+int64(j)*cs]; got[i*cols+j] != want {
							t.Fatalf("%+v: element %d, %d is %v: want %v", each, i, j, got[i*cols+j], want)
						}
					}
				}
			}
		}
		writesBack(t, e, &a, memory)
	}
}

// writesBack stores the negative of every element.
func writesBack(t *testing.T, e *engine.Engine, a *Array, memory []float64) {
	t.Helper()
	before := append([]float64(nil), memory...)
	values := a.values(true)
	for k := range values {
		values[k] = -values[k]
	}
	half := int(a.Rows) / 2
	cols := int(a.Cols)
	m := blas.MatrixOf(int(a.Rows), cols, values)
	for _, part := range [][2]int{{0, half}, {half, m.Rows}} {
		if err := a.write(t.Context(), e, part[0], m.View(part[0], part[1], 0, cols)); err != nil {
			t.Fatal(err)
		}
	}
	inside := map[int64]bool{}
	for i := range a.Rows {
		for j := range a.Cols {
			inside[i*a.RowStride+j*a.ColStride] = true
		}
	}
	for k, v := range memory {
		want := before[k]
		if inside[int64(k)] {
			want = -want
		}
		if v != want {
			t.Fatalf("%+v: element %d of the memory is %v: want %v", a, k, v, want)
		}
	}
}

// Values to keep share no memory with the caller. Other values do when the layout allows.
func TestKeep(t *testing.T) {
	memory := []float64{1, 2, 3, 4, 5, 6}
	a := Array{Type: Float64, Rows: 2, Cols: 3, Data: unsafe.Pointer(&memory[0]), RowStride: 3, ColStride: 1}
	if &a.values(false)[0] != &memory[0] {
		t.Error("doubles in rows were copied")
	}
	if &a.values(true)[0] == &memory[0] {
		t.Error("values to keep share memory with the caller")
	}
}

// Every bad array is an error of the calling program.
func TestBadArrays(t *testing.T) {
	memory := make([]float64, 12)
	good := Array{Type: Float64, Rows: 3, Cols: 4, Data: unsafe.Pointer(&memory[0]), RowStride: 4,
		ColStride: 1}
	for name, change := range map[string]func(*Array){
		"type":             func(a *Array) { a.Type = 3 },
		"negative rows":    func(a *Array) { a.Rows = -1 },
		"negative columns": func(a *Array) { a.Cols = math.MinInt64 },
		"NULL":             func(a *Array) { a.Data = nil },
		"not aligned":      func(a *Array) { a.Data = unsafe.Add(a.Data, 4) },
		"rows overlap":     func(a *Array) { a.RowStride = 3 },
		"stride 0":         func(a *Array) { a.RowStride = 0 },
		"negative stride":  func(a *Array) { a.RowStride = -4 },
		"same elements":    func(a *Array) { a.RowStride, a.ColStride = 2, 2 },
		"columns overlap":  func(a *Array) { a.RowStride, a.ColStride = 1, 2 },
		"too many rows":    func(a *Array) { a.Rows = math.MaxInt64 },
		"product":          func(a *Array) { a.Rows, a.Cols, a.RowStride = 1<<40, 1<<40, 1<<40 },
		"stride too large": func(a *Array) { a.RowStride = math.MaxInt64 },
	} {
		a := good
		change(&a)
		e, ok := errors.AsType[*Error](a.check("the matrix"))
		if !ok || e.Code != BadArgument {
			t.Errorf("%s: error %v", name, e)
		}
	}
	if err := good.check("the matrix"); err != nil {
		t.Error(err)
	}
}

// Groups need a place for their labels alone.
func TestCopyOfGroups(t *testing.T) {
	g := &Groups{Rows: 3, Forbidden: 1, found: &mustlink.Groups{Labels: []int{0, -1, 1},
		Forbidden: []cluster.Forbidden{{A: 0, B: 2, I: 0, J: 2, Column: -1}}}}
	label, forbidden := make([]int64, 4), make([]int64, 4)
	err := g.Copy(nil, nil, nil, unsafe.Pointer(&forbidden[0]))
	if CodeOf(err) != BadArgument || forbidden[1] != 0 {
		t.Errorf("without a place for labels: %v", err)
	}
	if err := g.Copy(unsafe.Pointer(&label[0]), nil, nil, nil); err != nil ||
		!slices.Equal(label, []int64{0, -1, 1, 0}) {
		t.Errorf("labels %v, error %v", label, err)
	}
	if err := g.Copy(unsafe.Pointer(&label[0]), nil, nil, unsafe.Pointer(&forbidden[0])); err != nil ||
		!slices.Equal(forbidden, []int64{0, 2, -1, 0}) {
		t.Errorf("forbidden %v, error %v", forbidden, err)
	}
	if err := (&Groups{found: &mustlink.Groups{}}).Copy(nil, nil, nil, nil); err != nil {
		t.Errorf("no rows: %v", err)
	}
}
