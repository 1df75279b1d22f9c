// Package suggestion (engine room: may change) chooses which pairs a person should look at next.
//
// It explores, then consolidates (Basu, Banerjee & Mooney, "Active semi-supervision for pairwise constrained clustering", SDM
// 2004). Every class that was met is known by the rows that must-links join; a row, or a group of linked ones, is asked
// against the classes, the nearest first, until the answer is yes, and if it never is, it is a new class. So a question or two
// place a row, and its links with all other rows that are placed follow: what follows is never asked. While classes are
// likely to be left, the row that is farthest from all of them comes next; afterwards that of which it is least certain
// where it belongs: the entropy of its class, as the distances to the nearest rows of the classes suggest. Divided by the
// expected number of questions (Xiong, Azimi & Fern, "Active learning of constraints for semi-supervised clustering", TKDE
// 2014) it was no better on the sets of `mustlink-bench suggest`, and places that npkl learned anew from the answers were worse.
//
// A learner should be given what the links imply ([links.Set.Closure]), unless it learns from components of must-links.
//
// Everything is decided by sums of squared differences in a fixed order: the same links, places and seed give the same
// questions in every build and for any number of workers.
package suggestion
