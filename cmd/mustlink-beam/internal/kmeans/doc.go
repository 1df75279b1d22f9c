// Package kmeans computes the centers of k-means for rows in many files, and assigns rows to
// centers.
//
// A pass reads all elements once. The worker of an element reads its rows and summarizes them in a
// [Part]: the squared distances to the current centers, the number and sum of the rows of each
// center, and the rows that were drawn. Parts are merged in the order of the elements, along a tree
// whose shape depends only on their number, so that the result is bit-identical for any bundles and
// any number of workers. A step then computes the next [State] from the merged part.
//
// The start is k-means|| (Bahmani, Moseley, Vattani, Kumar & Vassilvitskii, Scalable k-means++,
// VLDB 2012). It begins with one row drawn uniformly. Each round draws about oversampling x K rows,
// row x with the chance l d(x)^2 / phi, where phi is the sum of all squared distances d(x)^2 to the
// rows drawn so far. Row x is drawn when its random number u satisfies u phi <= l d(x)^2. Since phi
// is known only at the end of the pass, a part keeps the rows that its own smaller phi draws, and
// merging removes those that the larger phi does not. So a round takes one pass, where the paper
// has two. Each drawn row is weighted by the number of rows nearest to it. The library clusters the
// weighted rows by k-means++ and Lloyd's iteration from ten starts. Each result is improved by
// Lloyd's iterations on a uniform sample of the rows, drawn in the same pass, and the best on this
// sample is taken. It is compared with k-means++ on the sample, also from ten starts.
//
// Lloyd's iterations then move the centers to the means. A center that has lost all its rows takes
// the row farthest from all centers, one in an iteration. Passes after convergence read nothing.
package kmeans
