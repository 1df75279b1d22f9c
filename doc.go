// Package mustlink learns a distance from pairs of rows that belong together (must-links) and pairs
// that do not (cannot-links), and from all rows without labels. Clustering,
// nearest neighbors and retrieval are better in the learned distance, for new rows too.
//
// A [Table] contains the rows. [ReadTable] reads one from a file; [FromMatrix], [FromRows],
// [FromSparse], [FromSequences] and [FromGram] make one from data in memory. [Links] contain the
// pairs. [Fit] learns a [Model], which embeds rows ([Model.Embed]), compares them
// ([Model.Distances], [Model.Gram]), finds neighbors ([Model.Neighbors]), clusters
// ([Model.Cluster], [Model.Groups]) and classifies ([Model.Classify]). [Model.Save] writes it to a
// file, [Load] reads it. [Entities] joins records that are the same, also by texts.
//
//	table, err := mustlink.ReadTable("customers.csv")
//	pairs, err := table.ReadLinks("links.csv")
//	model, err := mustlink.Fit(ctx, table, pairs)
//	embedded, err := model.Embed(ctx, table)
//
// Without [Method] or [Using], [Fit] chooses the method by the kinds of links. It makes numbers of
// the columns of a table as their kinds ask ([Preparing]): gaps are filled, categories and dates
// become numbers, and numbers in different units are scaled. The model does the same with new rows.
//
// # Numbers
//
// With the same input, seed and build, results are bit-identical for any number of workers. Each
// row of a matrix is a row of a table. Functions accept any mat.Matrix of gonum, and return
// *mat.Dense.
//
// # Errors
//
// Wrong input is an error of package engine/fault, which names file, row, column or parameter and
// what was expected: fault.IsInput reports true for all of these. If ctx is canceled, the error
// wraps ctx.Err().
//
// # Compatibility
//
// This package and a few others (docs/compatibility.md lists them) keep their exported names. All
// other packages are internal: they may change in any version.
package mustlink
