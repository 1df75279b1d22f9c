package paper

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/view"
)

// yeungDigitPairs are the numbers of must-links, and yeungDigitSets the sets of digits.
func yeungDigitPairs() []int { return []int{10, 20, 30, 40, 50, 100, 200} }

func yeungDigitSets() []string { return []string{"01", "17", "678"} }

// yeungDigitSystems are the systems of Figure 3.
func yeungDigitSystems() []string { return []string{"RCA", "kbeta"} }

// yeungFigure3 is J on handwritten digits for several numbers of must-links.
func yeungFigure3() Table {
	t := Table{
		Name: "yeung-fig3", Paper: yeungPaper, Label: "Figure 3",
		Caption:     "J on handwritten digits, with more and more must-links",
		Repetitions: 10, Steps: len(yeungDigitSets()), Decimals: 3, Data: yeungFiles()[:2],
		Setup: []string{
			fmt.Sprintf("Data: %d of the training images of MNIST of each digit of the set, drawn at "+
				"random once for all repetitions, 784 features, divided by 255.", yeungRealImages),
			fmt.Sprintf("RCA and kbeta as in yeung-2, but with 10 to 200 pairs of points of the same "+
				"class, drawn again in every repetition. The landmarks are %d, or the points of the pairs "+
				"if these are more.",
				yeungRealLandmarks),
			"Measure: J as in yeung-2.",
		},
		Differences: []string{
			yeungOpen(),
			"The figure is a drawing without numbers; its sets of digits and numbers of pairs are not in " +
				"the text. Three of the sets of yeung-2 stand for them. With more than 50 pairs there are " +
				"more landmarks " +
				"than in the paper's tables, all of them linked.",
		},
		Revision: 2,
		Good:     Higher,
		Prepare: func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
			return loadYeung(ctx, eng, t, yeungDigitSets(), nil)
		},
		Trial:  yeungDigitsTrial,
		Draw:   drawYeungDigits,
		Claims: yeungDigitClaims,
	}
	for _, set := range yeungDigitSets() {
		t.Columns = append(t.Columns, yeungName(set))
	}
	for _, system := range yeungDigitSystems() {
		for _, pairs := range yeungDigitPairs() {
			t.Rows = append(t.Rows,
				Row{fmt.Sprintf("%s, %d pairs", system, pairs), Unprinted(len(t.Columns))})
		}
	}
	return t
}

func yeungDigitsTrial(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
	counts := yeungDigitPairs()
	values := make([][]float64, len(yeungDigitSystems())*len(counts))
	for _, s := range t.Shared.([]*yeungSet) {
		learners := s.learners(t)
		for system := range yeungDigitSystems() {
			for k, count := range counts {
				pairs, err := links.SampleByCount(s.labels, count, 0, t.Seed(10+k))
				if err != nil {
					return nil, err
				}
				y, err := learnedEmbedding(ctx, eng, learners[system], s.x, pairs)
				if err != nil {
					return nil, fmt.Errorf("%s, %s, %d pairs: %w", s.name, yeungDigitSystems()[system], count,
						err)
				}
				j, err := embeddedJ(ctx, eng, y, s.labels)
				if err != nil {
					return nil, err
				}
				values[system*len(counts)+k] = append(values[system*len(counts)+k], j)
			}
		}
		t.Step()
	}
	return values, nil
}

// yeungDigitClaims tests what the text says about the figure.
func yeungDigitClaims(r *Result) []Claim {
	all := len(yeungDigitPairs())
	within := 0 // numbers of pairs whose points are at most as many as the landmarks
	for _, pairs := range yeungDigitPairs() {
		if 2*pairs <= yeungRealLandmarks {
			within++
		}
	}
	// rise is about the first rows of those of a system.
	rise := func(text string, first, count int) Claim {
		up, low, high, n := 0, 0.0, 0.0, float64(len(r.Table.Columns))
		for j := range r.Table.Columns {
			for k := first + 1; k < first+count; k++ {
				if r.Ours[k][j].Mean > r.Ours[k-1][j].Mean {
					up++
				}
			}
			low += r.Ours[first][j].Mean / n
			high += r.Ours[first+count-1][j].Mean / n
		}
		return risingClaim(text, up, len(r.Table.Columns)*(count-1), low, high)
	}
	flat := rise("RCA does not improve with more must-links", 0, all)
	flat.Verdict = map[Verdict]Verdict{Worse: Reproduced, Mixed: Mixed, Reproduced: Worse}[flat.Verdict]
	usual := rise("J of the method usually increases with the number of must-links", all, within)
	beyond := rise("", all, all)
	usual.Detail = fmt.Sprintf("up to %d pairs %s; up to %d pairs %s", yeungDigitPairs()[within-1],
		usual.Detail, yeungDigitPairs()[all-1], beyond.Detail)
	if usual.Verdict == Reproduced && beyond.Verdict != Reproduced {
		usual.Verdict = Mixed
	}
	return []Claim{flat, usual}
}

func drawYeungDigits(r *Result) []view.Panel {
	var panels []view.Panel
	for j, set := range r.Table.Columns {
		panel := view.Lines{Title: set, XLabel: "must-links", YLabel: "J", LogX: true}
		for system, name := range yeungDigitSystems() {
			s := view.Series{Name: name, Markers: true}
			for k, pairs := range yeungDigitPairs() {
				s.X, s.Y = append(s.X, float64(pairs)),
					append(s.Y, r.Ours[system*len(yeungDigitPairs())+k][j].Mean)
			}
			panel.Series = append(panel.Series, s)
		}
		panels = append(panels, panel)
	}
	return panels
}
