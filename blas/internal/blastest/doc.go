// Package blastest is the conformance suite that every blas.Backend passes.
//
// [Run] checks results by residuals in units of n eps and by plain loops, on shapes around block
// edges, in matrices between guards: NaNs of one bit pattern fill the padding of every row, the
// strict upper triangle of symmetric and triangular operands, and the memory before and after. If a
// backend reads a guard, it computes NaN, and every comparison here fails on NaN; if it writes a
// guard, its bits change.
package blastest
