// Package neighbors (engine room: may change) finds nearest neighbours in a Euclidean space,
// exactly, and classifies by their votes.
//
// Squared distances are prefiltered by blocked matrix multiplication, |q|^2 + |t|^2 - 2q't on
// rows moved to a common centre, whose rounding error is bounded; every pair that the bound
// leaves in doubt, and every distance that is reported, is computed as the sum of squared
// differences of the rows as given. So the answer is that of the direct sums whatever the
// backend: equal rows are at distance 0 and tie exactly, a tie goes to the lower row, and the
// bits do not depend on the number of workers or on which other queries are in the call.
package neighbors
