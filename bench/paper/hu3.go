package paper

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// huSets are the data sets of Table 3: files, and generators, whose names have no extension.
func huSets() []string {
	return []string{"iris.csv", "sonar.csv", "chessboard", "glass.csv", "heart.csv", "protein.csv",
		"soybean-small.csv", "wine.csv", "double-spiral"}
}

// huPoints is the number of points of generated sets.
const huPoints = 100

// huMuch is the number of pairs for each point.
const huMuch = 1.2

// huGrid are the weights of links, and the gammas of ITML, from which the paper chooses.
func huGrid() []float64 { return []float64{.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10} }

// huDraws is the number of draws of the pairs by which the weight of links is chosen; the trials
// have others.
const huDraws = 4

// The ends of names of rows about a method.
const (
	huOne     = ", C = 1"
	huSeconds = ", seconds"
	huWeight  = ", weight of links"
)

// huRows are the names of the rows of Table 3.
func huRows() []string {
	rows := []string{"k-means"}
	for _, m := range huTuned() {
		rows = append(rows, m.name)
	}
	for _, m := range huPrinted() {
		if strings.HasPrefix(m.name, "BCD") {
			rows = append(rows, m.name+huOne)
		}
	}
	rows = append(rows, huDefault().name)
	for _, end := range []string{huSeconds, huWeight} {
		for _, m := range huPrinted() {
			rows = append(rows, m.name+end)
		}
	}
	return append(rows, "links")
}

// hu3 is clustering with learned kernels.
func hu3() Table {
	t := Table{
		Name: "hu-3", Paper: huPaper, Label: "Table 3",
		Caption:     "pair accuracy of k-means in learned kernels, in percent, and seconds",
		Repetitions: 20, Steps: len(huSets()), Decimals: 2,
		Setup: []string{
			"Data: the UCI sets, not scaled.",
			"Side information, drawn again in every repetition: 1.2 n pairs, half within a class and half " +
				"between classes.",
			"Graph: 5 nearest neighbors in either direction, all edges with the same weight.",
			"BCDNPKL: delta = C/2; the points without links are eliminated; rank r, the largest with " +
				"r(r+1)/2 at most the number of pairs; start rand(r, l), divided by the root of r; sweeps " +
				"until V changes by less than 1e-3, relatively, and at most 10 of them, because the paper " +
				"finds that it often converges within 10. This is npkl with plain=true, for all three " +
				"losses. With the hinge (HL), the sweeps stop at kinks; the row HL, optimum has the " +
				"certified optimum of the same problem.",
			"ITML: linear, bounds at the 5th and the 95th percentile. NPK: the semidefinite program with " +
				"the hinge, by an interior-point method. SDPLR: the same program by a low-rank augmented " +
				"Lagrangian " +
				"method. SimpleNPKL: a Frobenius norm of at most 0.1 n, until the duality gap is below 1 % " +
				"of the " +
				"objective of the kernel 0 or for 200 eigendecompositions; LL is its linear loss. All have " +
				"delta = C/2.",
			fmt.Sprintf("The weight C of the links, and gamma of ITML: for every set and method the best "+
				"of .1 .2 .4 .6 .8 1 2 4 6 8 10, by the mean pair accuracy over %d draws of the pairs that "+
				"are not among "+
				"the repetitions; 1 unless another is better. NPK takes that of SDPLR.", huDraws),
			fmt.Sprintf("k-means with as many clusters as classes on the coordinates of the kernel matrix "+
				"(kernel k-means), the best of %d starts from random points, the same for all methods.",
				huRestarts),
			"Measure: the share of all pairs of points on which clusters and classes agree (the plain Rand " +
				"index). Seconds: the fit with its graph, without the clustering, on one worker.",
		},
		Differences: []string{
			"The paper does not say how the best C is chosen. Our choice uses the labels, like the usual " +
				"one, but other pairs than those of the repetitions.",
			"The paper states delta = C/2 for its own algorithm and none for NPK, SDPLR and SimpleNPKL. " +
				"Here it is C/2 for all, in all tables. Rows with 0.001 are marked: with it SDPLR is near " +
				"the printed " +
				"numbers, with C/2 it is above them.",
			"The chessboard (4 x 4 squares) and the double spiral, 100 points each, are generated and not " +
				"the paper's.",
			"Numbers of restarts and sweeps, tolerances and edge weights are ours. Pairs are 1.2 n rounded " +
				"to an even number; the paper's are 1.2 n rounded down.",
			"npkl, default: square loss with C = 1 and delta = 0.2.",
		},
		Revision: 7,
		Own:      huSL, Variants: []string{huHL, huSHL, huHL + huOne, huSHL + huOne, huSL + huOne,
			huCertified().name, huDefault().name},
		Good: Higher,
		Why: "All numbers below the printed ones are on the double spiral, which we generate. ITML is " +
			"certainly ahead of the own method on wine and soybean: with the best gamma, 10, it has 93.8 " +
			"on wine, with " +
			"gamma = 1 it has 72.8, near the printed 71.9. With the same delta NPK, SDPLR and SimpleNPKL " +
			"solve nearly " +
			"the same problem, and no method is ahead of the others on all sets.",
		Tried:   huTried(),
		Columns: huColumns(),
		Partial: map[string]string{"chessboard": "100 points that we generate",
			"double-spiral": "100 points that we generate"},
		Claims: huClaims,
		Prepare: func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
			return prepareHu(ctx, eng, t)
		},
		Trial: huTrial,
	}
	for _, set := range huSets() {
		if strings.Contains(set, ".") {
			t.Data = append(t.Data, set)
		}
	}
	for _, name := range huRows() {
		t.Rows = append(t.Rows, Row{Name: name})
		if strings.HasSuffix(name, huSeconds) || strings.HasSuffix(name, huWeight) || name == "links" {
			t.Timed = append(t.Timed, name)
		}
	}
	t.print(huKey)
	return t
}

