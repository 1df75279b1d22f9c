package calibration

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestFile: a calibration survives encoding and decoding, also in single precision, where it stays
// valid and decoding its own file changes nothing.
func TestFile(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		distances, must := drawn(t)
		c, err := Fit(distances, must)
		if err == nil {
			c, err = c.WithShare(rapid.SampledFrom([]float64{0, 1e-15, 0.25}).Draw(t, "share"))
		}
		if rapid.Bool().Draw(t, "near") {
			c = c.OfNearPairs()
		}
		if err != nil {
			t.Fatal(err)
		}
		file := &model.File{}
		c.Encode(file)
		if again, err := Decode(file); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v, error %v: want %+v", again, err, c)
		}
		narrow, err := file.Narrowed()
		if err != nil {
			t.Fatal(err)
		}
		single, err := Decode(narrow)
		if err != nil {
			t.Fatal(err)
		}
		wantMust, wantCannot := c.Count()
		if m, n := single.Count(); m != wantMust || n != wantCannot {
			t.Fatalf("%d and %d links, want %d and %d", m, n, wantMust, wantCannot)
		}
	})
	if c, err := Decode(&model.File{}); c != nil || err != nil {
		t.Errorf("%v, error %v of a file without a calibration", c, err)
	}
}

// changed returns a valid file with one tensor replaced, or removed.
func changed(t *testing.T, name string, tensor model.Tensor) *model.File {
	c, err := Fit([]float64{1, 2, 3}, []bool{true, true, false})
	if err == nil {
		c, err = c.WithShare(0.1)
	}
	if err != nil {
		t.Fatal(err)
	}
	file := &model.File{}
	c.Encode(file)
	if _, there := file.Tensors[name]; !there && name != tensorNear {
		t.Fatalf("no tensor %s", name)
	}
	if tensor.Shape == nil {
		delete(file.Tensors, name)
	} else {
		file.Tensors[name] = tensor
	}
	return file
}

func TestHostileFiles(t *testing.T) {
	numbers := func(v ...float64) model.Tensor { return model.Tensor{Shape: []int{len(v)}, F64: v} }
	counts := func(v ...int64) model.Tensor { return model.Tensor{Shape: []int{len(v)}, I64: v} }
	for _, c := range []struct {
		what, name string
		tensor     model.Tensor
	}{
		{"descending", tensorDistance, numbers(1, 3, 2)},
		{"negative", tensorDistance, numbers(-1, 2, 3)},
		{"NaN", tensorDistance, numbers(1, math.NaN(), 3)},
		{"infinite", tensorDistance, numbers(1, 2, math.Inf(1))},
		{"shorter", tensorDistance, numbers(1, 2)},
		{"empty", tensorDistance, model.Tensor{Shape: []int{0}, F64: []float64{}}},
		{"another type", tensorDistance, counts(1, 2, 3)},
		{"a matrix", tensorDistance, model.Tensor{Shape: []int{3, 1}, F64: []float64{1, 2, 3}}},
		{"no counts", tensorMust, model.Tensor{}},
		{"negative count", tensorMust, counts(1, -1, 1)},
		{"large count", tensorMust, counts(1, math.MaxInt64, 0)},
		{"no links at a distance", tensorMust, counts(0, 1, 0)},
		{"no must-links", tensorMust, counts(0, 0, 0)},
		{"no cannot-links", tensorCannot, counts(0, 0, 0)},
		{"overflowing count", tensorCannot, counts(math.MaxInt64, math.MaxInt64, 1)},
		{"share of 0", tensorShare, numbers(0)},
		{"share of 1", tensorShare, numbers(1)},
		{"share of NaN", tensorShare, numbers(math.NaN())},
		{"near pairs with a share", tensorNear, counts(1)},
		{"two shares", tensorShare, numbers(0.1, 0.1)},
	} {
		if got, err := Decode(changed(t, c.name, c.tensor)); !fault.IsInput(err) || got != nil {
			t.Errorf("%s: %s: error %v, want one of the input", c.name, c.what, err)
		}
	}
}

// FuzzDecode: any tensors are an error or a calibration that works and that its own file restores.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("12345678"), []byte{1, 0, 0, 0, 0, 0, 0, 0}, 0.5)
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 8), math.Float64bits(2)),
		[]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0.0)
	f.Fuzz(func(t *testing.T, distances, counts []byte, share float64) {
		n := min(len(distances), len(counts)) / 8
		d, must, cannot := make([]float64, n), make([]int64, n), make([]int64, n)
		for k := range n {
			d[k] = math.Float64frombits(binary.LittleEndian.Uint64(distances[8*k:]))
			must[k] = int64(binary.LittleEndian.Uint64(counts[8*k:]))
			cannot[k] = int64(bytes.Count(counts[:8*k], []byte{0}))
		}
		file := &model.File{}
		file.SetFloat64s(tensorDistance, d)
		file.SetInt64s(tensorMust, must)
		file.SetInt64s(tensorCannot, cannot)
		if share != 0 {
			file.SetFloat64s(tensorShare, []float64{share})
		}
		c, err := Decode(file)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatal(err)
			}
			return
		}
		for _, at := range append(d, 0, 1, math.MaxFloat64) {
			if p := c.Probability(at); !(p >= 0 && p <= 1) {
				t.Fatalf("probability %v at %v", p, at)
			}
			if s := c.At(at); !(s.Precision.Value >= 0 && s.Precision.Value <= 1) {
				t.Fatalf("%v", s)
			}
		}
		again := &model.File{}
		c.Encode(again)
		if second, err := Decode(again); err != nil || !reflect.DeepEqual(second, c) {
			t.Fatalf("%+v, error %v: want %+v", second, err, c)
		}
	})
}
