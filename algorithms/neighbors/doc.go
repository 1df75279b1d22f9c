// Package neighbors (engine room: may change) finds nearest neighbors in a Euclidean space,
// exactly, and classifies by their votes.
//
// The search is that of engine/graph: tiles of squared distances tell which pairs matter, and sums
// of squared differences of the rows as given decide. So the answer is that of the direct sums
// whatever the backend: equal rows are at distance 0 and tie exactly, a tie goes to the lower row,
// and the bits do not depend on the number of workers or on which other queries are in the call.
package neighbors
