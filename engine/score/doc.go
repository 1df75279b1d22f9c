// Package score measures how well a partition, a ranking or an embedding agrees with
// known classes: Rand (plain, class-balanced, adjusted), NMI, the ratio J, AUC, recall@k
// and accuracy, as pure functions.
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
// [All] computes everything that the data allow, as `mustlink score` shows it.
//
// Bad input gives the typed errors of engine/fault; a measure that is undefined on the
// data (no pair of the kind it averages over) is an error that says why, never a NaN.
// Every label is a class here, also ""; only [All] leaves out rows without truth.
// Results do not depend on how the labels are named.
package score
