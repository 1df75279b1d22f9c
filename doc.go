// Package mustlink learns a distance from pairs of rows that belong together (must-links) and pairs
// that do not (cannot-links), and from all rows without labels. In the learned distance clustering,
// nearest neighbors and retrieval get better, for new rows too.
//
// A [Table] holds the rows: read a file with [ReadTable], or take what is in memory with
// [FromMatrix], [FromRows], [FromSparse], [FromSequences] or [FromGram]. [Links] hold the pairs.
// [Fit] learns a [Model], which embeds rows ([Model.Embed]), compares them ([Model.Distances],
// [Model.Gram]), finds neighbors ([Model.Neighbors]), clusters ([Model.Cluster]) and classifies
// ([Model.Classify]). [Model.Save] and [Load] keep it in a file.
//
//	table, err := mustlink.ReadTable("customers.csv")
//	pairs, err := table.ReadLinks("links.csv")
//	model, err := mustlink.Fit(ctx, table, pairs, mustlink.Standardize())
//	embedded, err := model.Embed(ctx, table)
//
// Without [Method] or [Using] the kinds of links choose the method; see [Fit].
//
// # Numbers
//
// The same input, seed and build give the same bits for any number of workers. Rows of matrices are
// rows of tables. Matrices go in as any mat.Matrix of gonum and come out as *mat.Dense.
//
// # Errors
//
// Wrong input gives an error of package engine/fault that names file, row, column or parameter and
// what was expected: fault.IsInput(err) is true for all of them. Canceling ctx gives an error that
// wraps ctx.Err().
//
// # What is promised
//
// This package and the few that its users name (docs/compatibility.md lists them) keep their
// exported names. All other packages are the engine room: they may change in any version.
package mustlink
