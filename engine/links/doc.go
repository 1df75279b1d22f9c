// Package links represents pairwise constraints: must-link and cannot-link pairs and chunklets,
// validated once, with transitive closure, components and sampling from labels.
//
// [New] makes a [Set] from pairs, [FromChunklets] from groups, and the Sample functions from
// labels; it never changes afterwards. Its derived views (components, chunklets, conflicts, pairs
// of chunklets) are computed on first use and kept; all are safe for concurrent use.
//
// Errors and warnings:
//
//   - a row out of range, a pair of a row with itself, an unusable weight or bound, and a
//     pair with both signs are errors that name the line;
//   - the same pair given again, also reversed, is collapsed and counted: the first one
//     keeps its weight, bound and line, and a later one that disagrees gets a warning;
//   - a cannot-link inside a must-link component is legal but soft: [Set.Conflicts] lists
//     each with a shortest path of must-links that contradicts it, [Set.Consistent] makes
//     an error of the first.
//
// Slices that a Set returns are shared and must not be changed.
package links
