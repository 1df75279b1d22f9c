package engine

import (
	"errors"

	"github.com/mustlink/mustlink/blas"
)

// openDefault opens the backend of the build.
func openDefault(int) (blas.Backend, error) {
	return nil, errors.New("engine: no backend given")
}
