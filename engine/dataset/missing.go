package dataset

// IsMissing reports whether a cell of a mixed table means that its value is not known: it is empty,
// or one of the words that spreadsheets, R, Python and databases write. The cell is without spaces
// around it.
func IsMissing(cell string) bool {
	switch cell {
	case "", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?":
		return true
	}
	return false
}
