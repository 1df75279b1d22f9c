// Package stored stores the points with which a fitted model evaluates its kernel in a model file.
// It reads them, checks every number, and checks that other points are of the same kind.
package stored

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Names of the tensors that hold points.
const (
	tensorDense     = "points.dense"     // [p, d]: dense vectors
	tensorStart     = "points.start"     // [p+1]: offsets of sparse vectors or sequences
	tensorColumn    = "points.column"    // [nonzeros]: columns of sparse vectors
	tensorValue     = "points.value"     // [nonzeros]: values of sparse vectors
	tensorLetters   = "points.letters"   // [letters]: letters of sequences
	tensorReference = "points.reference" // [p]: columns of a Gram matrix
	tensorDiagonal  = "points.diagonal"  // [p]: diagonal of the Gram matrix at these columns
)

// Encode stores x in f.
func Encode(f *model.File, x points.Points) {
	switch x := x.(type) {
	case *points.Dense:
		f.SetFloat64s(tensorDense, x.Data, x.N, x.D)
	case *points.CSR:
		column := make([]int64, len(x.Col))
		for i, c := range x.Col {
			column[i] = int64(c)
		}
		f.SetInt64s(tensorStart, Int64s(x.Start))
		f.SetInt64s(tensorColumn, column)
		f.SetFloat64s(tensorValue, x.Val)
	case *points.Sequences:
		f.SetInt64s(tensorStart, Int64s(x.Start))
		f.SetBytes(tensorLetters, x.Letters)
	case *points.Gram:
		f.SetInt64s(tensorReference, Int64s(x.Reference))
		f.SetFloat64s(tensorDiagonal, x.Diagonal)
	default:
		panic(fmt.Sprintf("stored: points of type %T", x)) // Fit refuses other types
	}
}

// SetMatrix stores m in f.
func SetMatrix(f *model.File, name string, m blas.Matrix) {
	if m.Stride != m.Cols {
		m = m.Clone()
	}
	f.SetFloat64s(name, m.Data[:m.Rows*m.Cols], m.Rows, m.Cols)
}

// Int64s converts v to int64.
func Int64s(v []int) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

// Decode reads the stored points of any kind. The tensors of sparse vectors and Gram matrices do
// not contain dim, the number of features or reference objects; those of sequences do not contain
// the alphabet.
func Decode(f *model.File, dim int, alphabet string) (points.Points, error) {
	if dim < 0 || dim > math.MaxInt32 {
		return nil, fault.Data("", "header of the model: input_dim is %d: want 0 to %d", dim, math.MaxInt32)
	}
	switch {
	case f.Has(tensorDense):
		data, err := Finite(f, tensorDense, -1, dim)
		if err != nil {
			return nil, err
		}
		shape, err := f.Dims(tensorDense, 2)
		if err != nil {
			return nil, err
		}
		return points.NewDense(shape[0], dim, data)
	case f.Has(tensorLetters):
		return decodeSequences(f, alphabet)
	case f.Has(tensorStart):
		return decodeSparse(f, dim)
	default:
		return decodeGram(f, dim)
	}
}

func decodeSparse(f *model.File, dim int) (points.Points, error) {
	values, err := Finite(f, tensorValue, -1)
	if err != nil {
		return nil, err
	}
	start, err := Indices(f, tensorStart, len(values)+1)
	if err != nil {
		return nil, err
	}
	column, err := Indices(f, tensorColumn, dim)
	if err != nil {
		return nil, err
	}
	narrow := make([]int32, len(column))
	for i, c := range column {
		narrow[i] = int32(c)
	}
	return points.NewCSR(len(start)-1, dim, start, narrow, values)
}

func decodeSequences(f *model.File, alphabet string) (points.Points, error) {
	letters, err := f.Bytes(tensorLetters, -1)
	if err != nil {
		return nil, err
	}
	start, err := Indices(f, tensorStart, len(letters)+1)
	if err != nil {
		return nil, err
	}
	return points.NewSequences(alphabet, start, letters)
}

