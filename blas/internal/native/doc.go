// Package native is the default backend: Go, on the kernels of an asm.Table.
//
// Products run in the loop nest of package tile. Triangular solves and products, the inverse of a
// triangle and the Cholesky factorization halve their matrix until small triangles are left, so
// that nearly all flops are in products; QR collects reflections into blocks for the same reason. A
// symmetric matrix is reduced to tridiagonal form in panels and decomposed by divide and conquer;
// SymEigTop finds few eigenpairs of a large one by a Krylov search. gonum computes the small blocks
// at the ends of these recursions.
//
// # Bits
//
// The summation order of an element of a product depends only on k (package tile). So the bits of a
// row of C depend neither on the other rows and columns of the call, nor on their addresses in
// memory, nor on the number of workers. The same holds for each right-hand side of Trsm and each
// vector that Trmm multiplies, for each element of Syrk, whose result is therefore exactly
// symmetric, and for Gemv, row by row or, transposed, column by column.
//
// No product is skipped because a factor is 0, so NaN and Inf propagate as the formulas imply; Trsm
// and Trmm skip the zeros on the other side of the triangle.
package native
