package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/view"
)

// huAdult is the data set of Table 5.
const huAdult = "adult-train.svm.gz"

// huAdultFeatures is the number of features that its description states.
const huAdultFeatures = 123

// huTimes are the sizes of Table 5, and the largest ones for parts of it.
type huTimes struct {
	sizes         []int
	many, several int    // up to these sizes six trials and three, above them one
	simple        [2]int // SimpleNPKL on the sparse graph and on the dense one
	hinge         [2]int // the optimum of the hinge
}

// huAdultHalf is half the number of pairs of n points: 0.6 n, rounded up, by which all the printed
// numbers are right.
func huAdultHalf(n int) int { return (3*n + 4) / 5 }

// huGraphs are the graphs of Table 5.
func huGraphs() []string { return []string{"sparse", "dense"} }

// The columns of a row of Table 5: one for every trial of a method.
const (
	huSize = iota
	huGraph
	huMethodAt
	huTrialNumber
	huAccuracy
	huFitSeconds
	huGraphSeconds
	huPairCount
	huFeatures
	huClasses
)

func huTable5() Figure {
	h := huTimes{
		sizes: []int{1605, 2265, 3185, 4781, 6414, 11220, 16100}, many: 3185, several: 6414,
		simple: [2]int{3185, 1605}, hinge: [2]int{6414, 3185},
	}
	return Figure{
		Name: "hu-5", Paper: huPaper, Label: "Tables 2 and 5",
		Caption: "Adult in seven sizes: pair accuracy and time, on a sparse and on a dense graph",
		Data:    []string{huAdult},
		Setup: append([]string{
			"The first 1605 to 16100 rows of Adult, a1a to a7a; 1.2 n pairs, half within a class and half " +
				"between classes.",
			"Sparse graph: 50 nearest neighbors in either direction, all edges with the same weight. Dense " +
				"graph: exp(-d^2 / (2 sigma^2)) for all pairs, sigma half the mean distance to 10 nearest " +
				"neighbors.",
			fmt.Sprintf("Pair accuracy: the plain Rand index of k-means with two clusters on the "+
				"coordinates, the best of %d starts, in percent.", huRestarts),
			fmt.Sprintf("Trials with other pairs: six up to %d points, three up to %d, one above; "+
				"SimpleNPKL and its speedups: one.", h.many, h.several),
			fmt.Sprintf("SimpleNPKL runs up to %d points on the sparse graph and up to %d on the dense "+
				"one, the optimum of the hinge up to %d and %d. The rest was not run: a fit takes more than a minute.",
				h.simple[0],
				h.simple[1], h.hinge[0], h.hinge[1]),
		}, huMethodSetup()...),
		Differences: []string{
			"The paper has 20 trials for every number.",
			"Rows 4782 to 16100 are rows of Adult, but not those of a5a to a7a.",
			"The paper's times are from MATLAB 7.1 on an AMD processor of 2.3 GHz. It does not state the " +
				"edge weights of the sparse graph, the tolerances, and the number of starts of k-means.",
		},
		Partial: map[string]string{"a5a": "other rows of Adult", "a6a": "other rows of Adult",
			"a7a": "other rows of Adult"},
		Compared: h.compared,
		Claims:   h.claims,
		Draw:     h.draw,
	}
}

// methods are the methods of Table 5; a row holds the number of its method.
func (huTimes) methods() []string { return huComputed() }

// huFit is one fit of Table 5.
type huFit struct{ graph, method, trial int }

// fits lists what runs for n points. The first fit of a graph is the one whose time for the graph
// SimpleNPKL subtracts.
func (h huTimes) fits(n, graph int) []huFit {
	trials := 1
	if n <= h.several {
		trials = 3
	}
	if n <= h.many {
		trials = 6
	}
	var out []huFit
	for m := len(h.methods()) - 1; m >= 0; m-- {
		count := trials
		switch h.methods()[m] {
		case huSimply:
			if count = 1; n > h.simple[graph] {
				continue
			}
		case huBestHL:
			if n > h.hinge[graph] {
				continue
			}
		}
		for t := range count {
			out = append(out, huFit{graph, m, t})
		}
	}
	return out
}

