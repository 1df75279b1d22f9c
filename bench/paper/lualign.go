package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/itml"
	"github.com/mustlink/mustlink/algorithms/gml"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/view"
	"github.com/mustlink/mustlink/solvers/operator"
)

const (
	luPairs     = 10    // must-links between images that match
	luNear      = 10    // neighbors of the graph
	luDraws     = 30    // draws of the pairs in Figure 5
	luNarrow    = 0.125 // width of ITML's kernel, in mean distances: see luFigure6
	luPixelsRef = "pixels from 0 to 255, not scaled"
)

// luSameLight is the search for the image of the other subject under the same light.
func luSameLight() luSearch { return luSearch{"same light", 0, false, false, []int{1, 3, 5, 10}} }

// luAligned is the share of the images whose match must be among the nearest 10 of the other
// subject's 64 for the two sets of images to be aligned.
const luAligned = 0.9

// luFaces are two subjects under the same lights.
const luFaces = "yaleb-2.csv.gz"

func luFigure5() Figure {
	return Figure{
		Name: "lu-fig5", Paper: luPaper, Label: "Figure 5",
		Caption: "two subjects' faces, aligned by ten pairs under the same light, round by round",
		Data:    []string{luFaces},
		Setup: []string{
			fmt.Sprintf("Data: 64 images of each of two subjects, 32 x 32 pixels, in the same order of "+
				"lights; %s. One graph of all images, %d nearest neighbors in either direction, all edges "+
				"with the same "+
				"weight.", luPixelsRef, luNear),
			fmt.Sprintf("Links: %d must-links between images of the two subjects under the same light, "+
				"drawn at random. Systems 0 to %d: gml after as many rounds, with the spectral prior, %d "+
				"eigenvectors, "+
				"gamma = 1 and the bound at the 5th percentile; 0 is the first prior. System %d: ITML with "+
				"a Gaussian "+
				"kernel whose width is an eighth of the mean distance, and the same bound; system %d: the "+
				"same with the mean distance.", luPairs, luRounds, luRank, luRounds+1, luRounds+2),
			"Coordinates: the three directions of largest variance; the figure shows the first two, with " +
				"the links. Recall at k: how often the image under the same light is among the k nearest " +
				"of the other " +
				"subject, as the mean over " + fmt.Sprint(luDraws) + " draws of the links and all images.",
			fmt.Sprintf("The subjects count as aligned if the recall at 10, a sixth of the images, is at "+
				"least %g.", luAligned),
		},
		Differences: []string{
			"The paper judges the alignment by eye, in pictures without numbers, so the measure and its " +
				"threshold are ours. Its subjects, links, graph and the width of ITML's kernel are not " +
				"stated. gamma, " +
				"bounds and rounds are as in its other figures, the width is the one with which ITML has the " +
				"printed recall of Figure 6.",
			"The number of rounds until the subjects are aligned hangs on the threshold: after one round " +
				"the recall is 0.897, just below it.",
		},
		Tried: []string{
			"The bound: with the percentiles 5, 1 and 0.1, the recall at 1 after five rounds is 0.440, " +
				"0.512 and 0.580, and the recall at 10 is 0.932, 0.950 and 0.960 (8 draws); gamma = 100 " +
				"instead of 1 " +
				"changes them by 0.023 at most.",
			"The width of ITML's kernel, which decides whether the claim holds: with 1/8, 1/4, 1/2 and 1 " +
				"of the mean distance its recall at 10 is 0.381, 0.539, 0.962 and 0.959, so with a narrow " +
				"kernel ITML does " +
				"not align the subjects, as in the paper (10 draws).",
			"The graph: with 3, 4, 6, 10 and 20 neighbors the recall at 10 of gml after five rounds is " +
				"0.884, 0.915, 0.908, 0.923 and 0.916 (10 draws).",
			"The rounds: with any of these bounds five rounds are better than one (0.354, 0.411 and 0.436 " +
				"at 1 after one).",
		},
		Compared: luFacesCompared,
		Claims:   luFacesClaims,
		Draw:     drawLuFaces,
	}
}

