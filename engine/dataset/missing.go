package dataset

import "slices"

// missing are the texts of cells whose value is not known: none, and the words that spreadsheets,
// R, Python and databases write.
var missing = []string{"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?"}

// Missing returns the texts that [IsMissing] is true of, the empty one first.
func Missing() []string { return slices.Clone(missing) }

// IsMissing reports whether a cell of text means that its value is not known: it is empty, or one
// of the words that CSV files have for it. The cell is without white space around it.
func IsMissing(cell string) bool { return slices.Contains(missing, cell) }
