package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/bench/statistics"
)

// starred returns the row among the first rows of a column that is better than each of the others
// with certainty (paired Wilcoxon test), -1 if there is none.
func (r *Result) starred(rows, j int) int {
	for i := range rows {
		best := true
		for other := range rows {
			best = best && (other == i || r.surelyAhead(i, j, other, j))
		}
		if best {
			return i
		}
	}
	return -1
}

// surelyAhead reports whether a row and column has a higher mean than another one, with certainty.
func (r *Result) surelyAhead(i, j, i2, j2 int) bool {
	_, p, err := statistics.Wilcoxon(r.column(i, j), r.column(i2, j2))
	return err == nil && p < certainty && r.Ours[i][j].Mean > r.Ours[i2][j2].Mean
}

// starKey is the name of the printed star of a row and column.
func starKey(key printed.Key) printed.Key {
	key.Table, key.Measure = "tsang-4-stars", "significant_best_95"
	return key
}

// stars compares the printed stars with ours: 1 if we have it too, else 0.
func stars(r *Result) []Comparison {
	c := comparisons{numbers: r.Table.numbers,
		why: "Not better than each of the other three with certainty (paired Wilcoxon test, 0.05)."}
	for j, column := range r.Table.Columns {
		ours := r.starred(uciPrinted, j)
		for i := range uciPrinted {
			value := 0.0
			if i == ours {
				value = 1
			}
			c.add("star: "+r.Table.Rows[i].Name+", "+column, starKey(r.Table.Keys[i][j]), once(value))
		}
	}
	return c.list
}

// starNote counts our stars that the paper does not print.
func starNote(r *Result) []string {
	if r.Table.Keys == nil {
		return nil
	}
	var more []string
	numbers := r.Table.numbers
	for j, column := range r.Table.Columns {
		if i := r.starred(uciPrinted, j); i >= 0 {
			if _, ok := numbers.Find(starKey(r.Table.Keys[i][j])); !ok {
				more = append(more, r.Table.Rows[i].Name+" on "+column)
			}
		}
	}
	if len(more) == 0 {
		return []string{"Every star of ours, for a system that is better than the other three with " +
			"certainty, is printed in the paper too."}
	}
	return []string{fmt.Sprintf(
		"Stars of ours, for a system that is better than the other three with certainty, that are not in "+
			"the paper: %d (%s).", len(more), strings.Join(more, "; "))}
}

// orderClaim tests whether a row is better than another one over the columns. There is no claim
// for too few repetitions.
func (r *Result) orderClaim(text string, own, other int) []Claim {
	o, err := r.order(own, other)
	if err != nil {
		return nil
	}
	printed := ""
	if n, all := r.Table.printedAhead(own, other); all > 0 {
		printed = fmt.Sprintf(" (paper: ahead on %d of %d)", n, all)
	}
	return []Claim{{text, o.Verdict,
		fmt.Sprintf("ahead on %d of %d columns, on %d with certainty; behind with certainty on %d%s%s",
			o.Ahead, o.Columns, o.Surely, o.Behind, r.trailing(own, other, ""), printed)}}
}

// printedAhead counts the columns with a printed value of both rows, and those of them where the
// first is at least as good.
func (t Table) printedAhead(own, other int) (ahead, all int) {
	for j := range t.Columns {
		a, b := t.Rows[own].Printed[j].Mean, t.Rows[other].Printed[j].Mean
		if math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		all++
		if float64(t.Good)*(a-b) >= 0 {
			ahead++
		}
	}
	return ahead, all
}

// tsang4Claims tests the sentences of the paper about Table IV.
func tsang4Claims(r *Result) []Claim {
	claims := r.orderClaim("RCA improves on the Euclidean metric", uciRCA, uciEuclidean)
	claims = append(claims,
		r.orderClaim("kernel RCA improves on its Gaussian kernel", uciKernelRCA, uciGaussian)...)
	claims = append(claims, bestClaim(r))
	claims = append(claims, featuresClaim(r)...)
	return append(claims, moreClaim(r))
}

// bestClaim counts the columns on which each system of the paper is best.
func bestClaim(r *Result) Claim {
	var ours, theirs [uciPrinted]int
	for j := range r.Table.Columns {
		best, printed := 0, 0
		for i := range uciPrinted {
			if r.Ours[i][j].Mean > r.Ours[best][j].Mean {
				best = i
			}
			if r.Table.Rows[i].Printed[j].Mean > r.Table.Rows[printed].Printed[j].Mean {
				printed = i
			}
		}
		ours[best]++
		theirs[printed]++
	}
	c := Claim{Text: "kernel RCA is the best of the four on most data sets", Verdict: Worse}
	most := true
	var parts []string
	for i := range uciPrinted {
		most = most && ours[i] <= ours[uciKernelRCA]
		parts = append(parts, fmt.Sprintf("%s %d (paper: %d)", r.Table.Rows[i].Name, ours[i], theirs[i]))
	}
	switch n := ours[uciKernelRCA]; {
	case 2*n > len(r.Table.Columns):
		c.Verdict = Reproduced
	case most:
		c.Verdict = Mixed
	}
	c.Detail = fmt.Sprintf("best of %d columns: %s", len(r.Table.Columns), strings.Join(parts, ", "))
	return c
}