// luAlignedAfter returns the number of rounds after which the two subjects are aligned, or one more
// than the rounds there are.
func luAlignedAfter(d *Drawing) int {
	for round := range luRounds + 1 {
		if row := d.Rows[round]; row[len(row)-1] >= luAligned {
			return round
		}
	}
	return luRounds + 1
}

func luFacesCompared(d *Drawing) []Comparison {
	c := comparisons{numbers: d.Figure.numbers, why: "No round reaches a recall at 10 of " +
		fmt.Sprint(luAligned) + "."}
	c.add("rounds of gml until the subjects are aligned",
		printed.Key{Table: "lu-fig5", Dataset: "Yale Face B, two subjects",
			Condition: "10 must-links", Method: "G-ML", Measure: "iterations_to_align_at_most"},
		once(float64(luAlignedAfter(d))))
	return c.list
}

func luFacesClaims(d *Drawing) []Claim {
	verdict := func(ok bool) Verdict {
		if ok {
			return Reproduced
		}
		return Worse
	}
	last, rival := d.Rows[luRounds], d.Rows[luRounds+1]
	return []Claim{
		{Text: "gml aligns the two subjects within five iterations",
			Verdict: verdict(luAlignedAfter(d) <= luRounds),
			Detail: fmt.Sprintf(
				"recall at 10 is %.3f under the first prior and %.3f after %d rounds; %d rounds reach %g",
				d.Rows[0][4], last[4], luRounds, luAlignedAfter(d), luAligned)},
		{Text: "ITML does not align them", Verdict: verdict(rival[4] < luAligned),
			Detail: fmt.Sprintf("recall at 10 of ITML: %.3f, with a width of the mean distance %.3f",
				rival[4], d.Rows[luRounds+2][4])},
		{Text: "gml retrieves the images under similar light more accurately than ITML",
			Verdict: verdict(last[1] > rival[1] && last[4] > rival[4]),
			Detail: fmt.Sprintf("recall at 1: %.3f against %.3f; at 10: %.3f against %.3f", last[1], rival[1],
				last[4], rival[4])},
	}
}

func drawLuFaces(ctx context.Context, eng *engine.Engine, sketch Sketch) (*Drawing, error) {
	a, err := newAlignment(ctx, eng, Trial{Data: sketch.Data}.Path(luFaces), []string{"1", "2"}, sketch.Seed)
	if err != nil {
		return nil, err
	}
	d, begin := &Drawing{Across: 3}, time.Now()
	mean := make([][]float64, luRounds+3)
	for draw := range luDraws {
		sketch.Progress.Report(algorithms.Progress{Stage: "draws", Done: draw, Total: luDraws,
			Elapsed: time.Since(begin)})
		set, err := a.draw(rand.New(rand.NewPCG(sketch.Seed, uint64(draw))))
		if err != nil {
			return nil, err
		}
		for system := range mean {
			y, err := a.face(ctx, eng, set, system)
			if err != nil {
				return nil, err
			}
			if mean[system] == nil {
				mean[system] = make([]float64, len(luSameLight().cutoffs))
			}
			for k, v := range a.recall(y, luSameLight()) {
				mean[system][k] += v / luDraws
			}
			if draw == 0 && system < luRounds+2 {
				d.Panels = append(d.Panels, a.scatter(y, set, system))
			}
		}
	}
	d.Columns = []string{"system"}
	for _, k := range luSameLight().cutoffs {
		d.Columns = append(d.Columns, fmt.Sprintf("recall at %d", k))
	}
	for system, row := range mean {
		d.Rows = append(d.Rows, append([]float64{float64(system)}, row...))
	}
	last, rival := mean[luRounds], mean[luRounds+1]
	d.Notes = []string{fmt.Sprintf(
		"The image under the same light is the nearest of the other subject for %.0f %% of the images "+
			"after %d rounds, %.0f %% under the first prior, %.0f %% with ITML; among the nearest 10 for "+
			"%.0f %% (%.0f "+
			"%%, %.0f %%).",
		100*last[0], luRounds, 100*mean[0][0], 100*rival[0], 100*last[3], 100*mean[0][3], 100*rival[3])}
	return d, nil
}

