package paper

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/view"
)

// huCurves are the data sets of Figure 1 with the weights of their links.
func huCurves() []struct {
	file string
	c    float64
} {
	return []struct {
		file string
		c    float64
	}{{"iris.csv", 10}, {"soybean-small.csv", 5}}
}

func huFigure1() Figure {
	return Figure{
		Name: "hu-fig1", Paper: huPaper, Label: "Figure 1",
		Caption: "how the objective falls to the optimum, sweep by sweep",
		Data:    []string{"iris.csv", "soybean-small.csv"},
		Setup: []string{
			"Iris with C = 10 and soybean-small with C = 5, delta = C/2, 1.2 n pairs, half within a class and half between classes; 5 nearest neighbors; the full rank that its bound allows, from the first sweep on.",
			"The optimum of a loss is the lowest objective of a fit to a tolerance of 1e-12, certified for the square loss and the squared hinge. As in the paper, the sweeps have no extrapolation.",
		},
		Differences: []string{"The pairs that the paper drew are not known. The figure shows the square loss and the squared hinge, whose sweeps converge."},
		Draw:        drawHuConvergence,
	}
}

func drawHuConvergence(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	d := &Drawing{Columns: []string{"set", "loss", "sweep", "above the optimum"}, Across: len(huCurves())}
	begin := time.Now()
	for k, curve := range huCurves() {
		sketch.Progress.Report(algorithms.Progress{Stage: curve.file, Done: k, Total: len(huCurves()), Elapsed: time.Since(begin)})
		data, err := dataset.Read(filepath.Join(sketch.Data, curve.file), dataset.ReadOptions{})
		if err != nil {
			return nil, err
		}
		if data.Labels == nil {
			return nil, fault.Data(curve.file, "no labels: want labeled rows")
		}
		set, err := huLinks(data.Labels, 1.2, sketch.Seed)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(curve.file, filepath.Ext(curve.file))
		panel := view.Lines{Title: fmt.Sprintf("%s, C = %g", name, curve.c), XLabel: "sweep", YLabel: "objective above the optimum", LogY: true}
		for l, loss := range []npkl.Loss{npkl.Square, npkl.SquaredHinge} {
			above, err := huDescent(ctx, eng, data.Points, set, loss, curve.c, sketch.Seed)
			if err != nil {
				return nil, err
			}
			s := view.Series{Name: strings.ToUpper(string(loss))}
			for i, v := range above {
				d.Rows = append(d.Rows, []float64{float64(k), float64(l), float64(i + 1), v})
				s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, v)
			}
			panel.Series = append(panel.Series, s)
			d.Notes = append(d.Notes, fmt.Sprintf("%s, %s: over the second half of its %d sweeps the distance to the optimum shrinks by a factor of %.3f per sweep (linear convergence).",
				name, s.Name, len(above), rate(above)))
		}
		d.Panels = append(d.Panels, panel)
	}
	return d, nil
}

// huDescent returns the objective above the optimum after every sweep without extrapolation, until
// rounding hides the difference.
func huDescent(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set, loss npkl.Loss, c float64, seed uint64) ([]float64, error) {
	p := npkl.DefaultParams()
	p.Loss, p.C, p.Delta, p.Tol, p.MaxIter, p.Plain, p.Plan = loss, c, huDelta(c), 1e-12, 20000, true, npkl.Boundary
	p.Rank = int((math.Sqrt(8*float64(set.Len())+1) - 1) / 2)
	m, err := npkl.Learner{Params: p, Seed: seed}.Fit(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	trace := m.(*npkl.Model).Trace()
	p.Plain = false
	better, err := npkl.Learner{Params: p, Seed: seed}.Fit(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	optimum := min(trace[len(trace)-1], better.(*npkl.Model).Objective())
	var above []float64
	for _, v := range trace {
		if v-optimum < 1e-11*optimum {
			break
		}
		above = append(above, v-optimum)
	}
	return above, nil
}

// rate returns the factor per step by which the second half of a sequence shrinks.
func rate(v []float64) float64 {
	half := len(v) / 2
	if len(v)-1 == half {
		return 0
	}
	return math.Pow(v[len(v)-1]/v[half], 1/float64(len(v)-1-half))
}
