package paper

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/view"
)

// yeungDigitLandmarks are the numbers of landmarks, and yeungDigitSets the sets of digits.
func yeungDigitLandmarks() []int { return []int{100, 200, 400, 800, 1600} }

func yeungDigitSets() []string { return []string{"01", "17", "678", "3456"} }

// yeungFigure3 is J on handwritten digits for several numbers of landmarks.
func yeungFigure3() Table {
	t := Table{
		Name: "yeung-fig3", Paper: yeungPaper, Label: "Figure 3", Caption: "J on handwritten digits, with more and more landmarks",
		Repetitions: 10, Steps: len(yeungDigitSets()), Decimals: 3, Data: yeungFiles()[:2],
		Setup: []string{
			fmt.Sprintf("Data: the first %d training images of MNIST of each digit of the set, 784 features, divided by 255.", yeungRealImages),
			fmt.Sprintf("%d pairs of points of the same class, drawn again in every repetition; kernel and kbeta as in yeung-2, except for the number of landmarks.", yeungRealPairs),
			"Measure: J = mean distance between points of different classes / mean distance between points of one class, over all pairs of points, distances not squared. Input: without learning.",
		},
		Differences: []string{"The paper's Figure 3 is about MNIST; we do not know what it shows. This table is about the number of landmarks, which Table 1 leaves open for real data."},
		Prepare: func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
			return loadYeung(ctx, eng, t, yeungDigitSets(), nil)
		},
		Trial: yeungDigitsTrial,
		Draw:  drawYeungDigits,
	}
	for _, set := range yeungDigitSets() {
		t.Columns = append(t.Columns, yeungName(set))
	}
	t.Rows = []Row{{"input", Unprinted(len(t.Columns))}}
	for _, m := range yeungDigitLandmarks() {
		t.Rows = append(t.Rows, Row{fmt.Sprintf("%d landmarks", m), Unprinted(len(t.Columns))})
	}
	return t
}

func yeungDigitsTrial(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
	values := make([][]float64, 1+len(yeungDigitLandmarks()))
	for _, s := range t.Shared.([]*yeungSet) {
		pairs, err := links.SampleByCount(s.labels, s.pairs, 0, t.Seed(1))
		if err != nil {
			return nil, err
		}
		v, err := embeddedJ(ctx, eng, rawRows(s.x), s.labels)
		if err != nil {
			return nil, err
		}
		values[0] = append(values[0], v)
		for k, m := range yeungDigitLandmarks() {
			p := kbeta.DefaultParams()
			p.Landmarks, p.Iterations = m, 3
			y, err := learnedEmbedding(ctx, eng, kbeta.Learner{Kernel: s.kernel, Params: p, Seed: t.Seed(2)}, s.x, pairs)
			if err != nil {
				return nil, err
			}
			if v, err = embeddedJ(ctx, eng, y, s.labels); err != nil {
				return nil, err
			}
			values[1+k] = append(values[1+k], v)
		}
		t.Step()
	}
	return values, nil
}

func drawYeungDigits(r *Result) []view.Panel {
	panel := view.Lines{Title: "handwritten digits", XLabel: "landmarks", YLabel: "J", LogX: true}
	for j, set := range r.Table.Columns {
		s := view.Series{Name: set, Markers: true}
		for k, m := range yeungDigitLandmarks() {
			v := r.Ours[1+k][j]
			s.X, s.Y = append(s.X, float64(m)), append(s.Y, v.Mean)
		}
		panel.Series = append(panel.Series, s)
	}
	return []view.Panel{panel}
}
