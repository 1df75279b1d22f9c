// Package kmeans finds the centers of k-means for rows that no machine holds, and gives rows to
// centers.
//
// A pass goes once over all elements. Each reads its rows from the file and tells, in a [Part],
// what the rows say of the centers so far: how far they are, how many and with which sum each
// center has, and which rows were drawn. Parts of elements are merged in the order of the elements,
// along a tree whose shape depends on their number alone, so that neither the bundles of a runner
// nor the number of its workers shows in a bit of the result. A step then makes the next [State] of
// the merged part.
//
// The start is k-means|| (Bahmani, Moseley, Vattani, Kumar & Vassilvitskii, Scalable k-means++,
// VLDB 2012): from one row drawn uniformly, each round draws about oversampling x K rows, row x
// with the chance l d(x)^2 / phi where phi is the sum of all squared distances d(x)^2 to the rows
// drawn so far. A row is drawn when its random number u has u phi <= l d(x)^2; since phi is known
// only at the end of the pass, a part keeps the rows that pass with its own smaller phi, and
// merging leaves out those that do not any more. So a round takes one pass where the paper has two.
// The rows drawn are weighted by the number of rows nearest to them, and clustered by k-means++ and
// Lloyd's iteration of the library, from ten starts; each goes on with Lloyd's iterations on a
// uniform sample of the rows, drawn in the same pass, and the best there is taken. k-means++ on the
// sample, from ten starts, competes with them.
//
// Lloyd's iterations then move the centers to the means. A center that has lost all its rows takes
// the row that is farthest from all centers, one in an iteration. Passes after convergence read
// nothing.
package kmeans
