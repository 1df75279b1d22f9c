package verdict_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// labeledAtRandom returns labels of three classes that have nothing to do with any rows.
func labeledAtRandom(n int, r *rand.Rand) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = string(rune('a' + r.IntN(3)))
	}
	return labels
}

// designs are ways to come by links of labels.
var designs = []struct {
	name string
	draw func(t *testing.T, x points.Points, labels []string, seed uint64) *links.Set
}{
	{"pairs at random", func(t *testing.T, _ points.Points, labels []string, seed uint64) *links.Set {
		return enginetest.Drawn(t, labels, 60, 60, seed)
	}},
	{"all pairs of a few components", func(t *testing.T, _ points.Points, labels []string,
		seed uint64) *links.Set {
		some := make([]string, len(labels))
		for _, i := range rand.New(rand.NewPCG(seed, 2)).Perm(len(labels))[:20] {
			some[i] = labels[i]
		}
		set, err := links.FromLabels(some)
		if err == nil {
			set, err = set.Closure()
		}
		if err != nil {
			t.Fatal(err)
		}
		return set
	}},
	{"active questions", asked},
}

// queries is the design whose questions go to the nearest groups first, until a must-link ends
// them: a cannot-link of a row is shorter than its must-link. The distance without learning, which
// chose them, is behind on such links, so that others gain on average, though not clearly in more
// verdicts.
const queries = 2

