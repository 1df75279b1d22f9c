// Package look provides the commands that show the content of models and data.
package look

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// Commands returns inspect, plot and report.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newInspect(s), newPlot(s), newReport(s)}
}

// plotCommand holds the flags of `mustlink plot`.
type plotCommand struct {
	*session.Session
	pictures.Input
	m         *metric.Metric
	plane     string
	dims      []int
	maxLinks  int
	seed      uint64
	title     string
	size      view.Size
	pointSize float64
	noLegend  bool
	chunklets bool
	spectrum  bool
	before    bool
	curve     string
	format    string // of the picture
	out       string
	planes    pictures.Planes
}

func newPlot(s *session.Session) *cobra.Command {
	p := &plotCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "plot [MODEL]... [-i DATA | --spectrum] -o PICTURE",
		Short: "draw points and their links in the plane, learned or raw",
		Long: `Draw points in the plane as PNG, SVG or PDF, by the extension of PICTURE: colored by
label, with must-links as solid and cannot-links as dashed lines. Both axes have the same
scale, so that distances on paper are distances of the points.

With MODEL the coordinates are those of its embedding, without it the points' own. If there
are more than two, the picture is a neighbor embedding (t-SNE): near rows stay near, so that
clusters are seen, but the axes and the distances of clusters have no meaning. It embeds up to
1500 rows, which --seed draws; others lie between their nearest ones. With --plane components
the picture shows the two directions in which the points vary most (principal components),
with their shares of the variance, with --dims two coordinates. Raw points are the prepared
points without learning.

With MODEL and --spectrum, and without data, the picture shows the values of a model such as
kbeta for every direction: eigenvalues, weights, the spread of the must-links.

With --curve there may be several MODELs. trace draws the convergence of their objectives. roc and recall
draw how well distances between the rows of DATA, raw and under each model, distinguish its labels.`,
		Example: `  mustlink plot model.mlk -i data.csv -c links.csv -o learned.png
  mustlink plot -i data.csv -c links.csv --standardize -o raw.svg
  mustlink plot model.mlk -i data.csv -c links.csv --before -o both.svg
  mustlink plot model.mlk -i data.csv --dims 0,1 --title "the leading coordinates" -o more.pdf
  mustlink plot model.mlk --spectrum -o spectrum.png
  mustlink plot krca.mlk itml.mlk -i data.csv --curve roc -o roc.svg`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.curve != "" {
				return s.Checked(p.checkCurve, p.plotCurve)(cmd, args)
			}
			if err := usage.Positional(0, 1, "one MODEL")(cmd, args); err != nil {
				return err
			}
			if len(args) == 1 && session.HasEnding(args[0], "json") {
				return toBench("plot", args[0], "-o", session.NameOr(p.out, "PICTURE"))
			}
			return s.Checked(p.check, p.run)(cmd, args)
		},
	}
	f := usage.FlagsOf(cmd)
	p.Flags(cmd)
	pictures.PlaneFlag(f, &p.plane)
	f.IntSliceVar(&p.dims, "dims", nil, "the two `COORDINATES` to draw, counted from 0, instead of a --plane")
	f.Bool(&p.chunklets, "chunklets", false,
		"draw must-links as chunklets: one star for all points that belong together")
	f.String(&p.curve, "curve", "",
		"draw a curve instead of points: trace (the objective of MODELs), roc or recall (how well "+
			"distances distinguish labels)", usage.OneOf(curveNames()...))
	f.Bool(&p.before, "before", false, "draw the raw points next to those of the MODEL")
	f.Bool(&p.spectrum, "spectrum", false, "draw the MODEL's spectrum instead of points")
	f.Int(&p.maxLinks, "max-links", 500,
		"maximum number of links of each kind, or of chunklets, to draw; --seed chooses them",
		usage.Range(">= 0"))
	f.Seed(&p.seed)
	f.String(&p.title, "title", "",
		"`TEXT` above the drawing (default the name of the data and the method)")
	f.Float(&p.size.Width, "width", 6, "width in inches")
	f.Float(&p.size.Height, "height", 4.5, "height in inches")
	f.Int(&p.size.DPI, "dpi", 150, "resolution of a PNG in dots per inch")
	f.Float(&p.pointSize, "point-size", 0,
		"radius of points in 1/72 inch (default: by the number of points)",
		usage.Range(">= 0, <= 100", "0 to 100"))
	f.Bool(&p.noLegend, "no-legend", false, "leave out the legend")
	f.String(&p.out, "output,o", "",
		"the `PICTURE` to write, .png, .svg or .pdf; - for standard output")
	f.Lookup("format").Usage += "; png, svg or pdf is the format of the PICTURE (default png)"
	return cmd
}

