package export

import (
	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/formula"
)

// GraphOf returns the graph of another map than the model's, in double precision.
func GraphOf(m *mustlink.Model, f formula.Map) ([]byte, error) {
	s, err := newSource(m)
	if err != nil {
		return nil, err
	}
	s.formula = f
	return s.model(newGraph(s, Double)).encoded(), nil
}