func decodeGram(f *model.File, dim int) (points.Points, error) {
	reference, err := Indices(f, tensorReference, dim)
	if err != nil {
		return nil, err
	}
	diagonal, err := Finite(f, tensorDiagonal, len(reference))
	if err != nil {
		return nil, err
	}
	return &points.Gram{N: len(reference), M: dim, Diagonal: diagonal, Reference: reference}, nil
}

// Indices returns an index tensor whose values must be from 0 to limit-1.
func Indices(f *model.File, name string, limit int) ([]int, error) {
	raw, err := f.Int64s(name, -1)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(raw))
	for i, v := range raw {
		if v < 0 || v >= int64(limit) {
			return nil, fault.Data("", "tensor %s: element %d is %d: want 0 to %d", name, i, v, limit-1)
		}
		out[i] = int(v)
	}
	return out, nil
}

// Finite returns a tensor of the given shape whose values must be finite.
func Finite(f *model.File, name string, shape ...int) ([]float64, error) {
	data, err := f.Float64s(name, shape...)
	if err != nil {
		return nil, err
	}
	if i := points.FirstNotFinite(data); i >= 0 {
		return nil, fault.Data("", "tensor %s: element %d is %v: want a finite number", name, i, data[i])
	}
	return data, nil
}

// Matrix returns [Finite] as a matrix.
func Matrix(f *model.File, name string, rows, cols int) (blas.Matrix, error) {
	data, err := Finite(f, name, rows, cols)
	if err != nil {
		return blas.Matrix{}, err
	}
	return blas.MatrixOf(rows, cols, data), nil
}

// Check returns an error unless x has the kind and the dimension of the stored points of the model.
func Check(x, support points.Points) error {
	_, gram := x.(*points.Gram)
	_, wantGram := support.(*points.Gram)
	sequences, _ := x.(*points.Sequences)
	what := "number of features"
	switch {
	case x == nil:
		return fault.Data("", "no points given: want points")
	case Alphabet(support) != "" && (sequences == nil || sequences.Alphabet != Alphabet(support)):
		return fault.Data("", "got points of another kind or alphabet: want sequences over the alphabet %s, as the model was fitted on", Alphabet(support))
	case sequences != nil && Alphabet(support) == "":
		return fault.Data("", "got sequences: want the kind of points that the model was fitted on, which is not sequences")
	case gram && !wantGram:
		return fault.Data("", "got rows of a precomputed Gram matrix: want vectors of %d features, as the model was fitted on", support.Dim())
	case !gram && wantGram:
		return fault.Data("", "got vectors: want rows of a Gram matrix over %d reference objects, as the model was fitted on", support.Dim())
	case gram:
		what = "number of reference objects"
	}
	if x.Dim() != support.Dim() {
		return wrongSize(what, x.Dim(), support.Dim())
	}
	return nil
}

// WrongFeatures returns the error of vectors whose number of features differs from the model's.
func WrongFeatures(got, want int) error { return wrongSize("number of features", got, want) }

func wrongSize(what string, got, want int) error {
	return &fault.ShapeError{What: what, Got: got, Want: fmt.Sprintf("%d, as the model was fitted on", want)}
}

// Alphabet returns the letters of stored sequences, "" for other points.
func Alphabet(support points.Points) string {
	if s, ok := support.(*points.Sequences); ok {
		return s.Alphabet
	}
	return ""
}

// Strip reduces rows of a Gram matrix to their reference objects and their diagonal, which is
// enough to evaluate the kernel with other rows. It returns other points unchanged.
func Strip(x points.Points) points.Points {
	g, ok := x.(*points.Gram)
	if !ok {
		return x
	}
	return &points.Gram{N: g.N, M: g.M, Diagonal: g.Diagonal, Reference: g.Reference}
}

// Select returns x.Select(rows), also for a stripped Gram matrix.
func Select(x points.Points, rows []int) points.Points {
	g, ok := x.(*points.Gram)
	if !ok {
		return x.Select(rows)
	}
	out := &points.Gram{N: len(rows), M: g.M, Diagonal: make([]float64, len(rows)), Reference: make([]int, len(rows))}
	for i, r := range rows {
		out.Diagonal[i], out.Reference[i] = g.Diagonal[r], g.Reference[r]
	}
	return out
}
