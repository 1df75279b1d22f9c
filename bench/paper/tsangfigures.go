package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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

// unknownDrawing is the note for figures whose content we do not know.
const unknownDrawing = "We do not know what the paper shows in this figure; we chose this picture of its XOR experiment."

func tsangFigure1() Figure {
	return Figure{
		Name: "tsang-fig1", Paper: tsang1().Paper, Label: "Figure 1",
		Caption:     "the XOR data with their chunklets",
		Setup:       tsang1().Setup[:2],
		Differences: []string{unknownDrawing},
		Draw: func(_ context.Context, _ *engine.Engine, sketch Sketch) (*Drawing, error) {
			seed := sketch.Seed
			x, classes, l, err := xorDraw(seed)
			if err != nil {
				return nil, err
			}
			s := scatterOf(columnOf(x.Data, 2, 0), columnOf(x.Data, 2, 1), classes)
			s.XLabel, s.YLabel = "first coordinate", "second coordinate"
			s.Must = chainsOf(l)
			return xorDrawing(classes, []string{"x", "y"}, s), nil
		},
	}
}

func tsangFigure2() Figure {
	return Figure{
		Name: "tsang-fig2", Paper: tsang1().Paper, Label: "Figure 2",
		Caption: "the XOR data in the two leading directions of the Gaussian kernel, unlearned and learned by kernel RCA",
		Setup: append(slices.Clone(tsang1().Setup[:2]),
			"Left: the two leading kernel principal components of the Gaussian kernel, sigma = 1. Right: those of the kernel that kernel RCA learns from it, eps = 0.01."),
		Differences: []string{unknownDrawing},
		Draw:        drawXORKernels,
	}
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
	var panels []view.Scatter
	for _, side := range []struct {
		title string
		embed embedding
	}{{"Gaussian kernel", plainKernel}, {"learned kernel", relevantComponents}} {
		y, err := side.embed(ctx, eng, tsangGaussian, x, l)
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
	count, dim int
	s          float64 // n eps, which stays fixed
	relearn    int     // number of sizes at which the kernel is learned from scratch
}

func tsangFigure3() Figure {
	a := arrivals{count: 1250, dim: 16, s: 1, relearn: 10}
	return Figure{
		Name: "tsang-fig3", Paper: tsang1().Paper, Label: "Figure 3",
		Caption: "time of incremental learning and of learning from scratch, with chunklets of two points that arrive one by one",
		Setup: []string{
			fmt.Sprintf("Data: %d points of %d standard normal features, %d chunklets of two; kernel rbf:sigma=4; s = n eps = %g stays fixed.", 2*a.count, a.dim, a.count, a.s),
			"Incremental: the time of every update of the learned kernel. From scratch: the time of learning the kernel from all chunklets so far, at ten sizes; its total over all arrivals is computed by the trapezoidal rule. Neither includes an embedding.",
		},
		Differences: []string{
			"The paper's data, kernel and machine are not known; we know only that chunklets of size 2 arrive up to n = 2500.",
		},
		Draw: a.draw,
	}
}

// draw measures the times and draws them.
func (a arrivals) draw(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	seed, progress := sketch.Seed, sketch.Progress
	r := rand.New(rand.NewPCG(seed, 3))
	data := make([]float64, 2*a.count*a.dim)
	for i := range data {
		data[i] = r.NormFloat64()
	}
	x, err := points.NewDense(2*a.count, a.dim, data)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	report := func(stage string, done, total int) {
		progress.Report(algorithms.Progress{Stage: stage, Done: done, Total: total, Objective: math.NaN(), Residual: math.NaN(), Elapsed: time.Since(begin)})
	}
	updates, err := a.stream(ctx, eng, x, report)
	if err != nil {
		return nil, err
	}
	sizes, scratch, err := a.fromScratch(ctx, eng, x, report)
	if err != nil {
		return nil, err
	}
	return a.drawing(updates, sizes, scratch), nil
}

// start returns the learned kernel of the first chunklet.
func (a arrivals) start(ctx context.Context, eng *engine.Engine, x points.Points) (*krca.Incremental, error) {
	spec, err := kernel.Parse("rbf:sigma=4")
	if err != nil {
		return nil, err
	}
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
func (a arrivals) stream(ctx context.Context, eng *engine.Engine, x points.Points, report func(string, int, int)) ([]float64, error) {
	u, err := a.start(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	seconds := make([]float64, a.count)
	for c := 1; c < a.count; c++ {
		if c%50 == 0 {
			report("incremental", c, a.count)
		}
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
func (a arrivals) fromScratch(ctx context.Context, eng *engine.Engine, x points.Points, report func(string, int, int)) (sizes []int, seconds []float64, err error) {
	for k := 1; k <= a.relearn; k++ {
		report("learning from scratch", k-1, a.relearn)
		c := k * a.count / a.relearn
		u, err := a.start(ctx, eng, x)
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
		fmt.Sprintf("All %d updates take %.3g s in all; learning the kernel from scratch at every arrival would take %.3g s, %.0f times as long.", a.count-1, total, whole, whole/total),
	}
	if first, last := a.count/5, a.count-around; last > first {
		d.Notes = append(d.Notes, fmt.Sprintf("The time of an update grows like n^%.2f from n = %d to n = %d (%.3g ms to %.3g ms).",
			math.Log(meanAround(updates, last)/meanAround(updates, first))/math.Log(float64(last)/float64(first)),
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
