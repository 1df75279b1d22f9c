// Package verdict (internal: may change) says whether a learned metric is better than the points
// without learning, by links of rows that its fits did not use.
//
// Linked rows are dealt into parts ([Divide]). Each part is left out of a fit, with all links of
// its rows, and the links between these rows and those of the fit judge the metric
// ([Fold.Ranking]). [Assess] does so for one method, [Grow] for growing parts of the links; package
// selection compares methods in the same way.
package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Verdict compares a learned metric with the distance of the prepared points without learning, on
// links between rows that were no part of a fit and rows of that fit.
type Verdict struct {
	// AUC is the probability that a held-out must-link is shorter than a held-out cannot-link in
	// the learned metric, less what the rows of the fit give whatever the held-out rows are, plus
	// 1/2: 1/2 for a metric that says nothing about links. Raw is that in the distance without
	// learning. For must-links alone the other held-out rows take the place of cannot-links. Both
	// may slightly leave [0, 1].
	AUC float64 `json:"auc"`
	Raw float64 `json:"raw"`
	// Gain is AUC - Raw. Of a method that was chosen among several by the same links it is what the
	// choice gained on links that it was not made by.
	Gain float64 `json:"gain"`
	// The standard errors of AUC and of Gain. That of Gain is what it would be if the metric had
	// learned nothing.
	Error     float64 `json:"error"`
	GainError float64 `json:"gain_error"`
	Found     Finding `json:"finding"`
	// The must-links and cannot-links that judged, once for each held-out end, and the rows held
	// out.
	Must   int `json:"must"`
	Cannot int `json:"cannot"`
	Rows   int `json:"rows"`
	Fits   int `json:"fits"`  // fits that left out a part of the linked rows
	Parts  int `json:"parts"` // the parts that the linked rows were dealt into
	Failed int `json:"failed,omitempty"`
	// Alone is true if must-links alone judged.
	Alone bool `json:"must_links_alone,omitempty"`
	// Candidates is the number of methods that this one was chosen among by the same links, 0 for
	// none.
	Candidates int `json:"candidates,omitempty"`
	// Rejected is the method of the metric that was judged, if the model is of the method raw
	// because it was worse; otherwise "".
	Rejected string `json:"rejected,omitempty"`
	// Partners is nil where the AUC says enough.
	Partners *Partners `json:"partners,omitempty"`
	// Missing says why nothing could be judged, "" for a verdict. All other fields are then 0.
	Missing string `json:"missing,omitempty"`
	// Reasons are the likely reasons for a metric that is not better, with what to try.
	Reasons []string `json:"reasons,omitempty"`
}

// Finding is the sense of a verdict.
type Finding string

// The findings.
const (
	Better  Finding = "better"  // than the points without learning
	Similar Finding = "similar" // the links do not tell which is better
	Worse   Finding = "worse"
	Unknown Finding = "unknown" // nothing could be judged
)

// Clear is the number of standard errors by which a metric must be ahead to be called better: if
// learning has no effect, it is called so in one of twenty cases.
const Clear = 1.645

// found returns the finding of a gain that needs so many standard errors to be clear.
func found(gain, err, needed float64) Finding {
	switch {
	case gain > needed*err:
		return Better
	case gain < -needed*err:
		return Worse
	}
	return Similar
}

// Finding returns whether the learned metric is better.
func (v *Verdict) Finding() Finding {
	if v.Missing != "" {
		return Unknown
	}
	return v.Found
}

// String returns the verdict as a line of text.
func (v *Verdict) String() string {
	sense := map[Finding]string{Better: "the learned metric is better", Similar: "no clear difference",
		Worse: "worse than raw"}
	if v.Missing != "" {
		return "not judged: " + v.Missing
	}
	said := sense[v.Found]
	if v.Rejected != "" {
		said = v.Rejected + " is worse than raw, which the model is"
	}
	return fmt.Sprintf("AUC %.2f ± %.2f (raw %.2f), gain %.2f ± %.2f: %s",
		shown(v.AUC), v.Error, shown(v.Raw), v.Gain, v.GainError, said)
}

// shown returns an AUC for people: a figure that leaves [0, 1] by what was subtracted is drawn
// back.
func shown(auc float64) float64 { return min(1, max(0, auc)) }

const (
	power = 0.84 // normal quantile of a chance of 4 in 5
	crude = 0.05 // standard error from which a gain may be missed
)

// Detectable returns the gain that is called better in four cases of five.
func (v *Verdict) Detectable() float64 { return (Clear + power) * v.GainError }

// TooEarly reports whether there is no clear difference, and a gain of some size may be missed.
func (v *Verdict) TooEarly() bool { return v.Found == Similar && v.GainError > crude }

// Details returns what the verdict rests on, in lines for people; none for a fit that was not
// judged.
func (v *Verdict) Details() []string {
	if v.Missing != "" {
		return nil
	}
	line := fmt.Sprintf("judged on %s of %d new rows by %d of %d fits, each without one of %d parts of the "+
		"linked rows", v.links(), v.Rows, v.Fits, v.Parts, v.Parts)
	if v.Fits+v.Failed < v.Parts {
		line += fmt.Sprintf("; all %d fits would find smaller gains", v.Parts)
	}
	if v.Failed > 0 {
		line += fmt.Sprintf("; failed fits: %d", v.Failed)
	}
	out := []string{line}
	switch {
	case v.Candidates > 0 && v.Found == Better:
		out = append(out, fmt.Sprintf("chosen among %d candidates by the same links: the gain is that of the "+
			"choice on links that it was not made by", v.Candidates))
	case v.Candidates > 0:
		out = append(out, fmt.Sprintf("of %d candidates none is clearly better by these links", v.Candidates))
	}
	if p := v.Partners; p != nil {
		out = append(out, fmt.Sprintf(
			"the partner of a must-link is among the %d nearest rows, beyond chance: "+
				"%.2f (raw %.2f), gain %.2f ± %.2f",
			p.Nearest, p.Hits, p.Raw, p.Gain, p.GainError))
	}
	if v.TooEarly() {
		out = append(out, fmt.Sprintf("a gain below %.2f would usually be missed", v.Detectable()))
	}
	return out
}

