package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/bench/compare"
	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// What --curve draws.
const (
	curveTrace  = "trace"
	curveROC    = "roc"
	curveRecall = "recall"
)

func curveNames() []string { return []string{curveTrace, curveROC, curveRecall} }

// curvePairs is how many random pairs of rows a ROC curve is drawn from, curvePlaces how many places it has.
const (
	curvePairs  = 20_000
	curvePlaces = 200
)

// checkCurve finds every mistake that shows before data are read.
func (a *app) checkCurve(args []string, p *plotFlags) error {
	switch {
	case !slices.Contains(curveNames(), p.curve):
		return fault.Unknown("--curve", p.curve, curveNames())
	case p.curve == curveTrace && (len(args) == 0 || p.data.path != ""):
		return usagef("--curve trace is that of MODELs: want one or more, and no -i")
	case p.curve != curveTrace && p.data.path == "":
		return usagef("-i, --input is missing: --curve %s is that of labelled rows", p.curve)
	case p.spectrum || p.before || p.dims != nil || p.links.path != "":
		return usagef("--curve is given with --spectrum, --before, --dims or -c: want --curve alone")
	}
	if err := p.scaling.check(len(args) > 0, false); err != nil {
		return err
	}
	if err := p.checkFormat(); err != nil {
		return err
	}
	for _, path := range args {
		if err := a.useModel(path); err != nil {
			return err
		}
	}
	if p.data.path != "" {
		if err := a.useData(&p.data); err != nil {
			return err
		}
	}
	return a.checkPicture(p)
}