// huTried are the explanations that were tried for the distance of NPK, SDPLR, SimpleNPKL and ITML
// from the printed values.
func huTried() []string {
	return []string{
		"NPK and SDPLR with delta = C/2 are up to 28 points above the printed values. On iris, sonar, " +
			"glass, heart, protein, soybean and wine SDPLR has 99.1, 95.8, 79.2, 91.8, 86.8, 97.4 and " +
			"83.2; printed " +
			"are 98.1, 74.1, 74.8, 63.6, 85.1, 95.8 and 67.6. NPK solves the same program.",
		"Delta explains it. With C = 1, five draws, SDPLR on the same sets has 98.5, 90.0, 76.9, 77.6, " +
			"85.5, 99.2, 77.1 (delta = 0.1, three draws); 98.2, 85.3, 75.5, 69.1, 85.0, 97.7, 72.3 (0.01); " +
			"98.2, 82.7, " +
			"74.8, 68.4, 84.8, 98.2, 68.5 (0.001); 98.2, 82.4, 74.9, 68.4, 84.8, 98.2, 67.0 (0.0001); " +
			"98.2, 75.5, " +
			"74.9, 68.4, 84.8, 98.2, 66.8 (0.00001). A kernel that is nearly constant on the graph costs " +
			"delta per " +
			"point, so a small delta lets it grow. The paper gives C/2 in a sentence about its Algorithm " +
			"1. The rows " +
			"with delta = 0.001 show it in all repetitions.",
		"One start of k-means instead of ten: with delta = 0.001, 98.2, 76.8, 74.5, 64.8, 83.5, 98.6 and " +
			"70.0, nearer still on sonar and heart; with C/2 nothing changes (sonar 94.1, heart 86.9). The " +
			"paper says " +
			"several starts.",
		"A small C instead of a small delta (SDPLR, C = 0.1, delta = C/2): 96.8, 71.3, 74.4, 57.8, 76.9, " +
			"83.9, 73.6. Protein and soybean fall far below the printed values.",
		"Others, with delta = C/2 and C = 1 (98.7, 94.4, 80.8, 86.5, 85.0, 98.8, 84.9, four draws): " +
			"features scaled to unit variance 97.8, 97.4, 79.1, 96.2, 85.1, 99.4, 99.1; edges weighted by " +
			"length 98.7, " +
			"95.5, 80.2, 85.7, 85.7, 98.8, 85.1; pairs of random points, not half and half, 97.8, 94.4, " +
			"78.9, 81.9, " +
			"82.3, 97.2, 78.4. None comes near.",
		"SimpleNPKL with the squared hinge, best of three C: 98.8, 92.9, 74.9, 87.3, 83.6, 98.5, 83.6 " +
			"(norm 0.1 n, delta = 0.001); 99.1, 93.5, 78.3, 89.0, 86.3, 97.7, 85.9 (0.1 n, C/2); 97.4, " +
			"91.8, 74.9, " +
			"79.0, 82.7, 95.6, 72.2 (0.03 n, 0.001); 98.5, 91.1, 77.7, 77.4, 88.7, 98.5, 80.0 (0.3 n, " +
			"0.001); 98.5, " +
			"82.8, 74.5, 61.6, 81.1, 99.2, 73.0 (n, 0.001). Printed are 98.8, 93.2, 74.2, 83.4, 84.2, " +
			"96.5, 78.8: the " +
			"norm 0.1 n and the small delta are nearest.",
		"BCDNPKL with SHL and SL on heart, 7 points above the printed value: with C = 1 all UCI sets are " +
			"reproduced (heart 83.8, printed 85.1). The paper's choice of C seems to be another than ours.",
		"ITML on heart and wine, 14 and 22 points above: the best gamma is 10, which the printed values do " +
			"not show. On wine the points themselves have 71.87, and the printed standard deviation of " +
			"0.02 says that " +
			"ITML left them as they were.",
		"The chessboard and the spiral are generated. NPK with delta = 0.1 has 77.3 and 97.4 there " +
			"(printed 75.0 and 99.8); a spiral without noise gives 99.5 to 100 with every method.",
	}
}

