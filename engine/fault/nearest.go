package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Unknown returns the error for a name that is not among choices: it lists them, and suggests the
// nearest one. param is the kind of name: "method", "kernel", "parameter of krca".
func Unknown(param, got string, choices []string) *ParamError {
	want := "one of " + strings.Join(choices, ", ") + DidYouMean("", got, choices)
	return &ParamError{Param: param, Value: got, Want: want}
}

// DidYouMean returns the end of a message about a wrong name: `; did you mean "rbf"?` with the
// nearest choice, or "" if none is near. The name follows prefix, such as "--" of a flag.
func DidYouMean(prefix, got string, choices []string) string {
	near := Nearest(got, choices)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", prefix+near)
}

// Nearest returns the choice with the smallest edit distance from s, ties to the earlier one, or ""
// if none is within a third of the longer length (at least 2).
func Nearest(s string, choices []string) string {
	best, bestDistance := "", 1<<30
	for _, c := range choices {
		most := max(2, max(len(s), len(c))/3)
		if max(len(s)-len(c), len(c)-len(s)) > most {
			continue // the distance is at least this large, and s may have megabytes
		}
		d := editDistance(strings.ToLower(s), strings.ToLower(c))
		if d < bestDistance && d <= most {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, substitutions and swaps of neighbors
// that turn a into b (optimal string alignment). Cost O(len(a) len(b)).
func editDistance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = slices.Min([]int{prev[j] + 1, cur[j-1] + 1, prev[j-1] + cost})
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
