package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/engine/points"
)

// starResult is a result of two sets by hand. On glass kernel RCA is certainly best with little
// side information, and RCA with much; on sonar no system is best with certainty.
func starResult() *Result {
	table := uciTable([]tsangSet{{uciSet{"glass", "", 0}, 0}, {uciSet{"sonar", "", 0}, 0}})
	r := &Result{Table: table, Repetitions: 8, Ours: make([][]Value, len(table.Rows))}
	means := [][]float64{ // rows: Euclidean, RCA, Gaussian, kernel RCA
		{0.50, 0.60, 0.70, 0.70}, {0.55, 0.80, 0.70, 0.65}, {0.52, 0.61, 0.70, 0.60},
		{0.65, 0.70, 0.70, 0.60},
		{0.50, 0.50, 0.50, 0.50}, {0.99, 0.99, 0.99, 0.99}, // defaults, which have no stars
	}
	for trial := range r.Repetitions {
		var values Values
		for i, row := range means {
			values = append(values, nil)
			for j, m := range row {
				noise := 0.001 * float64(trial)
				if j >= 2 { // sonar: systems change places
					noise = 0.2 * float64((trial*(i+3))%5)
				}
				values[i] = append(values[i], m+noise)
			}
		}
		r.Trials = append(r.Trials, values)
	}
	for i := range table.Rows {
		for j := range table.Columns {
			r.Ours[i] = append(r.Ours[i], summarize(r.column(i, j)))
		}
	}
	return r
}

// TestStars: a printed star is 1 if the same system is certainly best here, else 0; other stars are
// counted in the notes.
func TestStars(t *testing.T) {
	r := starResult()
	if got := [4]int{r.starred(uciPrinted, 0), r.starred(uciPrinted, 1), r.starred(uciPrinted, 2),
		r.starred(uciPrinted, 3)}; got != [4]int{uciKernelRCA, uciRCA, -1, -1} {
		t.Errorf("stars at rows %v: want kernel RCA, RCA and two without", got)
	}
	// The paper has stars for kernel RCA on both sets and levels.
	want := map[string]float64{"star: kernel RCA, glass, little": 1, "star: kernel RCA, glass, much": 0,
		"star: kernel RCA, sonar, little": 0, "star: kernel RCA, sonar, much": 0}
	got := stars(r)
	if len(got) != len(want) {
		t.Fatalf("%d stars: want %d", len(got), len(want))
	}
	for _, c := range got {
		if v, ok := want[c.What]; !ok || c.Ours.Mean != v || (c.Verdict == Reproduced) != (v == 1) ||
			c.Key == nil {
			t.Errorf("%s: ours %v, %s: want %v", c.What, c.Ours.Mean, c.Verdict, v)
		}
	}
	if text := strings.Join(starNote(r), ""); !strings.Contains(text, "paper: 1 (RCA on glass, much)") {
		t.Errorf("note %q: want the star of RCA on glass", text)
	}
}

// TestTsang4Claims: the numbers of the claims are those counted by hand.
func TestTsang4Claims(t *testing.T) {
	claims := tsang4Claims(starResult())
	if len(claims) != 5 {
		t.Fatalf("%d claims: want 5", len(claims))
	}
	if c := claims[0]; !strings.HasPrefix(c.Detail, "ahead on") ||
		!strings.Contains(c.Detail, "of 4 columns") ||
		!strings.Contains(c.Detail, "(paper: ahead on 3 of 4)") {
		t.Errorf("RCA against Euclidean: %q", c.Detail)
	}
	if c := claims[2]; !strings.Contains(c.Detail, "(paper: 4)") { // kernel RCA everywhere
		t.Errorf("best system: %q", c.Detail)
	}
	if c := claims[4]; !strings.Contains(c.Detail, "of 8 systems") {
		t.Errorf("more side information: %q", c.Detail)
	}
}

// TestTsangKeys: every printed number of the paper has one place in its tables.
func TestTsangKeys(t *testing.T) {
	count := map[string]int{}
	numbers := printed.Builtin()
	seen := map[printed.Key]bool{}
	for _, table := range []Table{tsang1(), tsang2(), tsang2At95(), tsang3(), tsang4()} {
		for i, row := range table.Keys {
			for j, key := range row {
				if _, ok := numbers.Find(key); !ok {
					continue
				}
				if seen[key] || math.IsNaN(table.Rows[i].Printed[j].Mean) {
					t.Errorf("%s: %v is there twice or has no value", table.Name, key)
				}
				seen[key] = true
				count[key.Table]++
			}
		}
	}
	if want := map[string]int{"tsang-1": 4, "tsang-2": 20, "tsang-3": 36,
		"tsang-4": 96}; fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("numbers by table: %v, want %v", count, want)
	}
}

// TestPrincipalComponents: all components keep the distances; the columns of fewer are uncorrelated
// and of falling variance.
func TestPrincipalComponents(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const n, d = 40, 5
	data := make([]float64, n*d)
	for i := range data {
		data[i] = r.NormFloat64() * float64(1+i%d)
	}
	x, err := points.NewDense(n, d, data)
	if err != nil {
		t.Fatal(err)
	}
	distance := func(p *points.Dense, i, j int) (sum float64) {
		for c, v := range p.Row(i) {
			sum += (v - p.Row(j)[c]) * (v - p.Row(j)[c])
		}
		return sum
	}
	all, err := principalComponents(context.Background(), newEngine(t), x, d)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < n; i++ {
		if a, b := distance(x, 0, i), distance(all, 0, i); math.Abs(a-b) > 1e-10*a {
			t.Fatalf("distance %v becomes %v", a, b)
		}
	}
	some, err := principalComponents(context.Background(), newEngine(t), x, 3)
	if err != nil {
		t.Fatal(err)
	}
	var variance []float64
	for a := range 3 {
		for b := range a + 1 {
			sum := 0.0
			for i := range n {
				sum += some.Row(i)[a] * some.Row(i)[b]
			}
			if a == b {
				variance = append(variance, -sum)
			} else if math.Abs(sum) > 1e-9*n*d*d {
				t.Errorf("components %d and %d have product %v: want 0", a, b, sum)
			}
		}
	}
	if !slices.IsSorted(variance) {
		t.Errorf("variances %v do not fall", variance)
	}
	if _, err := principalComponents(context.Background(), newEngine(t), x, d+1); err == nil {
		t.Error("more components than features: want an error")
	}
}

// TestTsangSet: features that do not vary are left out, and the table of sizes has those that stay.
func TestTsangSet(t *testing.T) {
	dir := t.TempDir()
	writeCSV(t, filepath.Join(dir, "a.csv"), []int{20, 30}, 1)
	loaded, err := loadTsang(context.Background(), newEngine(t),
		[]tsangSet{{uciSet{"a", "a.csv", 15}, 0}, {uciSet{"b", "a.csv", 0}, 2}}, Trial{Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	if d := loaded[0]; d.x.D != 4 || d.x.N != 30 || d.classes != 2 {
		t.Errorf("%d features, %d rows, %d classes: want 4 of 5, 30, 2", d.x.D, d.x.N, d.classes)
	}
	if d := loaded[1]; d.x.D != 2 || d.x.N != 50 {
		t.Errorf("%d components of %d rows: want 2 of 50", d.x.D, d.x.N)
	}
	checkStandard(t, "a", loaded[0].x)
	table := tsang3()
	values, err := table.Trial(context.Background(), nil, Trial{Shared: loaded})
	if err != nil || fmt.Sprint(values) != "[[4 2] [2 2] [30 50]]" {
		t.Errorf("sizes %v, error %v", values, err)
	}
}