// asked returns the links of questions that active learning chooses, answered by labels.
func asked(t *testing.T, x points.Points, labels []string, seed uint64) *links.Set {
	t.Helper()
	d := x.(*points.Dense)
	none, err := links.New(d.N, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := activelearning.New(blas.MatrixOf(d.N, d.D, d.Data), none, activelearning.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	var answers []links.Link
	for q, ok := s.Next(); ok && len(answers) < 90; q, ok = s.Next() {
		l := links.NewLink(q.I, q.J, links.Cannot)
		if labels[q.I] == labels[q.J] {
			l.Sign = links.Must
		}
		answers = append(answers, l)
		if err := s.Answer(l); err != nil {
			t.Fatal(err)
		}
	}
	set, err := links.New(d.N, answers)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// nullRows returns rows of noise, or rows with a structure of their own: clusters, which the labels
// know nothing of.
func nullRows(n int, structured bool, r *rand.Rand) points.Points {
	const d, clusters = 6, 4
	data := make([]float64, n*d)
	for i := range n {
		for c := range d {
			data[i*d+c] = r.NormFloat64()
		}
		if structured {
			data[i*d+r.IntN(clusters)] += 4
		}
	}
	return &points.Dense{N: n, D: d, Data: data}
}

// slow reports whether fits of a method without signal take long: it is tried on fewer draws.
func slow(method string) bool {
	return slices.Contains([]string{"scml", "npk", "nca", "lsml", "kbeta", "forest", "simplenpkl", "sdplr",
		"cmvu"}, method)
}

// Where labels have nothing to do with rows, no method is called better in more than one verdict of
// twenty, whatever the design of the links, and gains are 0 on average unless distances chose them:
// all methods, on noise and on clusters that the labels do not know.
func TestNothingToFind(t *testing.T) {
	const n = 80
	tries := drawstest.Count(2, 3)
	var better []float64 // of each draw of rows, labels and links, which the methods share
	var gains []float64
	total := 0.0
	for k := range tries * 2 * len(designs) {
		r := rand.New(rand.NewPCG(uint64(k), 31))
		x := nullRows(n, k%2 == 0, r)
		set := designs[k%len(designs)].draw(t, x, labeledAtRandom(n, r), uint64(k))
		b, g, found := 0.0, 0.0, 0.0
		for row, m := range catalog.Methods() {
			if m.UsesTargets || slow(m.Name) && (k >= len(designs) || !drawstest.Turn(row, k, len(designs))) {
				continue
			}
			v, err := verdict.Assess(t.Context(), enginetest.New(t, 1), learner(t, m.Name), x, set,
				verdict.Options{Folds: 5, Seed: uint64(k)})
			if err != nil {
				t.Fatal(err)
			}
			if v.Missing != "" {
				t.Logf("%s: %s", m.Name, v)
				continue
			}
			if v.Found == verdict.Better {
				b++
			}
			g += v.Gain
			found++
		}
		better, total = append(better, b), total+found
		if k%len(designs) != queries {
			gains = append(gains, g/found)
		}
	}
	rate, rateError := meanOf(better)
	perDraw := total / float64(len(better))
	rate, rateError = rate/perDraw, rateError/perDraw
	gain, gainError := meanOf(gains)
	t.Logf("%.0f verdicts: better %.4f ± %.4f, gain %.4f ± %.4f", total, rate, rateError, gain, gainError)
	if total < 15*float64(len(better)) || rate > 0.05+3*rateError || math.Abs(gain) > 4*gainError {
		t.Errorf("%.0f verdicts without signal: %.3f ± %.3f are \"better\", mean gain %.4f ± %.4f", total,
			rate,
			rateError, gain, gainError)
	}
}

// meanOf returns the mean of independent numbers and its standard error.
func meanOf(values []float64) (mean, err float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		err += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(err) / float64(len(values))
}

// Must-links alone and the best of several hold their level too: see the tests of package selection
// for the latter.
func TestNothingToFindByMustLinks(t *testing.T) {
	var better, gains []float64
	for k := range racetest.Fewer(40) {
		r := rand.New(rand.NewPCG(uint64(k), 32))
		x := nullRows(100, k%2 == 0, r)
		set := enginetest.Drawn(t, labeledAtRandom(100, r), 60, 0, uint64(k))
		for _, method := range []string{"krca", "rca", "xrca"} {
			v := judged(t, method, x, set, 5)
			better, gains = append(better, 0), append(gains, v.Gain)
			if v.Found == verdict.Better {
				better[len(better)-1] = 1
			}
		}
	}
	rate, _ := meanOf(better)
	gain, gainError := meanOf(gains)
	bound := 0.05 + 3*math.Sqrt(0.05*0.95/float64(len(better)/3)) // the methods of a draw are not independent
	if rate > bound || math.Abs(gain) > 4*gainError*math.Sqrt(3) {
		t.Errorf("%.3f of %d verdicts are \"better\", mean gain %.4f ± %.4f", rate, len(better), gain,
			gainError)
	}
}

// Where there is something to learn, claims have the sign of the truth on rows that no fit has
// seen, and most large gains are found. Columns of noise hide the columns that tell the classes
// apart.
func TestSomethingToFind(t *testing.T) {
	claimed, right, large, found := 0, 0, 0, 0
	for k := range drawstest.Count(5, 10) {
		r := rand.New(rand.NewPCG(uint64(k), 33))
		x, labels := classesIn(300, 2+2*(k%5), r)
		train, rest := rows(0, 150), rows(150, 300)
		set := enginetest.Drawn(t, labels[:150], 180, 180, uint64(k))
		raw := pairRanking(t, x.Select(rest), labels[150:])
		for _, method := range []string{"blend", "lleratio", "itml", "krca"} {
			eng := enginetest.New(t, 1)
			m, err := learner(t, method).Fit(t.Context(), eng, x.Select(train), set)
			if err != nil {
				t.Fatal(err)
			}
			y, err := m.Embed(t.Context(), eng, x.Select(rest))
			if err != nil {
				t.Fatal(err)
			}
			gain := pairRanking(t, &points.Dense{N: y.Rows, D: y.Cols, Data: y.Clone().Data}, labels[150:]) -
				raw
			v := judged(t, method, x.Select(train), set, 5)
			sign := map[verdict.Finding]float64{verdict.Better: 1, verdict.Worse: -1}[v.Found]
			claimed, right = claimed+count(sign != 0), right+count(sign*gain > 0)
			large, found = large+count(gain > 0.05), found+count(gain > 0.05 && sign > 0)
		}
	}
	t.Logf("%d of %d claims are right, %d of %d gains above .05 found", right, claimed, found, large)
	if claimed == 0 || float64(right) < 0.95*float64(claimed) || float64(found) < 0.75*float64(large) {
		t.Errorf("%d of %d claims are right, %d of %d gains above .05 found", right, claimed, found, large)
	}
}

// The error of the AUC is how much it varies from draw to draw, also where it is far above 1/2, and
// of few links at least about that.
func TestErrorOfAUC(t *testing.T) {
	for _, c := range []struct {
		links int // of each kind
		most  float64
	}{{100, 1.3}, {8, 2}} {
		var aucs, errs []float64
		for k := range drawstest.Count(30, 60) {
			x, labels := classesIn(100, 4, rand.New(rand.NewPCG(uint64(k), 34)))
			v := judged(t, "xrca", x, enginetest.Drawn(t, labels, c.links, c.links, uint64(k)), 5)
			aucs, errs = append(aucs, v.AUC), append(errs, v.Error)
		}
		auc, spread := meanOf(aucs)
		spread *= math.Sqrt(float64(len(aucs)))
		err, _ := meanOf(errs)
		t.Logf("%d links: AUC %.3f varies by %.3f, the error is %.3f", c.links, auc, spread, err)
		slack := 1 + 2/math.Sqrt(2*float64(len(aucs))) // two errors of the spread
		if auc < 0.7 || err*slack < 0.75*spread || err > c.most*slack*spread {
			t.Errorf("%d links: AUC %.3f varies by %.3f, the error is %.3f", c.links, auc, spread, err)
		}
	}
}

func count(v bool) int {
	if v {
		return 1
	}
	return 0
}

func rows(from, to int) []int {
	var list []int
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// classesIn returns rows of three classes, 2 standard deviations apart in two columns, and columns
// of noise.
func classesIn(n, noise int, r *rand.Rand) (*points.Dense, []string) {
	d := 2 + noise
	data, labels := make([]float64, n*d), make([]string, n)
	for i := range n {
		class := r.IntN(3)
		labels[i] = string(rune('a' + class))
		for c := range d {
			data[i*d+c] = r.NormFloat64()
		}
		data[i*d] += 2 * math.Cos(2*math.Pi*float64(class)/3)
		data[i*d+1] += 2 * math.Sin(2*math.Pi*float64(class)/3)
	}
	return &points.Dense{N: n, D: d, Data: data}, labels
}

// pairRanking returns the AUC of all pairs of rows.
func pairRanking(t *testing.T, x points.Points, labels []string) float64 {
	t.Helper()
	d := x.(*points.Dense)
	auc, err := score.PairAUC(d.Data, d.N, d.D, labels)
	if err != nil {
		t.Fatal(err)
	}
	return auc
}
