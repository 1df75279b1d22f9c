package model

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

// TestNarrowed: a file of single precision survives writing and reading, is about half as large,
// and returns its numbers in double precision with rounding errors only; other tensors are
// unchanged.
func TestNarrowed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 5000)
	for i := range values {
		values[i] = rng.NormFloat64() * math.Pow(10, float64(rng.IntN(60)-30))
	}
	f := minimal()
	f.SetFloat64s("values", values, 100, 50)
	f.SetInt64s("rows", []int64{math.MaxInt64})
	f.SetFloat32s("short", []float32{1.5})
	narrow, err := f.Narrowed()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := narrow.Float32s("values", 100, 50); err != nil {
		t.Error(err)
	}
	whole, half := encodeFile(t, f), encodeFile(t, narrow)
	if ratio := float64(len(half)) / float64(len(whole)); ratio > 0.52 {
		t.Errorf("%.2f of the bytes: want half", ratio)
	}
	back, err := Read(bytes.NewReader(half), int64(len(half)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.Float64s("values", 100, -1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if math.Abs(got[i]-v) > 0x1p-24*math.Abs(v) {
			t.Errorf("element %d is %v: want %v", i, got[i], v)
		}
	}
	if rows, err := back.Int64s("rows", 1); err != nil || rows[0] != math.MaxInt64 {
		t.Errorf("rows are %v, %v: want those of the file", rows, err)
	}
	if f.Header.Precision != "" || f.Tensors["values"].F64 == nil {
		t.Error("the file itself was changed")
	}
	if _, err := back.Float64s("values", 50, -1); !fault.IsInput(err) {
		t.Errorf("another shape: %v", err)
	}
	back.Header.Precision = ""
	if _, err := back.Float64s("values", -1, -1); !fault.IsInput(err) {
		t.Errorf("single precision in a file of double precision: %v", err)
	}
	f.SetFloat64s("large", []float64{0, -1e39})
	if _, err := f.Narrowed(); !fault.IsInput(err) {
		t.Errorf("a number beyond float32: %v", err)
	}
}
