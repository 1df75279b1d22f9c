package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/itml"
	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/algorithms/gml"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/view"
	"github.com/mustlink/mustlink/solvers/operator"
)

const (
	luDigits     = "usps.csv.gz"
	luTestDigits = 2007 // the last rows
	luKnown      = 200  // rows whose labels are known
)

func luFigure4() Figure {
	return Figure{
		Name: "lu-fig4", Paper: luPaper, Label: "Figure 4",
		Caption: "handwritten digits in the plane, by four methods",
		Data:    []string{luDigits},
		Setup: []string{
			fmt.Sprintf("Data: the last %d rows of USPS, its test split, values from -1 to 1. gml and ITML "+
				"know the labels of %d of them, drawn at random, and learn from all their pairs; colored "+
				"MVU knows all "+
				"labels; Laplacian eigenmaps none.", luTestDigits, luKnown),
			fmt.Sprintf("Graph: %d nearest neighbors in either direction, all edges with the same weight. "+
				"gml: spectral prior, %d eigenvectors, gamma = 1, bounds at the 5th and the 95th "+
				"percentile, %d rounds. "+
				"ITML: linear, the same bounds and gamma. Colored MVU: %d eigenvectors. Each of them is "+
				"shown in the plane "+
				"of its largest variance. Eigenmaps: the two smoothest eigenvectors of the normalized "+
				"Laplacian that are "+
				"not constant.", luNear, luRank, luRounds, luRank),
			"1-NN: the share of the digits whose nearest neighbor in the plane has their label, for all " +
				"digits and for those whose labels are not known to gml and ITML. J: mean distance between " +
				"classes divided " +
				"by that within classes. Columns 0 to 9: the share of the images of a digit whose nearest " +
				"neighbor in the " +
				"plane is the same digit; the digit counts as separated if it is more than half.",
		},
		Differences: []string{
			"The paper judges pictures by eye, without numbers, so the measures are ours. The paper states " +
				"the set, the 200 samples, the plane and that colored MVU has all labels. Its draw of the " +
				"200 digits and " +
				"its weights in colored MVU are not stated. gamma, bounds, rounds, graph and eigenvectors " +
				"are as in its " +
				"other figures.",
		},
		Claims: luDigitsClaims,
		Draw:   drawLuDigits,
	}
}

// luDigitsCase is the digits with their known labels.
type luDigitsCase struct {
	x      *points.Dense
	labels []string
	known  []int
	pairs  *links.Set // of the known ones
	all    *links.Set // the links that all labels imply
	seed   uint64
}

