package prepare

import (
	"slices"
	"strings"
	"unicode"
)

// Words that names of columns of identifiers, and of labels, consist of or end in.
var (
	identifierNames = []string{"", "id", "ids", "idx", "index", "row", "rows", "rowid", "rownames", "rownum", "nr", "no", "number", "key", "pk", "uuid", "guid", "serial", "unnamed"}
	identifierEnds  = []string{"id", "idx", "key", "nr", "uuid", "guid"}
	labelNames      = []string{"label", "labels", "target", "class", "classes", "y", "species", "outcome", "category", "diagnosis", "response", "ground truth"}
)

// nameWords returns the words of a name: "customerID", "customer_id" and "Customer ID" have the
// same ones.
func nameWords(name string) []string {
	var words []string
	last := rune(0)
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
		case len(words) == 0 || !unicode.IsLetter(last) || unicode.IsUpper(r) && unicode.IsLower(last):
			words = append(words, string(unicode.ToLower(r)))
		default:
			words[len(words)-1] += string(unicode.ToLower(r))
		}
		last = r
	}
	return words
}

// identifierName reports whether a name is that of a column of identifiers.
func identifierName(name string) bool {
	words := nameWords(name)
	if len(words) > 1 && slices.Contains(identifierEnds, words[len(words)-1]) || len(words) > 1 && words[0] == "row" {
		return true
	}
	return slices.Contains(identifierNames, strings.Join(words, " ")) && !hasDigit(name) || len(words) == 1 && words[0] == "unnamed"
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// labelName reports whether a name is that of a column of labels.
func labelName(name string) bool {
	return slices.Contains(labelNames, strings.Join(nameWords(name), " ")) && !hasDigit(name)
}
