// Package model (internal: may change) reads and writes the model file: a container of named
// tensors with a header that describes them.
//
// # Layout
//
// The file is a safetensors file: NumPy users can open it, and opening a hostile file can neither
// run code nor exhaust memory:
//
//	bytes 0-7      h, the length of the header, little-endian uint64, at most 16 MiB
//	bytes 8-8+h    the header, a JSON object padded with spaces to a multiple of 8
//	the rest       the data section: the tensors' values, little-endian, without gaps
//
// The JSON object has one member per tensor, {"dtype":"F64","shape":[3,2], "data_offsets":[0,48]}
// with offsets from the start of the data section, and the member "__metadata__", a map of strings
// with these keys:
//
//	mustlink        the [Header] as JSON
//	sha256          checksum of the data section, in hexadecimal
//	header_sha256   checksum of the header's own content, see checksum (early files lack it)
//
// The 8-byte types (F64, I64) come first in the data section, then F32, then U8, each by name.
// Every tensor is then aligned to its element size without padding, which safetensors forbids. The
// bytes depend only on the content, so reading a file and writing it again gives the same file.
//
// # Versions
//
// [FormatVersion] is the version that this package writes and the newest that it reads. Unknown
// members of the header are ignored.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// FormatVersion is the version of the model file that this package writes.
const FormatVersion = 1

// The kinds of errors of a whole file. [Read] wraps them in a *fault.DataError; use errors.Is to
// distinguish them.
var (
	ErrForeign   = errors.New("not a mustlink model file")
	ErrTruncated = errors.New("model file ends early")
	ErrCorrupted = errors.New("model file is corrupted")
	ErrVersion   = errors.New("model file has a newer format version")
)

// DType is the element type of a tensor, as safetensors names it.
type DType string

// The element types of format version 1.
const (
	F64 DType = "F64"
	F32 DType = "F32"
	I64 DType = "I64"
	U8  DType = "U8"
)

// size returns the bytes of one element, or 0 for an unknown type.
func (d DType) size() int {
	switch d {
	case F64, I64:
		return 8
	case F32:
		return 4
	case U8:
		return 1
	}
	return 0
}

// Tensor is an array in row-major order. Exactly one of the slices is not nil; its length
// is the product of Shape, where an empty Shape is a single number.
type Tensor struct {
	Shape []int
	F64   []float64
	F32   []float32
	I64   []int64
	U8    []byte
}

// DType returns the type of the slice that is set, or "" unless exactly one is set.
func (t Tensor) DType() DType {
	set := slices.DeleteFunc([]DType{F64, F32, I64, U8}, func(d DType) bool { return !t.has(d) })
	if len(set) != 1 {
		return ""
	}
	return set[0]
}

func (t Tensor) has(d DType) bool {
	return d == F64 && t.F64 != nil || d == F32 && t.F32 != nil || d == I64 && t.I64 != nil || d == U8 &&
		t.U8 != nil
}

// Len returns the number of elements.
func (t Tensor) Len() int { return len(t.F64) + len(t.F32) + len(t.I64) + len(t.U8) }

