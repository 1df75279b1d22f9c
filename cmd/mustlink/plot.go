package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
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
	size      view.Size
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
recall draw how well distances between the rows of DATA, raw and under each model, tell its labels apart.`,
		Example: `  mustlink plot model.mlk -i data.csv -c links.csv -o learned.png
  mustlink plot -i data.csv -c links.csv --standardize -o raw.svg
  mustlink plot model.mlk -i data.csv -c links.csv --before -o both.svg
  mustlink plot model.mlk -i data.csv --dims 0,1 --title "the leading coordinates" -o more.pdf
  mustlink plot model.mlk --spectrum -o spectrum.png
  mustlink plot krca.mlk itml.mlk -i data.csv --curve roc -o roc.svg`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.curve != "" {
				return a.plotCurve(cmd, args, &p)
			}
			if err := usage.Positional(0, 1, "one MODEL")(cmd, args); err != nil {
				return err
			}
			if len(args) == 1 && session.HasEnding(args[0], "json") {
				return moved("plot", args[0], "-o", session.NameOr(p.out, "PICTURE"))
			}
			return a.runPlot(cmd, args, &p)
		},
	}
	f := cmd.Flags()
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
	usage.SeedFlag(f, &p.seed)
	f.StringVar(&p.title, "title", "", "`TEXT` above the drawing (default the name of the data and the method)")
	f.Float64Var(&p.size.Width, "width", 6, "width in inches")
	f.Float64Var(&p.size.Height, "height", 4.5, "height in inches")
	f.IntVar(&p.size.DPI, "dpi", 150, "dots an inch of a PNG")
	f.Float64Var(&p.pointSize, "point-size", 0, "radius of points in 1/72 inch (default by their number)")
	f.BoolVar(&p.noLegend, "no-legend", false, "leave out the legend")
	f.StringVarP(&p.out, "output", "o", "", "the `PICTURE` to write, .png, .svg or .pdf; - for standard output")
	usage.CompleteWith(cmd, "curve", curveNames()...)
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
	must := session.Plural(r.Must, "must-link")
	if r.Chunks > 0 {
		must = session.Plural(r.Chunks, "chunklet")
	}
	fmt.Fprintf(w, "%s: %s, %s, %s\n", r.Output, session.Plural(r.Points, "point"), must, session.Plural(r.Cannot, "cannot-link"))
}

func (a *app) runPlot(cmd *cobra.Command, args []string, p *plotFlags) error {
	if err := a.checkPlot(cmd, args, p); err != nil {
		return err
	}
	ctx := cmd.Context()
	m, err := a.metric(ctx, args...)
	if err != nil {
		return err
	}
	if p.spectrum {
		return m.plotSpectrum(args[0], p)
	}
	d, err := m.read(ctx, &p.data)
	if err != nil {
		return err
	}
	s, err := m.scatter(ctx, d, p)
	if err != nil {
		return fault.InFile(err, d.Name)
	}
	if p.links.path != "" {
		set, err := a.readLinksWarning(ctx, &p.links, d)
		if err != nil {
			return err
		}
		if err := a.drawLinks(m.eng, set, p, &s); err != nil {
			return fault.InFile(err, p.links.path)
		}
	}
	panels := []view.Panel{s}
	if p.before {
		raw, err := m.scatterBefore(ctx, d, p, s)
		if err != nil {
			return fault.InFile(err, d.Name)
		}
		panels = []view.Panel{raw, s}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.writePicture(p, panels...); err != nil {
		return err
	}
	r := plotReport{len(s.X), len(s.Must), len(s.Cannot), len(s.Chunklets), []string{s.XLabel, s.YLabel}, p.out, a.Warnings()}
	return a.Summarize(p.out, r, r.text)
}

// checkPlot finds every mistake that shows before data are read.
func (a *app) checkPlot(cmd *cobra.Command, args []string, p *plotFlags) error {
	check := a.Check(cmd)
	model, sequences := len(args) > 0, p.data.formatName() == "fasta"
	if !p.spectrum {
		check.Required("input")
	}
	check.Required("output")
	check.Refuse(p.spectrum && (!model || p.data.path != "" || p.links.path != ""), "--spectrum is that of a MODEL: want MODEL, and neither -i nor -c")
	check.Refuse(p.before && (!model || p.spectrum || p.dims != nil), "--before is beside a MODEL: want MODEL, and neither --spectrum nor --dims")
	check.Refuse(p.before && (p.data.gram || sequences), "--before is given, but %s holds objects without coordinates", p.data.path)
	check.Refuse(p.dims != nil && (len(p.dims) != 2 || min(p.dims[0], p.dims[1]) < 0 || p.dims[0] == p.dims[1]),
		"--dims is %v: want two different numbers >= 0, such as 0,1", p.dims)
	check.Least("--max-links", p.maxLinks, 0)
	check.Refuse(!model && p.data.gram, "--gram is given without MODEL: a Gram matrix has no coordinates: fit a model and pass it")
	check.Refuse(!model && sequences, "%s holds sequences, which have no coordinates: fit a model and pass it", p.data.path)
	check.Refuse(p.chunklets && p.links.path == "", "--chunklets is given without -c: want a file of links or chunklets")
	check.Refuse(!(p.pointSize >= 0 && p.pointSize <= 100), "--point-size is %v: want 0 to 100", p.pointSize)
	p.scaling.check(check, model, false)
	check.Do(p.checkFormat)
	check.Models(args)
	if !p.spectrum {
		p.data.check(check)
	}
	p.links.check(check)
	p.checkPicture(check)
	return check.Err
}

// checkPicture checks size and place of the picture.
func (p *plotFlags) checkPicture(check *session.Checks) {
	if p.format != "svg" {
		check.Binary("-o, --output", p.out, p.format)
	}
	check.Do(func() error {
		return usage.RenameParams(p.size.Check(), "width", "--width", "height", "--height", "dpi", "--dpi")
	})
	check.Output("-o, --output", p.out)
}

// checkFormat sets the format of the picture. --format names it, or that of the data: no word
// means both.
func (p *plotFlags) checkFormat() (err error) {
	asked := ""
	switch given := p.data.format; {
	case slices.Contains(view.Formats(), given):
		asked, p.data.format = given, ""
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

// scatter places the points.
func (m *metric) scatter(ctx context.Context, d *dataset.Data, p *plotFlags) (s view.Scatter, err error) {
	s = view.Scatter{Title: session.NameOr(p.title, filepath.Base(d.Name)), Groups: d.Labels, PointSize: p.pointSize, NoLegend: p.noLegend}
	if m.fitted == nil {
		err = m.placeRaw(ctx, d, p, &s)
		return s, err
	}
	s.Title = session.NameOr(p.title, s.Title+", "+m.name())
	y, err := m.coordinates(ctx, d)
	if err != nil {
		return s, err
	}
	err = place(ctx, m.eng, &s, y, p.dims, coordinateName)
	return s, err
}

// coordinateName names a coordinate of an embedding.
func coordinateName(j int) string { return fmt.Sprintf("coordinate %d", j) }

// featureName names a column of data.
func featureName(d *dataset.Data, j int) string {
	if j < len(d.Features) {
		return d.Features[j]
	}
	return fmt.Sprintf("feature %d", j)
}

// scatterBefore places the points as the model takes them, with the links of the learned picture.
func (m *metric) scatterBefore(ctx context.Context, d *dataset.Data, p *plotFlags, learned view.Scatter) (s view.Scatter, err error) {
	s = learned
	s.Title, s.NoLegend = session.NameOr(p.title, filepath.Base(d.Name))+", raw", true
	before := *d
	if before.Points, err = m.points(d); err == nil {
		err = m.placeRaw(ctx, &before, p, &s)
	}
	return s, err
}

// placeRaw takes the points' own coordinates.
func (m *metric) placeRaw(ctx context.Context, d *dataset.Data, p *plotFlags, s *view.Scatter) error {
	table, err := p.scaling.apply(m.app, d)
	if err != nil {
		return err
	}
	x, err := rawMatrix(m.eng, d.Name, table.Data().Points)
	if err != nil {
		return err
	}
	return place(ctx, m.eng, s, x, p.dims, func(j int) string { return featureName(d, j) })
}

// place takes two columns of m, or the plane in which its rows vary most where there are more
// and none was asked for. Where there is one column, points lie on a line.
func place(ctx context.Context, eng *engine.Engine, s *view.Scatter, m blas.Matrix, dims []int, name func(j int) string) (err error) {
	if dims == nil && m.Cols > 2 {
		var share [2]float64
		s.X, s.Y, share, err = view.Plane(ctx, eng, m)
		s.XLabel = fmt.Sprintf("first principal component (%.0f %% of the variance)", 100*share[0])
		s.YLabel = fmt.Sprintf("second principal component (%.0f %%)", 100*share[1])
		return err
	}
	for _, j := range dims {
		if j >= m.Cols {
			return usage.Errorf("--dims names coordinate %d: want 0 to %d", j, m.Cols-1)
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
func (a *app) drawLinks(eng *engine.Engine, set *links.Set, p *plotFlags, s *view.Scatter) error {
	s.Cannot, s.AllCannot = pairsOf(sample(a, "cannot-link", set.Cannot(), p)), len(set.Cannot())
	if p.chunklets {
		groups := slices.DeleteFunc(slices.Clone(set.Chunklets()), func(rows []int) bool { return len(rows) < 2 })
		s.Chunklets = sample(a, "chunklet", groups, p)
		return nil
	}
	if err := eng.Check("all pairs of the chunklets", set.Bytes(), "draw chunklets with --chunklets"); err != nil {
		return err
	}
	s.Must, s.AllMust = pairsOf(sample(a, "must-link", set.Must(), p)), len(set.Must())
	return nil
}

// pairsOf returns the rows that links are between.
func pairsOf(list []links.Link) (pairs [][2]int) {
	for _, l := range list {
		pairs = append(pairs, [2]int{l.I, l.J})
	}
	return pairs
}

// sample returns at most --max-links of all, drawn by the seed and in their old order.
func sample[T any](a *app, kind string, all []T, p *plotFlags) []T {
	if len(all) <= p.maxLinks {
		return all
	}
	a.Warnf("%d of %s drawn: --max-links", p.maxLinks, session.Plural(len(all), kind))
	chosen := rand.New(rand.NewPCG(p.seed, uint64(len(all)))).Perm(len(all))[:p.maxLinks]
	slices.Sort(chosen)
	out := make([]T, 0, p.maxLinks)
	for _, i := range chosen {
		out = append(out, all[i])
	}
	return out
}

// writePicture draws into the file, or to standard output.
func (a *app) writePicture(p *plotFlags, panels ...view.Panel) error {
	size := p.size
	size.Width *= float64(len(panels))
	return a.WriteFile(p.out, func(w io.Writer) error { return view.Write(w, p.format, size, panels...) })
}
