package verdict

import "fmt"

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
	rarer := min(v.Must, v.Cannot)
	if v.Alone {
		rarer = v.Must
	}
	add(v.Raw >= nearOne, "distances without learning rank links nearly right already (AUC %.2f): there is "+
		"little to learn", shown(v.Raw))
	add(rarer < few, "only %d must-links and %d cannot-links judge: more links, or all folds, decide", v.Must,
		v.Cannot)
	add(max(v.AUC, v.Raw) < nearHalf, "neither distance tells links apart: the features may not show what the links mean, or many links may be wrong; check the links, add or drop features, try another kernel")
	add(gap > overfit, "the fit learns its own links (AUC %.2f) better than what they have in common with "+
		"others: more links, fewer features, or the method gml", inside)
	add(true, "some links may be mislabeled: look at those that other links contradict")
	add(a.learner.Method() != "blend" && v.Cannot > 0, "the method may not suit these points: let the fit "+
		"choose it, or search")
	add(true, "the features may be on scales that hide the ones that matter: prepare columns, or drop those that say nothing")
	return out
}
