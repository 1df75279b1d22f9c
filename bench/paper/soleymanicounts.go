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
	c := comparisons{numbers: r.Table.numbers, why: "The sets are not the paper's."}
	for _, row := range []string{"LLMA", soleymaniOwn} {
		method := "own method"
		if row == "LLMA" {
			method = row
		}
		c.add(fmt.Sprintf("sets with a median of at least %g, %s", soleymaniWell, row), printed.Key{Table: "soleymani-fig2", Dataset: "three synthetic sets",
			Condition: "sets with good results", Method: method, Measure: "number_of_data_sets"}, once(float64(soleymaniGoodSets(r, row))))
	}
	return c.list
}

// soleymaniGoodClaims tests what the text says about Figure 2.
func soleymaniGoodClaims(r *Result) []Claim {
	own, rival, all := soleymaniGoodSets(r, soleymaniOwn), soleymaniGoodSets(r, "LLMA"), len(r.Table.Columns)
	claim := func(text string, ok bool, count int) Claim {
		c := Claim{Text: text, Verdict: Worse, Detail: fmt.Sprintf("median of at least %g on %d of %d", soleymaniWell, count, all)}
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
	}{{"clearly better than Xiang et al. 2008", len(d.ahead)}, {"comparable with Xiang et al. 2008", len(d.equal)}} {
		c.add(fmt.Sprintf("sets of %d, %s", d.columns, one.condition), printed.Key{Table: "soleymani-fig3", Dataset: "nine UCI sets",
			Condition: one.condition, Method: "own method", Measure: "number_of_data_sets"}, once(float64(one.count)))
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
	counts := Claim{Text: "the paper's method is clearly better than that of Xiang et al. on six of nine sets and comparable on two", Verdict: Worse,
		Detail: fmt.Sprintf("clearly better on %d of %d, comparable on %d, clearly behind on %v", len(d.ahead), d.columns, len(d.equal), d.behind)}
	switch {
	case 9*len(d.ahead) >= 6*d.columns && len(d.behind) <= 1:
		counts.Verdict = Reproduced
	case len(d.ahead) > len(d.behind):
		counts.Verdict = Mixed
	}
	return []Claim{
		r.against("the paper's method is generally better than the others", soleymaniOwn, soleymaniRivals(), nil, duel.better),
		counts,
		r.against("a nonlinear metric is usually more useful than a linear one", soleymaniOwn, []string{soleymaniLinear}, nil, duel.better),
		r.against("LLMA is better with lambda = 0.2 than with 5", "LLMA", []string{"LLMA, lambda 5"}, nil, duel.better),
	}
}

// soleymaniTried describes what was tried for Figure 3.
func soleymaniTried() []string {
	return nil
}
