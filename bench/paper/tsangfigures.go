package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/view"
)

func tsangFigure1() Figure {
	return Figure{
		Name: "tsang-fig1", Paper: tsangPaper, Label: "Figure 1",
		Caption: "the XOR data with their chunklets, and after RCA",
		Setup: append(xorSetup()[:2:2],
			fmt.Sprintf("Left: the data. Right: their two leading principal components after RCA, eps = %g "+
				"times the mean squared norm.", tsangEpsRel)),
		Claims: func(d *Drawing) []Claim {
			return d.separation("RCA does not separate the classes", 3, 2, false)
		},
		Draw: drawXORData,
	}
}

func tsangFigure2() Figure {
	return Figure{
		Name: "tsang-fig2", Paper: tsangPaper, Label: "Figure 2",
		Caption: "the XOR data in the two leading directions of the Gaussian kernel, unlearned and learned " +
			"by kernel RCA",
		Setup: append(xorSetup()[:2:2],
			fmt.Sprintf("Left: the two leading kernel principal components of the Gaussian kernel, %s. "+
				"Right: those of the kernel that kernel RCA learns from it, eps = %g.", tsangWidth,
				tsangEpsRel)),
		Differences: []string{"The paper draws only the learned kernel. Its text speaks of a third " +
			"direction of the unlearned one, in which the classes lie above each other."},
		Claims: func(d *Drawing) []Claim {
			return d.separation("kernel RCA separates the two classes well", 3, 1, true)
		},
		Draw: drawXORKernels,
	}
}

// separation tests whether some line parallel to an axis separates the classes, by the best
// threshold on one of a number of columns from the first on. A drawing without them has no claim.
func (d *Drawing) separation(text string, first, columns int, want bool) []Claim {
	if len(d.Columns) < first+columns {
		return nil
	}
	share := 0.0
	for c := first; c < first+columns; c++ {
		share = max(share, bestThreshold(d.Rows, c))
	}
	c := Claim{text, Worse,
		fmt.Sprintf("the best threshold on a component has %.0f %% of the points on the right side",
			100*share)}
	if separated := share >= 0.95; separated == want {
		c.Verdict = Reproduced
	}
	return []Claim{c}
}

// bestThreshold returns the largest share of rows that a threshold on a column puts on the side of
// their class, which is in column 0.
func bestThreshold(rows [][]float64, column int) float64 {
	most := 0
	for _, threshold := range rows {
		right := 0
		for _, row := range rows {
			if (row[column] >= threshold[column]) == (row[0] == 1) {
				right++
			}
		}
		most = max(most, right, len(rows)-right)
	}
	return float64(most) / float64(len(rows))
}

func drawXORData(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	x, classes, l, err := xorDraw(sketch.Seed)
	if err != nil {
		return nil, err
	}
	s := scatterOf(columnOf(x.Data, 2, 0), columnOf(x.Data, 2, 1), classes)
	s.Title, s.XLabel, s.YLabel = "data", "first coordinate", "second coordinate"
	s.Must = chainsOf(l)
	y, err := relevantComponents(ctx, eng, "linear", x, l)
	if err != nil {
		return nil, err
	}
	learned, err := planeOf(ctx, eng, y, classes)
	if err != nil {
		return nil, err
	}
	learned.Title, learned.NoLegend = "RCA", true
	return xorDrawing(classes, []string{"x", "y", "learned x", "learned y"}, s, learned), nil
}

// xorDraw draws the XOR data and chunklets as the first repetition of tsang-1 does.
func xorDraw(seed uint64) (*points.Dense, []int, *links.Set, error) {
	t := Trial{seed: seed}
	x, classes, err := xorBlobs(t.Rand(tsangData))
	if err != nil {
		return nil, nil, nil, err
	}
	l, err := xorChunklets(t.Rand(tsangChunklets))
	return x, classes, l, err
}

