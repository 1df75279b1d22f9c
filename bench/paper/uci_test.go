package paper

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// writeCSV writes a data set of three classes with five features of very different scales. One is
// constant. The other four are sums of the same large disturbance and noise; two of them also
// contain the class.
func writeCSV(t testing.TB, path string, sizes []int, seed uint64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"a", "b", "c", "d", "e", "label"})
	r := rand.New(rand.NewPCG(seed, 1))
	for class, size := range sizes {
		for range size {
			row := []string{"7"}
			common := 8 * r.NormFloat64()
			for _, v := range []float64{5 * float64(class), 5 * float64(class%2), 0, 0} {
				row = append(row, strconv.FormatFloat(
					math.Exp2(float64(4*len(row)))*(v+common+r.NormFloat64()), 'g', -1, 64))
			}
			_ = w.Write(append(row, fmt.Sprintf("class %d", class)))
		}
	}
	w.Flush()
	if err := f.Close(); err != nil || w.Error() != nil {
		t.Fatal(err, w.Error())
	}
}

// smallUCI returns Table IV for two small sets, and their folder.
func smallUCI(t testing.TB) (Table, string) {
	t.Helper()
	dir := t.TempDir()
	writeCSV(t, filepath.Join(dir, "first.csv"), []int{20, 30, 25}, 1)
	writeCSV(t, filepath.Join(dir, "second.csv"), []int{40, 30, 35}, 2)
	return uciTable([]tsangSet{{uciSet{"first", "first.csv", 0}, 0},
		{uciSet{"second", "second.csv", 12}, 0}}), dir
}

// TestUCIWorkers: results are bit-identical for any number of workers, and from a state file.
func TestUCIWorkers(t *testing.T) {
	table, dir := smallUCI(t)
	state := filepath.Join(t.TempDir(), "state.jsonl")
	want := mustRun(t, table, Options{Seed: 2, Repetitions: 5, Workers: 1, Data: dir})
	mustRun(t, table, Options{Seed: 2, Repetitions: 2, Workers: 2, Data: dir, State: state})
	got := mustRun(t, table, Options{Seed: 2, Repetitions: 5, Workers: 3, Data: dir, State: state})
	if sameResults(t, got, want); got.Resumed != 2 {
		t.Errorf("%d trials were resumed: want 2", got.Resumed)
	}
}

// TestUCILearns: where a disturbance hides the classes, metrics learned from much side information
// are better than the metrics before learning. The smallest of the four gains has mean 0.149 and
// standard deviation 0.113 over 300 trials, so the mean of 8 is 3.7 standard errors above 0.
func TestUCILearns(t *testing.T) {
	table, dir := smallUCI(t)
	r := mustRun(t, table, Options{Seed: 1, Repetitions: 8, Data: dir})
	for j := 1; j < len(table.Columns); j += 2 {
		for _, pair := range [][2]int{{uciRCA, uciEuclidean}, {uciKernelRCA, uciGaussian}} {
			if learned, plain := r.Ours[pair[0]][j].Mean, r.Ours[pair[1]][j].Mean; !(learned > plain) {
				t.Errorf("%s: %s has %.3f, %s %.3f", table.Columns[j], table.Rows[pair[0]].Name, learned,
					table.Rows[pair[1]].Name, plain)
			}
		}
	}
}

// TestUCINotes: the notes have the mean paired difference and its standard error.
func TestUCINotes(t *testing.T) {
	// no keys: no word on stars
	r := &Result{Repetitions: 3, Table: Table{Columns: []string{"a, little", "a, much"}, Decimals: 2}}
	// standard deviation 0.1, standard error 0.0577
	for _, d := range []float64{0.1, 0.2, 0.3} {
		r.Trials = append(r.Trials, [][]float64{{0, 0}, {0, 0}, {0.5, 0.5}, {0.5 + d, 0.5 - d}})
	}
	text := strings.Join(uciNotes(r), "\n")
	for _, want := range []string{"a, little +0.20 ± 0.06; a, much -0.20 ± 0.06.",
		"little side information kernel RCA is ahead of the Gaussian kernel on 1 of 1",
		"much side information kernel RCA is ahead of the Gaussian kernel on 0 of 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the notes lack %q:\n%s", want, text)
		}
	}
}

