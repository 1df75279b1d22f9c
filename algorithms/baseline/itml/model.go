package itml

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is a fitted metric. It is immutable and safe for concurrent use. Embed, Gram and Distances, as
// [algorithms.Model] has them, take 2 d Dim flops a point in linear mode, else its kernel values with the stored points,
// the linked ones and up to 2000 of the fit, and 2 Dim flops for each of these.
type Model struct {
	*record.Model[Params]
	about  about
	taught *logdetmetric.Taught // nil from a file that does not hold it
}

var _ algorithms.Linker = (*Model)(nil)

// about is what the header holds besides parameters, kernel and what has been learned from.
type about struct {
	logdetmetric.Bounds
	Residual float64 `json:"kkt"`
	Skipped  int     `json:"skipped"`
}

// Residual returns the largest residual of the conditions of the optimum.
func (m *Model) Residual() float64 { return m.about.Residual }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	return append(m.Model.Describe(),
		algorithms.Figure{Name: "bound of must-links", Value: m.about.Upper},
		algorithms.Figure{Name: "bound of cannot-links", Value: m.about.Lower},
		algorithms.Figure{Name: "residual of the optimum's conditions", Value: m.about.Residual},
		algorithms.Figure{Name: "links between points in one place", Value: m.about.Skipped})
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	return m.EncodeWith(f, m.about, m.taught.Encode(f, Method))
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot
// be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Model, err = record.Decode[Params](Method, f, maps.ReadEither, &m.about); err != nil {
		return nil, err
	}
	m.taught, err = logdetmetric.DecodeTaught(f, Method)
	return m, err
}
