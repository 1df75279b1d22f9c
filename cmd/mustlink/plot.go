package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// plotFlags are the flags of `mustlink plot`.
type plotFlags struct {
	data      dataFlags
	links     linkFlags
	scaling   scalingFlags
	dims      []int
	maxLinks  int
	seed      uint64
	title     string
	size      figure.Size
	pointSize float64
	noLegend  bool
	chunklets bool
	spectrum  bool
	before    bool
	curve     string
	format    string // of the picture
	out       string
}

func newPlot(a *app) *cobra.Command {
	var p plotFlags
	cmd := &cobra.Command{
		Use:   "plot [MODEL]... [-i DATA | --spectrum] -o PICTURE",
		Short: "draw points and their links in the plane, learned or raw",
		Long: `Draw points in the plane as PNG, SVG or PDF, by the extension of PICTURE: coloured by
label, with must-links as solid and cannot-links as dashed lines. Both axes have one scale,
so that distances on paper are distances of the points.

With MODEL the coordinates are those of its embedding, without it the points' own. Of more
than two the picture shows the two directions in which the points vary most (principal
components), with their shares of the variance, or the coordinates that --dims names.

With MODEL and --spectrum, and no data, the picture shows what a model such as kbeta's has
for every direction: eigenvalues, weights, the spread of the must-links.

With --curve there may be several MODELs: trace draws how their objectives came to their ends; roc and
recall draw how well distances between the rows of DATA, raw and under each model, tell its labels apart.

In place of MODEL a .json file of results of bench can be given, which are drawn again: box plots and curves
of the papers' tables, ranks of a cross table, learning curves.`,
		Example: `  mustlink plot model.mlk -i data.csv -c links.csv -o learned.png
  mustlink plot -i data.csv -c links.csv --standardize -o raw.svg
  mustlink plot model.mlk -i data.csv -c links.csv --before -o both.svg
  mustlink plot model.mlk -i data.csv --dims 0,1 --title "the leading coordinates" -o more.pdf
  mustlink plot model.mlk --spectrum -o spectrum.png
  mustlink plot krca.mlk itml.mlk -i data.csv --curve roc -o roc.svg
  mustlink plot curves.json -o curves.svg`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.curve != "" {
				if err := required(cmd, "output"); err != nil {
					return err
				}
				return a.plotCurve(cmd.Context(), args, &p)
			}
			if err := positional(0, 1, "one MODEL")(cmd, args); err != nil {
				return err
			}
			if len(args) == 1 && isJSON(args[0]) {
				if err := required(cmd, "output"); err != nil {
					return err
				}
				return a.plotBench(cmd.Context(), args[0], &p)
			}
			return a.runPlot(cmd, args, &p)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	p.data.add(cmd)
	p.data.addLabels(cmd)
	p.links.add(cmd)
	p.scaling.add(f, "without MODEL: ", "to mean 0 and deviation 1")
	f.IntSliceVar(&p.dims, "dims", nil, "the two `COORDINATES` to draw, counted from 0 (default: principal components of more than two)")
	f.BoolVar(&p.chunklets, "chunklets", false, "draw must-links as chunklets: a star for all the points that belong together")
	f.StringVar(&p.curve, "curve", "", "draw a curve in place of points: trace (the objective of MODELs), roc or recall (how well distances tell labels apart)")
	f.BoolVar(&p.before, "before", false, "draw the points as they are beside those of the MODEL")
	f.BoolVar(&p.spectrum, "spectrum", false, "draw the MODEL's spectrum in place of points")
	f.IntVar(&p.maxLinks, "max-links", 500, "draw at most so many links of each kind, or chunklets, chosen by --seed")
	seedFlag(f, &p.seed)
	f.StringVar(&p.title, "title", "", "`TEXT` above the drawing (default the name of the data and the method)")
	f.Float64Var(&p.size.Width, "width", 6, "width in inches")
	f.Float64Var(&p.size.Height, "height", 4.5, "height in inches")
	f.IntVar(&p.size.DPI, "dpi", 150, "dots an inch of a PNG")
	f.Float64Var(&p.pointSize, "point-size", 0, "radius of points in 1/72 inch (default by their number)")
	f.BoolVar(&p.noLegend, "no-legend", false, "leave out the legend")
	f.StringVarP(&p.out, "output", "o", "", "the `PICTURE` to write, .png, .svg or .pdf; - for standard output")
	completeWith(cmd, "curve", curveNames()...)
	f.Lookup("format").Usage += "; png, svg or pdf is that of the PICTURE (default png)"
	return cmd
}

// plotReport is what `mustlink plot` prints.
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
	must := plural(r.Must, "must-link")
	if r.Chunks > 0 {
		must = plural(r.Chunks, "chunklet")
	}
	fmt.Fprintf(w, "%s: %s, %s, %s\n", r.Output, plural(r.Points, "point"), must, plural(r.Cannot, "cannot-link"))
}

