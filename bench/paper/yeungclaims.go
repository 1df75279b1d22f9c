package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/bench/statistics"
)

// contest is the comparison of two systems on several columns.
type contest struct {
	columns int
	ahead   int // columns on which the mean of the first is at least as good
	surely  int // of these, with certainty by a paired t-test
	behind  int // columns on which the second is better with certainty

	trailing string // the columns on which the mean of the first is worse, in words
}

// series compares two series of trials, and adds the result.
func (d *contest) series(own, other []float64) {
	d.columns++
	_, p, err := statistics.PairedT(own, other)
	sure := err == nil && p < certainty // an error: too few trials
	switch gain := sumOf(own) - sumOf(other); {
	case gain >= 0:
		d.ahead++
		if sure && gain > 0 {
			d.surely++
		}
	case sure:
		d.behind++
	}
}

func sumOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}

// contest compares two rows on the columns whose names have a suffix, without those that lack data.
func (r *Result) contest(own, other, suffix string) contest {
	a, b := r.Table.row(own), r.Table.row(other)
	d := contest{trailing: r.trailing(a, b, suffix)}
	for j, column := range r.Table.Columns {
		x, y := r.column(a, j), r.column(b, j)
		if strings.HasSuffix(column, suffix) && len(given(len(x), func(i int) float64 {
			return x[i] + y[i]
		})) == len(x) {
			d.series(x, y)
		}
	}
	return d
}

// String returns the numbers that decide.
func (d contest) String() string {
	return fmt.Sprintf("ahead on %d of %d (certainly on %d, certainly behind on %d)%s", d.ahead, d.columns,
		d.surely, d.behind, d.trailing)
}

// on returns the verdict for a claim about a share of the columns: reproduced if the first system
// is ahead on that many and certainly behind on none.
func (d contest) on(share float64) Verdict {
	switch {
	case d.behind == 0 && float64(d.ahead) >= share*float64(d.columns):
		return Reproduced
	case d.ahead > d.behind:
		return Mixed
	}
	return Worse
}

// worstVerdict returns the worst of some verdicts.
func worstVerdict(verdicts ...Verdict) Verdict {
	out := Reproduced
	for _, v := range verdicts {
		if out == Reproduced || v == Worse {
			out = v
		}
	}
	return out
}

// aheadOf tests that a system is ahead of others on that share of the columns.
func (r *Result) aheadOf(text, own string, others []string, suffix string, share float64) Claim {
	c := Claim{Text: text, Verdict: Reproduced}
	for _, other := range others {
		d := r.contest(own, other, suffix)
		c.Verdict = worstVerdict(c.Verdict, d.on(share))
		c.Detail += fmt.Sprintf("; %s: %s", other, d)
	}
	c.Detail = strings.TrimPrefix(c.Detail, "; ")
	return c
}

// yeungXORClaims tests what the text says about Table 1.
func yeungXORClaims(r *Result) []Claim {
	first := slices.Index(r.Table.Columns, "kbeta, m = 100")
	c := Claim{Text: "the method is significantly ahead of the input, the kernel and RCA, for every number " +
		"of landmarks", Verdict: Reproduced}
	for j := range first {
		var d contest
		for k := first; k < len(r.Table.Columns); k++ {
			d.series(r.column(0, k), r.column(0, j))
		}
		if d.surely < d.columns {
			c.Verdict = worstVerdict(c.Verdict, Mixed)
		}
		c.Verdict = worstVerdict(c.Verdict, d.on(1))
		c.Detail += fmt.Sprintf("; %s: %s", r.Table.Columns[j], d)
	}
	c.Detail = strings.TrimPrefix(c.Detail, "; ")
	up, steps := 0, len(r.Table.Columns)-1-first
	for k := first + 1; k < len(r.Table.Columns); k++ {
		if r.Ours[0][k].Mean > r.Ours[0][k-1].Mean {
			up++
		}
	}
	return []Claim{c, risingClaim("more landmarks generally give better results", up, steps,
		r.Ours[0][first].Mean, r.Ours[0][first+steps].Mean)}
}

// risingClaim tests that values grow in general: in most steps, and from the first to the last.
func risingClaim(text string, up, steps int, first, last float64) Claim {
	c := Claim{Text: text, Verdict: Worse,
		Detail: fmt.Sprintf("higher in %d of %d steps, from %.3f to %.3f", up, steps, first, last)}
	switch {
	case last > first && 2*up > steps:
		c.Verdict = Reproduced
	case last > first:
		c.Verdict = Mixed
	}
	return c
}