// manyFeatures is the number of features from which a set has many: seven of the twelve sets.
const manyFeatures = 18

// featuresClaim compares the advantage of kernel RCA over the best of the other three on sets with
// many features and on the others.
func featuresClaim(r *Result) []Claim {
	var gains [2][]float64 // few, many; one mean for every trial
	for _, trial := range r.Trials {
		var sum, n [2]float64
		for j := range r.Table.Columns {
			key := printed.Key{Table: "tsang-3", Dataset: r.Table.Keys[uciKernelRCA][j].Dataset,
				Measure: "features"}
			size, ok := r.Table.numbers.Find(key)
			if !ok {
				return nil
			}
			many := 0
			if size.Value >= manyFeatures {
				many = 1
			}
			other := max(trial[uciEuclidean][j], trial[uciRCA][j], trial[uciGaussian][j])
			sum[many] += trial[uciKernelRCA][j] - other
			n[many]++
		}
		for many := range sum {
			gains[many] = append(gains[many], sum[many]/n[many])
		}
	}
	_, p, err := statistics.Wilcoxon(gains[1], gains[0])
	if err != nil {
		return nil
	}
	few, many := summarize(gains[0]).Mean, summarize(gains[1]).Mean
	c := Claim{Text: "kernel RCA gains most on sets with many features", Verdict: Worse,
		Detail: fmt.Sprintf(
			"kernel RCA minus the best of the others: %+.3f on sets of %d features or more, %+.3f on the "+
				"others (p = %.2g)", many, manyFeatures, few, p)}
	switch {
	case many > few && p < certainty:
		c.Verdict = Reproduced
	case many > few:
		c.Verdict = Mixed
	}
	return []Claim{c}
}

// moreClaim compares much with little side information, for every system of the paper and set.
func moreClaim(r *Result) Claim {
	ahead, behind, all := 0, 0, 0
	var less []string
	for i, row := range r.Table.Rows[:uciPrinted] {
		for j := 0; j+1 < len(r.Table.Columns); j += 2 {
			all++
			if r.Ours[i][j+1].Mean >= r.Ours[i][j].Mean {
				ahead++
				continue
			}
			less = append(less, row.Name+" on "+strings.TrimSuffix(r.Table.Columns[j], ", little"))
			if r.surelyAhead(i, j, i, j+1) {
				behind++
			}
		}
	}
	c := Claim{Text: "more side information gives better clusters, with every metric", Verdict: Worse,
		Detail: fmt.Sprintf(
			"much is ahead of little on %d of %d systems and sets, behind with certainty on %d (paper: "+
				"ahead on %d)", ahead, all, behind, printedMore(r.Table))}
	if less != nil {
		c.Detail += "; not for " + strings.Join(less, ", ")
	}
	switch {
	case behind == 0 && 2*ahead >= all:
		c.Verdict = Reproduced
	case ahead > behind:
		c.Verdict = Mixed
	}
	return c
}

// printedMore counts the systems and sets whose printed value with much side information is at
// least that with little.
func printedMore(t Table) int {
	n := 0
	for i := range uciPrinted {
		for j := 0; j+1 < len(t.Columns); j += 2 {
			if t.Rows[i].Printed[j+1].Mean >= t.Rows[i].Printed[j].Mean {
				n++
			}
		}
	}
	return n
}

// separationClaims tests what the paper says about the XOR data.
func separationClaims(r *Result) []Claim {
	var claims []Claim
	for i, text := range []string{"", "linear RCA fails on the XOR data",
		"clustering by the Gaussian kernel alone is disappointing",
		"kernel RCA clusters the XOR data superbly"} {
		if text == "" {
			continue
		}
		mean, own := r.Ours[i][0].Mean, i == uciKernelRCA
		c := Claim{text, Worse, fmt.Sprintf("%s: Rand index %.3f", r.Table.Rows[i].Name, mean)}
		if own && mean > 0.95 || !own && mean < 0.6 {
			c.Verdict = Reproduced
		}
		claims = append(claims, c)
	}
	return claims
}

// retrievalClaims tests what the paper says about retrieval.
func retrievalClaims(r *Result) []Claim {
	claims := r.orderClaim("kernel RCA improves substantially on the spectrum kernel", 1, 0)
	claims = append(claims,
		r.orderClaim("kernel RCA improves substantially on the Gaussian kernel over it", 3, 2)...)
	grows, behind := 0, 0
	for _, i := range []int{1, 3} {
		for j := 1; j < len(r.Table.Columns); j++ {
			if r.Ours[i][j].Mean > r.Ours[i][j-1].Mean {
				grows++
			} else if r.surelyAhead(i, j-1, i, j) {
				behind++
			}
		}
	}
	steps := 2 * (len(r.Table.Columns) - 1)
	c := Claim{"more labeled neighbors give a larger area", Mixed,
		fmt.Sprintf("the mean grows in %d of %d steps, and falls with certainty in %d", grows, steps, behind)}
	switch {
	case behind == 0 && 2*grows >= steps:
		c.Verdict = Reproduced
	case behind >= grows:
		c.Verdict = Worse
	}
	return append(claims, c)
}
