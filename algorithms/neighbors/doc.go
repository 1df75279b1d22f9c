// Package neighbors (engine room: may change) finds exact nearest neighbors in a Euclidean space,
// and classifies by majority vote.
//
// The search is that of engine/graph: tiles of expanded squared distances select candidates, and
// sums of squared differences of the original rows decide. So the result is that of the direct sums
// in every backend: equal rows are at distance 0 and tie exactly, a tie goes to the lower row, and
// the result is bit-identical for any number of workers and any other queries in the call.
package neighbors
