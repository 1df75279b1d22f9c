// Package tile (engine room: may change) multiplies dense matrices: packing, and the one loop nest
// around the register tile of an asm.Table.
//
// A [Nest] computes a [Product]. B is packed into panels of NR columns that all workers
// share, blocks of rows of A into panels of MR rows that one worker keeps in its cache, and
// every pair of panels goes through the table's tile.
//
// # Bits
//
// k is divided into equal blocks of at most KC, which depend only on k. Within a block the terms of
// an element are added in order, starting from 0; blocks are added to C in order. So the bits of an
// element depend on its row of op(A), its column of op(B), alpha, beta and C, but not on the rest
// of the call, the number of workers, or the addresses of the operands.
package tile
