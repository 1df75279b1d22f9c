// Package links holds pairwise constraints: must-link and cannot-link pairs and chunklets,
// validated once, with transitive closure, components and sampling from labels.
//
// A [Set] is made by [New] from pairs, by [FromChunklets] from groups, or by one of the
// Sample functions from labels, and never changes afterwards. Its derived views (the
// components, the chunklets, the conflicts, the pairs of chunklets) are computed at the
// first request and kept; all of them are safe for concurrent use.
//
// What is an error and what is not:
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
