package train

import (
	"context"
	"io"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/parts"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// checkGrowth refuses a curve that cannot be written or measured.
func (c *fitCommand) checkGrowth(check *session.Checks) {
	if c.curve == "" {
		return
	}
	check.Refuse(c.lesson.given(), "--curve is given with comparisons or targets: want links alone, of which it can hold some out")
	if session.HasEnding(c.curve, "json") {
		check.Output("--curve", c.curve)
		return
	}
	check.Do(func() error {
		if _, err := view.FormatOf(c.curve); err != nil {
			return &fault.ParamError{Param: "--curve", Value: c.curve, Want: "a name that ends in .png, .svg, .pdf or .json"}
		}
		return nil
	})
	check.Output("--curve", c.curve)
}

// growth measures the learning curve of the method, and writes it to the file of --curve.
func (c *fitCommand) growth(ctx context.Context, eng *engine.Engine, method string, table *mustlink.Table, set *links.Set) (*verdict.Curve, error) {
	if c.curve == "" {
		return nil, nil
	}
	candidate := c.chosen
	if candidate.Method = method; method == parts.Method { // the base, which fits parts of the links whole
		candidate.Method = c.method.Name
	}
	learner, err := candidate.Learner(catalog.Config{Seed: c.seed, Files: &c.files, Rows: table.Rows()})
	if err != nil {
		return nil, err
	}
	bar := c.Progress()
	defer bar.Done()
	curve, err := verdict.Grow(ctx, eng, learner, table.Data().Points, set, verdict.Options{Folds: c.folds, Seed: c.seed, Progress: bar.Report})
	if err != nil || curve.Missing != "" {
		return curve, err
	}
	if session.HasEnding(c.curve, "json") {
		return curve, c.WriteJSON(c.curve, curve)
	}
	format, err := view.FormatOf(c.curve)
	if err != nil {
		return nil, err
	}
	return curve, c.WriteFile(c.curve, func(w io.Writer) error { return view.Write(w, format, view.Size{}, drawn(curve, method)) })
}

// drawn returns the picture of a learning curve.
func drawn(c *verdict.Curve, method string) view.Lines {
	learned, raw := view.Series{Name: method, Bars: true, Markers: true}, view.Series{Name: "raw"}
	for _, s := range c.Steps {
		x := float64(s.Links)
		learned.X, learned.Y = append(learned.X, x), append(learned.Y, s.AUC)
		learned.Low, learned.High = append(learned.Low, s.AUC-s.Error), append(learned.High, s.AUC+s.Error)
		raw.X, raw.Y = append(raw.X, x), append(raw.Y, c.Raw)
	}
	return view.Lines{Title: "held-out links", XLabel: "links that the fit learned from", YLabel: "AUC of held-out links", LogX: true, Series: []view.Series{learned, raw}}
}