// plotCurve draws traces of models, or how well distances tell classes apart.
func (a *app) plotCurve(ctx context.Context, args []string, p *plotFlags) error {
	if err := a.checkCurve(args, p); err != nil {
		return err
	}
	eng, err := a.engine()
	if err != nil {
		return err
	}
	var l figure.Lines
	switch p.curve {
	case curveTrace:
		l, err = a.traces(ctx, args)
	default:
		l, err = a.retrieval(ctx, eng, args, p)
	}
	if err != nil {
		return err
	}
	l.Title, l.NoLegend = nameOr(p.title, l.Title), p.noLegend
	if err := a.writePicture(p, l); err != nil {
		return err
	}
	r := spectrumReport{Output: p.out, Warnings: a.allWarnings()}
	for _, s := range l.Series {
		r.Curves = append(r.Curves, s.Name)
	}
	return a.summarise(p.out, r, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", r.Output, strings.Join(r.Curves, ", ")) })
}

// plotBench draws what bench has measured again: box plots and curves of tables of the papers, the ranks of the cross table,
// learning curves.
func (a *app) plotBench(ctx context.Context, path string, p *plotFlags) error {
	if p.data.path != "" || p.links.path != "" || p.spectrum || p.before || p.dims != nil {
		return usagef("%s holds results of bench, which are drawn alone: want no other flag than -o and its size", path)
	}
	if err := p.checkFormat(); err != nil {
		return err
	}
	if err := a.useInput("MODEL", path); err != nil {
		return err
	}
	if err := a.checkPicture(p); err != nil {
		return err
	}
	text, err := await(ctx, func() ([]byte, error) { return os.ReadFile(path) })
	if err != nil {
		return fault.Data(path, "%w", err)
	}
	panels, across, err := benchPanels(text)
	if err != nil {
		return inFile(path, err)
	}
	size := figure.Size{Columns: across, DPI: p.size.DPI}
	write := func(w io.Writer) error { return figure.Write(w, p.format, size, panels...) }
	if p.out == stream {
		err = write(a.stdout)
	} else {
		err = dataset.Atomic(p.out, write)
	}
	if err != nil {
		return err
	}
	r := spectrumReport{Output: p.out, Warnings: a.allWarnings()}
	return a.summarise(p.out, r, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", r.Output, plural(len(panels), "panel")) })
}

// benchPanels returns the picture of results, with the number of panels side by side.
func benchPanels(text []byte) (panels []figure.Panel, across int, err error) {
	if c, err := compare.Decode(text); err == nil {
		panels, err := c.Panels()
		return panels, 2, err
	}
	r, err := paper.Decode(text)
	if err != nil {
		return nil, 0, err
	}
	if !r.Table.Drawn() {
		return nil, 0, fault.Data("", "table %s has no picture: want one of box plots or curves, or results of bench cross or bench curves", r.Table.Name)
	}
	return r.Panels(), 4, nil
}

// traces returns the objectives of models over their iterations, as shares of what they changed by.
func (a *app) traces(ctx context.Context, paths []string) (figure.Lines, error) {
	l := figure.Lines{Title: "objective", XLabel: "iteration", YLabel: "objective"}
	if len(paths) > 1 {
		l.YLabel = "objective, from its first value (0) to its last (1)"
	}
	for _, path := range paths {
		fitted, err := a.loadModel(ctx, path)
		if err != nil {
			return l, err
		}
		t, ok := fitted.Model.(algorithms.Trace)
		if !ok || len(t.Trace()) < 2 {
			return l, fault.Data(path, "a model of %s keeps no trace of its objective", fitted.Model.Method())
		}
		s := figure.Series{Name: fitted.Model.Method()}
		first, last := t.Trace()[0], t.Trace()[len(t.Trace())-1]
		for k, v := range t.Trace() {
			if len(paths) > 1 && last != first {
				v = (v - first) / (last - first)
			}
			s.X, s.Y = append(s.X, float64(k)), append(s.Y, v)
		}
		l.Series = append(l.Series, s)
	}
	return l, nil
}

// retrieval returns the ROC curves of distances as a test of "same class", or recall at k, without and with each model.
func (a *app) retrieval(ctx context.Context, eng *engine.Engine, paths []string, p *plotFlags) (figure.Lines, error) {
	run := &pageRun{app: a, ctx: ctx, eng: eng, p: &pageFlags{data: p.data, scaling: p.scaling}}
	if err := run.read(paths); err != nil {
		return figure.Lines{}, err
	}
	if err := needLabels(run.d); err != nil {
		return figure.Lines{}, err
	}
	l := figure.Lines{Title: "same class or not", XLabel: "share of pairs of different classes within a distance", YLabel: "share of pairs of one class within it"}
	draw := rocCurve
	if p.curve == curveRecall {
		l, draw = figure.Lines{Title: "recall", XLabel: "k", YLabel: "rows with one of their class among the k nearest", LogX: true}, recallCurve
	}
	for _, m := range run.metrics {
		s, err := draw(m, run.d.Labels, p.seed)
		if err != nil {
			return l, inFile(run.d.Name, err)
		}
		l.Series = append(l.Series, s)
	}
	return l, nil
}

// rocCurve is that of random pairs of rows.
func rocCurve(m metric, labels []string, seed uint64) (figure.Series, error) {
	n := m.y.Rows
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	type pair struct {
		length float64
		same   bool
	}
	var pairs []pair
	var lengths []float64
	var same []bool
	count := [2]int{}
	for range curvePairs {
		i, j := r.IntN(n), r.IntN(n-1)
		if j >= i {
			j++
		}
		q := pair{points.SquaredDistance(m.y.Row(i), m.y.Row(j)), labels[i] == labels[j]}
		pairs, lengths, same = append(pairs, q), append(lengths, -q.length), append(same, q.same)
		if q.same {
			count[1]++
		} else {
			count[0]++
		}
	}
	if count[0] == 0 || count[1] == 0 {
		return figure.Series{}, fault.Data("", "of %d random pairs of rows %d have one label and %d different ones: want both", curvePairs, count[1], count[0])
	}
	auc, err := score.AUC(lengths, same)
	if err != nil {
		return figure.Series{}, err
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.length, b.length) })
	s := figure.Series{Name: fmt.Sprintf("%s (%.3f)", m.name, auc), X: []float64{0}, Y: []float64{0}}
	var within [2]int
	for k, q := range pairs {
		if q.same {
			within[1]++
		} else {
			within[0]++
		}
		last := k+1 == len(pairs)
		if tied := !last && pairs[k+1].length == q.length; last || !tied && (k+1)%(curvePairs/curvePlaces) == 0 {
			s.X, s.Y = append(s.X, float64(within[0])/float64(count[0])), append(s.Y, float64(within[1])/float64(count[1]))
		}
	}
	return s, nil
}

// recallCurve is recall at 1, 2, 5, 10 and so on.
func recallCurve(m metric, labels []string, _ uint64) (figure.Series, error) {
	s := figure.Series{Name: m.name, Markers: true}
	var at []int
	for _, k := range []int{1, 2, 5, 10, 20, 50, 100} {
		if k < m.y.Rows {
			at, s.X = append(at, k), append(s.X, float64(k))
		}
	}
	y := m.y.Clone()
	var err error
	s.Y, err = score.RecallAtK(y.Data, y.Rows, y.Cols, labels, at...)
	return s, err
}