// huColumns are the names of the sets in the paper.
func huColumns() []string {
	var out []string
	for _, set := range huSets() {
		out = append(out, huCurve{file: set}.name())
	}
	return out
}

// huKey names the printed number of a row and a column.
func huKey(row, column string) printed.Key {
	key := printed.Key{Table: "hu-3", Dataset: column, Condition: "much", Method: row,
		Measure: "pair_accuracy_x100"}
	if method, is := strings.CutSuffix(row, huSeconds); is {
		key.Method, key.Measure = method, "cpu_seconds"
	}
	if row == "links" {
		key.Method, key.Measure = "", "constraints"
	}
	return key
}

// loadHu reads or generates the sets.
func loadHu(t Trial) ([]*labeled, error) {
	var out []*labeled
	for k, set := range huSets() {
		var d *dataset.Data
		var err error
		if strings.Contains(set, ".") {
			d, err = dataset.Read(t.Path(set), dataset.ReadOptions{})
		} else {
			d, err = dataset.Generate(set, dataset.GenerateOptions{N: huPoints, Seed: t.Seed(k)})
		}
		if err != nil {
			return nil, err
		}
		x, ok := d.Points.(*points.Dense)
		if !ok || d.Labels == nil {
			return nil, fault.Data(set, "not labeled vectors: want labeled vectors of numbers")
		}
		out = append(out, &labeled{x: x, labels: d.Labels, classes: len(classRows(d.Labels))})
	}
	return out, nil
}

// huShared are the sets and the weight of the links for each set and method.
type huShared struct {
	sets   []*labeled
	weight []map[string]float64
}

// prepareHu reads the sets and chooses the weights.
func prepareHu(ctx context.Context, eng *engine.Engine, t Trial) (*huShared, error) {
	sets, err := loadHu(t)
	if err != nil {
		return nil, err
	}
	one, err := huOneWorker(eng)
	if err != nil {
		return nil, err
	}
	grids := make([][][]float64, len(sets)*huDraws)
	err = eng.For(ctx, len(grids), 1, func(i, _ int) (err error) {
		grids[i], err = huGridOf(ctx, one, sets[i/huDraws], t.Seed(1000+2*i), t.Seed(1001+2*i))
		return err
	})
	if err != nil {
		return nil, err
	}
	shared := &huShared{sets: sets}
	for k := range sets {
		shared.weight = append(shared.weight, huChoose(grids[k*huDraws:(k+1)*huDraws]))
	}
	return shared, nil
}

