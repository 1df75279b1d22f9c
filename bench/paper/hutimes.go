package paper

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/simplenpkl"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/view"
)

// huAdult is the data set of Table 5.
const huAdult = "adult-train.svm.gz"

// huTimes are the sizes of Table 5.
type huTimes struct {
	sizes  []int
	simple int // the largest size for SimpleNPKL
}

func huTable5() Figure {
	h := huTimes{sizes: []int{1605, 2265, 3185, 4781, 6414, 11220, 16100}, simple: 2265}
	return Figure{
		Name: "hu-5", Paper: huPaper, Label: "Table 5",
		Caption: "Adult in seven sizes: time and pair accuracy, on a sparse and on a full graph",
		Data:    []string{huAdult},
		Setup: []string{
			"The first 1605 to 16100 rows of Adult, 1.2 n pairs, half within a class and half between classes; square loss, C = 1, delta = 1/2.",
			"Sparse: 50 nearest neighbors, all edges with the same weight. Full: exp(-d^2 / (2 sigma^2)) for all pairs, sigma half the mean distance to 10 nearest neighbors.",
			fmt.Sprintf("Pair accuracy: the plain Rand index of k-means with two clusters on the coordinates, the best of %d starts. Seconds: the whole fit with graph and certificate, one run.", huRestarts),
			"SimpleNPKL: with the squared hinge on the full graph, down to a duality gap of 1e-3 of the objective of K = 0.",
		},
		Differences: []string{
			"Rows 4782 to 16100 are rows of Adult, but not those of a5a to a7a.",
			"The paper needs 1501.7 s for the square loss on a7a, and 1447 s for its graph, on four cores of its time.",
		},
		Compared: huTimesCompared,
		Draw:     h.draw,
	}
}

// huTimesCompared are the times that the paper prints for the largest size.
func huTimesCompared(d *Drawing) []Comparison {
	last := d.Rows[len(d.Rows)-1]
	all, rest := last[1], last[2]
	return []Comparison{
		Compare("16,100 points, sparse graph: seconds to learn", once(1501.7), once(rest), Lower, ""),
		Compare("16,100 points: seconds for the sparse graph", once(1447), once(all-rest), Lower, ""),
	}
}

func (h huTimes) draw(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	data, err := dataset.Read(filepath.Join(sketch.Data, huAdult), dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	if rows := h.sizes[len(h.sizes)-1]; len(data.Labels) < rows {
		return nil, fault.Data(huAdult, "%d labeled rows: want at least %d", len(data.Labels), rows)
	}
	d := &Drawing{Columns: []string{"points", "sparse, s", "sparse, without graph, s", "sparse, accuracy", "full, s", "full, accuracy"}}
	begin := time.Now()
	for k, n := range h.sizes {
		sketch.Progress.Report(algorithms.Progress{Stage: fmt.Sprintf("%d points", n), Done: k, Total: len(h.sizes), Elapsed: time.Since(begin)})
		x, labels := points.Slice(data.Points, 0, n), data.Labels[:n]
		set, err := huLinks(labels, 1.2, sketch.Seed)
		if err != nil {
			return nil, err
		}
		job := huJob{x, labels, set, sketch.Seed}
		sparse, err := job.run(ctx, eng, huNPKL(npkl.Square), npkl.Neighborhood{Graph: npkl.KNN, Neighbors: 50})
		if err != nil {
			return nil, err
		}
		all := npkl.Neighborhood{Graph: npkl.Dense, Neighbors: 10}
		full, err := job.run(ctx, eng, huNPKL(npkl.Square), all)
		if err != nil {
			return nil, err
		}
		d.Rows = append(d.Rows, []float64{float64(n), sparse.seconds, sparse.rest, sparse.accuracy, full.seconds, full.accuracy})
		if n > h.simple {
			continue
		}
		simple, err := job.run(ctx, eng, huSimple("squared hinge", simplenpkl.SquaredHinge), all)
		if err != nil {
			return nil, err
		}
		d.Notes = append(d.Notes, fmt.Sprintf("%d points, full graph: SimpleNPKL takes %.3g s, %.0f times as long as npkl; pair accuracy %.1f.", n, simple.seconds, simple.seconds/full.seconds, simple.accuracy))
	}
	d.curves("Adult", 1, 2, 4)
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
		d.Notes = append(d.Notes, fmt.Sprintf("%s: grows like the %.2fth power of the number of points.", s.Name, slope(s.X, s.Y)))
	}
	d.Panels = append(d.Panels, panel)
}

// huJob is a set of points with links.
type huJob struct {
	x      points.Points
	labels []string
	set    *links.Set
	seed   uint64
}

// huRun is the result of a fit: its time, its time without the graph, and the pair accuracy in
// percent.
type huRun struct{ seconds, rest, accuracy float64 }

func (j huJob) run(ctx context.Context, eng *engine.Engine, s huSystem, g npkl.Neighborhood) (huRun, error) {
	begin, graph := time.Now(), time.Duration(0)
	l := s.learner(g, kernel.Spec{}, 1, j.seed)
	if n, ok := l.(npkl.Learner); ok {
		n.Progress = func(p algorithms.Progress) {
			if graph == 0 && p.Stage != "graph" {
				graph = time.Since(begin)
			}
		}
		l = n
	}
	y, err := huEmbedding(ctx, eng, l, j.x, j.set)
	if err != nil {
		return huRun{}, err
	}
	all := time.Since(begin)
	clusters, err := huClusters(ctx, eng, y, len(classRows(j.labels)), j.seed)
	if err != nil {
		return huRun{}, err
	}
	v, err := score.Rand(j.labels, clusters)
	return huRun{all.Seconds(), (all - graph).Seconds(), 100 * v}, err
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
			fmt.Sprintf("%d overlapping clusters in %d dimensions, as many pairs as points, half within a class and half between classes; square loss, C = 1, delta = 1/2, 20 nearest neighbors.", h.classes, h.dim),
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
		sketch.Progress.Report(algorithms.Progress{Stage: fmt.Sprintf("%d points", n), Done: k, Total: len(h.sizes), Elapsed: time.Since(begin)})
		x, labels := h.clouds(n, sketch.Seed)
		set, err := huLinks(labels, 1, sketch.Seed)
		if err != nil {
			return nil, err
		}
		r, err := huJob{x, labels, set, sketch.Seed}.run(ctx, eng, huNPKL(npkl.Square), npkl.Neighborhood{Graph: npkl.KNN, Neighbors: 20})
		if err != nil {
			return nil, err
		}
		d.Rows = append(d.Rows, []float64{float64(n), r.seconds, r.rest, r.accuracy})
	}
	d.curves("clouds", 1, 2)
	return d, nil
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
