// Package calibration (engine room: may change) tells from a distance whether two rows belong
// together: with which probability, and below which threshold.
//
// It learns from the distances of links that the metric did not learn from. The probability is an
// isotonic regression of must-link against cannot-link on distance. Thresholds come from the counts
// of both kinds of links within a distance.
//
// # What the links must be
//
// Links are seldom drawn like pairs of rows: of a million rows, far fewer than one pair in a
// thousand matches, but half of the links may be must-links. Precision and probability are those
// of the mix of the links, unless [Calibration.WithShare] gives the share of matching pairs among
// those to judge. Must-links are then a random sample of the matching pairs, cannot-links of the
// others, and must-links weigh share/(1-share) times as much against cannot-links. This multiplies
// the odds of all probabilities by one factor, because the blocks of an isotonic regression depend
// on the order of such ratios only. Recall does not change. Cannot-links that were chosen because
// they are near lower precisions and probabilities. To learn of near pairs, draw links at random
// from those up to a distance: [Calibration.OfNearPairs].
//
// # What few links support
//
// The shares of matching and of other pairs up to a distance have bounds that are right at all
// distances at once (Berk and Jones). The lower bound of a precision combines the lower one of the
// first and the upper one of the second; for the mix of the links it is that of their share. It is
// wrong at any distance for one sample of links in twenty, so a threshold may be chosen by it. A
// block of the regression has bounds by its counts, carried monotonically to its neighbors, and its
// value counts one more link of each kind. [Calibration.OfFound] compares the number of pairs that
// a search finds with the number of matching pairs, which bounds the precision from both sides.
package calibration