// scatterOf draws points by class.
func scatterOf(x, y []float64, classes []int) view.Scatter {
	s := view.Scatter{X: x, Y: y}
	for _, c := range classes {
		s.Groups = append(s.Groups, fmt.Sprintf("class %d", c+1))
	}
	return s
}

// chainsOf joins each point of a chunklet to the next, which takes fewer lines than all pairs.
func chainsOf(l *links.Set) [][2]int {
	var out [][2]int
	for _, c := range l.Chunklets() {
		for i := 1; i < len(c); i++ {
			out = append(out, [2]int{c[i-1], c[i]})
		}
	}
	return out
}

// columnOf returns column j of row-major rows of d values.
func columnOf(data []float64, d, j int) []float64 {
	var out []float64
	for i := j; i < len(data); i += d {
		out = append(out, data[i])
	}
	return out
}

// xorDrawing lists the coordinates of all panels after the class.
func xorDrawing(classes []int, names []string, panels ...view.Scatter) *Drawing {
	d := &Drawing{Columns: append([]string{"class"}, names...)}
	for _, p := range panels {
		d.Panels = append(d.Panels, p)
	}
	for i, c := range classes {
		row := []float64{float64(c)}
		for _, p := range panels {
			row = append(row, p.X[i], p.Y[i])
		}
		d.Rows = append(d.Rows, row)
	}
	return d
}

func drawXORKernels(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	seed := sketch.Seed
	x, classes, l, err := xorDraw(seed)
	if err != nil {
		return nil, err
	}
	k, err := resolved(ctx, eng, tsangWidth, x)
	if err != nil {
		return nil, err
	}
	var panels []view.Scatter
	for _, side := range []struct {
		title string
		embed embedding
	}{{"Gaussian kernel", plainKernel}, {"learned kernel", relevantComponents}} {
		y, err := side.embed(ctx, eng, k.Spec().String(), x, l)
		if err != nil {
			return nil, err
		}
		s, err := planeOf(ctx, eng, y, classes)
		if err != nil {
			return nil, err
		}
		s.Title = side.title
		panels = append(panels, s)
	}
	panels[0].NoLegend = true
	return xorDrawing(classes, []string{"x", "y", "learned x", "learned y"}, panels...), nil
}

// arrivals is the experiment of Figure 3: chunklets of two points, one after another.
type arrivals struct {
	count   int
	s       float64 // n eps, which stays fixed
	relearn int     // number of sizes at which the kernel is learned from scratch
	repeats int     // number of orders of the chunklets of which the median time counts
}

func tsangFigure3() Figure {
	a := arrivals{count: 1250, s: 1250 * 2 * tsangEpsRel, relearn: 10, repeats: 20}
	return Figure{
		Name: "tsang-fig3", Paper: tsangPaper, Label: "Figure 3",
		Caption: "time of incremental learning and of learning from scratch, with chunklets of two points " +
			"that arrive one by one",
		Data: []string{uspsSet().file},
		Setup: []string{
			fmt.Sprintf("Data: USPS as in tsang-4, %d chunklets of two rows of one digit, drawn and put in "+
				"order again in each of %d repetitions; kernel %s; s = n eps = %g stays fixed, so eps = %g "+
				"at the end.",
				a.count, a.repeats, tsangWidth, a.s, tsangEpsRel),
			"Incremental: the time of every update of the learned kernel. From scratch: the time of " +
				"learning the kernel from all chunklets so far, at ten sizes; its total over all arrivals " +
				"is computed by " +
				"the trapezoidal rule. Neither includes an embedding. Times are wall times on the workers " +
				"of the engine: " +
				"medians over the repetitions, which other work on the machine changes less than means.",
		},
		Differences: []string{
			"The paper measures processor seconds in MATLAB on a Pentium 4 at 3.2 GHz and shows them in a " +
				"plot only. " + tsangUSPS,
		},
		Claims: func(d *Drawing) []Claim { return a.claims(d) },
		Draw:   a.draw,
	}
}

