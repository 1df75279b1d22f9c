package gonum_test

import (
	"testing"

	"github.com/mustlink/mustlink/blas/internal/blastest"
	"github.com/mustlink/mustlink/blas/gonum"
)

func TestBackend(t *testing.T) { blastest.Run(t, gonum.New(nil)) }