// TestUCISharesStarts: for a kernel with the geometry of the coordinates, all paths give the same
// partition, so the starts of the systems are the same blocks of rows.
func TestUCISharesStarts(t *testing.T) {
	table, dir := smallUCI(t)
	shared, err := table.Prepare(context.Background(), newEngine(t), Trial{Number: -1, Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	d := shared.([]*labeled)[0]
	l, err := links.SampleByComponents(d.labels, 0.8, 3)
	if err != nil {
		t.Fatal(err)
	}
	x := blas.MatrixOf(d.x.N, d.x.D, d.x.Data)
	gram := blas.NewMatrix(x.Rows, x.Rows)
	newEngine(t).Backend().Gemm(false, true, 1, x, x, 0, gram)
	for seed := range uint64(20) {
		p := uciCase{d: d, l: l, seed: seed}.kmeans()
		p.Restarts = 1
		a, err := cluster.Constrained(context.Background(), newEngine(t), x, l, p)
		if err != nil {
			t.Fatal(err)
		}
		b, err := constrainedKernel(context.Background(), newEngine(t), gram, l, p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Labels, b.Labels) {
			t.Errorf("seed %d: labels %v on coordinates, %v on their Gram matrix", seed, a.Labels, b.Labels)
		}
	}
}

// TestUCIData checks the statements of the set-up about the data sets: sizes, classes and scale.
func TestUCIData(t *testing.T) {
	dir := realData(t)
	want := map[string][3]int{ // rows, features that vary or components, classes
		"USPS": {2500, 88, 10}, "breast-cancer": {683, 9, 2}, "german": {1000, 20, 2}, "glass": {214, 9, 6},
		"heart": {270, 13, 2}, "image": {2310, 18, 7}, "ionosphere": {351, 33, 2}, "letter": {2600, 16, 26},
		"pima": {768, 8, 2}, "satellite": {2400, 36, 6}, "sonar": {208, 60, 2}, "vehicle": {846, 18, 4},
	}
	if len(tsangSets()) != len(want) {
		t.Errorf("%d data sets: want %d", len(tsangSets()), len(want))
	}
	for i, set := range tsangSets() {
		d, err := set.load(context.Background(), newEngine(t), filepath.Join(dir, set.file),
			rand.New(rand.NewPCG(1, uint64(i))))
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{d.x.N, d.x.D, d.classes}; got != want[set.name] {
			t.Errorf("%s: rows, features and classes are %v: want %v", set.name, got, want[set.name])
		}
		if set.components == 0 {
			checkStandard(t, set.name, d.x)
		}
		if set.perClass > 0 {
			for _, rows := range classRows(d.labels) {
				if len(rows) != set.perClass {
					t.Errorf("%s: class %s has %d rows: want %d", set.name, d.labels[rows[0]], len(rows),
						set.perClass)
				}
			}
		}
	}
}

// checkStandard requires mean 0 and variance 1 in every column, or zeros.
func checkStandard(t testing.TB, name string, x *points.Dense) {
	t.Helper()
	for j := range x.D {
		sum, squares := 0.0, 0.0
		for i := range x.N {
			sum += x.Row(i)[j]
			squares += x.Row(i)[j] * x.Row(i)[j]
		}
		n := float64(x.N)
		if !(math.Abs(sum) <= 1e-10*n) || !(math.Abs(squares-n) <= 1e-9*n || squares == 0) {
			t.Errorf("%s: feature %d has sum %g and sum of squares %g over %d rows", name, j, sum, squares,
				x.N)
		}
	}
}

func TestEqualClasses(t *testing.T) {
	labels := strings.Split("abcabcabcaab", "")
	r := rand.New(rand.NewPCG(1, 1))
	drawn := make(map[int]int)
	for range 300 {
		rows, err := equalClasses(labels, 2, r)
		if err != nil {
			t.Fatal(err)
		}
		if got := pick(labels, rows); len(rows) != 6 || len(classRows(got)) != 3 || !slices.IsSorted(rows) {
			t.Fatalf("rows %v of classes %v: want two of each, ascending", rows, got)
		}
		for _, i := range rows {
			drawn[i]++
		}
	}
	// Class c has 3 rows, each in 2 of 3 draws: 200 expected, standard deviation 8.2.
	for _, i := range []int{2, 5, 8} {
		if math.Abs(float64(drawn[i])-200) > 41 {
			t.Errorf("row %d was drawn %d times of 300: want about 200", i, drawn[i])
		}
	}
	if _, err := equalClasses(labels, 4, r); err == nil || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("four of the three rows of class c: error is %v", err)
	}
}
