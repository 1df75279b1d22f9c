// Package blastest is the conformance suite that every blas.Backend passes.
//
// [Run] checks results by residuals in units of n eps and by plain loops, on shapes around
// block edges, in matrices that lie between guards: NaNs of one bit pattern fill the
// padding of every row, the strict upper triangle of symmetric and triangular operands,
// and the memory before and after. A backend that reads a guard computes NaN, and every
// comparison here fails on NaN; one that writes a guard changes its bits.
package blastest