func (a *app) runPlot(cmd *cobra.Command, args []string, p *plotFlags) error {
	if err := a.checkPlot(cmd, args, p); err != nil {
		return err
	}
	ctx := cmd.Context()
	eng, err := a.engine()
	if err != nil {
		return err
	}
	var fitted *catalog.Fitted
	if len(args) > 0 {
		if fitted, err = a.loadModel(ctx, args[0]); err != nil {
			return err
		}
	}
	if p.spectrum {
		return a.plotSpectrum(args[0], fitted, p)
	}
	d, err := a.readData(ctx, p.data.forModel(fitted))
	if err != nil {
		return err
	}
	s, err := a.scatter(ctx, eng, fitted, d, p)
	if err != nil {
		return inFile(d.Name, err)
	}
	if p.links.path != "" {
		set, err := a.readLinks(ctx, &p.links, d)
		if err != nil {
			return err
		}
		for _, w := range set.Warnings() {
			a.warn("%s: %s", p.links.path, w)
		}
		if err := a.drawLinks(eng, set, p, &s); err != nil {
			return inFile(p.links.path, err)
		}
	}
	panels := []figure.Panel{s}
	if p.before {
		raw, err := a.scatterBefore(ctx, eng, fitted, d, p, s)
		if err != nil {
			return inFile(d.Name, err)
		}
		panels = []figure.Panel{raw, s}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.writePicture(p, panels...); err != nil {
		return err
	}
	r := plotReport{len(s.X), len(s.Must), len(s.Cannot), len(s.Chunklets), []string{s.XLabel, s.YLabel}, p.out, a.allWarnings()}
	return a.summarise(p.out, r, r.text)
}

// checkPlot finds every mistake that shows before data are read.
func (a *app) checkPlot(cmd *cobra.Command, args []string, p *plotFlags) error {
	needed := []string{"input", "output"}
	if p.spectrum {
		needed = needed[1:]
	}
	if err := required(cmd, needed...); err != nil {
		return err
	}
	switch {
	case p.spectrum && (len(args) == 0 || p.data.path != "" || p.links.path != ""):
		return usagef("--spectrum is that of a MODEL: want MODEL, and neither -i nor -c")
	case p.before && (len(args) == 0 || p.spectrum || p.dims != nil):
		return usagef("--before is beside a MODEL: want MODEL, and neither --spectrum nor --dims")
	case p.before && (p.data.gram || p.data.formatName() == "fasta"):
		return usagef("--before is given, but %s holds objects without coordinates", p.data.path)
	case p.dims != nil && (len(p.dims) != 2 || min(p.dims[0], p.dims[1]) < 0 || p.dims[0] == p.dims[1]):
		return usagef("--dims is %v: want two different numbers >= 0, such as 0,1", p.dims)
	case p.maxLinks < 0:
		return usagef("--max-links is %d: want a number >= 0", p.maxLinks)
	case len(args) == 0 && p.data.gram:
		return usagef("--gram is given without MODEL: a Gram matrix has no coordinates: fit a model and pass it")
	case len(args) == 0 && p.data.formatName() == "fasta":
		return usagef("%s holds sequences, which have no coordinates: fit a model and pass it", p.data.path)
	case p.chunklets && p.links.path == "":
		return usagef("--chunklets is given without -c: want a file of links or chunklets")
	case !(p.pointSize >= 0 && p.pointSize <= 100):
		return usagef("--point-size is %v: want 0 to 100", p.pointSize)
	}
	if err := p.scaling.check(len(args) > 0, false); err != nil {
		return err
	}
	if err := p.checkFormat(); err != nil {
		return err
	}
	if err := p.links.check(); err != nil {
		return err
	}
	if len(args) > 0 {
		if err := a.useModel(args[0]); err != nil {
			return err
		}
	}
	if p.spectrum {
		return a.checkPicture(p)
	}
	if err := a.useData(&p.data); err != nil {
		return err
	}
	if p.links.path != "" {
		if err := a.useInput("-c, --links", p.links.path); err != nil {
			return err
		}
	}
	return a.checkPicture(p)
}

// checkPicture checks size and place of the picture.
func (a *app) checkPicture(p *plotFlags) error {
	if p.out == stream && p.format != "svg" && isTerminal(a.stdout) {
		return usagef("-o, --output is \"-\", but %s is binary and standard output is a terminal: want a file or a pipe", p.format)
	}
	if err := p.size.Check(); err != nil {
		return renameParams(err, "width", "--width", "height", "--height", "dpi", "--dpi")
	}
	return a.checkOutput("-o, --output", p.out)
}

// checkFormat sets the format of the picture. --format names it, or that of the data: no word
// means both.
func (p *plotFlags) checkFormat() (err error) {
	asked := ""
	switch given := p.data.format; {
	case slices.Contains(figure.Formats(), given):
		asked, p.data.format = given, ""
	case given != "" && formatOf("."+given) == "":
		return fault.Unknown("--format", given, append(figure.Formats(), formats()...))
	}
	if p.out == stream {
		p.format = nameOr(asked, "png")
		return nil
	}
	if p.format, err = figure.FormatOf(p.out); err != nil && asked != "" {
		p.format, err = asked, nil
	}
	return renameParams(err, "picture", "-o, --output")
}

// scatter places the points.
func (a *app) scatter(ctx context.Context, eng *engine.Engine, fitted *catalog.Fitted, d *dataset.Data, p *plotFlags) (figure.Scatter, error) {
	s := figure.Scatter{Title: p.title, Groups: d.Labels, PointSize: p.pointSize, NoLegend: p.noLegend}
	var err error
	if fitted == nil {
		s.Title = nameOr(s.Title, filepath.Base(d.Name))
		err = a.placeRaw(ctx, eng, d, p, &s)
		return s, err
	}
	s.Title = nameOr(s.Title, filepath.Base(d.Name)+", "+fitted.Model.Method())
	x, err := fitted.Prepare(d)
	if err != nil {
		return s, err
	}
	y, err := fitted.Model.Embed(ctx, eng, x)
	if err != nil {
		return s, err
	}
	err = place(ctx, eng, &s, y, p.dims, func(j int) string { return fmt.Sprintf("coordinate %d", j) })
	return s, err
}

// scatterBefore places the points as the model takes them, with the links of the learned picture.
func (a *app) scatterBefore(ctx context.Context, eng *engine.Engine, fitted *catalog.Fitted, d *dataset.Data, p *plotFlags, learned figure.Scatter) (figure.Scatter, error) {
	s := learned
	s.Title, s.NoLegend = nameOr(p.title, filepath.Base(d.Name))+", raw", true
	before := *d
	var err error
	if before.Points, err = fitted.Prepare(d); err != nil {
		return s, err
	}
	return s, a.placeRaw(ctx, eng, &before, p, &s)
}

// placeRaw takes the points' own coordinates.
func (a *app) placeRaw(ctx context.Context, eng *engine.Engine, d *dataset.Data, p *plotFlags, s *figure.Scatter) error {
	if _, err := p.scaling.apply(a, d); err != nil {
		return err
	}
	m, err := rawMatrix(eng, d)
	if err != nil {
		return err
	}
	name := func(j int) string {
		if j < len(d.Features) {
			return d.Features[j]
		}
		return fmt.Sprintf("feature %d", j)
	}
	return place(ctx, eng, s, m, p.dims, name)
}

// place takes two columns of m, or the plane in which its rows vary most where there are more
// and none was asked for. Where there is one column, points lie on a line.
func place(ctx context.Context, eng *engine.Engine, s *figure.Scatter, m blas.Matrix, dims []int, name func(j int) string) (err error) {
	if dims == nil && m.Cols > 2 {
		var share [2]float64
		s.X, s.Y, share, err = figure.Plane(ctx, eng, m)
		s.XLabel = fmt.Sprintf("first principal component (%.0f %% of the variance)", 100*share[0])
		s.YLabel = fmt.Sprintf("second principal component (%.0f %%)", 100*share[1])
		return err
	}
	for _, j := range dims {
		if j >= m.Cols {
			return usagef("--dims names coordinate %d: want 0 to %d", j, m.Cols-1)
		}
	}
	if dims == nil {
		dims = []int{0, 1}
	}
	s.X, s.XLabel = coordinate(m, dims[0], name)
	s.Y, s.YLabel = coordinate(m, dims[1], name)
	return nil
}

// coordinate returns a column of m and its name, or zeros without a name for one that m lacks.
func coordinate(m blas.Matrix, j int, name func(j int) string) ([]float64, string) {
	values := make([]float64, m.Rows)
	if j >= m.Cols {
		return values, ""
	}
	for i := range values {
		values[i] = m.At(i, j)
	}
	return values, name(j)
}

// drawLinks adds the links to draw, with a warning when these are not all.
func (a *app) drawLinks(eng *engine.Engine, set *links.Set, p *plotFlags, s *figure.Scatter) error {
	s.Cannot, s.AllCannot = a.choose("cannot-link", set.Cannot(), p), len(set.Cannot())
	if p.chunklets {
		groups := slices.DeleteFunc(slices.Clone(set.Chunklets()), func(rows []int) bool { return len(rows) < 2 })
		s.Chunklets = sample(a, "chunklet", groups, p)
		return nil
	}
	if err := eng.Check("all pairs of the chunklets", set.Bytes(), "draw chunklets with --chunklets"); err != nil {
		return err
	}
	s.Must, s.AllMust = a.choose("must-link", set.Must(), p), len(set.Must())
	return nil
}

func (a *app) choose(kind string, all []links.Link, p *plotFlags) [][2]int {
	var pairs [][2]int
	for _, l := range sample(a, kind, all, p) {
		pairs = append(pairs, [2]int{l.I, l.J})
	}
	return pairs
}

// sample returns at most --max-links of all, drawn by the seed and in their old order.
func sample[T any](a *app, kind string, all []T, p *plotFlags) []T {
	if len(all) <= p.maxLinks {
		return all
	}
	a.warn("%d of %s drawn: --max-links", p.maxLinks, plural(len(all), kind))
	chosen := rand.New(rand.NewPCG(p.seed, uint64(len(all)))).Perm(len(all))[:p.maxLinks]
	slices.Sort(chosen)
	out := make([]T, 0, p.maxLinks)
	for _, i := range chosen {
		out = append(out, all[i])
	}
	return out
}

// writePicture draws into the file, or to standard output.
func (a *app) writePicture(p *plotFlags, panels ...figure.Panel) error {
	size := p.size
	size.Width *= float64(len(panels))
	draw := func(w io.Writer) error { return figure.Write(w, p.format, size, panels...) }
	if p.out == stream {
		return draw(a.stdout)
	}
	return dataset.Atomic(p.out, draw)
}
