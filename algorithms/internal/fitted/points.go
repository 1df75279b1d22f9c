package fitted

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
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
	// [p]: the numbers of a member's points among the dense vectors of the file that it is in
	tensorShared = "points.rows"
)

// StorePoints stores x in f.
func StorePoints(f *model.File, x points.Points) {
	switch x := x.(type) {
	case *points.Dense:
		f.SetFloat64s(tensorDense, x.Data, x.N, x.D)
	case *points.CSR:
		f.SetInt64s(tensorStart, Int64s(x.Start))
		f.SetInt64s(tensorColumn, Int64s(x.Col))
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
func Int64s[E int | int32](v []E) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

// ReadPoints reads the stored points of any kind. The tensors of sparse vectors and Gram matrices
// do not contain dim, the number of features or reference objects; those of sequences do not
// contain the alphabet.
func ReadPoints(f *model.File, dim int, alphabet string) (points.Points, error) {
	if dim < 0 || dim > math.MaxInt32 {
		return nil, fault.Data("", "header of the model: input_dim is %d: want 0 to %d", dim, math.MaxInt32)
	}
	switch {
	case f.Has(tensorDense):
		data, err := ReadFinite(f, tensorDense, -1, dim)
		if err != nil {
			return nil, err
		}
		shape, err := f.Dims(tensorDense, 2)
		if err != nil {
			return nil, err
		}
		x, err := points.NewDense(shape[0], dim, data)
		if err != nil || !f.Has(tensorShared) {
			return x, err
		}
		rows, err := ReadIndices(f, tensorShared, shape[0])
		if err == nil && len(rows) > shape[0] {
			err = fault.Data("", "tensor %s has %d rows: want at most %d, those of %s", tensorShared, len(rows),
				shape[0], tensorDense)
		}
		if err != nil {
			return nil, err
		}
		return x.Select(rows), nil
	case f.Has(tensorLetters):
		return decodeSequences(f, alphabet)
	case f.Has(tensorStart):
		return decodeSparse(f, dim)
	default:
		return decodeGram(f, dim)
	}
}

func decodeSparse(f *model.File, dim int) (points.Points, error) {
	values, err := ReadFinite(f, tensorValue, -1)
	if err != nil {
		return nil, err
	}
	start, err := ReadIndices(f, tensorStart, len(values)+1)
	if err != nil {
		return nil, err
	}
	column, err := ReadIndices(f, tensorColumn, dim)
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
	start, err := ReadIndices(f, tensorStart, len(letters)+1)
	if err != nil {
		return nil, err
	}
	return points.NewSequences(alphabet, start, letters)
}

func decodeGram(f *model.File, dim int) (points.Points, error) {
	reference, err := ReadIndices(f, tensorReference, dim)
	if err != nil {
		return nil, err
	}
	diagonal, err := ReadFinite(f, tensorDiagonal, len(reference))
	if err != nil {
		return nil, err
	}
	return &points.Gram{N: len(reference), M: dim, Diagonal: diagonal, Reference: reference}, nil
}

// ReadIndices returns an index tensor whose values must be from 0 to limit-1.
func ReadIndices(f *model.File, name string, limit int) ([]int, error) {
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

// ReadFinite returns a tensor of the given shape whose values must be finite.
func ReadFinite(f *model.File, name string, shape ...int) ([]float64, error) {
	data, err := f.Float64s(name, shape...)
	if err != nil {
		return nil, err
	}
	if i := points.FirstNotFinite(data); i >= 0 {
		return nil, fault.Data("", "tensor %s: element %d is %v: want a finite number", name, i, data[i])
	}
	return data, nil
}

// ReadMatrix returns [ReadFinite] as a matrix.
func ReadMatrix(f *model.File, name string, rows, cols int) (blas.Matrix, error) {
	data, err := ReadFinite(f, name, rows, cols)
	if err != nil {
		return blas.Matrix{}, err
	}
	return blas.MatrixOf(rows, cols, data), nil
}

// CheckPoints returns an error unless x has the kind and the dimension of the stored points of the
// model.
func CheckPoints(x, support points.Points) error {
	_, gram := x.(*points.Gram)
	_, wantGram := support.(*points.Gram)
	sequences, _ := x.(*points.Sequences)
	what := "number of features"
	switch {
	case x == nil:
		return fault.Data("", "no points given: want points")
	case Alphabet(support) != "" && (sequences == nil || sequences.Alphabet != Alphabet(support)):
		return fault.Data("",
			"got points of another kind or alphabet: want sequences over the alphabet %s, as the model was "+
				"fitted on", Alphabet(support))
	case sequences != nil && Alphabet(support) == "":
		return fault.Data("",
			"got sequences: want the kind of points that the model was fitted on, which is not sequences")
	case gram && !wantGram:
		return fault.Data("",
			"got rows of a precomputed Gram matrix: want vectors of %d features, as the model was fitted on",
			support.Dim())
	case !gram && wantGram:
		return fault.Data("",
			"got vectors: want rows of a Gram matrix over %d reference objects, as the model was fitted on",
			support.Dim())
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

// StripPoints reduces rows of a Gram matrix to their reference objects and their diagonal, which is
// enough to evaluate the kernel with other rows. It returns other points unchanged.
func StripPoints(x points.Points) points.Points {
	g, ok := x.(*points.Gram)
	if !ok {
		return x
	}
	return &points.Gram{N: g.N, M: g.M, Diagonal: g.Diagonal, Reference: g.Reference}
}

// SelectPoints returns x.Select(rows), also for a stripped Gram matrix.
func SelectPoints(x points.Points, rows []int) points.Points {
	g, ok := x.(*points.Gram)
	if !ok {
		return x.Select(rows)
	}
	out := &points.Gram{N: len(rows), M: g.M, Diagonal: make([]float64, len(rows)),
		Reference: make([]int, len(rows))}
	for i, r := range rows {
		out.Diagonal[i], out.Reference[i] = g.Diagonal[r], g.Reference[r]
	}
	return out
}

// Names of the tensors that hold the center of a linear kernel.
const (
	tensorKernelCenter = "kernel.center"          // [d] or [features]; of a Gram matrix the weights
	tensorFeatures     = "kernel.center.features" // [features]: of sparse vectors
	tensorFull         = "kernel.center.full"     // indices of features that all vectors had
	tensorProducts     = "kernel.center.products" // [d]: of a Gram matrix
)

// SetKernel stores the text of the kernel in the header, and its center, if it has one, in tensors.
func SetKernel(f *model.File, k kernel.Kernel) {
	f.Header.Kernel = k.String()
	c := k.Origin()
	if c == nil {
		return
	}
	f.SetFloat64s(tensorKernelCenter, c.Point)
	if c.Products != nil {
		f.SetFloat64s(tensorProducts, c.Products)
		return
	}
	f.SetInt64s(tensorFull, Int64s(c.Full))
	if c.Features != nil {
		f.SetInt64s(tensorFeatures, Int64s(c.Features))
	}
}

// ReadCenter returns a kernel of the header with the center of the file. x are the stored points.
func ReadCenter(f *model.File, k kernel.Kernel, x points.Points) (kernel.Kernel, error) {
	_, isGram := x.(*points.Gram)
	if !k.IsLinear() || isGram != f.Has(tensorProducts) || Alphabet(x) != "" {
		return k, fault.Data("", "tensor %s: want none with kernel %s and points of this kind",
			tensorKernelCenter, k)
	}
	c, size := &kernel.Origin{}, x.Dim()
	var err error
	if f.Has(tensorFeatures) {
		features, err := ascending(f, tensorFeatures, size)
		if err != nil {
			return k, err
		}
		size, c.Features = len(features), make([]int32, len(features))
		for at, feature := range features {
			c.Features[at] = int32(feature)
		}
	}
	if c.Point, err = ReadFinite(f, tensorKernelCenter, size); err != nil {
		return k, err
	}
	if isGram {
		c.Products, err = ReadFinite(f, tensorProducts, size)
	} else {
		c.Full, err = ascending(f, tensorFull, size)
	}
	return k.At(c), err
}

// ascending returns [ReadIndices], which must ascend.
func ascending(f *model.File, name string, limit int) ([]int, error) {
	list, err := ReadIndices(f, name, limit)
	for at := 1; at < len(list); at++ {
		if list[at] <= list[at-1] {
			return nil, fault.Data("", "tensor %s: element %d is %d after %d: want ascending numbers", name,
				at,
				list[at], list[at-1])
		}
	}
	return list, err
}

// Suffixes of the tensors of links.
const (
	tensorLinks   = ".links"       // [links, 2], rows of the points
	tensorWeights = ".weights"     // [links], negative for cannot-links
	tensorBounds  = ".link_bounds" // [links], 0 for a link without a bound; no tensor if no link has one
)

// SetLinks stores the links of a model's fit, in tensors whose names begin with name.
func SetLinks(f *model.File, name string, set *links.Set) {
	all := slices.Concat(set.Must(), set.Cannot())
	rows, weights, bounds := make([]int64, 0, 2*len(all)), make([]float64, len(all)),
		make([]float64, len(all))
	bounded := false
	for k, l := range all {
		rows = append(rows, int64(l.I), int64(l.J))
		weights[k] = l.Weight * float64(l.Sign)
		if !math.IsNaN(l.Bound) {
			bounds[k], bounded = l.Bound, true
		}
	}
	f.SetInt64s(name+tensorLinks, rows, len(all), 2)
	f.SetFloat64s(name+tensorWeights, weights)
	if bounded {
		f.SetFloat64s(name+tensorBounds, bounds)
	}
}

// HasLinks reports whether links are stored under a name.
func HasLinks(f *model.File, name string) bool { return f.Has(name + tensorLinks) }

// ReadLinks returns the links between n points that [SetLinks] stored. Unusable tensors are a
// *fault.DataError.
func ReadLinks(f *model.File, name string, n int) (*links.Set, error) {
	rows, err := f.Int64s(name+tensorLinks, -1, 2)
	if err != nil {
		return nil, err
	}
	weights, err := ReadFinite(f, name+tensorWeights, len(rows)/2)
	if err != nil {
		return nil, err
	}
	bounds := make([]float64, len(weights))
	if f.Has(name + tensorBounds) {
		if bounds, err = ReadFinite(f, name+tensorBounds, len(weights)); err != nil {
			return nil, err
		}
	}
	list := make([]links.Link, len(weights))
	for k, w := range weights {
		if w == 0 {
			return nil, fault.Data("", "tensor %s: element %d is 0: want a weight other than 0",
				name+tensorWeights, k)
		}
		sign := links.Must
		if w < 0 {
			sign = links.Cannot
		}
		list[k] = links.Link{I: int(rows[2*k]), J: int(rows[2*k+1]), Sign: sign, Weight: math.Abs(w),
			Bound: bounds[k]}
	}
	set, err := links.New(n, list)
	if err != nil {
		return nil, fault.Data("", "tensor %s: %w", name+tensorLinks, err)
	}
	return set, nil
}
