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

// huDraws is the number of draws of the pairs by which C and gamma are chosen; the trials have
// others.
const huDraws = 4

// The ends of names of rows about a method.
const (
	huAlone   = ", best C for the set" // and the loss
	huSeconds = ", seconds"
	huWeight  = ", weight of links"
)

// huRows are the names of the rows of Table 3.
func huRows() []string {
	rows := []string{"k-means"}
	for _, m := range huTuned() {
		rows = append(rows, m.name)
	}
	var plain, weights []string
	for _, m := range huPrinted() {
		if strings.HasPrefix(m.name, "BCD") {
			plain = append(plain, m.name+huAlone)
			weights = append(weights, m.name+huAlone+huWeight)
		}
	}
	rows = append(append(rows, plain...), huDefault().name)
	for _, m := range huPrinted() {
		rows = append(rows, m.name+huSeconds)
	}
	rows = append(append(rows, huMahalanobis+huWeight, huSL+huWeight), weights...)
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
			fmt.Sprintf("The weight C of the links is one number for all methods and sets, and gamma of ITML one "+
				"for all sets: the best of .1 .2 .4 .6 .8 1 2 4 6 8 10, by the mean pair accuracy over the sets, "+
				"over %d draws of the pairs that are not among the repetitions, and for C over SDPLR, "+
				"SimpleNPKL and BCDNPKL with its three losses; 1 unless another is better. The rows "+
				"best C for the set have the best for each set and loss by the same draws.", huDraws),
			fmt.Sprintf("k-means with as many clusters as classes on the coordinates of the kernel matrix "+
				"(kernel k-means), the best of %d starts from random points, the same for all methods.",
				huRestarts),
			"Measure: the share of all pairs of points on which clusters and classes agree (the plain Rand " +
				"index). Seconds: the fit with its graph, without the clustering, on one worker.",
		},
		Differences: []string{
			"The paper says that C and gamma are tuned in that range for all the sets of the table, not " +
				"how, and whether each set has its own. Of three ways, one C for all sets is nearest to the " +
				"print on the draws that choose it. The choice uses the labels, like the usual one, but other " +
				"pairs than those of the repetitions.",
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
		Revision: 8,
		Own:      huSL, Variants: []string{huHL, huSHL, huHL + huAlone, huSHL + huAlone, huSL + huAlone,
			huCertified().name, huDefault().name},
		Good: Higher,
		Why: "All numbers below the printed ones are on the double spiral, which we generate. ITML is " +
			"certainly ahead of the own method on wine and soybean: with the best gamma, 10, it has 93.7 " +
			"on wine, with gamma = 1 it has 72.8, near the printed 71.9; on soybean the paper has it ahead, " +
			"too. NPK and SDPLR solve the same problem as the own method with the hinge, and are certainly " +
			"ahead of the square loss on iris alone.",
		Tried:   huTried(),
		Columns: huColumns(),
		Partial: map[string]string{"chessboard": "100 points that we generate",
			"double-spiral": "100 points that we generate"},
		Claims: huClaims,
		Notes:  huNotes,
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

// huNotes says how C is chosen, and how many printed numbers of the own methods the choice decides.
func huNotes(r *Result) []string {
	var here, alone Tally
	for _, m := range []string{huHL, huSHL, huSL} {
		own, other := r.Table.row(m), r.Table.row(m+huAlone)
		for j, column := range r.Table.Columns {
			if c, ok := r.comparison(own, j); ok && r.Table.Partial[column] == "" {
				here.add(one(c.Verdict))
				alone.add(one(Compare("", c.Printed, r.Ours[other][j], Higher, "").Verdict))
			}
		}
	}
	return []string{fmt.Sprintf("The paper tunes C in a range for all sets of the table and does not say "+
		"whether each has its own; here one C, %g, is the best for all sets and methods, over draws of other "+
		"links. With the best C for each set and loss, %d instead of %d of the %d printed numbers of BCDNPKL "+
		"on the UCI sets are reproduced.", r.Ours[r.Table.row(huSL+huWeight)][0].Mean, alone.Reproduced,
		here.Reproduced, here.Compared())}
}

// huTried are the explanations that were tried for the distance of NPK, SDPLR, SimpleNPKL and ITML
// from the printed values.
func huTried() []string {
	return []string{
		"NPK and SDPLR with delta = C/2 are up to 21 points above the printed values. On iris, sonar, " +
			"glass, heart, protein, soybean and wine SDPLR has 99.1, 95.1, 79.2, 83.0, 86.8, 97.4 and " +
			"82.2; printed " +
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
		"How C is chosen, by how many of the 21 printed numbers of BCDNPKL on the UCI sets are within a " +
			"printed standard deviation on the draws that choose it, and the root mean square of the " +
			"differences in such standard deviations. The best C for each set and loss: 16 and 1.29. For each set, the " +
			"same for all losses and SimpleNPKL: 18 and 1.05. For each loss, the same for all sets (1 for HL, 2 " +
			"for SHL and SL): 16 and 0.89. One for all, 1: 20 and 0.54.",
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

// huShared are the sets, C, gamma, and the best C for each set and form of the own method.
type huShared struct {
	sets     []*labeled
	c, gamma float64
	alone    []map[string]float64
}

// weight returns the weight that a method takes.
func (s *huShared) weight(method string) float64 {
	if method == huMahalanobis {
		return s.gamma
	}
	return s.c
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
	shared := &huShared{sets: sets,
		c:     huChoose(grids, func(method string) bool { return method != huMahalanobis }),
		gamma: huChoose(grids, func(method string) bool { return method == huMahalanobis })}
	for k := range sets {
		alone := map[string]float64{}
		for _, m := range huPrinted() {
			alone[m.name] = huChoose(grids[k*huDraws:(k+1)*huDraws],
				func(method string) bool { return method == m.name })
		}
		shared.alone = append(shared.alone, alone)
	}
	return shared, nil
}

// huOneWorker returns an engine of one worker.
func huOneWorker(eng *engine.Engine) (*engine.Engine, error) {
	return engine.New(engine.Options{Backend: eng.Backend(), Workers: 1})
}

// huGridOf returns the pair accuracy of one draw of the pairs for each printed method and weight;
// nil for methods that solve the program of another.
func huGridOf(ctx context.Context, eng *engine.Engine, d *labeled, pairs, seed uint64) ([][]float64, error) {
	set, err := huLinks(d.labels, huMuch, pairs)
	if err != nil {
		return nil, err
	}
	methods := huPrinted()
	out := make([][]float64, len(methods))
	for m, method := range methods {
		if method.again {
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

// huChoose returns the weight with the best mean over draws, of one set or several, and over the
// methods that keep accepts: 1 unless another is better.
func huChoose(draws [][][]float64, keep func(method string) bool) float64 {
	grid := huGrid()
	best, sums := slices.Index(grid, 1), make([]float64, len(grid))
	for _, draw := range draws {
		for m, method := range huPrinted() {
			if keep(method.name) {
				for i, v := range draw[m] {
					sums[i] += v
				}
			}
		}
	}
	for i, v := range sums {
		if v > sums[best] {
			best = i
		}
	}
	return grid[best]
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
		column, err := shared.column(ctx, one, k, set, t.Seed(10*k+1))
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

// column returns the values of one set with some pairs, in the order of the rows.
func (s *huShared) column(ctx context.Context, eng *engine.Engine, k int, set *links.Set,
	seed uint64) ([]float64, error) {
	d := s.sets[k]
	raw, err := huCluster(ctx, eng, rawRows(d.x), d, seed)
	if err != nil {
		return nil, err
	}
	at := map[string]float64{"k-means": raw, "links": float64(set.Len())}
	for _, m := range append(huTuned(), huDefault()) {
		c := s.weight(m.name)
		if at[m.name], at[m.name+huSeconds], err = m.accuracy(ctx, eng, d, set, c, seed); err != nil {
			return nil, err
		}
		at[m.name+huWeight] = c
		if strings.HasPrefix(m.name, "BCD") {
			c := s.alone[k][m.name]
			if at[m.name+huAlone], _, err = m.accuracy(ctx, eng, d, set, c, seed); err != nil {
				return nil, err
			}
			at[m.name+huAlone+huWeight] = c
		}
	}
	var column []float64
	for _, row := range huRows() {
		column = append(column, at[row])
	}
	return column, nil
}
