package paper

import (
	"fmt"

	"github.com/mustlink/mustlink/bench/printed"
)

// soleymaniWell is the median balanced Rand index from which a result is good: the paper judges by
// eye, and a random clustering has 0.5.
const soleymaniWell = 0.9

// soleymaniGoodSets returns the number of sets with good results of a row.
func soleymaniGoodSets(r *Result, row string) int {
	count := 0
	for j := range r.Table.Columns {
		if !r.Table.absent(j) && r.Quartiles(r.Table.row(row), j)[1] >= soleymaniWell {
			count++
		}
	}
	return count
}

// soleymaniGood compares the numbers of sets with good results.
func soleymaniGood(r *Result) []Comparison {
	c := comparisons{numbers: r.Table.numbers, why: r.Table.Why}
	for _, row := range []string{"LLMA", soleymaniOwn} {
		method := "own method"
		if row == "LLMA" {
			method = row
		}
		c.add(fmt.Sprintf("sets with a median of at least %g, %s", soleymaniWell, row),
			printed.Key{Table: "soleymani-fig2", Dataset: "three synthetic sets",
				Condition: "sets with good results", Method: method, Measure: "number_of_data_sets"},
			once(float64(soleymaniGoodSets(r, row))))
	}
	return c.list
}

// soleymaniGoodClaims tests what the text says about Figure 2.
func soleymaniGoodClaims(r *Result) []Claim {
	own, rival, all := soleymaniGoodSets(r, soleymaniOwn), soleymaniGoodSets(r, "LLMA"), len(r.Table.Columns)
	claim := func(text string, ok bool, count int) Claim {
		c := Claim{Text: text, Verdict: Worse,
			Detail: fmt.Sprintf("median of at least %g on %d of %d", soleymaniWell, count, all)}
		if ok {
			c.Verdict = Reproduced
		}
		return c
	}
	return []Claim{
		claim("the paper's method performs well on all three sets", own == all, own),
		claim("LLMA gives good results on two of the three sets", rival == all-1, rival),
	}
}

// soleymaniCounts compares the numbers of sets on which the own method is clearly better than that
// of Xiang et al., or comparable with it.
func soleymaniCounts(r *Result) []Comparison {
	d := r.duel(soleymaniOwn, "xiang", nil)
	c := comparisons{numbers: r.Table.numbers, why: r.Table.Why}
	for _, one := range []struct {
		condition string
		count     int
	}{{"clearly better than Xiang et al. 2008", len(d.ahead)},
		{"comparable with Xiang et al. 2008", len(d.equal)}} {
		c.add(fmt.Sprintf("sets of %d, %s", d.columns, one.condition),
			printed.Key{Table: "soleymani-fig3", Dataset: "nine UCI sets",
				Condition: one.condition, Method: "own method", Measure: "number_of_data_sets"},
			once(float64(one.count)))
	}
	if len(r.Table.Absent) > 0 {
		for k := range c.list {
			c.list[k].Partial = fmt.Sprintf("%d of 9 sets", d.columns)
		}
	}
	return c.list
}

// soleymaniClaims tests what the text says about Figure 3.
func soleymaniClaims(r *Result) []Claim {
	d := r.duel(soleymaniOwn, "xiang", nil)
	counts := Claim{Text: "the paper's method is clearly better than that of Xiang et al. on six of nine " +
		"sets and comparable on two", Verdict: Worse,
		Detail: fmt.Sprintf("clearly better on %d of %d, comparable on %d, clearly behind on %v",
			len(d.ahead), d.columns, len(d.equal), d.behind)}
	switch {
	case 9*len(d.ahead) >= 6*d.columns && len(d.behind) <= 1:
		counts.Verdict = Reproduced
	case len(d.ahead) > len(d.behind):
		counts.Verdict = Mixed
	}
	return []Claim{
		r.against("the paper's method is generally better than the others", soleymaniOwn, soleymaniRivals(),
			nil, duel.better),
		counts,
		r.against("a nonlinear metric is usually more useful than a linear one", soleymaniOwn,
			[]string{soleymaniLinear}, nil, duel.better),
		r.against("LLMA is better with lambda = 0.2 than with 5", "LLMA", []string{"LLMA, lambda 5"}, nil,
			duel.better),
	}
}

// soleymaniTried describes what was tried for Figure 3.
func soleymaniTried() []string {
	return []string{
		"Counts are of the eight sets on which the printed form is clearly better, comparable and clearly " +
			"behind, from 20 draws with random starts unless another number stands there. Against xiang " +
			"they are 4, 2 " +
			"and 2.",
		"The numbers of links, which the paper does not state: with half as many the counts against xiang " +
			"are 4, 1 and 3; with twice as many 6, 1 and 1, the paper's but for one set; with four times " +
			"as many 5, 3 " +
			"and 0. Against the linear form of the method they are 4, 2 and 2 with our numbers, then 2, 3 " +
			"and 3; 6, 1 " +
			"and 1; and 5, 3 and 0. This is the most likely reason.",
		"The value of a draw: the best of the 20 runs of k-means instead of their mean gives 3, 4 and 1, " +
			"and k-means++ starts give 4, 3 and 1. On soybean-small the best run finds the classes in the " +
			"input " +
			"(1.000), so that no metric can be better.",
		"Dimensions and directions: directions that are orthonormal in the feature space give 6, 0 and 2. " +
			"A quarter of the must-linked points instead of half gives 5, 2 and 1, and coefficients of all " +
			"points " +
			"instead of the must-linked ones give 1, 1 and 6 (16 draws, k-means++).",
		"alpha: 0.02 for all sets gives 3, 2 and 3, and 2 gives 2, 4 and 2, against 3, 3 and 2 with the " +
			"printed values (16 draws, k-means++).",
		"Scaling: on the features as they are, 3, 1 and 4 (16 draws, k-means++): the printed method and " +
			"xiang then have 0.652 and 0.800 on wine, where they have 0.963 and 0.929 on standardized " +
			"features.",
	}
}
