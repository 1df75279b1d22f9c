package catalog

import (
	"fmt"
	"runtime"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
)

// BuildOf says what computes a model on an engine: backend, platform and Go version.
func BuildOf(e *engine.Engine) string {
	return fmt.Sprintf("%s, %s/%s, %s", e.Backend().Name(), runtime.GOOS, runtime.GOARCH, runtime.Version())
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
