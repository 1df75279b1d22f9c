package prepare

import (
	"slices"
	"strings"
)

// booleans are the pairs of texts that mean false and true, in any case.
var booleans = [][2]string{{"no", "yes"}, {"false", "true"}, {"n", "y"}, {"f", "t"}, {"off", "on"}}

// plain returns a text as booleans are compared.
func plain(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// findPair returns the pair that texts consist of. If asked, any two texts are a pair, in their
// order.
func findPair(texts []string, asked bool) (pair [2]string, ok bool) {
	var found []string
	for _, text := range texts {
		if text = plain(text); !slices.Contains(found, text) {
			if found = append(found, text); len(found) > 2 {
				return pair, false
			}
		}
	}
	slices.Sort(found)
	for _, b := range booleans {
		have := func(text string) bool { return slices.Contains(found, text) }
		if len(found) == 2 && have(b[0]) && have(b[1]) || asked && len(found) == 1 && (have(b[0]) || have(b[1])) {
			return b, true
		}
	}
	if asked && len(found) == 2 {
		return [2]string{found[0], found[1]}, true
	}
	return pair, false
}
