package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
)

// table has the faults whose outcome is known.
type table []*mutant

func (t table) survivors() (n int) {
	for _, m := range t {
		if m.outcome == survived {
			n++
		}
	}
	return n
}

// score returns the share of faults that were found.
func (t table) score() float64 { return float64(len(t)-t.survivors()) / float64(len(t)) }

// print writes the scores by package and by kind, and estimates the share of all faults that the
// tests find. The kinds are drawn about equally often, so each counts by its number of candidates.
func (t table) print(w io.Writer, candidates map[string]int) {
	if len(t) == 0 {
		return
	}
	for _, by := range []struct {
		name string
		of   func(*mutant) string
	}{{"package", func(m *mutant) string { return path.Dir(m.file) }},
		{"kind", func(m *mutant) string { return m.kind }}} {
		parts := map[string]table{}
		for _, m := range t {
			parts[by.of(m)] = append(parts[by.of(m)], m)
		}
		fmt.Fprintf(w, "\n| %s | faults | found | of them by time | score |\n| --- | ---: | ---: | ---: | ---: |\n",
			by.name)
		row := func(name string, part table) {
			late := 0
			for _, m := range part {
				if m.outcome == hung {
					late++
				}
			}
			found := len(part) - part.survivors()
			fmt.Fprintf(w, "| %s | %d | %d | %d | %.2f |\n", name, len(part), found, late, part.score())
		}
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			row(name, parts[name])
		}
		row("all", t)
		if by.name == "kind" {
			estimate, within := stratified(parts, candidates)
			fmt.Fprintf(w, "\nof all faults of these kinds, by their number in the code: %.3f +- %.3f are found\n",
				estimate, within)
		}
	}
}

// stratified weights the scores of kinds by their numbers of candidates. The standard error counts
// half a survivor and half a find more than there were, so that a few finds are no certainty.
func stratified(kinds map[string]table, candidates map[string]int) (score, standardError float64) {
	all := 0.0
	for kind := range kinds {
		all += float64(candidates[kind])
	}
	for kind, part := range kinds {
		share, n := float64(candidates[kind])/all, float64(len(part))
		p := (n - float64(part.survivors()) + 0.5) / (n + 1)
		score += share * part.score()
		standardError += share * share * p * (1 - p) / n
	}
	return score, math.Sqrt(standardError)
}
