// Package score measures how well a partition, a ranking or an embedding agrees with known classes:
// Rand (plain, class-balanced, adjusted), NMI, the ratio J, AUC, recall@k and accuracy, as pure
// functions.
//
// Three kinds of input:
//
//   - two labelings of the same objects ([Rand], [BalancedRand], [AdjustedRand], [NMI],
//     [Accuracy], [ClusterAccuracy]): slices of any comparable type, where only equality
//     counts. They go through the contingency table, O(n + cells), and count pairs in
//     exact integers up to n = 2^31;
//   - scores and a yes/no truth ([AUC]);
//   - an embedding, n x d row-major and compact, with labels ([JRatio], [PairAUC],
//     [RecallAtK], [NeighborAccuracy]): Euclidean distances, O(n^2 d), never stored.
//
// [All] computes all scores that the data allow, as `mustlink score` shows them.
//
// Bad input gives the typed errors of engine/fault; a measure that is undefined for the data (no
// pair of the kind that it averages over) is an error with the reason, never a NaN. Every label is
// a class, also ""; only [All] omits rows without a true label. Results do not depend on the names
// of the labels.
package score