// claims tests what the paper says about the times.
func (a arrivals) claims(d *Drawing) []Claim {
	last := d.Rows[len(d.Rows)-1]
	c := Claim{"incremental updates are much faster than learning from scratch", Worse,
		fmt.Sprintf("with %.0f points an update takes %.3g ms, learning from scratch %.3g ms", last[0],
			1e3*last[1], 1e3*last[2])}
	if last[2] > 2*last[1] {
		c.Verdict = Reproduced
	}
	return []Claim{c}
}

// draw measures the times on USPS and draws them.
func (a arrivals) draw(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	r := rand.New(rand.NewPCG(sketch.Seed, 3))
	d, err := uspsSet().load(ctx, eng, filepath.Join(sketch.Data, uspsSet().file), r)
	if err != nil {
		return nil, err
	}
	k, err := resolved(ctx, eng, tsangWidth, d.x)
	if err != nil {
		return nil, err
	}
	return a.measure(ctx, eng, k.Spec(), d, r, sketch.Progress)
}

// measure measures the times on rows and their classes.
func (a arrivals) measure(ctx context.Context, eng *engine.Engine, k kernel.Spec, d *labeled, r *rand.Rand,
	progress algorithms.ProgressFunc) (*Drawing, error) {
	begin := time.Now()
	var updates, scratch [][]float64
	var sizes []int
	for repeat := range a.repeats {
		progress.Report(algorithms.Progress{Stage: "repetitions", Done: repeat, Total: a.repeats,
			Objective: math.NaN(), Residual: math.NaN(), Elapsed: time.Since(begin)})
		x := d.x.Select(classPairs(d.labels, a.count, r))
		seconds, err := a.stream(ctx, eng, k, x)
		if err != nil {
			return nil, err
		}
		updates = append(updates, seconds)
		if sizes, seconds, err = a.fromScratch(ctx, eng, k, x); err != nil {
			return nil, err
		}
		scratch = append(scratch, seconds)
	}
	return a.drawing(medians(updates), sizes, medians(scratch)), nil
}

// medians returns the median of every column.
func medians(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	column := make([]float64, len(rows))
	for j := range out {
		for i, row := range rows {
			column[i] = row[j]
		}
		slices.Sort(column)
		out[j] = (column[(len(rows)-1)/2] + column[len(rows)/2]) / 2
	}
	return out
}

// classPairs draws pairs of rows of one class without replacement, and lists them one after
// another in a random order.
func classPairs(labels []string, count int, r *rand.Rand) []int {
	var pairs [][2]int
	for _, rows := range classRows(labels) {
		order := r.Perm(len(rows))
		for i := 0; i+1 < len(order); i += 2 {
			pairs = append(pairs, [2]int{rows[order[i]], rows[order[i+1]]})
		}
	}
	r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	var rows []int
	for _, p := range pairs[:count] {
		rows = append(rows, p[0], p[1])
	}
	return rows
}

// start returns the learned kernel of the first chunklet.
func (a arrivals) start(ctx context.Context, eng *engine.Engine, spec kernel.Spec,
	x points.Points) (*krca.Incremental, error) {
	set, err := links.FromChunklets(2, [][]int{{0, 1}})
	if err != nil {
		return nil, err
	}
	l := krca.Learner{Kernel: spec, Params: krca.Params{FixedS: a.s, Dims: 1, Form: krca.FormCholesky}}
	m, err := l.Fit(ctx, eng, x.Select([]int{0, 1}), set)
	if err != nil {
		return nil, err
	}
	return m.(*krca.Model).Incremental()
}

