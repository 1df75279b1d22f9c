package model

import (
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// Single as the precision in a header says that real numbers are stored as F32.
const Single = "single"

// Narrowed returns the file with its F64 tensors rounded to F32, half the bytes, and a header that says so: values have relative
// errors up to 2^-24. Tensors of other types are shared with f. A value beyond the range of float32 is a *fault.DataError.
func (f *File) Narrowed() (*File, error) {
	out := &File{Header: f.Header, Tensors: make(map[string]Tensor, len(f.Tensors))}
	out.Header.Precision = Single
	for name, t := range f.Tensors {
		if t.F64 != nil {
			narrow := make([]float32, len(t.F64))
			for i, v := range t.F64 {
				if math.Abs(v) > math.MaxFloat32 {
					return nil, fault.Data("", "tensor %s: element %d is %g, beyond single precision: want double (or standardize the data)", name, i, v)
				}
				narrow[i] = float32(v)
			}
			t = Tensor{Shape: t.Shape, F32: narrow}
		}
		out.Tensors[name] = t
	}
	return out, nil
}
