package compare

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
)

// Curves are learning curves: one table for each data set, with systems as rows.
type Curves struct {
	Systems  []string        `json:"systems"`
	Counts   []int           `json:"links"`
	Wrong    []float64       `json:"wrong"`
	Results  []*paper.Result `json:"results"`
	Missing  []string        `json:"missing,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Build    paper.Build     `json:"build"`
	Seconds  float64         `json:"seconds"`
}

const curveRepetitions = 10

// Counts returns the numbers of links of a learning curve.
func Counts() []int { return []int{5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000} }

// Shares returns the shares of wrong links of a learning curve.
func Shares() []float64 { return []float64{0, 0.05, 0.1, 0.2, 0.3} }

// curveSets are the sets of the learning curves: they have few and many classes, and features,
// pixels or words.
func curveSets() []string {
	return []string{"image", "pima-diabetes", "satellite", "text-baseball-hockey", "usps", "vehicle"}
}

// RunCurves computes learning curves; if o.Sets is nil, those of six sets.
func RunCurves(ctx context.Context, eng *engine.Engine, o Options) (*Curves, error) {
	if o.Sets == nil {
		o.Sets = curveSets()
	}
	var failed failures
	results, missing, err := o.run(ctx, eng, curveRepetitions, func(s Set, systems []string) paper.Table {
		return curveTable(s, systems, &failed)
	})
	if err != nil {
		return nil, err
	}
	c := &Curves{Systems: o.systems(), Counts: Counts(), Wrong: Shares(), Results: results, Missing: missing,
		Failures: failed.list, Build: results[0].Build}
	for _, r := range results {
		c.Seconds += r.Seconds
	}
	return c, nil
}

// draw is one point of a curve.
type draw struct {
	name  string
	links int // 0: as in the cross table
	wrong float64
}

// draws returns all points of the curves of a set.
func draws() []draw {
	var out []draw
	for _, n := range Counts() {
		out = append(out, draw{name: fmt.Sprintf("%d links", n), links: n})
	}
	for _, w := range Shares() {
		out = append(out, draw{name: fmt.Sprintf("%g %% wrong", 100*w), wrong: w})
	}
	return out
}

// perDraw is the number of values of a draw: the balanced Rand index of training rows and that of
// held-out rows.
const perDraw = 2

// curveTable returns the table of a set.
func curveTable(s Set, systems []string, failed *failures) paper.Table {
	t := paper.Table{
		Name: "curves-" + s.Name, Label: "Learning curves", Caption: "all systems on " + s.Name +
			", balanced Rand index of k-means",
		Data: s.Files, Steps: len(systems) * len(draws()), Decimals: 3, Gaps: true,
		Repetitions: curveRepetitions, Setup: setup(systems, Links{}), Revision: 1,
		Prepare: func(_ context.Context, _ *engine.Engine, t paper.Trial) (any, error) {
			return s.read(t.Path)
		},
		Trial: func(ctx context.Context, eng *engine.Engine, t paper.Trial) ([][]float64, error) {
			return curveTrial(ctx, eng, t, s, systems, failed)
		},
	}
	for _, d := range draws() {
		t.Columns = append(t.Columns, d.name+", training", d.name+", held-out")
	}
	for _, name := range systems {
		t.Rows = append(t.Rows, paper.Row{Name: name, Printed: paper.Unprinted(len(t.Columns))})
	}
	return t
}

// curveTrial is a repetition. All draws of links have the same halves, a draw of more links
// contains the draws of fewer, and all shares of wrong links have the same pairs.
func curveTrial(ctx context.Context, eng *engine.Engine, t paper.Trial, s Set, systems []string,
	failed *failures) ([][]float64, error) {
	training, heldOut, err := t.Shared.(*rows).halves(ctx, eng, maxRows, t.Seed(0))
	if err != nil {
		return nil, err
	}
	values := make([][]float64, len(systems))
	for _, d := range draws() {
		total := d.links
		if total == 0 {
			total = int(linksPerRow*float64(training.x.N) + 0.5)
		}
		set, err := drawLinks(training.labels, total, d.wrong, t.Seed(1))
		if err != nil {
			return nil, err
		}
		p := &problem{training, heldOut, set, t.Seed(2)}
		for i, system := range systems {
			v, err := p.measured(ctx, eng, system, s.Name+", "+d.name, t.Number, failed)
			if err != nil {
				return nil, err
			}
			values[i] = append(values[i], v[trainingRand:trainingRand+perDraw]...)
			t.Step()
		}
	}
	return values, nil
}