// links counts those that judge.
func (v *Verdict) links() string {
	if v.Alone {
		return fault.Count(v.Must, "must-link")
	}
	return links.Numbers(v.Must, v.Cannot)
}

// Validate returns an error for a verdict of a file that no fit can have made. A verdict of
// versions that compared other links is said to be missing.
func (v *Verdict) Validate() error {
	if v.Found == "" && v.Missing == "" {
		*v = Verdict{Missing: "the model is of an earlier version, whose verdict could take noise for a " +
			"gain: " +
			"fit again"}
	}
	for _, x := range []float64{v.AUC, v.Raw} {
		if !(x >= -0.5 && x <= 1.5) {
			return fault.Data("", "an AUC is %v: want -0.5 to 1.5", x)
		}
	}
	for _, x := range []float64{v.Error, v.GainError} {
		if !(x >= 0) || math.IsInf(x, 1) {
			return fault.Data("", "a standard error is %v: want a finite number >= 0", x)
		}
	}
	if p := v.Partners; p != nil {
		for _, x := range []float64{p.Hits, p.Raw, p.Gain, p.GainError} {
			if !(x >= -2 && x <= 2) {
				return fault.Data("", "a share of partners is %v: want -1 to 1", x)
			}
		}
	}
	if v.Must < 0 || v.Cannot < 0 || v.Fits < 0 || v.Rows < 0 || v.Parts < v.Fits || v.Failed < 0 ||
		v.Candidates < 0 {
		return fault.Data("",
			"%d must-links, %d cannot-links, %d rows and %d of %d fits: want numbers >= 0, at "+
				"most as many fits as parts",
			v.Must, v.Cannot, v.Rows, v.Fits, v.Parts)
	}
	if v.Missing == "" && v.Found != Better && v.Found != Similar && v.Found != Worse {
		return fault.Unknown("finding", string(v.Found),
			[]string{string(Better), string(Similar), string(Worse)})
	}
	return nil
}

// The figures that make a reason likely.
const (
	few      = 60   // held-out links of a kind, each of which may count twice
	nearOne  = 0.95 // AUC that leaves little to learn
	nearHalf = 0.6  // AUC of features that hardly tell links apart
	overfit  = 0.15 // AUC of links that a fit knows, minus that of held-out links
	listed   = 3
)

// reasons returns the likely reasons for a metric that is not better than the points without
// learning, the likeliest first, with what to try.
func (a *assessment) reasons(v *Verdict) []string {
	var out []string
	add := func(likely bool, format string, args ...any) {
		if likely && len(out) < listed {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	inside, gap := a.insideGap()
	rarer, folds, gml := min(v.Must, v.Cannot), "", ", or the method gml"
	if v.Alone {
		rarer = v.Must
	}
	if v.Fits+v.Failed < v.Parts {
		folds = ", or all folds,"
	}
	if a.learner.Method() == "gml" {
		gml = ""
	}
	add(v.Raw >= nearOne, "distances without learning rank links nearly right already (AUC %.2f): there is "+
		"little to learn", shown(v.Raw))
	add(rarer < few, "only %s judge: more links%s decide", v.links(), folds)
	add(max(v.AUC, v.Raw) < nearHalf,
		"neither distance tells links apart: the features may not show what the links mean, or many links "+
			"may be wrong; check the links, add or drop features, try another kernel")
	add(gap > overfit, "the fit learns its own links (AUC %.2f) better than what they have in common with "+
		"others: more links, fewer features%s", inside, gml)
	add(true, "some links may be mislabeled: look at those that seem wrong")
	add(!slices.Contains([]string{"blend", "adapt"}, a.learner.Method()) && v.Cannot > 0, "the method may not suit these points: let the fit "+
		"choose it, or search")
	add(scalesDiffer(a.x), "the features are on scales that may hide the ones that matter: prepare columns, or drop "+
		"those that say nothing")
	return out
}

// scalesDiffer reports whether the standard deviation of one column is more than ten times that of
// another, where columns are numbers that vary. It runs on one core: it reads the points once, for
// a metric that is not better.
func scalesDiffer(x points.Points) bool {
	dense, ok := x.(*points.Dense)
	if !ok {
		return false
	}
	origin, sums, squares := dense.Row(0), make([]float64, dense.D), make([]float64, dense.D)
	for i := range dense.N {
		for j, v := range dense.Row(i) {
			v -= origin[j]
			sums[j], squares[j] = sums[j]+v, squares[j]+v*v
		}
	}
	low, high := math.Inf(1), 0.0
	for j, square := range squares {
		if s := square - sums[j]*sums[j]/float64(dense.N); s > 0 {
			low, high = min(low, s), max(high, s)
		}
	}
	return high > 100*low
}