// stream returns the seconds of every update; element c is that of chunklet c, and the first is 0.
func (a arrivals) stream(ctx context.Context, eng *engine.Engine, k kernel.Spec,
	x points.Points) ([]float64, error) {
	u, err := a.start(ctx, eng, k, x)
	if err != nil {
		return nil, err
	}
	seconds := make([]float64, a.count)
	for c := 1; c < a.count; c++ {
		begin := time.Now()
		if err := u.Add(ctx, eng, x, []int{2 * c, 2*c + 1}); err != nil {
			return nil, err
		}
		seconds[c] = time.Since(begin).Seconds()
	}
	return seconds, nil
}

// fromScratch returns the seconds of learning from all chunklets at once, for several numbers of
// chunklets.
func (a arrivals) fromScratch(ctx context.Context, eng *engine.Engine, spec kernel.Spec,
	x points.Points) (sizes []int, seconds []float64, err error) {
	for k := 1; k <= a.relearn; k++ {
		c := k * a.count / a.relearn
		u, err := a.start(ctx, eng, spec, x)
		if err != nil {
			return nil, nil, err
		}
		var chunklets [][]int
		for i := 1; i < c; i++ {
			chunklets = append(chunklets, []int{2 * i, 2*i + 1})
		}
		begin := time.Now()
		if err := u.Add(ctx, eng, x, chunklets...); err != nil {
			return nil, nil, err
		}
		sizes, seconds = append(sizes, c), append(seconds, time.Since(begin).Seconds())
	}
	return sizes, seconds, nil
}

// around is the number of updates on each side over which a time is averaged.
const around = 50

// drawing returns the drawing of the measured times.
func (a arrivals) drawing(updates []float64, sizes []int, scratch []float64) *Drawing {
	d := &Drawing{Columns: []string{"points", "update_seconds", "anew_seconds"}}
	incremental := view.Series{Name: "incremental", Markers: true}
	relearned := view.Series{Name: "from scratch", Markers: true}
	for k, c := range sizes {
		mean := meanAround(updates, c)
		n := float64(2 * c)
		d.Rows = append(d.Rows, []float64{n, mean, scratch[k]})
		incremental.X, incremental.Y = append(incremental.X, n), append(incremental.Y, mean)
		relearned.X, relearned.Y = append(relearned.X, n), append(relearned.Y, scratch[k])
	}
	d.Panels = []view.Panel{view.Lines{
		Title: "one more chunklet of two points", XLabel: "points in chunklets", YLabel: "seconds",
		LogX: true, LogY: true, Series: []view.Series{incremental, relearned},
	}}
	total, whole := 0.0, trapezoid(sizes, scratch)
	for _, v := range updates {
		total += v
	}
	d.Notes = []string{
		fmt.Sprintf("All %d updates take %.3g s in all; learning the kernel from scratch at every arrival "+
			"would take %.3g s, %.0f times as long.", a.count-1, total, whole, whole/total),
	}
	if first, last := a.count/5, a.count-around; last > first {
		d.Notes = append(d.Notes,
			fmt.Sprintf("The time of an update grows like n^%.2f from n = %d to n = %d (%.3g ms to %.3g ms).",
				math.Log(meanAround(updates, last)/meanAround(updates,
					first))/math.Log(float64(last)/float64(first)),
				2*first, 2*last, 1e3*meanAround(updates, first), 1e3*meanAround(updates, last)))
	}
	return d
}

// meanAround returns the mean of the updates around number c, without the first chunklet, which is
// not an update.
func meanAround(updates []float64, c int) float64 {
	lo, hi := max(1, c-around), min(len(updates), c+around)
	sum := 0.0
	for _, v := range updates[lo:hi] {
		sum += v
	}
	return sum / float64(hi-lo)
}

// trapezoid returns the sum of a cost over all sizes up to the last, from its values at some sizes.
// The cost at 0 is 0.
func trapezoid(sizes []int, cost []float64) float64 {
	total, before, last := 0.0, 0.0, 0
	for k, c := range sizes {
		total += float64(c-last) * (before + cost[k]) / 2
		before, last = cost[k], c
	}
	return total
}
