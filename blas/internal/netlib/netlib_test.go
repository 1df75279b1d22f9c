//go:build netlib && cgo && !purego

package netlib_test

import (
	"testing"

	"github.com/mustlink/mustlink/blas/internal/blastest"
	"github.com/mustlink/mustlink/blas/internal/netlib"
)

func TestBackend(t *testing.T) { blastest.Run(t, netlib.New(nil, 2)) }
