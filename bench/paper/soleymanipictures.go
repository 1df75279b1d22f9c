package paper

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
)

func soleymaniFigure1() Figure {
	return Figure{
		Name: "soleymani-fig1", Paper: soleymaniPaper, Label: "Figure 1",
		Caption: "three sets of points in the plane with links, and what linear and kernel metrics make of " +
			"them",
		Setup: []string{
			"Data and links as in soleymani-fig2; the first column has the must-links as solid and the " +
				"cannot-links as dashed lines.",
			"xiang, linear, and lleratio with its defaults and the kernel exp:lle, in the plane of their " +
				"largest variance.",
		},
		Differences: []string{"The paper does not describe its sets: these are ours."},
		Draw:        drawSoleymani,
	}
}

func drawSoleymani(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	seed, progress := sketch.Seed, sketch.Progress
	t := Trial{Number: -1, seed: seed}
	sets := soleymaniSynthetic()
	loaded, err := loadSoleymani(ctx, eng, t, sets)
	if err != nil {
		return nil, err
	}
	systems := []string{"input", "xiang", soleymaniDefault}
	d := &Drawing{Columns: []string{"set", "system", "class", "x", "y"}, Across: len(systems)}
	begin := time.Now()
	for k, data := range loaded {
		progress.Report(algorithms.Progress{Stage: sets[k].name, Done: k, Total: len(sets),
			Elapsed: time.Since(begin)})
		set, err := links.SampleByCount(data.labels, sets[k].pairs, sets[k].pairs, t.Seed(10+k))
		if err != nil {
			return nil, err
		}
		classes := classNumbers(data.labels)
		for r, system := range systems {
			y := rawRows(data.x)
			if system != "input" {
				if y, err = learnedEmbedding(ctx, eng, soleymaniLearner(system, data, set, seed), data.x,
					set); err != nil {
					return nil, err
				}
			}
			s, err := planeOf(ctx, eng, y, classes)
			if err != nil {
				return nil, err
			}
			s.Title, s.NoLegend = fmt.Sprintf("%s, %s", sets[k].name, system), k+r > 0
			if r == 0 {
				for _, l := range set.Must() {
					s.Must = append(s.Must, [2]int{l.I, l.J})
				}
				for _, l := range set.Cannot() {
					s.Cannot = append(s.Cannot, [2]int{l.I, l.J})
				}
			}
			d.Panels = append(d.Panels, s)
			for i, c := range classes {
				d.Rows = append(d.Rows, []float64{float64(k), float64(r), float64(c), s.X[i], s.Y[i]})
			}
		}
	}
	return d, nil
}
