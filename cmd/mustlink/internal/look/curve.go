package look

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// The values of --curve.
const (
	curveTrace  = "trace"
	curveROC    = "roc"
	curveRecall = "recall"
)

func curveNames() []string { return []string{curveTrace, curveROC, curveRecall} }

// checkCurve finds mistakes that do not require the data.
func (p *plotCommand) checkCurve(check *session.Checks, args []string) {
	check.Required("output")
	check.Refuse(p.curve == curveTrace && (len(args) == 0 || p.Data.Path != ""),
		"--curve trace draws MODELs: want one or more, and no -i")
	check.Refuse(p.curve != curveTrace && p.Data.Path == "",
		"-i, --input is missing: want labeled rows for --curve %s", p.curve)
	check.Refuse(p.spectrum || p.before || p.dims != nil || p.Links.Path != "",
		"--curve is given with --spectrum, --before, --dims or -c: want --curve alone")
	p.Preparing.Check(check, len(args) > 0, &p.Data)
	check.Do(p.checkFormat)
	check.Models(args)
	if p.Data.Path != "" {
		p.Data.Check(check)
	}
	p.checkPicture(check)
}

// plotCurve draws traces of models, or how well distances distinguish the labels.
func (p *plotCommand) plotCurve(ctx context.Context, args []string) error {
	draw := p.retrieval
	if p.curve == curveTrace {
		draw = p.traces
	}
	l, err := draw(ctx, args)
	if err != nil {
		return err
	}
	r := curvesReport{}
	for _, s := range l.Series {
		r.Curves = append(r.Curves, s.Name)
	}
	return p.writeCurves(l, r, strings.Join(r.Curves, ", "))
}

// traces returns the objectives of models over their iterations, from 0 for the first value to 1
// for the last.
func (p *plotCommand) traces(ctx context.Context, paths []string) (view.Lines, error) {
	if _, err := p.Engine(); err != nil {
		return view.Lines{}, err
	}
	l := view.Lines{Title: "objective", XLabel: "iteration", YLabel: "objective"}
	if len(paths) > 1 {
		l.YLabel = "objective, from its first value (0) to its last (1)"
	}
	for _, path := range paths {
		_, fitted, err := metric.Load(ctx, p.Session, path)
		if err != nil {
			return l, err
		}
		s, ok := pictures.Trace(fitted.Model)
		if !ok {
			return l, fault.Data(path, "a model of %s has no trace of its objective", fitted.Model.Method())
		}
		first, last := s.Y[0], s.Y[len(s.Y)-1]
		for k, v := range s.Y {
			if len(paths) > 1 && last != first {
				s.Y[k] = (v - first) / (last - first)
			}
		}
		l.Series = append(l.Series, s)
	}
	return l, nil
}

// retrieval returns, for the raw points and for each model, the ROC curve of distance as a test of
// "same class", or recall at k.
func (p *plotCommand) retrieval(ctx context.Context, paths []string) (view.Lines, error) {
	scene, err := p.Read(ctx, p.Session, paths)
	if err != nil {
		return view.Lines{}, err
	}
	if err := source.NeedLabels(p.Session, scene.Data); err != nil {
		return view.Lines{}, err
	}
	l := pictures.LabelCurves()
	draw := pictures.LabelCurve
	if p.curve == curveRecall {
		l, draw = view.Lines{Title: "recall", XLabel: "k",
			YLabel: "rows with a row of their class among the k nearest", LogX: true}, recallCurve
	}
	for _, v := range scene.Spaces {
		s, err := draw(v, scene.Data.Labels, p.seed)
		if err != nil {
			return l, fault.InFile(err, scene.Data.Name)
		}
		l.Series = append(l.Series, s)
	}
	return l, nil
}

// recallCurve returns recall at 1, 2, 5, 10 and so on.
func recallCurve(v pictures.Space, labels []string, _ uint64) (view.Series, error) {
	s := view.Series{Name: v.Name, Markers: true}
	var err error
	if v.Y, labels, err = neighbors.Labeled(v.Y, labels); err != nil {
		return s, err
	}
	var at []int
	for _, k := range []int{1, 2, 5, 10, 20, 50, 100} {
		if k < v.Y.Rows {
			at, s.X = append(at, k), append(s.X, float64(k))
		}
	}
	y := v.Y.Clone()
	s.Y, err = score.RecallAtK(y.Data, y.Rows, y.Cols, labels, at...)
	return s, err
}

// curvesReport is the result of `mustlink plot` for curves.
type curvesReport struct {
	Curves   []string `json:"curves"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

// plotSpectrum draws the spectrum of the model at path.
func (p *plotCommand) plotSpectrum(path string) error {
	spectral, ok := p.m.Record().Model.(algorithms.Spectral)
	if !ok {
		return fault.Data(path, "a model of %s has no spectrum to draw: want one of kbeta", p.m.Name())
	}
	l, curves := pictures.Spectrum(spectral)
	l.Title = fmt.Sprintf("spectrum of the %s model", p.m.Name())
	return p.writeCurves(l, curvesReport{Curves: curves}, fault.Count(len(curves), "curve"))
}

// writeCurves draws curves and reports on them; summary is the report as text.
func (p *plotCommand) writeCurves(l view.Lines, r curvesReport, summary string) error {
	l.Title, l.NoLegend = session.NameOr(p.title, l.Title), p.noLegend
	if err := p.writePicture(l); err != nil {
		return err
	}
	r.Output, r.Warnings = p.out, p.Warnings()
	return p.Summarize(p.out, r, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", r.Output, summary) })
}

// Bench returns the old command for measurements, which names the new one.
func Bench() *cobra.Command {
	return &cobra.Command{
		Use:                "bench",
		Short:              "moved: measurements are in the program mustlink-bench",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return toBench(args...) },
	}
}

// toBench returns the error that names the command of mustlink-bench with the same arguments.
func toBench(args ...string) error {
	return usage.Errorf("measurements have moved to another program: run %s (make bench-build builds it)",
		strings.Join(append([]string{"mustlink-bench"}, args...), " "))
}
