package catalog

import (
	"encoding/json"
	"math"

	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Names of the tensors of the transforms that scale alone.
const (
	scalingMean  = "scaling.mean"
	scalingScale = "scaling.scale"
	termWeights  = "tfidf.weight"
	termColumns  = "tfidf.column" // of the weights, where most terms do not occur
	termCount    = "tfidf.terms"  // [1]: then their number
	termOther    = "tfidf.other"  // [1]: then the weight of terms that have none

	gramVectors = "gram.vectors" // q x n
	gramValues  = "gram.values"  // [q]
	gramFlip    = "gram.flip"    // [1]: 1 if negative eigenvalues become positive
)

// encodeTransform writes what prepares the points of a model.
func encodeTransform(t dataset.Transform, file *model.File) {
	switch t := t.(type) {
	case *dataset.Scaling:
		file.SetFloat64s(scalingMean, t.Mean)
		file.SetFloat64s(scalingScale, t.Scale)
	case *dataset.TFIDF:
		file.SetFloat64s(termWeights, t.Weight)
		if t.Column != nil {
			column := make([]int64, len(t.Column))
			for k, c := range t.Column {
				column[k] = int64(c)
			}
			file.SetInt64s(termColumns, column)
			file.SetInt64s(termCount, []int64{int64(t.Terms)})
			file.SetFloat64s(termOther, []float64{t.Other})
		}
	case *kernel.Correction:
		flip := int64(0)
		if t.Flip {
			flip = 1
		}
		file.SetFloat64s(gramVectors, t.Vectors.Data, t.Vectors.Rows, t.Vectors.Cols)
		file.SetFloat64s(gramValues, t.Values)
		file.SetInt64s(gramFlip, []int64{flip})
	case *prepare.Preparation:
		t.Encode(file)
	}
}

// decodeTransform reads what encodeTransform wrote, nil for nothing.
func decodeTransform(file *model.File) (dataset.Transform, error) {
	if p, err := prepare.Decode(file); p != nil || err != nil {
		return p, err
	}
	if file.Has(termWeights) {
		return decodeTFIDF(file)
	}
	if file.Has(gramVectors) {
		return decodeCorrection(file)
	}
	if file.Has(scalingMean) || file.Has(scalingScale) {
		return decodeScaling(file)
	}
	return nil, nil
}

func decodeCorrection(file *model.File) (dataset.Transform, error) {
	shape, err := file.Dims(gramVectors, 2)
	if err != nil {
		return nil, err
	}
	vectors, err := file.Float64s(gramVectors, shape...)
	if err != nil {
		return nil, err
	}
	c := &kernel.Correction{Vectors: blas.MatrixOf(shape[0], shape[1], vectors)}
	if c.Values, err = file.Float64s(gramValues, shape[0]); err != nil {
		return nil, err
	}
	flip, err := file.Int64s(gramFlip, 1)
	if err != nil {
		return nil, err
	}
	c.Flip = flip[0] != 0
	return c, c.Validate()
}

func decodeTFIDF(file *model.File) (dataset.Transform, error) {
	weights, err := file.Float64s(termWeights, -1)
	if err != nil {
		return nil, err
	}
	t := &dataset.TFIDF{Weight: weights}
	if file.Has(termColumns) || file.Has(termCount) || file.Has(termOther) {
		if err := decodeColumns(file, t); err != nil {
			return nil, err
		}
	}
	for j, w := range append(weights[:len(weights):len(weights)], t.Other) {
		if !(w >= 0) || math.IsInf(w, 0) {
			return nil, fault.Data("", "tensor %s: weight %g of term %d: want a finite number >= 0", termWeights, w, j)
		}
	}
	return t, nil
}

// decodeColumns reads what weights of few of many terms have besides.
func decodeColumns(file *model.File, t *dataset.TFIDF) error {
	columns, err := file.Int64s(termColumns, len(t.Weight))
	if err != nil {
		return err
	}
	count, err := file.Int64s(termCount, 1)
	if err != nil {
		return err
	}
	other, err := file.Float64s(termOther, 1)
	if err != nil {
		return err
	}
	if !(count[0] >= 0 && count[0] <= math.MaxInt32) {
		return fault.Data("", "tensor %s: %d terms: want 0 to %d", termCount, count[0], math.MaxInt32)
	}
	t.Terms, t.Other, t.Column = int(count[0]), other[0], make([]int32, len(columns))
	for k, c := range columns {
		if c < 0 || c >= count[0] || k > 0 && c <= columns[k-1] {
			return fault.Data("", "tensor %s: term %d at %d: want ascending numbers below %d", termColumns, c, k, count[0])
		}
		t.Column[k] = int32(c)
	}
	return nil
}

func decodeScaling(file *model.File) (dataset.Transform, error) {
	mean, err := file.Float64s(scalingMean, -1)
	if err != nil {
		return nil, err
	}
	scale, err := file.Float64s(scalingScale, len(mean))
	if err != nil {
		return nil, err
	}
	for j := range mean {
		if m, s := mean[j], scale[j]; m-m != 0 || s-s != 0 || s < 0 {
			return nil, fault.Data("", "scaling of column %d is mean %g, scale %g: want finite numbers, scale >= 0", j, m, s)
		}
	}
	return &dataset.Scaling{Mean: mean, Scale: scale}, nil
}

// Members of the header's Extra.
const (
	leftOut     = "left_out" // names of columns that the model does not take
	verdictName = "verdict"
)

// encodeExtra writes a member of the header's Extra.
func encodeExtra(name string, value any, file *model.File) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if file.Header.Extra == nil {
		file.Header.Extra = map[string]json.RawMessage{}
	}
	file.Header.Extra[name] = text
	return nil
}

// decodeExtra reads a member of the header's Extra into value, which stays as it is if there is
// none.
func decodeExtra(name string, value any, file *model.File) error {
	text, there := file.Header.Extra[name]
	if !there {
		return nil
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fault.Data("", "header of the model: %s: %v", name, err)
	}
	return nil
}

// decodeVerdict reads the verdict, nil for none.
func decodeVerdict(file *model.File) (v *verdict.Verdict, err error) {
	if err := decodeExtra(verdictName, &v, file); err != nil || v == nil {
		return nil, err
	}
	if err := v.Validate(); err != nil {
		return nil, fault.Data("", "header of the model: %s: %w", verdictName, err)
	}
	return v, nil
}

// Kinds returns the names of the columns that the model takes as texts and as numbers, for a reader
// of such rows.
func (f *Fitted) Kinds() (text, numbers []string) {
	if p, ok := f.Scaling.(*prepare.Preparation); ok {
		return p.Reading()
	}
	return nil, f.Features
}

// preparedDim returns the number of features after the transform, -1 without one.
func (f *Fitted) preparedDim() int {
	switch t := f.Scaling.(type) {
	case nil:
		return -1
	case *prepare.Preparation:
		return len(t.Outputs())
	default:
		return t.Features()
	}
}

// Preparation returns the name of the transformation of features before the model.
func (f *Fitted) Preparation() string {
	switch f.Scaling.(type) {
	case *dataset.Scaling:
		return "standardize"
	case *dataset.TFIDF:
		return "tfidf"
	case *kernel.Correction:
		return "corrected eigenvalues"
	case *prepare.Preparation:
		return "columns"
	}
	return "none"
}
