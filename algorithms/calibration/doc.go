// Package calibration (engine room: may change) tells from a distance whether two rows belong
// together: with which probability, and below which threshold.
//
// It learns from the distances of links that the metric did not learn from. The probability is an
// isotonic regression of must-link against cannot-link on distance. Thresholds come from the counts
// of both kinds of links within a distance.
//
// # The share of matching pairs
//
// Links are seldom drawn like pairs of rows: of a million rows, far fewer than one pair in a
// thousand matches, but half of the links may be must-links. Precision and probability are those
// of the mix of the links, unless [Calibration.WithShare] gives the share of matching pairs among
// those to judge. Must-links then weigh share/(1-share) times as much against cannot-links. This
// multiplies the odds of all probabilities and precisions by one factor, because the blocks of an
// isotonic regression depend on the order of such ratios only. Recall does not change.
package calibration
