package dataset

import (
	"slices"
	"strings"
)

// missing are the texts of cells whose value is not known: none, and the words that spreadsheets,
// R, Python, C and databases write, those for failed formulas included.
var missing = []string{"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?",
	"#NA", "#N/A N/A", "#VALUE!", "#DIV/0!", "#REF!", "#NUM!", "#NAME?", "#NULL!", "-nan", "-NaN",
	"1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}

// blanks are what people write where a column of numbers has none. Elsewhere they may be values.
var blanks = []string{"-", "--", "---", "\u2013", "\u2014", "\u2212", ".", "..", "...", "\u2026", "nil",
	"none", "missing", "unknown", "n.a.", "N.A."}

// isBlank reports whether a cell, without white space around it, is missing in a column of numbers.
// It is asked of every number with a decimal comma: words that begin with a digit have a #.
func isBlank(cell string) bool {
	if cell != "" && cell[0] >= '0' && cell[0] <= '9' && strings.IndexByte(cell, '#') < 0 {
		return false
	}
	return IsMissing(cell) || slices.Contains(blanks, cell)
}

// Missing returns the texts that [IsMissing] is true of, the empty one first.
func Missing() []string { return slices.Clone(missing) }

// IsMissing reports whether a cell of text means that its value is not known: it is empty, or one
// of the words that CSV files have for it. The cell is without white space around it.
func IsMissing(cell string) bool { return slices.Contains(missing, cell) }