// plotReport is the result of `mustlink plot`.
type plotReport struct {
	Points   int      `json:"points"`
	Must     int      `json:"must_links_drawn"`
	Cannot   int      `json:"cannot_links_drawn"`
	Chunks   int      `json:"chunklets_drawn"`
	Axes     []string `json:"axes"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r plotReport) text(w io.Writer) {
	must := fault.Count(r.Must, "must-link")
	if r.Chunks > 0 {
		must = fault.Count(r.Chunks, "chunklet")
	}
	fmt.Fprintf(w, "%s: %s, %s, %s\n", r.Output, fault.Count(r.Points, "point"), must,
		fault.Count(r.Cannot, "cannot-link"))
}

func (p *plotCommand) run(ctx context.Context, args []string) (err error) {
	if p.m, err = metric.Open(ctx, p.Session, args...); err != nil {
		return err
	}
	if p.spectrum {
		return p.plotSpectrum(args[0])
	}
	d, err := p.m.Read(ctx, &p.Data)
	if err != nil {
		return err
	}
	bar := p.Progress()
	defer bar.Done()
	p.planes = pictures.Planes{Eng: p.m.Eng, Kind: p.plane, Dims: p.dims, Seed: p.seed, Bar: bar, Sets: 1}
	if p.before {
		p.planes.Sets++
	}
	panels, err := p.panels(ctx, d)
	if err != nil {
		return fault.InFile(err, d.Name)
	}
	bar.Done()
	s := panels[len(panels)-1]
	if p.Links.Path != "" {
		p.Links.Begun = true
		set, err := p.Links.ReadWarning(ctx, p.Session, d)
		if err != nil {
			return err
		}
		if err := p.drawLinks(set, &s); err != nil {
			return fault.InFile(err, p.Links.Path)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var drawings []view.Panel
	for _, panel := range panels {
		panel.Must, panel.AllMust, panel.Cannot, panel.AllCannot, panel.Chunklets = s.Must, s.AllMust,
			s.Cannot, s.AllCannot, s.Chunklets
		drawings = append(drawings, panel)
	}
	if err := p.writePicture(drawings...); err != nil {
		return err
	}
	r := plotReport{len(s.X), len(s.Must), len(s.Cannot), len(s.Chunklets), []string{s.XLabel, s.YLabel},
		p.out, p.Warnings()}
	return p.Summarize(p.out, r, r.text)
}

// check finds mistakes that do not require the data.
func (p *plotCommand) check(check *session.Checks, args []string) {
	model, sequences := len(args) > 0, p.Data.FormatName() == "fasta"
	if !p.spectrum {
		check.Required("input")
	}
	check.Required("output")
	check.Refuse(p.spectrum && (!model || p.Data.Path != "" || p.Links.Path != ""),
		"--spectrum draws a MODEL: want MODEL, and neither -i nor -c")
	check.Refuse(p.before && (!model || p.spectrum || p.dims != nil),
		"--before draws raw points next to those of a MODEL: want MODEL, and neither --spectrum nor --dims")
	check.Refuse(p.before && (p.Data.Gram || sequences),
		"--before is given, but the objects of %s have no coordinates: want no --before", p.Data.Path)
	check.Refuse(p.dims != nil &&
		(len(p.dims) != 2 || min(p.dims[0], p.dims[1]) < 0 || p.dims[0] == p.dims[1]),
		"--dims is %v: want two different numbers >= 0, such as 0,1", p.dims)
	check.Refuse(!model && p.Data.Gram,
		"--gram is given without MODEL: a Gram matrix has no coordinates; fit a model and pass it")
	check.Refuse(!model && sequences,
		"%s contains sequences, which have no coordinates; fit a model and pass it", p.Data.Path)
	check.Refuse(p.chunklets && p.Links.Path == "",
		"--chunklets is given without -c: want a file of links or chunklets")
	p.Preparing.Check(check, model, &p.Data)
	check.Do(p.checkFormat)
	check.Models(args)
	if !p.spectrum {
		p.Data.Check(check)
	}
	p.Links.Check(check)
	p.checkPicture(check)
}

// checkPicture checks size and output file of the picture.
func (p *plotCommand) checkPicture(check *session.Checks) {
	if p.format != "svg" {
		check.Binary("-o, --output", p.out, p.format)
	}
	check.Do(func() error {
		return usage.RenameParams(p.size.Check(), "width", "--width", "height", "--height", "dpi", "--dpi")
	})
	check.Output("-o, --output", p.out)
}

// checkFormat sets the format of the picture. --format is that of the picture or that of the data;
// no word means both.
func (p *plotCommand) checkFormat() (err error) {
	asked := ""
	switch given := p.Data.Format; {
	case slices.Contains(view.Formats(), given):
		asked, p.Data.Format = given, ""
	case given != "" && session.FormatOf("."+given) == "":
		return fault.Unknown("--format", given, append(view.Formats(), session.Formats()...))
	}
	if p.out == session.Stream {
		p.format = session.NameOr(asked, "png")
		return nil
	}
	if p.format, err = view.FormatOf(p.out); err != nil && asked != "" {
		p.format, err = asked, nil
	}
	return usage.RenameParams(err, "picture", "-o, --output")
}

// scatter computes the positions of the points.
func (p *plotCommand) scatter(ctx context.Context, d *dataset.Data) (s view.Scatter, err error) {
	s = view.Scatter{Title: session.NameOr(p.title, filepath.Base(d.Name)), Groups: d.Labels,
		PointSize: p.pointSize, NoLegend: p.noLegend}
	if !p.m.Learned() {
		return s, p.rawCoordinates(ctx, d, &s)
	}
	s.Title = session.NameOr(p.title, s.Title+", "+p.m.Name())
	y, err := p.m.Coordinates(ctx, d)
	if err != nil {
		return s, err
	}
	return s, p.planes.Set(ctx, &s, y, pictures.CoordinateName)
}

// panels computes the positions of the points, before learning too if these are to be drawn. The
// learned picture is the last.
func (p *plotCommand) panels(ctx context.Context, d *dataset.Data) (list []view.Scatter, err error) {
	if p.before {
		raw, err := p.scatterBefore(ctx, d)
		if err != nil {
			return nil, err
		}
		list = append(list, raw)
	}
	s, err := p.scatter(ctx, d)
	return append(list, s), err
}

// scatterBefore computes the positions of the points as the model takes them.
func (p *plotCommand) scatterBefore(ctx context.Context, d *dataset.Data) (s view.Scatter, err error) {
	s = view.Scatter{Groups: d.Labels, PointSize: p.pointSize}
	s.Title, s.NoLegend = session.NameOr(p.title, filepath.Base(d.Name))+", "+pictures.Raw, true
	before := *d
	if before.Points, err = p.m.Prepared(d); err == nil {
		err = p.rawCoordinates(ctx, &before, &s)
	}
	return s, err
}

// rawCoordinates uses the points' own coordinates.
func (p *plotCommand) rawCoordinates(ctx context.Context, d *dataset.Data, s *view.Scatter) error {
	table, err := p.Preparing.Apply(ctx, p.Session, d)
	if err != nil {
		return err
	}
	x, err := metric.Raw(ctx, p.m.Eng, d.Name, table.Data().Points)
	if err != nil {
		return err
	}
	return p.planes.Set(ctx, s, x, func(j int) string { return pictures.FeatureName(d, j) })
}

// drawLinks adds the links to draw, with a warning if it leaves some out.
func (p *plotCommand) drawLinks(set *links.Set, s *view.Scatter) error {
	s.Cannot, s.AllCannot = source.Pairs(sample(p, "cannot-link", set.Cannot())), len(set.Cannot())
	if p.chunklets {
		groups := slices.DeleteFunc(slices.Clone(set.Chunklets()), func(rows []int) bool {
			return len(rows) < 2
		})
		s.Chunklets = sample(p, "chunklet", groups)
		return nil
	}
	if err := p.m.Eng.Check("all pairs of the chunklets", set.Bytes(),
		"draw chunklets with --chunklets"); err != nil {
		return err
	}
	s.Must, s.AllMust = source.Pairs(sample(p, "must-link", set.Must())), len(set.Must())
	return nil
}

// sample returns at most --max-links elements of all, drawn with the seed, in the original order.
func sample[T any](p *plotCommand, kind string, all []T) []T {
	if len(all) <= p.maxLinks {
		return all
	}
	p.Warnf("%d of %s drawn: --max-links", p.maxLinks, fault.Count(len(all), kind))
	chosen := rand.New(rand.NewPCG(p.seed, uint64(len(all)))).Perm(len(all))[:p.maxLinks]
	slices.Sort(chosen)
	out := make([]T, 0, p.maxLinks)
	for _, i := range chosen {
		out = append(out, all[i])
	}
	return out
}

// writePicture draws into the file, or to standard output.
func (p *plotCommand) writePicture(panels ...view.Panel) error {
	size := p.size
	size.Width *= float64(len(panels))
	return p.WriteFile(p.out, func(w io.Writer) error { return view.Write(w, p.format, size, panels...) })
}

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