// Header describes the tensors. Its JSON is the metadata entry "mustlink".
//
// Numbers of the method belong in tensors, except for a few that people want to read. The method
// defines the JSON of Params, Status and Extra.
type Header struct {
	FormatVersion int             `json:"format_version"` // set on writing
	Method        string          `json:"method"`
	Params        json.RawMessage `json:"params,omitempty"`
	// the resolved kernel, as text for kernel.Parse
	Kernel         string   `json:"kernel,omitempty"`
	Features       []string `json:"features,omitempty"` // names of the columns of the training points
	LibraryVersion string   `json:"library_version,omitempty"`
	// of the training points, by the columns that the model takes
	Fingerprint string          `json:"fingerprint,omitempty"`
	Build       string          `json:"build,omitempty"`     // backend and vector kernels of the fit
	Precision   string          `json:"precision,omitempty"` // [Single] for a file of [File.Narrowed]
	Status      json.RawMessage `json:"status,omitempty"`
	// Tensors has the names of the tensors, ascending: a file that lacks one is damaged. Files of
	// version 1 may have no list.
	Tensors []string `json:"tensors,omitempty"`
	// Extra has additional members of a method or a program.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// File is the content of a model file. A scaling, if any, is in the tensors "scaling.mean" and
// "scaling.scale".
type File struct {
	Header  Header
	Tensors map[string]Tensor
}

// SetFloat64s stores data under name without copying it. Without a shape it is a vector.
// [File.WriteTo] reports a shape that does not fit the data.
func (f *File) SetFloat64s(name string, data []float64, shape ...int) {
	f.set(name, Tensor{F64: orEmpty(data)}, shape)
}

// SetFloat32s is [File.SetFloat64s] for float32.
func (f *File) SetFloat32s(name string, data []float32, shape ...int) {
	f.set(name, Tensor{F32: orEmpty(data)}, shape)
}

// SetInt64s is [File.SetFloat64s] for int64.
func (f *File) SetInt64s(name string, data []int64, shape ...int) {
	f.set(name, Tensor{I64: orEmpty(data)}, shape)
}

// SetBytes is [File.SetFloat64s] for bytes.
func (f *File) SetBytes(name string, data []byte, shape ...int) {
	f.set(name, Tensor{U8: orEmpty(data)}, shape)
}

// orEmpty returns data, or an empty slice for nil, as a tensor without elements needs one.
func orEmpty[T any](data []T) []T {
	if data == nil {
		return []T{}
	}
	return data
}

func (f *File) set(name string, t Tensor, shape []int) {
	if len(shape) == 0 {
		shape = []int{t.Len()}
	}
	t.Shape = slices.Clone(shape)
	if f.Tensors == nil {
		f.Tensors = make(map[string]Tensor)
	}
	f.Tensors[name] = t
}

// List sets Header.Tensors.
func (f *File) List() { f.Header.Tensors = slices.Sorted(maps.Keys(f.Tensors)) }

// Complete returns a *fault.DataError if a tensor that the header lists is missing.
func (f *File) Complete() error {
	for _, name := range f.Header.Tensors {
		if !f.Has(name) {
			return missing(name)
		}
	}
	return nil
}

// Has reports whether the tensor name exists, for optional tensors.
func (f *File) Has(name string) bool {
	_, ok := f.Tensors[name]
	return ok
}

// Float64s returns the values of the F64 tensor name, shared with f, or a widened copy of an F32
// tensor. It must have the given shape, in which -1 allows any size; without a shape it must be a
// vector. A tensor that is missing, of another type or of another shape is a *fault.DataError.
func (f *File) Float64s(name string, shape ...int) ([]float64, error) {
	if f.Tensors[name].F32 != nil {
		narrow, err := f.Float32s(name, shape...)
		if err != nil {
			return nil, err
		}
		out := make([]float64, len(narrow))
		for i, v := range narrow {
			out[i] = float64(v)
		}
		return out, nil
	}
	t, err := f.get(name, F64, shape)
	return t.F64, err
}

// Float32s is [File.Float64s] for F32 tensors.
func (f *File) Float32s(name string, shape ...int) ([]float32, error) {
	t, err := f.get(name, F32, shape)
	return t.F32, err
}

// Int64s is [File.Float64s] for I64 tensors.
func (f *File) Int64s(name string, shape ...int) ([]int64, error) {
	t, err := f.get(name, I64, shape)
	return t.I64, err
}

// Bytes is [File.Float64s] for U8 tensors.
func (f *File) Bytes(name string, shape ...int) ([]byte, error) {
	t, err := f.get(name, U8, shape)
	return t.U8, err
}

// Dims returns the shape of the tensor name, which must have dims dimensions, for callers that take
// sizes from the file. A tensor that is missing or of another number of dimensions is a
// *fault.DataError.
func (f *File) Dims(name string, dims int) ([]int, error) {
	t, ok := f.Tensors[name]
	if !ok {
		return nil, missing(name)
	}
	if len(t.Shape) != dims {
		return nil, fault.Data("", "tensor %q has shape %s: want %d dimensions", name, shapeString(t.Shape),
			dims)
	}
	return slices.Clone(t.Shape), nil
}

func (f *File) get(name string, d DType, shape []int) (Tensor, error) {
	t, ok := f.Tensors[name]
	if !ok {
		return Tensor{}, missing(name)
	}
	if got := t.DType(); got != d {
		return Tensor{}, fault.Data("", "tensor %q is of type %s: want %s", name, got, d)
	}
	if len(shape) == 0 {
		shape = []int{-1}
	}
	same := len(shape) == len(t.Shape)
	for i := 0; same && i < len(shape); i++ {
		same = shape[i] == -1 || shape[i] == t.Shape[i]
	}
	if !same {
		return Tensor{}, fault.Data("", "tensor %q has shape %s: want %s", name, shapeString(t.Shape),
			shapeString(shape))
	}
	return t, nil
}

func missing(name string) error {
	return fault.Data("", "tensor %q is missing: want a model file with it", name)
}

// shapeString writes a shape as "3 x any x 2".
func shapeString(shape []int) string {
	if len(shape) == 0 {
		return "single number"
	}
	var parts []string
	for _, s := range shape {
		if s == -1 {
			parts = append(parts, "any")
		} else {
			parts = append(parts, strconv.Itoa(s))
		}
	}
	return strings.Join(parts, " x ")
}

// elements returns the product of shape, or an error if a size is negative or the product does not
// fit into an int.
func elements(shape []int) (int, error) {
	// A zero makes the product zero, but the other sizes must be valid too.
	n, zero := 1, false
	for _, s := range shape {
		if s < 0 {
			return 0, fmt.Errorf("size %d in the shape is negative: want 0 or more", s)
		}
		if s == 0 {
			zero = true
			continue
		}
		if n > math.MaxInt/s {
			return 0, fmt.Errorf("shape %s is too large: want at most 2^63 - 1 elements", shapeString(shape))
		}
		n *= s
	}
	if zero {
		return 0, nil
	}
	return n, nil
}

// Single is the precision of a header whose file stores real numbers as F32.
const Single = "single"

// Narrowed returns the file with its F64 tensors rounded to F32, in half the bytes, and with the
// precision [Single] in its header: values have relative errors up to 2^-24. Tensors of other types
// are shared with f. A value beyond the range of float32 is a *fault.DataError.
func (f *File) Narrowed() (*File, error) {
	out := &File{Header: f.Header, Tensors: make(map[string]Tensor, len(f.Tensors))}
	out.Header.Precision = Single
	for name, t := range f.Tensors {
		if t.F64 != nil {
			narrow := make([]float32, len(t.F64))
			for i, v := range t.F64 {
				if math.Abs(v) > math.MaxFloat32 {
					return nil, fault.Data("",
						"tensor %s: element %d is %g, beyond single precision: want double precision; or "+
							"standardize the data", name, i, v)
				}
				narrow[i] = float32(v)
			}
			t = Tensor{Shape: t.Shape, F32: narrow}
		}
		out.Tensors[name] = t
	}
	return out, nil
}

// Widen makes the F32 tensors of a file of double precision F64, once for all that read them.
func (f *File) Widen() {
	for name, t := range f.Tensors {
		if t.F32 == nil || f.Header.Precision == Single {
			continue
		}
		if wide, err := f.Float64s(name, t.Shape...); err == nil {
			f.Tensors[name] = Tensor{Shape: t.Shape, F64: wide}
		}
	}
}

// shrunk is the number of values from which [File.Shrink] looks at a tensor.
const shrunk = 1 << 12

// Shrink makes F32 tensors of large F64 ones whose values all are numbers of single precision, such
// as pixels and embeddings. It changes no value.
func (f *File) Shrink() {
	longer := func(v float64) bool { return v != float64(float32(v)) }
	for name, t := range f.Tensors {
		if len(t.F64) < shrunk || slices.ContainsFunc(t.F64, longer) {
			continue
		}
		narrow := make([]float32, len(t.F64))
		for i, v := range t.F64 {
			narrow[i] = float32(v)
		}
		f.Tensors[name] = Tensor{Shape: t.Shape, F32: narrow}
	}
}
