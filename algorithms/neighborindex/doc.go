// Package neighborindex (engine room: may change) finds approximate nearest neighbors in a
// Euclidean space, by an inverted file: rows are divided into cells, and a query is compared with
// the rows of the cells whose centers are nearest to it (Jegou, Douze & Schmid 2011, "Product
// quantization for nearest neighbor search", section IV, without the quantization).
//
// [Build] makes the cells, by k-means, and measures which share of the exact neighbors the nearest
// cells have, on two samples of the rows. [Index.Probes] chooses the number of cells for a recall
// by the first sample, and [Index.Recall] reports that of the second. [Index.Open] lays the rows
// out by cells, and [Searcher.Search] searches. Inside the probed cells the search is exact, on the
// tiles and with the decisions of engine/graph: if all cells are probed, the result is
// bit-identical to that of package neighbors.
//
// An index is bit-identical for any number of workers, and so is the result of a search, whatever
// other queries are in the call. [Index.WriteFile] stores the cells and the samples, but not the
// rows.
package neighborindex
