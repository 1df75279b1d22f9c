// Package native is the default backend: Go, on the kernels of an asm.Table.
//
// Products are tiled: blocks of C are given to the workers, each packs the parts of A and
// B that it needs and multiplies them by the table's register tile. The triangular solves
// and the Cholesky factorisation are blocked on that product. Eigenvalues are
// gonum's, but for few of a large matrix, which SymEigTop finds by a Krylov search.
//
// # Bits
//
// An element of C is summed over k in order, in stretches of the table's KC:
// C = beta C + alpha s_1, then C += alpha s_2, and so on. That order depends on k alone,
// so the bits of a row of C depend neither on the other rows and columns of the call, nor
// on where in memory they are, nor on the number of workers. The same holds for each
// right-hand side of Trsm, for each element of Syrk, which is thus symmetric to the bit,
// and for Gemv, row by row or, transposed, column by column.
//
// No product is left out because a factor is 0, so NaN and Inf propagate as the formulas
// say.
package native
