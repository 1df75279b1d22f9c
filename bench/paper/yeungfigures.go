package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/view"
)

// yeungTimes are the sizes of Figure 1.
type yeungTimes struct {
	basic     []int // points, all of them landmarks
	points    []int // with landmarks of them
	landmarks int
	many      []int // landmarks, of the points below
	of        int
	rounds    int
}

func yeungFigure1() Figure {
	y := yeungTimes{
		basic:  []int{500, 1000, 2000, 4000},
		points: []int{10_000, 30_000, 100_000, 300_000, 1_000_000}, landmarks: 800,
		many: []int{100, 200, 400, 800, 1600}, of: 100_000, rounds: 3,
	}
	return Figure{
		Name: "yeung-fig1", Paper: yeungPaper, Label: "Figure 1",
		Caption: "time to learn a metric and to embed all points, against the numbers of points and of landmarks",
		Setup: []string{
			fmt.Sprintf("Data: the XOR blobs of Table 1, %d pairs of points of the same class, kernel rbf:sigma=1.", yeungPairs),
			fmt.Sprintf("Basic form: all points are landmarks, every direction with more than 1e-6 of the largest eigenvalue. These are few, and only they are computed, so the time grows by less than the third power of a decomposition. Landmark form: %d landmarks, 5 neighbors, 1 iteration; against m, %d points.", y.landmarks, y.of),
			fmt.Sprintf("Time of fitting and embedding all points, the median of %d runs; exponents are slopes of least-squares lines through the logarithms.", y.rounds),
		},
		Differences: []string{"The paper's machine and sizes are not known."},
		Draw:        y.draw,
	}
}

func (y yeungTimes) draw(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	seed, progress := sketch.Seed, sketch.Progress
	d := &Drawing{Columns: []string{"points", "landmarks", "seconds"}}
	begin, done, total := time.Now(), 0, len(y.basic)+len(y.points)+len(y.many)
	curve := func(name string, sizes []int, of func(size int) (n, m int)) error {
		s := view.Series{Name: name, Markers: true}
		for _, size := range sizes {
			progress.Report(algorithms.Progress{Stage: name, Done: done, Total: total, Elapsed: time.Since(begin)})
			n, m := of(size)
			seconds, err := y.time(ctx, eng, seed, n, m)
			if err != nil {
				return err
			}
			d.Rows = append(d.Rows, []float64{float64(n), float64(m), seconds})
			s.X, s.Y = append(s.X, float64(size)), append(s.Y, seconds)
			done++
		}
		d.Panels = append(d.Panels, view.Lines{Title: name, XLabel: "points or landmarks", YLabel: "seconds", LogX: true, LogY: true, Series: []view.Series{s}})
		d.Notes = append(d.Notes, fmt.Sprintf("%s: the time grows like the %.2fth power, from %.3g s at %d to %.3g s at %d.",
			name, slope(s.X, s.Y), s.Y[0], sizes[0], s.Y[len(s.Y)-1], sizes[len(sizes)-1]))
		return nil
	}
	if err := curve("basic form, points", y.basic, func(n int) (int, int) { return n, n }); err != nil {
		return nil, err
	}
	if err := curve("landmark form, points", y.points, func(n int) (int, int) { return n, y.landmarks }); err != nil {
		return nil, err
	}
	return d, curve("landmark form, landmarks", y.many, func(m int) (int, int) { return y.of, m })
}

// time returns the median seconds of fitting and embedding n points with m landmarks.
func (y yeungTimes) time(ctx context.Context, eng *engine.Engine, seed uint64, n, m int) (float64, error) {
	data, err := dataset.Generate("xor", dataset.GenerateOptions{N: n, Noise: yeungSpread, Seed: seed})
	if err != nil {
		return 0, err
	}
	x := data.Points.(*points.Dense)
	pairs, err := links.SampleByCount(data.Labels, min(yeungPairs, n/4), 0, seed)
	if err != nil {
		return 0, err
	}
	l := kbeta.Learner{Params: kbeta.DefaultParams(), Seed: seed}
	if l.Kernel, err = kernel.Parse("rbf:sigma=1"); err != nil {
		return 0, err
	}
	l.Params.Landmarks, l.Params.Rank = m, 0
	var times []float64
	for range y.rounds {
		begin := time.Now()
		if _, err := learnedEmbedding(ctx, eng, l, x, pairs); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begin).Seconds())
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// slope returns the exponent of the power of x that best fits y.
func slope(x, y []float64) float64 {
	var mx, my float64
	for i := range x {
		mx, my = mx+math.Log(x[i])/float64(len(x)), my+math.Log(y[i])/float64(len(x))
	}
	var top, bottom float64
	for i := range x {
		u := math.Log(x[i]) - mx
		top, bottom = top+u*(math.Log(y[i])-my), bottom+u*u
	}
	return top / bottom
}
