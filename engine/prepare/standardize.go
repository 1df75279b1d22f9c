package prepare

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Scaling maps each column to (value - Mean) / Scale, or to 0 where Scale is 0: such a column was
// constant in the training data and has no information about new points.
type Scaling struct {
	Mean, Scale []float64 // length d
}

// Standardize returns the scaling that gives every column of p mean 0 and standard deviation 1
// (divisor n), and the numbers of the constant columns, whose Scale is 0.
//
// A column is constant when its values differ by no more than 4 units in the last place of the
// largest: the difference is then rounding error, which must not be scaled up to a standard
// deviation of 1. Mean and standard deviation come from two passes with correction terms and are
// accurate to a few units in the last place for any offset of the data.
//
// Points must be dense: centering would fill the zeros of sparse points, and a Gram matrix has no
// columns to scale; both are a *fault.ParamError. Values so large that a sum overflows are a
// *fault.DataError. Cost: O(nd), three passes.
func Standardize(p points.Points) (s *Scaling, constant []int, err error) {
	x, err := asDense(p)
	if err != nil {
		return nil, nil, err
	}
	if x.N == 0 {
		return nil, nil, fault.Shape("number of points", 0, "at least 1")
	}
	mean, flat := columnMeans(x)
	s = &Scaling{Mean: mean, Scale: standardDeviations(x, mean)}
	for j := range x.D {
		if flat[j] {
			s.Scale[j] = 0
			constant = append(constant, j)
		}
		if m, sd := s.Mean[j], s.Scale[j]; m-m != 0 || sd-sd != 0 {
			return nil, nil, fault.Cell(-1, fmt.Sprint(j),
				"the values are too large to standardize: want values well below %.3g", math.MaxFloat64)
		}
	}
	return s, constant, nil
}

func asDense(p points.Points) (*points.Dense, error) {
	switch x := p.(type) {
	case *points.Dense:
		return x, nil
	case *points.CSR:
		return nil, fault.Param("standardize", "sparse points", "dense points, as centering fills the zeros")
	case *points.Sequences:
		return nil, fault.Param("standardize", "sequences", "dense points, as sequences have no features")
	case *points.Gram:
		return nil, fault.Param("standardize", "a Gram matrix",
			"dense points, as a Gram matrix has no features")
	}
	panic(fmt.Sprintf("prepare: points of type %T", p))
}

// columnMeans returns the means, and which columns are flat.
func columnMeans(x *points.Dense) (mean []float64, flat []bool) {
	mean, flat = make([]float64, x.D), make([]bool, x.D)
	low, high := slices.Clone(x.Row(0)), slices.Clone(x.Row(0))
	for i := range x.N {
		for j, v := range x.Row(i) {
			mean[j] += v
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	n := float64(x.N)
	for j := range mean {
		mean[j] /= n
		flat[j] = high[j]-low[j] <= 4*0x1p-52*max(math.Abs(low[j]), math.Abs(high[j]))
	}
	rest := make([]float64, x.D) // the sum of x - mean, 0 except for rounding
	for i := range x.N {
		for j, v := range x.Row(i) {
			rest[j] += v - mean[j]
		}
	}
	for j := range mean {
		mean[j] += rest[j] / n
		if flat[j] && low[j] == high[j] {
			mean[j] = low[j]
		}
	}
	return mean, flat
}

// standardDeviations returns the standard deviations around the means. Differences are divided by
// the largest one before they are squared, so that squares neither overflow nor vanish, and the
// square of the remaining mean is subtracted (Chan, Golub, LeVeque 1983, eq. 1.7).
func standardDeviations(x *points.Dense, mean []float64) []float64 {
	largest, sum, squares := make([]float64, x.D), make([]float64, x.D), make([]float64, x.D)
	for i := range x.N {
		for j, v := range x.Row(i) {
			largest[j] = max(largest[j], math.Abs(v-mean[j]))
		}
	}
	for i := range x.N {
		for j, v := range x.Row(i) {
			if largest[j] > 0 {
				d := (v - mean[j]) / largest[j]
				sum[j] += d
				squares[j] += float64(d * d)
			}
		}
	}
	n := float64(x.N)
	for j := range squares {
		squares[j] = largest[j] * math.Sqrt(max(0, squares[j]-float64(sum[j]*sum[j])/n)/n)
	}
	return squares
}

// Name returns "standardize".
func (s *Scaling) Name() string { return "standardize" }

// Features returns the number of columns.
func (s *Scaling) Features() int { return len(s.Mean) }

// Apply returns scaled copies of dense points. A number of features other than the scaling's is a
// *fault.ShapeError; a result that overflows is a *fault.DataError. Cost: O(nd).
func (s *Scaling) Apply(p points.Points) (points.Points, error) {
	x, err := asDense(p)
	if err != nil {
		return nil, err
	}
	if x.D != len(s.Mean) {
		return nil, fault.Shape("number of features", x.D, "%d, the number of features of the scaling",
			len(s.Mean))
	}
	data := make([]float64, len(x.Data))
	for i := range x.N {
		out := data[i*x.D : (i+1)*x.D]
		for j, v := range x.Row(i) {
			if s.Scale[j] != 0 {
				out[j] = (v - s.Mean[j]) / s.Scale[j]
			}
		}
	}
	return points.NewDense(x.N, x.D, data)
}

// Rules returns what is done with the columns of these names, as data.
func (s *Scaling) Rules(names []string) Rules {
	r := PlainRules(names)
	for j := range r.Columns {
		r.Columns[j].Mean, r.Columns[j].Scale = s.Mean[j], s.Scale[j]
	}
	r.Strict = true
	return r
}

// Tensors of a scaling.
const (
	meanTensor  = "scaling.mean"
	scaleTensor = "scaling.scale"
)

// Encode stores the scaling in a model file.
func (s *Scaling) Encode(f *model.File) {
	f.SetFloat64s(meanTensor, s.Mean)
	f.SetFloat64s(scaleTensor, s.Scale)
}

func decodeScaling(f *model.File) (*Scaling, error) {
	mean, err := f.Float64s(meanTensor, -1)
	if err != nil {
		return nil, err
	}
	scale, err := f.Float64s(scaleTensor, len(mean))
	if err != nil {
		return nil, err
	}
	for j := range mean {
		if m, s := mean[j], scale[j]; m-m != 0 || s-s != 0 || s < 0 {
			return nil, fault.Data("",
				"scaling of column %d is mean %g, scale %g: want finite numbers, scale >= 0", j, m, s)
		}
	}
	return &Scaling{Mean: mean, Scale: scale}, nil
}