// huOneWorker returns an engine of one worker.
func huOneWorker(eng *engine.Engine) (*engine.Engine, error) {
	return engine.New(engine.Options{Backend: eng.Backend(), Workers: 1})
}

// huGridOf returns the pair accuracy of one draw of the pairs for each method and weight; nil for
// methods that take the weight of another.
func huGridOf(ctx context.Context, eng *engine.Engine, d *labeled, pairs, seed uint64) ([][]float64, error) {
	set, err := huLinks(d.labels, huMuch, pairs)
	if err != nil {
		return nil, err
	}
	methods := huTuned()
	out := make([][]float64, len(methods))
	for m, method := range methods {
		if method.like != "" {
			continue
		}
		for _, c := range huGrid() {
			v, _, err := method.accuracy(ctx, eng, d, set, c, seed)
			if err != nil {
				return nil, err
			}
			out[m] = append(out[m], v)
		}
	}
	return out, nil
}

// huChoose returns the weight with the best mean over the draws for each method: 1 unless another
// is better.
func huChoose(draws [][][]float64) map[string]float64 {
	grid, out := huGrid(), map[string]float64{}
	for m, method := range huTuned() {
		if method.like != "" {
			continue
		}
		sums := make([]float64, len(grid))
		for _, draw := range draws {
			for i, v := range draw[m] {
				sums[i] += v
			}
		}
		best := slices.Index(grid, 1)
		for i, v := range sums {
			if v > sums[best] {
				best = i
			}
		}
		out[method.name] = grid[best]
	}
	for _, method := range huTuned() {
		if method.like != "" {
			out[method.name] = out[method.like]
		}
	}
	return out
}

// accuracy returns the pair accuracy of k-means, and the seconds of the fit.
func (m huMethod) accuracy(ctx context.Context, eng *engine.Engine, d *labeled, set *links.Set, c float64,
	seed uint64) (accuracy, seconds float64, err error) {
	begin := time.Now()
	y, err := m.fit(ctx, eng, d.x, set, c, seed)
	seconds = time.Since(begin).Seconds()
	if err == nil {
		accuracy, err = huCluster(ctx, eng, y, d, seed)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s, C = %g: %w", m.name, c, err)
	}
	return accuracy, seconds, nil
}

// huTrial is one draw of the pairs of every set.
func huTrial(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
	one, err := huOneWorker(eng)
	if err != nil {
		return nil, err
	}
	shared := t.Shared.(*huShared)
	values := make([][]float64, len(huRows()))
	for k, d := range shared.sets {
		set, err := huLinks(d.labels, huMuch, t.Seed(10*k))
		if err != nil {
			return nil, err
		}
		column, err := huColumn(ctx, one, d, set, shared.weight[k], t.Seed(10*k+1))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", huSets()[k], err)
		}
		for r, v := range column {
			values[r] = append(values[r], v)
		}
		t.Step()
	}
	return values, nil
}

// huColumn returns the values of one set with some pairs, in the order of the rows.
func huColumn(ctx context.Context, eng *engine.Engine, d *labeled, set *links.Set, weight map[string]float64,
	seed uint64) ([]float64, error) {
	raw, err := huCluster(ctx, eng, rawRows(d.x), d, seed)
	if err != nil {
		return nil, err
	}
	at := map[string]float64{"k-means": raw, "links": float64(set.Len())}
	for _, m := range append(huTuned(), huDefault()) {
		if at[m.name], at[m.name+huSeconds],
			err = m.accuracy(ctx, eng, d, set, weight[m.name], seed); err != nil {
			return nil, err
		}
		at[m.name+huWeight] = weight[m.name]
		if strings.HasPrefix(m.name, "BCD") {
			if at[m.name+huOne], _, err = m.accuracy(ctx, eng, d, set, 1, seed); err != nil {
				return nil, err
			}
		}
	}
	var column []float64
	for _, row := range huRows() {
		column = append(column, at[row])
	}
	return column, nil
}
