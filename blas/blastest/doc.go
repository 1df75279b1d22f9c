// Package blastest is the conformance suite that every blas.Backend passes.
package blastest
