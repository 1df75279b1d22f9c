package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/racetest"
)

// TestFeatureJ: J in the feature space of the linear kernel is that of the points.
func TestFeatureJ(t *testing.T) {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := &points.Dense{N: 5, D: 2, Data: []float64{0, 0, 1, 0, 5, 5, 7, 1, 2, 2}}
	labels := []string{"a", "a", "b", "b", "a"}
	want, err := score.JRatio(x.Data, x.N, x.D, labels)
	if err != nil {
		t.Fatal(err)
	}
	got, err := featureJ(context.Background(), eng, kernel.Linear(), x, labels)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(got-want) <= 1e-14*want) {
		t.Errorf("J is %v: want %v", got, want)
	}
}

// TestYeungXOR: in the first repetition of the table, the baselines have the printed values, and
// learning with landmarks is far above them.
func TestYeungXOR(t *testing.T) {
	racetest.Skip(t, "a table of a paper; others run trials side by side too")
	if testing.Short() {
		t.Skip("ten seconds")
	}
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := yeung1()
	r, err := Run(context.Background(), eng, table, Options{Seed: 1, Repetitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	for c, v := range r.Ours[0] {
		printed := table.Rows[0].Printed[c].Mean
		within := 0.01
		switch {
		case c == 2:
			within = 0.05 // one set of pairs
		case c > 2:
			within = 2.5 // two of the printed standard deviations
		}
		if !(math.Abs(v.Mean-printed) <= within) {
			t.Errorf("%s: %v, printed %v", table.Columns[c], v.Mean, printed)
		}
	}
}

// TestSlope: the slope of a power is its exponent.
func TestSlope(t *testing.T) {
	x, y := []float64{1, 2, 5, 10}, make([]float64, 4)
	for i, v := range x {
		y[i] = 7 * math.Pow(v, 1.5)
	}
	if got := slope(x, y); !(math.Abs(got-1.5) <= 1e-12) {
		t.Errorf("slope %v: want 1.5", got)
	}
}

// TestYeungFigure1: with small sizes, every size has a time.
func TestYeungFigure1(t *testing.T) {
	racetest.Skip(t, "a table of a paper; others run trials side by side too")
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := dataset.Generate("xor", dataset.GenerateOptions{N: 300, Noise: yeungSpread, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &yeungSet{x: data.Points.(*points.Dense), labels: data.Labels}
	if s.kernel, err = resolved(t.Context(), eng, yeungKernel, s.x); err != nil {
		t.Fatal(err)
	}
	y := yeungTimes{points: []int{200, 300}, landmarks: 50, many: []int{40, 80}, rounds: 1}
	d, err := y.measure(context.Background(), eng, Sketch{Seed: 1}, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Rows) != 6 || len(d.Notes) != 3 || len(d.Panels) != 2 || len(y.claims(d)) != 3 {
		t.Errorf("%d rows, %d notes, %d panels: want 6, 3, 2", len(d.Rows), len(d.Notes), len(d.Panels))
	}
	for _, row := range d.Rows {
		// Windows's clock stands still for milliseconds.
		if !(row[2] > 0 || row[2] == 0 && runtime.GOOS == "windows") {
			t.Errorf("no time: %v", row)
		}
	}
}

// TestYeungKeys: every printed number of the tables has a row and a column, or a comparison.
func TestYeungKeys(t *testing.T) {
	for _, table := range []Table{yeung1(), yeung2(), yeung3(), yeung4()} {
		want, found := 0, map[printed.Key]bool{}
		for _, n := range printed.Builtin().All() {
			if n.Table == table.Name {
				want++
			}
		}
		for i, row := range table.Keys {
			for j, key := range row {
				if !math.IsNaN(table.Rows[i].Printed[j].Mean) {
					found[key] = true
				}
			}
		}
		if len(found) != want || want == 0 {
			t.Errorf("%s: %d printed numbers in the table: want %d", table.Name, len(found), want)
		}
	}
}

// TestYeungSigns: the sign of a difference is that of the mean, 0 if a t-test does not find it, and
// a set without its file has none.
func TestYeungSigns(t *testing.T) {
	r := handmade(t, yeungFigure4(), t.TempDir(), func(trial int, row, column string) float64 {
		v := float64(trial % 3)
		switch {
		case row == "kbeta" && column == "soybean"+yeungRand:
			v += 1 + 0.1*float64(trial)
		case row == "kbeta" && column == "boston"+yeungRand:
			v += float64(1 - 2*(trial%2))
		}
		return v
	})
	list := yeungSigns(r)
	if len(list) != 2 || list[0].Ours.Mean != 1 || list[0].Verdict != Reproduced || list[1].Ours.Mean != 0 ||
		list[1].Verdict != Worse {
		t.Errorf("signs are %+v: want 1, reproduced, and 0, worse", list)
	}
	if got := significant([]float64{1, 2, 3, 4}, []float64{3, 4.1, 5, 6.1}); got != -1 {
		t.Errorf("sign %v: want -1", got)
	}
	if d := r.contest("kbeta", "LLMA", yeungRand); d.columns != 5 || d.surely != 1 || d.behind != 0 ||
		d.ahead != 5 {
		t.Errorf("contest %+v: want 5 columns, 1 certain", d)
	}
	if d := r.contest("LLMA", "kbeta", yeungRand).String(); !strings.HasSuffix(d, " on average on soybean") {
		t.Errorf("contest %s: want soybean at its end", d)
	}
	if notes := strings.Join(yeungWidthNotes(r), "\n"); !strings.Contains(notes,
		"boston: 0.5 m +0.000 ± 0.000 and +0.000 ± 0.000; ") || strings.Contains(notes, "breast cancer") {
		t.Errorf("notes of equal systems, without breast cancer:\n%s", notes)
	}
}

// TestContest: verdicts by hand.
func TestContest(t *testing.T) {
	for _, c := range []struct {
		d     contest
		share float64
		want  Verdict
	}{
		{contest{columns: 4, ahead: 4, surely: 4}, 1, Reproduced},
		{contest{columns: 4, ahead: 3}, 1, Mixed},
		{contest{columns: 4, ahead: 3}, 0.75, Reproduced},
		{contest{columns: 4, ahead: 3, behind: 1}, 0.75, Mixed},
		{contest{columns: 4, ahead: 1, behind: 3}, 0.25, Worse},
	} {
		if got := c.d.on(c.share); got != c.want {
			t.Errorf("%+v on %v: %v, want %v", c.d, c.share, got, c.want)
		}
	}
	if worstVerdict(Reproduced, Mixed) != Mixed || worstVerdict(Worse, Mixed) != Worse ||
		worstVerdict() != Reproduced {
		t.Error("the worst of some verdicts is wrong")
	}
	if c := risingClaim("", 1, 3, 1, 2); c.Verdict != Mixed {
		t.Errorf("higher at the end, in one of three steps: %v", c.Verdict)
	}
}

// TestMachine: the conditions of the optimum hold, the objective is not above that of random
// feasible points, and a margin between two groups is found.
func TestMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	eng := scopEngine(t)
	for range 20 {
		n, cost := 6+r.IntN(20), 0.1+3*r.Float64()
		x := blas.NewMatrix(n, 2)
		for i := range x.Data {
			x.Data[i] = r.NormFloat64()
		}
		k := gaussians(eng, x, x, 0.1+5*r.Float64())
		half := n / 2
		var first, second []int
		for i := range n {
			if i < half {
				first = append(first, i)
			} else {
				second = append(second, i)
			}
		}
		m := newMachine(k, first, second, cost)
		m.train()
		objective := func(a []float64) float64 {
			sum := 0.0
			for i := range a {
				sum -= a[i]
				for j := range a {
					sum += a[i] * a[j] * m.y[i] * m.y[j] * k.At(m.rows[i], m.rows[j]) / 2
				}
			}
			return sum
		}
		balance := 0.0
		for i, a := range m.a {
			balance += a * m.y[i]
			if a < 0 || a > cost {
				t.Fatalf("coefficient %v: want 0 to %v", a, cost)
			}
		}
		if math.Abs(balance) > 1e-9 {
			t.Fatalf("sum of y a is %v: want 0", balance)
		}
		if _, j := m.violators(); j >= 0 {
			t.Fatal("a pair violates the conditions")
		}
		best := objective(m.a)
		for range 200 { // a feasible point: the same sum on both sides
			other, level := make([]float64, n), cost*r.Float64()
			for _, side := range [][2]int{{0, half}, {half, n}} {
				for i := side[0]; i < side[1]; i++ {
					other[i] = level * float64(half) / float64(n-half)
					if i < half {
						other[i] = level
					}
				}
			}
			feasible := true
			for i := range other {
				other[i] = m.a[i] + 0.3*r.Float64()*(other[i]-m.a[i])
				feasible = feasible && other[i] >= 0 && other[i] <= cost
			}
			sum := 0.0
			for i := range other {
				sum += other[i] * m.y[i]
			}
			if other[0] -= sum; feasible && other[0] >= 0 && other[0] <= cost &&
				objective(other) < best-1e-3*float64(n)*cost {
				t.Fatalf("objective %v: another point has %v", best, objective(other))
			}
		}
	}
}

// TestPairwiseVectors: three groups that lie apart are classified without error.
func TestPairwiseVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	eng, x := scopEngine(t), blas.NewMatrix(90, 2)
	var labels []string
	for i := range x.Rows {
		c := i % 3
		x.Set(i, 0, 4*float64(c)+0.3*r.NormFloat64())
		x.Set(i, 1, 0.3*r.NormFloat64())
		labels = append(labels, string(rune('a'+c)))
	}
	var known, others []int
	for i := range x.Rows {
		if i < 12 {
			known = append(known, i)
		} else {
			others = append(others, i)
		}
	}
	a, b := x.Select(known), x.Select(others)
	gamma := 5 / spreadOf(b)
	found := pairwiseVectors(gaussians(eng, a, a, gamma), gaussians(eng, b, a, gamma), pick(labels, known), 1)
	if !slices.Equal(found, pick(labels, others)) {
		t.Errorf("classes are %v: want %v", found, pick(labels, others))
	}
}

// TestSpreadOf: the mean squared distance is that over all pairs of rows.
func TestSpreadOf(t *testing.T) {
	x := blas.NewMatrix(7, 3)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	sum, pairs := 0.0, 0.0
	for i := range x.Rows {
		for j := range i {
			for c, v := range x.Row(i) {
				sum += (v - x.At(j, c)) * (v - x.At(j, c))
			}
			pairs++
		}
	}
	if got := spreadOf(x); !(math.Abs(got-sum/pairs) <= 1e-12) {
		t.Errorf("spread %v: want %v", got, sum/pairs)
	}
}

// TestDigitImages: the images of a digit are the same in every set, each once, and not the first.
func TestDigitImages(t *testing.T) {
	const n = 3 * yeungRealImages
	data, labels := make([]float64, 2*n), make([]string, n)
	for i := range n {
		data[2*i], data[2*i+1], labels[i] = float64(i), 255, string(rune('0'+i%2))
	}
	images, err := points.NewDense(n, 2, data)
	if err != nil {
		t.Fatal(err)
	}
	d := &digitImages{images, labels}
	x, found, err := d.of(Trial{Number: -1, seed: 1}, "01")
	if err != nil {
		t.Fatal(err)
	}
	one, _, err := d.of(Trial{Number: -1, seed: 1}, "1")
	if err != nil {
		t.Fatal(err)
	}
	seen, late := map[float64]bool{}, 0
	for i := range x.N {
		v := x.Row(i)[0] * 255
		seen[v] = true
		if int(math.Round(v))%2 != int(found[i][0]-'0') || x.Row(i)[1] != 1 {
			t.Fatalf("image %v has the label %s", v, found[i])
		}
		if v >= 2*yeungRealImages {
			late++
		}
	}
	if x.N != 2*yeungRealImages || len(seen) != x.N || late == 0 ||
		!slices.Equal(one.Data, x.Data[2*yeungRealImages:]) {
		t.Errorf("%d images, %d different, %d late", x.N, len(seen), late)
	}
}

// TestYeungDigitClaims: RCA that stays and a method that rises are as the text says; a method that
// falls beyond the landmarks is in part, and one that always falls is not.
func TestYeungDigitClaims(t *testing.T) {
	table, all := yeungFigure3(), len(yeungDigitPairs())
	for want, slope := range map[Verdict]func(k int) float64{
		Reproduced: func(k int) float64 { return float64(k) },
		Mixed: func(k int) float64 {
			if yeungDigitPairs()[k] > 50 {
				return -1
			}
			return float64(k)
		},
		Worse: func(k int) float64 { return -float64(k) },
	} {
		r := &Result{Table: table}
		for i := range table.Rows {
			v := 1.2
			if i >= all {
				v += 0.1 * slope(i-all)
			}
			r.Ours = append(r.Ours, slices.Repeat([]Value{once(v)}, len(table.Columns)))
		}
		claims := yeungDigitClaims(r)
		if claims[0].Verdict != Reproduced || claims[1].Verdict != want {
			t.Errorf("%+v: want reproduced and %s", claims, want)
		}
		if got := len(drawYeungDigits(r)); got != len(table.Columns) {
			t.Errorf("%d panels", got)
		}
	}
}
