package catalog

import (
	"fmt"
	"runtime"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
)

// BuildOf says what computes a model on an engine: backend, platform and Go version.
func BuildOf(e *engine.Engine) string {
	return fmt.Sprintf("%s, %s/%s, %s", e.Backend().Name(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// NewFitted returns the record of a model of points as they are, fitted on an engine. features are their names, nil for none.
func NewFitted(eng *engine.Engine, m algorithms.Model, features []string) *Fitted {
	return &Fitted{Model: m, Features: features, Build: BuildOf(eng)}
}

// InputDim returns the number of features that the model takes, -1 when any number fits.
func (f *Fitted) InputDim() int {
	if dim, known := f.inputDim(); known {
		return dim
	}
	return -1
}

// Preparation returns the word for how the model changes features before it maps them.
func (f *Fitted) Preparation() string {
	switch f.Scaling.(type) {
	case *dataset.Scaling:
		return "standardize"
	case *dataset.TFIDF:
		return "tfidf"
	}
	return "none"
}