// face returns the coordinates of a system of Figure 5.
func (a *alignment) face(ctx context.Context, eng *engine.Engine, set *links.Set,
	system int) (y blas.Matrix, err error) {
	switch system {
	case luRounds + 1:
		y, err = a.itml(ctx, eng, set, itml.DefaultParams(), luNarrow, 1)
	case luRounds + 2:
		y, err = a.itml(ctx, eng, set, itml.DefaultParams(), 1, 1)
	default:
		y, err = a.learned(ctx, eng, set, system)
	}
	if err != nil {
		return y, err
	}
	return leading(ctx, eng, y, 3)
}

// leading returns the coordinates in the directions of largest variance.
func leading(ctx context.Context, eng *engine.Engine, y blas.Matrix, dims int) (blas.Matrix, error) {
	centered := y.Clone()
	for c := range y.Cols {
		mean := 0.0
		for i := range y.Rows {
			mean += y.At(i, c) / float64(y.Rows)
		}
		for i := range y.Rows {
			centered.Set(i, c, y.At(i, c)-mean)
		}
	}
	g, w := blas.NewMatrix(y.Cols, y.Cols), make([]float64, y.Cols)
	eng.Backend().Gemm(true, false, 1, centered, centered, 0, g)
	if err := eng.SymEig(ctx, g, w, true); err != nil {
		return y, err
	}
	dims = min(dims, y.Cols)
	turn, out := blas.NewMatrix(dims, y.Cols), blas.NewMatrix(y.Rows, dims)
	for k := range dims {
		copy(turn.Row(k), g.Row(y.Cols-1-k))
	}
	eng.Backend().Gemm(false, true, 1, centered, turn, 0, out)
	return out, nil
}

// alignment is objects with the same number of images each. Images at the same position of two
// objects match.
type alignment struct {
	x       *points.Dense
	objects int
	images  int // number of images of an object
	basis   *operator.Eigenpairs
}

// newAlignment reads the images of some objects.
func newAlignment(ctx context.Context, eng *engine.Engine, path string, objects []string,
	seed uint64) (*alignment, error) {
	d, err := dataset.Read(path, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return ofObjects(ctx, eng, d, objects, seed)
}

// ofObjects takes the images of some objects.
func ofObjects(ctx context.Context, eng *engine.Engine, d *dataset.Data, objects []string,
	seed uint64) (*alignment, error) {
	x, ok := d.Points.(*points.Dense)
	if !ok || d.Labels == nil {
		return nil, fault.Data(d.Name, "not labeled vectors: want labeled rows of numbers")
	}
	a := &alignment{objects: len(objects)}
	var rows []int
	for _, name := range objects {
		before := len(rows)
		for i, label := range d.Labels {
			if label == name {
				rows = append(rows, i)
			}
		}
		if count := len(rows) - before; count == 0 || a.images > 0 && count != a.images {
			return nil, fault.Data(d.Name,
				"%d images of object %s: want the same number of each object, at least one", count, name)
		}
		a.images = len(rows) - before
	}
	a.x = x.Select(rows).(*points.Dense)
	return a, a.connect(ctx, eng, luNear, seed)
}

// connect computes the basis, of a graph of so many nearest neighbors.
func (a *alignment) connect(ctx context.Context, eng *engine.Engine, count int, seed uint64) error {
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), a.x, count)
	if err != nil {
		return err
	}
	a.basis, err = operator.LaplacianEigenpairs(ctx, eng, near.Adjacency(graph.Union, graph.Binary), false,
		luRank, operator.EigenOptions{Tolerance: 1e-8, Seed: seed})
	return err
}

