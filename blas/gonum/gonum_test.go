package gonum_test

import (
	"testing"

	"github.com/mustlink/mustlink/blas/gonum"
	"github.com/mustlink/mustlink/blas/internal/blastest"
)

func TestBackend(t *testing.T) { blastest.Run(t, gonum.New(nil)) }