func newLuDigits(path string, seed uint64) (*luDigitsCase, error) {
	d, err := dataset.Read(path, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	x, ok := d.Points.(*points.Dense)
	if !ok || d.Labels == nil || x.N < luTestDigits {
		return nil, fault.Data(path, "too few labeled vectors: want at least %d labeled rows of numbers",
			luTestDigits)
	}
	c := &luDigitsCase{x: points.Slice(x, x.N-luTestDigits, x.N).(*points.Dense),
		labels: d.Labels[x.N-luTestDigits:], seed: seed}
	c.known = rand.New(rand.NewPCG(seed, 4)).Perm(luTestDigits)[:luKnown]
	slices.Sort(c.known)
	some := make([]string, luTestDigits)
	for _, i := range c.known {
		some[i] = c.labels[i]
	}
	if c.pairs, err = links.FromLabels(some); err != nil {
		return nil, err
	}
	if c.pairs, err = c.pairs.Closure(); err != nil {
		return nil, err
	}
	c.all, err = links.FromLabels(c.labels)
	return c, err
}

func drawLuDigits(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	c, err := newLuDigits(Trial{Data: sketch.Data}.Path(luDigits), sketch.Seed)
	if err != nil {
		return nil, err
	}
	others := make([]int, 0, luTestDigits)
	for i := range luTestDigits {
		if _, known := slices.BinarySearch(c.known, i); !known {
			others = append(others, i)
		}
	}
	systems := []struct {
		name  string
		place func(context.Context, *engine.Engine) (blas.Matrix, error)
	}{{"gml", c.gml}, {"ITML", c.itml}, {"Laplacian eigenmaps", c.eigenmaps}, {"colored MVU", c.colored}}
	d, begin := &Drawing{Across: 2, Columns: []string{"system", "1-NN", "1-NN, labels not known", "J"}},
		time.Now()
	digits := classRows(c.labels)
	slices.SortFunc(digits, func(a, b []int) int { return strings.Compare(c.labels[a[0]], c.labels[b[0]]) })
	for _, rows := range digits {
		d.Columns = append(d.Columns, c.labels[rows[0]])
	}
	for k, s := range systems {
		sketch.Progress.Report(algorithms.Progress{Stage: s.name, Done: k, Total: len(systems),
			Elapsed: time.Since(begin)})
		y, err := s.place(ctx, eng)
		if err != nil {
			return nil, err
		}
		right, err := score.NeighborAccuracy(y.Data, y.Rows, y.Cols, c.labels)
		if err != nil {
			return nil, err
		}
		unlabeled := nearestRight(y, c.labels, others)
		j, err := score.JRatio(y.Data, y.Rows, y.Cols, c.labels)
		if err != nil {
			return nil, err
		}
		row := []float64{float64(k), right, unlabeled, j}
		for _, rows := range digits {
			row = append(row, nearestRight(y, c.labels, rows))
		}
		d.Rows = append(d.Rows, row)
		d.Notes = append(d.Notes,
			fmt.Sprintf("%s (%d): 1-NN %.1f %%, of digits whose labels were not known %.1f %%, J %.2f.",
				s.name, k, 100*right, 100*unlabeled, j))
		d.Panels = append(d.Panels,
			c.scatter(y, fmt.Sprintf("%s: 1-NN %.1f %%, J %.2f", s.name, 100*right, j), k > 0))
	}
	return d, nil
}

// luMixed returns the digits that a system of Figure 4 does not separate.
func luMixed(d *Drawing, system int) []string {
	var mixed []string
	for j, name := range d.Columns {
		if j > 3 && d.Rows[system][j] <= 0.5 {
			mixed = append(mixed, name)
		}
	}
	return mixed
}

// luAmong returns the number of names that are in a list.
func luAmong(list []string, names ...string) int {
	count := 0
	for _, name := range names {
		if slices.Contains(list, name) {
			count++
		}
	}
	return count
}

// luDigitsClaims tests what the text says about the pictures.
func luDigitsClaims(d *Drawing) []Claim {
	own, colored := luMixed(d, 0), luMixed(d, 3)
	verdict := func(reproduced, mixed bool) Verdict {
		switch {
		case reproduced:
			return Reproduced
		case mixed:
			return Mixed
		}
		return Worse
	}
	right := func(column int) (ahead int, text string) {
		for k, row := range d.Rows[1:] {
			if d.Rows[0][column] > row[column] {
				ahead++
			}
			text += fmt.Sprintf(", system %d %.3f", k+1, row[column])
		}
		return ahead, fmt.Sprintf("gml %.3f", d.Rows[0][column]) + text
	}
	all, allText := right(1)
	four, fourText := right(slices.Index(d.Columns, "4"))
	return []Claim{
		{Text: "gml separates all digits but 5",
			Verdict: verdict(len(own) == luAmong(own, "5"), len(own) <= len(d.Columns[4:])/2),
			Detail:  fmt.Sprintf("not separated: %v", own)},
		{Text: "colored MVU, with all labels, does not separate 4, 5, 8 and 2",
			Verdict: verdict(luAmong(colored, "4", "5", "8", "2") == 4,
				luAmong(colored, "4", "5", "8", "2") > 0),
			Detail: fmt.Sprintf("not separated: %v", colored)},
		{Text: "gml separates the digits more accurately than the other systems",
			Verdict: verdict(all == 3, all > 0), Detail: "1-NN: " + allText},
		{Text: "this is so for digit 4", Verdict: verdict(four == 3, four > 0), Detail: fourText},
	}
}

// nearestRight returns the share of the rows whose nearest other point has their label.
func nearestRight(y blas.Matrix, labels []string, rows []int) float64 {
	right := 0
	for _, i := range rows {
		best := -1
		for j := range y.Rows {
			if j != i && (best < 0 ||
				points.SquaredDistance(y.Row(i), y.Row(j)) < points.SquaredDistance(y.Row(i), y.Row(best))) {
				best = j
			}
		}
		if labels[best] == labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(rows))
}

func (c *luDigitsCase) scatter(y blas.Matrix, title string, noLegend bool) view.Scatter {
	first, second := make([]float64, y.Rows), make([]float64, y.Rows)
	for i := range y.Rows {
		first[i], second[i] = y.At(i, 0), y.At(i, 1)
	}
	return view.Scatter{Title: title, X: first, Y: second, Groups: c.labels, NoLegend: noLegend}
}

func (c *luDigitsCase) gml(ctx context.Context, eng *engine.Engine) (blas.Matrix, error) {
	p := luSpectral(luRounds)
	p.Rank = luRank
	m, err := gml.Learner{Params: p, Seed: c.seed}.Fit(ctx, eng, c.x, c.pairs)
	if err != nil {
		return blas.Matrix{}, err
	}
	return leading(ctx, eng, m.(*gml.Model).Coordinates(), 2)
}

func (c *luDigitsCase) itml(ctx context.Context, eng *engine.Engine) (blas.Matrix, error) {
	linear, err := kernel.Parse("linear") // the same metric as without a kernel, from the known points alone
	if err != nil {
		return blas.Matrix{}, err
	}
	y, err := learnedEmbedding(ctx, eng,
		itml.Learner{Params: itml.DefaultParams(), Kernel: linear, Seed: c.seed}, c.x, c.pairs)
	if err != nil {
		return y, err
	}
	return leading(ctx, eng, y, 2)
}

// eigenmaps returns the coordinates v / sqrt(degree) of the normalized Laplacian (Belkin & Niyogi
// 2003).
func (c *luDigitsCase) eigenmaps(ctx context.Context, eng *engine.Engine) (blas.Matrix, error) {
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), c.x, luNear)
	if err != nil {
		return blas.Matrix{}, err
	}
	a := near.Adjacency(graph.Union, graph.Binary)
	_, parts := graph.Components(a)
	found, err := operator.LaplacianEigenpairs(ctx, eng, a, true, parts+2,
		operator.EigenOptions{Tolerance: 1e-8, Seed: c.seed})
	if err != nil {
		return blas.Matrix{}, err
	}
	y := blas.NewMatrix(c.x.N, 2)
	for i, degree := range graph.Degrees(a) { // every point has neighbors
		for k := range y.Cols {
			y.Set(i, k, found.Vectors.At(parts+k, i)/math.Sqrt(degree))
		}
	}
	return y, nil
}

func (c *luDigitsCase) colored(ctx context.Context, eng *engine.Engine) (blas.Matrix, error) {
	p := param.Default[nonlinear.CMVU]()
	p.Neighbors, p.Rank, p.Dims = luNear, luRank, 2
	m, err := nonlinear.CMVULearner{Params: p, Seed: c.seed}.Fit(ctx, eng, c.x, c.all)
	if err != nil {
		return blas.Matrix{}, err
	}
	return m.(*nonlinear.CMVUModel).Coordinates(), nil
}
