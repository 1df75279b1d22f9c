package catalog

import (
	"encoding/json"

	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/prepare"
)

// decodeTransform returns what prepares the points of a model, nil for nothing.
func decodeTransform(file *model.File) (dataset.Transform, error) {
	if t, err := prepare.Decode(file); t != nil || err != nil {
		return t, err
	}
	c, err := kernel.DecodeCorrection(file)
	if c == nil || err != nil {
		return nil, err
	}
	return c, nil
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
	if p := prepare.ByColumn(f.Scaling); p != nil {
		return p.Reading()
	}
	return nil, f.Features
}

// preparedDim returns the number of features after the transform, -1 without one.
func (f *Fitted) preparedDim() int {
	if f.Scaling == nil {
		return -1
	}
	return f.Scaling.Width()
}

// Preparation returns the name of the transformation of features before the model.
func (f *Fitted) Preparation() string {
	if f.Scaling == nil {
		return "none"
	}
	return f.Scaling.Name()
}
