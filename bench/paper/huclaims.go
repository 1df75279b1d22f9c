package paper

import (
	"fmt"
	"strings"
)

// huClaims tests what the text says about Table 3.
func huClaims(r *Result) []Claim {
	return []Claim{
		r.faster("BCDNPKL with the square loss is always faster than SimpleNPKL with the squared hinge.",
			[]string{huSL}, []string{huSimply}, 1),
		r.faster("NPK and SDPLR are significantly slower than the other methods in general.",
			[]string{"ITML", huSimply, huHL, huSHL, huSL}, []string{"NPK", "SDPLR"}, 0.75),
		r.faster("Of the three losses the square loss costs least.", []string{huSL}, []string{huHL, huSHL},
			1),
		r.ahead("ITML does not compete with SimpleNPKL with the squared hinge in accuracy.", huSimply,
			"ITML"),
		r.ahead("SimpleNPKL with the linear loss does not compete with its squared hinge.", huSimply,
			huLinear),
		r.ahead("BCDNPKL with the square loss is as accurate as the state of the art.", huSL, "ITML", "NPK",
			"SDPLR", huSimply),
	}
}

// faster tests the claim that each of some methods takes less time, in the median over the
// repetitions, than each of others: on at least that share of the columns for each of the others.
func (r *Result) faster(text string, fast, slow []string, share float64) Claim {
	c, total := Claim{Text: text, Verdict: Reproduced}, 0
	all := float64(len(fast) * len(r.Table.Columns))
	var parts []string
	for _, s := range slow {
		won := 0
		for _, f := range fast {
			n := 0
			for j := range r.Table.Columns {
				if r.Quartiles(r.Table.row(f+huSeconds), j)[1] < r.Quartiles(r.Table.row(s+huSeconds), j)[1] {
					n++
				}
			}
			won += n
			parts = append(parts, fmt.Sprintf("%s before %s on %d of %d", f, s, n, len(r.Table.Columns)))
		}
		if float64(won) < share*all {
			c.Verdict = Mixed
		}
		total += won
	}
	if c.Verdict == Mixed && 2*float64(total) <= all*float64(len(slow)) {
		c.Verdict = Worse
	}
	c.Detail = "median seconds, sets: " + strings.Join(parts, "; ")
	return c
}

// ahead tests the claim that a method is at least as good as each of others, by the rule of orders.
func (r *Result) ahead(text, own string, others ...string) Claim {
	c := Claim{Text: text, Verdict: Reproduced}
	var parts []string
	for _, other := range others {
		o, err := r.order(r.Table.row(own), r.Table.row(other))
		if err != nil { // values are finite
			panic(err)
		}
		if o.Verdict == Worse || o.Verdict == Mixed && c.Verdict == Reproduced {
			c.Verdict = o.Verdict
		}
		parts = append(parts,
			fmt.Sprintf("%s against %s: ahead on %d of %d sets, with certainty on %d, behind with "+
				"certainty on %d%s", own, other, o.Ahead, o.Columns, o.Surely, o.Behind,
				r.trailing(r.Table.row(own), r.Table.row(other), "")))
	}
	c.Detail = strings.Join(parts, "; ")
	return c
}