func (h huTimes) draw(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	data, err := dataset.Read(filepath.Join(sketch.Data, huAdult), dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	if rows := h.sizes[len(h.sizes)-1]; len(data.Labels) < rows {
		return nil, fault.Data(huAdult, "%d labeled rows: want at least %d", len(data.Labels), rows)
	}
	d := &Drawing{Columns: []string{"points", "graph", "method", "trial", "accuracy", "seconds",
		"graph seconds", "pairs", "features", "classes"}}
	begin := time.Now()
	for k, n := range h.sizes {
		sketch.Progress.Report(algorithms.Progress{Stage: fmt.Sprintf("%d points", n), Done: k,
			Total: len(h.sizes), Elapsed: time.Since(begin)})
		for graph := range huGraphs() {
			rows, err := h.size(ctx, eng, points.Slice(data.Points, 0, n), data.Labels[:n], graph,
				sketch.Seed)
			if err != nil {
				return nil, err
			}
			d.Rows = append(d.Rows, rows...)
		}
	}
	h.summarize(d)
	return d, nil
}

// size runs the fits on some rows of the data and one graph. Trials of small sets run side by side,
// each on one worker.
func (h huTimes) size(ctx context.Context, eng *engine.Engine, x points.Points, labels []string, graph int,
	seed uint64) ([][]float64, error) {
	fits, n := h.fits(len(labels), graph), len(labels)
	workers := eng.Workers()
	if n > h.several { // the dense graphs fill the memory
		workers = 1
	}
	part, err := eng.Share(eng.Workers())
	if err != nil {
		return nil, err
	}
	pool, err := engine.New(engine.Options{Backend: eng.Backend(), Workers: workers})
	if err != nil {
		return nil, err
	}
	rows := make([][]float64, len(fits))
	one := func(i int, graphSeconds float64) (err error) {
		rows[i], err = h.one(ctx, part, x, labels, fits[i], graphSeconds, seed)
		return err
	}
	if err := one(0, 0); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	err = pool.For(ctx, len(fits)-1, 1, func(i, _ int) error {
		mu.Lock()
		graphSeconds := rows[0][huGraphSeconds]
		mu.Unlock()
		return one(i+1, graphSeconds)
	})
	return rows, err
}

// one runs a fit.
func (h huTimes) one(ctx context.Context, eng *engine.Engine, x points.Points, labels []string, f huFit,
	graphSeconds float64, seed uint64) ([]float64, error) {
	t := Trial{Number: f.trial, seed: seed}
	set, err := huPairs(labels, huAdultHalf(len(labels)), t.Seed(0))
	if err != nil {
		return nil, err
	}
	around := npkl.Neighborhood{Graph: npkl.KNN, Neighbors: 50}
	if f.graph == 1 {
		around = npkl.Neighborhood{Graph: npkl.Dense, Neighbors: 10}
	}
	task := huTask{x: x, labels: labels, classes: len(classRows(labels)), set: set, around: around,
		seed: t.Seed(1)}
	r, err := task.run(ctx, eng, h.methods()[f.method], graphSeconds)
	if err != nil {
		return nil, fmt.Errorf("%d points, %s graph, %s: %w", len(labels), huGraphs()[f.graph],
			h.methods()[f.method], err)
	}
	accuracy, err := task.accuracy(ctx, eng, r)
	if err != nil {
		return nil, err
	}
	return []float64{
		float64(len(labels)), float64(f.graph), float64(f.method), float64(f.trial), accuracy, r.seconds,
		r.graphSeconds,
		float64(set.Len()), float64(x.Dim()), float64(task.classes),
	}, nil
}

// accuracy returns the pair accuracy of k-means on the coordinates, in percent.
func (h huTask) accuracy(ctx context.Context, eng *engine.Engine, r huRun) (float64, error) {
	clusters, err := huClusters(ctx, eng, r.y, h.classes, h.seed)
	if err != nil {
		return 0, err
	}
	v, err := score.Rand(h.labels, clusters)
	return 100 * v, err
}

// values returns one column of the rows of a size, a graph and a method; none if it was not run.
func (h huTimes) values(d *Drawing, n, graph int, method string, column int) []float64 {
	m := slices.Index(h.methods(), method)
	var out []float64
	for _, row := range d.Rows {
		if int(row[huSize]) == n && int(row[huGraph]) == graph && int(row[huMethodAt]) == m {
			out = append(out, row[column])
		}
	}
	return out
}

// mean returns the mean of [huTimes.values], NaN if there are none.
func (h huTimes) mean(d *Drawing, n, graph int, method string, column int) float64 {
	return summarize(h.values(d, n, graph, method, column)).Mean
}

// speedup returns the seconds of SimpleNPKL divided by those of a method, NaN if either is missing.
func (h huTimes) speedup(d *Drawing, n, graph int, method string) float64 {
	return h.mean(d, n, graph, huSimply, huFitSeconds) / h.mean(d, n, graph, method, huFitSeconds)
}

// compared are the printed numbers of Tables 2 and 5, and the speedup in the introduction.
func (h huTimes) compared(d *Drawing) []Comparison {
	c := comparisons{numbers: d.Figure.numbers,
		why: "SimpleNPKL stops here at a duality gap of 1 %, after about ten decompositions; the paper " +
			"does not state when its own stops. Times are of one run."}
	most := math.Inf(-1)
	for k, n := range h.sizes {
		set := fmt.Sprintf("a%da", k+1)
		size := func(measure string, v float64) {
			c.add(set+": "+measure, printed.Key{Table: "hu-2", Dataset: set, Measure: measure}, once(v))
		}
		size("instances", float64(n))
		size("features", h.mean(d, n, 0, huSL, huFeatures))
		size("classes", h.mean(d, n, 0, huSL, huClasses))
		c.add(set+": constraints",
			printed.Key{Table: "hu-5", Dataset: set, Condition: "much", Measure: "constraints"},
			once(h.mean(d, n, 0, huSL, huPairCount)))
		for graph, name := range huGraphs() {
			add := func(method, measure string, v Value) {
				if !math.IsNaN(v.Mean) {
					c.add(fmt.Sprintf("%s, %s: %s, %s", set, name, method, measure),
						printed.Key{Table: "hu-5", Dataset: set, Condition: name, Method: method,
							Measure: measure}, v)
				}
			}
			add("graph construction", "cpu_seconds", summarize(h.values(d, n, graph, huBest, huGraphSeconds)))
			for _, m := range huPrintedMethods() {
				add(m, "pair_accuracy_x100", summarize(h.values(d, n, graph, m, huAccuracy)))
				add(m, "cpu_seconds", summarize(h.values(d, n, graph, m, huFitSeconds)))
				add(m, "speedup_over_"+huSimply, once(h.speedup(d, n, graph, m)))
			}
			if v := h.speedup(d, n, graph, huSL); v > most { // never for NaN
				most = v
			}
		}
	}
	c.why = "The paper's speedup of more than 80 is that on the dense graph of a5a. SimpleNPKL runs here " +
		"on smaller graphs alone, and its speedups grow with their size."
	c.add("largest speedup of the square loss",
		printed.Key{Table: "hu-text", Condition: "introduction; square loss", Method: huSL,
			Measure: "speedup_over_" + huSimply + "_more_than"}, once(most))
	return c.list
}

// claims tests what the text says about Table 5.
func (h huTimes) claims(d *Drawing) []Claim {
	var fastest, cases, ahead, raced, cheap, alike, slower, simple, right, compared int
	var slow, wrong, graphs, ratios, both []string
	for _, n := range h.sizes {
		var seconds, built [2]float64
		for graph, name := range huGraphs() {
			own := h.mean(d, n, graph, huSL, huFitSeconds)
			seconds[graph], built[graph] = own, h.mean(d, n, graph, huBest, huGraphSeconds)
			others := []float64{own}
			for _, m := range []string{huHL, huSHL, huSimply} {
				if v := h.mean(d, n, graph, m, huFitSeconds); !math.IsNaN(v) {
					others = append(others, v)
				}
			}
			cases++
			if own <= slices.Min(others) {
				fastest++
			} else {
				slow = append(slow, fmt.Sprintf("%d points, %s: %.3g s against %.3g s", n, name, own,
					slices.Min(others)))
			}
			for _, m := range []string{huHL, huSHL, huSL} {
				if v := h.speedup(d, n, graph, m); !math.IsNaN(v) {
					raced++
					compared++
					if v > 1 {
						ahead++
					}
					a, b := h.mean(d, n, graph, m, huAccuracy), h.mean(d, n, graph, huSimply, huAccuracy)
					if a >= b {
						right++
					} else {
						wrong = append(wrong,
							fmt.Sprintf("%d points, %s, %s: %.1f against %.1f", n, name, m, a, b))
					}
				}
			}
		}
		if built[1] < built[0] {
			cheap++
		}
		graphs = append(graphs, fmt.Sprintf("%d points %.3g s and %.3g s", n, built[1], built[0]))
		if seconds[1] <= 1.1*seconds[0] { // the printed times of the largest sets differ by less than a tenth
			alike++
		}
		ratios = append(ratios, fmt.Sprintf("%d points %.3g s and %.3g s", n, seconds[1], seconds[0]))
		a, b := h.mean(d, n, 1, huSimply, huFitSeconds), h.mean(d, n, 0, huSimply, huFitSeconds)
		if !math.IsNaN(a) && !math.IsNaN(b) {
			simple++
			if a > b {
				slower++
			}
			both = append(both, fmt.Sprintf("%d points %.3g s and %.3g s", n, a, b))
		}
	}
	k := len(h.sizes)
	return []Claim{
		huClaim("BCDNPKL+SL is always the fastest method", fastest, cases, huHolds(fastest, cases, slow)),
		huClaim("BCDNPKL with any loss is faster than SimpleNPKL+SHL (the paper: from a4a on; here: "+
			"wherever SimpleNPKL ran)", ahead, raced, huHolds(ahead, raced, nil)),
		huClaim("a dense graph takes much less time to build than a sparse one, because it needs no "+
			"nearest neighbors", cheap, k, "dense and sparse: "+strings.Join(graphs, "; ")),
		huClaim("BCDNPKL (square loss) on a dense graph is almost as fast as on a sparse one (at most 10 % "+
			"slower)", alike, k, "dense and sparse: "+strings.Join(ratios, "; ")),
		huClaim("SimpleNPKL+SHL on a dense graph is much slower than on a sparse one", slower, simple,
			"dense and sparse: "+strings.Join(both, "; ")),
		huClaim("BCDNPKL with any loss is at least as accurate as SimpleNPKL+SHL (by the table, where both "+
			"ran)", right, compared, huHolds(right, compared, wrong)),
	}
}

// summarize adds notes about the times, and a panel.
func (h huTimes) summarize(d *Drawing) {
	panel := view.Lines{Title: "Adult", XLabel: "points", YLabel: "seconds", LogX: true, LogY: true}
	for graph, name := range huGraphs() {
		for _, m := range []string{huSL, huBest} {
			s := view.Series{Name: m + ", " + name, Markers: true}
			for _, n := range h.sizes {
				s.X, s.Y = append(s.X, float64(n)), append(s.Y, h.mean(d, n, graph, m, huFitSeconds))
			}
			panel.Series = append(panel.Series, s)
			d.Notes = append(d.Notes,
				fmt.Sprintf("%s: %.3g s for %g points, grows like the %.2fth power; pair accuracy there %.1f.",
					s.Name, s.Y[len(s.Y)-1], s.X[len(s.X)-1], slope(s.X, s.Y),
					h.mean(d, h.sizes[len(h.sizes)-1], graph, m, huAccuracy)))
		}
	}
	d.Panels = append(d.Panels, panel)
}

// huGrowth are the sizes of a figure that the paper does not have: npkl on larger sets.
type huGrowth struct {
	sizes        []int
	dim, classes int
}

func huFigureGrowth() Figure {
	h := huGrowth{sizes: []int{12500, 25000, 50000, 100000}, dim: 50, classes: 10}
	return Figure{
		Name: "hu-growth", Paper: huPaper, Label: "Beyond Table 5",
		Caption: "up to 100,000 points: time of npkl on a sparse graph",
		Setup: []string{
			fmt.Sprintf("%d overlapping clusters in %d dimensions, as many pairs as points, half within a "+
				"class and half between classes; square loss, C = 1, delta = 1/2, 20 nearest neighbors.",
				h.classes, h.dim),
			"Seconds: the whole fit with graph and certificate, one run. Pair accuracy as in hu-5.",
		},
		Differences: []string{"The paper goes up to 16,100 points."},
		Draw:        h.draw,
	}
}

func (h huGrowth) draw(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	d := &Drawing{Columns: []string{"points", "all, s", "without graph, s", "accuracy"}}
	begin := time.Now()
	for k, n := range h.sizes {
		sketch.Progress.Report(algorithms.Progress{Stage: fmt.Sprintf("%d points", n), Done: k,
			Total: len(h.sizes), Elapsed: time.Since(begin)})
		x, labels := h.clouds(n, sketch.Seed)
		set, err := huPairs(labels, (n+1)/2, sketch.Seed)
		if err != nil {
			return nil, err
		}
		task := huTask{x: x, labels: labels, classes: h.classes, set: set,
			around: npkl.Neighborhood{Graph: npkl.KNN, Neighbors: 20}, seed: sketch.Seed}
		r, err := task.run(ctx, eng, huBest, 0)
		if err != nil {
			return nil, err
		}
		accuracy, err := task.accuracy(ctx, eng, r)
		if err != nil {
			return nil, err
		}
		d.Rows = append(d.Rows, []float64{float64(n), r.seconds + r.graphSeconds, r.seconds, accuracy})
	}
	d.curves("clouds", 1, 2)
	return d, nil
}

// curves adds a panel of some columns against the first, and notes with the exponents of their
// growth.
func (d *Drawing) curves(title string, columns ...int) {
	panel := view.Lines{Title: title, XLabel: d.Columns[0], YLabel: "seconds", LogX: true, LogY: true}
	for _, c := range columns {
		s := view.Series{Name: d.Columns[c], Markers: true}
		for _, row := range d.Rows {
			s.X, s.Y = append(s.X, row[0]), append(s.Y, row[c])
		}
		panel.Series = append(panel.Series, s)
		d.Notes = append(d.Notes,
			fmt.Sprintf("%s: grows like the %.2fth power of the number of points.", s.Name, slope(s.X, s.Y)))
	}
	d.Panels = append(d.Panels, panel)
}

// clouds draws points around one center for each class.
func (h huGrowth) clouds(n int, seed uint64) (*points.Dense, []string) {
	rng := rand.New(rand.NewPCG(seed, 2))
	centers := make([]float64, h.classes*h.dim)
	for i := range centers {
		centers[i] = rng.NormFloat64()
	}
	x, labels := &points.Dense{N: n, D: h.dim, Data: make([]float64, n*h.dim)}, make([]string, n)
	for i := range n {
		c := rng.IntN(h.classes)
		labels[i] = strconv.Itoa(c)
		row := x.Row(i)
		for j := range row {
			row[j] = centers[c*h.dim+j] + 2*rng.NormFloat64()
		}
	}
	return x, labels
}
