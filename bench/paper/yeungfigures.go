package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/view"
)

// yeungTimes are the sizes of Figure 1.
type yeungTimes struct {
	points    []int // for both forms
	landmarks int   // of the landmark form
	many      []int // landmarks, of all points
	rounds    int
}

func yeungFigure1() Figure {
	y := yeungTimes{points: []int{500, 1000, 2000, 4000}, landmarks: yeungRealLandmarks,
		many: []int{100, 200, 400, 800}, rounds: 3}
	return Figure{
		Name: "yeung-fig1", Paper: yeungPaper, Label: "Figure 1",
		Caption: "time to learn a metric and to embed all points, against the numbers of points and of " +
			"landmarks",
		Setup: []string{
			fmt.Sprintf("Data: up to 4000 training images of MNIST of the digits 0 and 1, half of each, %d "+
				"pairs of points of the same class, kernel exp(-|x-y|^2 / m), m the mean squared distance "+
				"between two points.", yeungPairs),
			fmt.Sprintf("Part a: basic form (all points are landmarks, all directions) and landmark form "+
				"(%d landmarks, %d neighbors, 3 iterations) against the number of points. Part b: landmark "+
				"form on all "+
				"points against the number of landmarks.", y.landmarks, yeungNeighbors),
			fmt.Sprintf("Wall time of fitting and embedding all points, the median of %d runs (one for the "+
				"basic form); exponents are slopes of least-squares lines through the logarithms.", y.rounds),
		},
		Differences: []string{"The paper's machine and the numbers of points and landmarks between the " +
			"ends are not stated, and the figure is a drawing without numbers. The digits are taken from " +
			"MNIST. Our " +
			"times are from a machine with other work.", yeungOpen()},
		Data:   yeungFiles()[:2],
		Claims: y.claims,
		Draw:   y.draw,
	}
}

func (y yeungTimes) draw(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	trial := Trial{Number: -1, Data: sketch.Data, seed: sketch.Seed}
	sets, err := loadYeung(ctx, eng, trial, []string{"01"}, nil)
	if err != nil {
		return nil, err
	}
	return y.measure(ctx, eng, sketch, sets[0])
}

// measure measures the times on a set of two classes, ordered by class.
func (y yeungTimes) measure(ctx context.Context, eng *engine.Engine, sketch Sketch,
	s *yeungSet) (*Drawing, error) {
	d := &Drawing{Columns: []string{"points", "landmarks", "seconds"}}
	begin, done, total := time.Now(), 0, 2*len(y.points)+len(y.many)
	curve := func(name string, sizes []int, of func(size int) (n, m, rounds int)) (view.Series, error) {
		line := view.Series{Name: name, Markers: true}
		for _, size := range sizes {
			sketch.Progress.Report(algorithms.Progress{Stage: name, Done: done, Total: total,
				Elapsed: time.Since(begin)})
			n, m, rounds := of(size)
			seconds, err := s.time(ctx, eng, sketch.Seed, n, m, rounds)
			if err != nil {
				return line, err
			}
			d.Rows = append(d.Rows, []float64{float64(n), float64(m), seconds})
			line.X, line.Y = append(line.X, float64(size)), append(line.Y, seconds)
			done++
		}
		d.Notes = append(d.Notes,
			fmt.Sprintf("%s: the time grows like the %.2fth power, from %.3g s at %d to %.3g s at %d.",
				name, slope(line.X, line.Y), line.Y[0], sizes[0], line.Y[len(line.Y)-1], sizes[len(sizes)-1]))
		return line, nil
	}
	full, err := curve("basic form, points", y.points, func(n int) (int, int, int) { return n, n, 1 })
	if err != nil {
		return nil, err
	}
	low, err := curve("landmark form, points", y.points, func(n int) (int, int, int) {
		return n, y.landmarks, y.rounds
	})
	if err != nil {
		return nil, err
	}
	many, err := curve("landmark form, landmarks", y.many, func(m int) (int, int, int) {
		return s.x.N, m, y.rounds
	})
	if err != nil {
		return nil, err
	}
	d.Panels = []view.Panel{
		view.Lines{Title: "part a", XLabel: "points", YLabel: "seconds", LogX: true, LogY: true,
			Series: []view.Series{full, low}},
		view.Lines{Title: "part b", XLabel: "landmarks", YLabel: "seconds", LogX: true, LogY: true,
			Series: []view.Series{many}},
	}
	return d, nil
}

// time returns the median seconds of fitting and embedding n points, evenly spread over the
// classes, with m landmarks.
func (s *yeungSet) time(ctx context.Context, eng *engine.Engine, seed uint64, n, m,
	rounds int) (float64, error) {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i * s.x.N / n
	}
	x, labels := s.x.Select(rows).(*points.Dense), pick(s.labels, rows)
	pairs, err := links.SampleByCount(labels, min(yeungPairs, n/4), 0, seed)
	if err != nil {
		return 0, err
	}
	var times []float64
	for range rounds {
		begin := time.Now()
		if _, err := learnedEmbedding(ctx, eng, yeungLearner(s.kernel.Spec(), m, seed), x,
			pairs); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begin).Seconds())
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// claims tests what the text says about the figure.
func (y yeungTimes) claims(d *Drawing) []Claim {
	n := len(y.points)
	seconds := func(row int) float64 { return d.Rows[row][2] }
	few, most := seconds(0)/seconds(n), seconds(n-1)/seconds(2*n-1)
	speed := Claim{Text: "the speedup of the landmark form is larger when the data set is larger",
		Verdict: Worse,
		Detail: fmt.Sprintf("%.3g times at %d points, %.3g times at %d", few, y.points[0], most,
			y.points[n-1])}
	if most > few {
		speed.Verdict = Reproduced
	}
	byPoints, byLandmarks := seconds(2*n-1)/seconds(n), seconds(len(d.Rows)-1)/seconds(2*n)
	// The landmark form takes O(m^3 + m^2 |S| + n K^3 + n m): at most linear in n.
	cubic := slope(column(d.Rows[:n], 0), column(d.Rows[:n], 2))
	flat := slope(column(d.Rows[n:2*n], 0), column(d.Rows[n:2*n], 2))
	linear := Claim{Text: "the times agree with the complexity: cubic in the points for the basic form, " +
		"linear for the landmark form", Verdict: Worse,
		Detail: fmt.Sprintf("exponents %.2f and %.2f", cubic, flat)}
	switch { // by the nearest whole exponents
	case math.Round(flat) <= 1 && math.Round(cubic) >= 3:
		linear.Verdict = Reproduced
	case math.Round(flat) <= 1 && cubic > flat:
		linear.Verdict = Mixed
	}
	landmarks := Claim{Text: "the time of the landmark form grows noticeably with the number of landmarks",
		Verdict: Worse,
		Detail: fmt.Sprintf(
			"%.3g times the time for %d times the landmarks (%.3g times for %d times the points)",
			byLandmarks, y.many[len(y.many)-1]/y.many[0], byPoints, y.points[n-1]/y.points[0])}
	if byLandmarks > 1.5 {
		landmarks.Verdict = Reproduced
	}
	return []Claim{speed, linear, landmarks}
}

// column returns a column of rows.
func column(rows [][]float64, j int) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = row[j]
	}
	return out
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