// draw returns must-links between matching images of different objects.
func (a *alignment) draw(r *rand.Rand) (*links.Set, error) {
	var list []links.Link
	seen := map[[2]int]bool{}
	for len(list) < luPairs {
		place, p := r.IntN(a.images), r.IntN(a.objects)
		q := (p + 1 + r.IntN(a.objects-1)) % a.objects
		pair := [2]int{min(p, q)*a.images + place, max(p, q)*a.images + place}
		if !seen[pair] {
			seen[pair] = true
			list = append(list, links.NewLink(pair[0], pair[1], links.Must))
		}
	}
	return links.New(a.x.N, list)
}

// learned returns the coordinates after some rounds of gml, or those of the first prior for 0
// rounds.
func (a *alignment) learned(ctx context.Context, eng *engine.Engine, set *links.Set,
	rounds int) (blas.Matrix, error) {
	if rounds == 0 {
		return luWeighted(a.basis, luRank, func(mu float64) float64 { return math.Exp(-0.1 * mu) }), nil
	}
	return a.fitted(ctx, eng, set, luSpectral(rounds))
}

func (a *alignment) fitted(ctx context.Context, eng *engine.Engine, set *links.Set,
	p gml.Params) (blas.Matrix, error) {
	m, err := gml.Learner{Params: p, Basis: a.basis}.Fit(ctx, eng, a.x, set)
	if err != nil {
		return blas.Matrix{}, err
	}
	return m.(*gml.Model).Coordinates(), nil
}

// recall returns, for every cutoff k of a rule, the share of the images like the query's that are
// among the k nearest of those that are searched, as the mean over all images.
func (a *alignment) recall(y blas.Matrix, s luSearch) []float64 {
	out := make([]float64, len(s.cutoffs))
	if s.unit {
		y = y.Clone()
		for i := range y.Rows {
			row := y.Row(i)
			floats.Scale(1/floats.Norm(row, 2), row)
		}
	}
	type candidate struct {
		squared float64
		alike   int
	}
	alike := 0 // as many for every query
	for i := range y.Rows {
		var others []candidate
		for j := range y.Rows {
			if j == i || !s.all && j/a.images == i/a.images {
				continue
			}
			c := candidate{squared: points.SquaredDistance(y.Row(i), y.Row(j))}
			if a.apart(i, j) <= s.window {
				c.alike = 1
				alike++
			}
			others = append(others, c)
		}
		slices.SortFunc(others, func(p, q candidate) int { // a tie counts as a miss
			return cmp.Or(cmp.Compare(p.squared, q.squared), cmp.Compare(p.alike, q.alike))
		})
		for c, k := range s.cutoffs {
			for _, o := range others[:k] {
				out[c] += float64(o.alike)
			}
		}
	}
	for c := range out {
		out[c] /= float64(alike)
	}
	return out
}

// apart returns the number of places between two images on the circle of their objects.
func (a *alignment) apart(i, j int) int {
	d := max(i%a.images, j%a.images) - min(i%a.images, j%a.images)
	return min(d, a.images-d)
}

// scatter draws coordinates with the links.
func (a *alignment) scatter(y blas.Matrix, set *links.Set, round int) view.Scatter {
	x0, x1, groups := make([]float64, y.Rows), make([]float64, y.Rows), make([]int, y.Rows)
	for i := range y.Rows {
		x0[i], x1[i], groups[i] = y.At(i, 0), y.At(i, 1), i/a.images
	}
	s := scatterOf(x0, x1, groups)
	if s.Title, s.NoLegend = fmt.Sprintf("gml, round %d", round), round > 0; round > luRounds {
		s.Title = "ITML"
	}
	s.XLabel, s.YLabel = "first direction", "second direction"
	for _, l := range set.Must() {
		s.Must = append(s.Must, [2]int{l.I, l.J})
	}
	return s
}
