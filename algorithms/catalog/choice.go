package catalog

import (
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/parts"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Choice is a method, and the reason for it if nobody named it.
type Choice struct {
	Method Method
	Why    string            // "" for a method that was named
	Params map[string]string // of the method as it is chosen, nil for its defaults
}

// Choose returns the method for links and other lessons when nobody names one: mlkr for targets,
// lsml for quadruplets, itml for triplets; for links blend if there are both kinds, but lleratio in
// parts with more than 20,000 linked rows, krca for must-links alone, and itml for cannot-links
// alone. A nil set stands for links of both kinds. [Choice.Among] has the last word once the rows
// are prepared. docs/choosing.md has the evidence.
func Choose(l *links.Set, lesson algorithms.Lesson) (c Choice, err error) {
	must, cannot := 1, 1
	if l != nil {
		must, cannot = l.Count()
	}
	name := ""
	switch {
	case lesson.Targets != nil:
		name, c.Why = "mlkr", "it learns from targets"
	case lesson.Quadruplets != nil:
		name, c.Why = "lsml", "it learns from quadruplets"
	case lesson.Triplets != nil:
		name, c.Why = "itml", "it learns from triplets"
	case must == 0:
		name, c.Why = "itml", "there are only cannot-links"
	case cannot == 0:
		name, c.Why = "krca", "there are only must-links"
	case l != nil && parts.Suits("lleratio", l):
		name, c.Why = "lleratio", "there are links of both kinds, too many for blend"
	default:
		name, c.Why = "blend", "there are links of both kinds"
	}
	c.Method, err = Lookup(name)
	return c, err
}

// Among returns the choice for points, once these are prepared: adapt with the average of ten
// neighbors for must-links between embeddings, whose own distances are so good already that the
// metrics of the other methods are worse with few links. docs/choosing.md has the evidence.
func (c Choice) Among(eng *engine.Engine, x points.Points, l *links.Set) Choice {
	rows, dense := x.(*points.Dense)
	must, _ := l.Count()
	others := []string{"blend", "lleratio", "krca"}
	if c.Why == "" || !dense || must == 0 || !slices.Contains(others, c.Method.Name) ||
		!baseline.Embeddings(eng, rows) {
		return c
	}
	if method, err := Lookup(baseline.AdaptMethod); err == nil {
		return Choice{method, "the rows are embeddings", map[string]string{"smooth": "10"}}
	}
	return c
}

// Lighter returns the next choice if the memory limit refuses the method, and false if the method
// was named or there is none.
func (c Choice) Lighter(refused *fault.MemoryError) (Choice, bool) {
	name := ""
	switch c.Method.Name { // each learns from the same links in less memory
	case "blend":
		name = "lleratio"
	case "lleratio":
		name = "itml"
	case "krca":
		name = "rca"
	}
	if name == "" || c.Why == "" {
		return c, false
	}
	method, err := Lookup(name)
	why := fmt.Sprintf("%s needs %s, above the memory limit of %s", c.Method.Name,
		fault.FormatBytes(refused.Need), fault.FormatBytes(refused.Limit))
	return Choice{Method: method, Why: why}, err == nil
}
