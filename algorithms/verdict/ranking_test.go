package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
)

// vector is the worked example of docs/verdict.md: rows 0 to 3 are held out from a fit of rows 4 to
// 6.
func vector(t *testing.T) (f *Fold, learned, raw [][]float64) {
	t.Helper()
	set, err := links.New(7, []links.Link{
		links.NewLink(0, 4, links.Must), links.NewLink(1, 5, links.Must), links.NewLink(3, 5, links.Must),
		links.NewLink(0, 6, links.Cannot), links.NewLink(2, 4, links.Cannot),
		links.NewLink(2, 5, links.Cannot),
	})
	if err != nil {
		t.Fatal(err)
	}
	f = newFold(set, []int{1, 1, 1, 1, 2, 2, 2}, 1)
	f.complete(rand.New(rand.NewPCG(1, 1)))
	learned = [][]float64{{1, 5, 6}, {2, 3, 7}, {4, 8, 2}, {5, 1, 3}}
	raw = [][]float64{{3, 4, 5}, {3, 2, 6}, {1, 7, 4}, {4, 3, 3}}
	return f, learned, raw
}

func ranked(t *testing.T, f *Fold, between Metric) Statistic {
	t.Helper()
	eng := enginetest.New(t, 2)
	d, err := f.distances(t.Context(), eng, between)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Ranking(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The worked example has the values that a hand calculation gives.
func TestWorkedExample(t *testing.T) {
	f, learned, raw := vector(t)
	metric := func(d [][]float64) Metric { return func(i, j int) float64 { return d[i][j-4] } }
	a, b := ranked(t, f, metric(learned)), ranked(t, f, metric(raw))
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %.6f, want %.6f", what, got, want)
		}
	}
	const others = 4.0 / 3 // the reference of four rows without the row itself
	near("AUC", a.Value, 0.982639)
	near("raw", b.Value, 0.618056)
	for k, want := range []float64{.041667, .097222, .097222, .041667, .083333, .069444} {
		near("learned part", a.Links[k], want*others)
	}
	for k, want := range []float64{-.013889, .041667, .041667, .027778, -.194444, .097222} {
		near("raw part", b.Links[k], want*others)
	}
	gain := a.Minus(b)
	for i, want := range []float64{.069444, .055556, .25, .055556} {
		near("row", gain.Rows[i], want*others)
	}
	mean, err := Combine([]Part{{f, f.Weight(), gain}})
	near("gain", mean, 0.364583)
	byRows, ends := 0.0, map[int]float64{}
	own := 0.0
	for _, v := range gain.Rows {
		byRows += v * v
	}
	for k, v := range gain.Links {
		ends[f.Pairs[k][1]] += v
		own += v * v
	}
	near("error by held-out rows", math.Sqrt(byRows), 0.271100*others)
	joint := byRows - own
	for _, v := range ends {
		joint += v * v
	}
	near("error by all rows", err, math.Sqrt(joint))
	if joint <= byRows || found(mean, err, Clear) != Similar {
		t.Errorf("error %v: want the larger one, and no clear difference", err)
	}
}

// drawn returns the parts of random links of random rows, and a random metric with ties.
func drawn(t *testing.T, seed uint64, must, cannot int) (*Division, Metric) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	labels := make([]string, 60)
	for i := range labels {
		labels[i] = string(rune('a' + r.IntN(4)))
	}
	d, err := Divide(enginetest.Drawn(t, labels, must, cannot, seed), 0, seed)
	if err != nil {
		t.Fatal(err)
	}
	table := make([]float64, 60*60)
	for k := range table {
		table[k] = float64(r.IntN(30))
	}
	return d, func(i, j int) float64 { return table[min(i, j)*60+max(i, j)] }
}

// phi is 1 for a < b, 1/2 for equal numbers, otherwise 0.
func phi(a, b float64) float64 {
	switch {
	case a < b:
		return 1
	case a == b:
		return 0.5
	}
	return 0
}

// The ranking and its parts are those of the definition: sums over all links, rows and pairs of
// rows.
func TestRankingIsItsDefinition(t *testing.T) {
	for seed := range uint64(5) {
		d, between := drawn(t, seed, 50, 40)
		for _, f := range d.Folds {
			m, c, r := float64(f.Must), float64(len(f.Pairs)-f.Must), float64(len(f.Rows))
			above := func(x float64) (sum float64) { // must-links: H_M
				for _, p := range f.Pairs[f.Must:] {
					sum += phi(x, between(p[0], p[1])) / c
				}
				return sum
			}
			below := func(x float64) (sum float64) { // cannot-links: H_C
				for _, p := range f.Pairs[:f.Must] {
					sum += phi(between(p[0], p[1]), x) / m
				}
				return sum
			}
			want, rows := 0.5, make([]float64, len(f.Rows))
			parts := make([]float64, len(f.Pairs))
			for k, p := range f.Pairs {
				place, count := above, m
				if k >= f.Must {
					place, count = below, c
				}
				parts[k] = place(between(p[0], p[1])) / count
				for _, a := range f.Rows {
					parts[k] -= place(between(a, p[1])) / count / r
				}
				parts[k] *= r / (r - 1)
				for i, row := range f.Rows {
					if row == p[0] {
						rows[i] += parts[k]
					}
				}
			}
			own, reference := 0.0, 0.0
			for _, p := range f.Pairs[:f.Must] {
				for _, q := range f.Pairs[f.Must:] {
					own += phi(between(p[0], p[1]), between(q[0], q[1]))
					for _, a := range f.Rows {
						for _, b := range f.Rows {
							reference += phi(between(a, p[1]), between(b, q[1]))
						}
					}
				}
			}
			want += own/m/c - reference/m/c/r/r
			got := ranked(t, f, between)
			compareFigures(t, got, Statistic{want, rows, parts})
		}
	}
}

func compareFigures(t *testing.T, got, want Statistic) {
	t.Helper()
	if math.Abs(got.Value-want.Value) > 1e-12 {
		t.Errorf("value %v, want %v", got.Value, want.Value)
	}
	for _, l := range [][2][]float64{{got.Rows, want.Rows}, {got.Links, want.Links}} {
		for k := range l[1] {
			if math.Abs(l[0][k]-l[1][k]) > 1e-13 {
				t.Errorf("part %d: %v, want %v", k, l[0][k], l[1][k])
			}
		}
	}
}

// Must-links alone are compared with the distances of strangers to the same row of the fit.
func TestMustLinksAlone(t *testing.T) {
	for seed := range uint64(5) {
		d, between := drawn(t, seed, 25, 0)
		if !d.Alone {
			t.Fatal("want must-links alone")
		}
		for _, f := range d.Folds {
			component, m := f.set.Components(), float64(len(f.Pairs))
			want := Statistic{Rows: make([]float64, len(f.Rows)), Links: make([]float64, len(f.Pairs))}
			index := map[int]int{}
			for at, i := range f.Rows {
				index[i] = at
			}
			mean := func(k int) (h float64, strangers []int) {
				p := f.Pairs[k]
				for _, a := range f.Rows {
					if component[a] != component[p[1]] {
						strangers = append(strangers, a)
						h += phi(between(p[0], p[1]), between(a, p[1]))
					}
				}
				return h / float64(len(strangers)), strangers
			}
			for k := range f.Pairs {
				h, _ := mean(k)
				want.Value += h / m
			}
			for k, p := range f.Pairs {
				h, strangers := mean(k)
				want.Links[k] = (h - want.Value) / m
				want.Rows[index[p[0]]] += want.Links[k]
				for _, a := range strangers {
					want.Rows[index[a]] += (phi(between(p[0], p[1]), between(a, p[1])) - h) /
						float64(len(strangers)) / m
				}
			}
			compareFigures(t, ranked(t, f, between), want)
		}
	}
}

// Partners among the nearest rows are counted by ranks, less those of other rows in the same place.
func TestHits(t *testing.T) {
	const nearest = 7
	for seed := range uint64(5) {
		d, between := drawn(t, seed, 50, 40)
		for _, f := range d.Folds {
			hit := func(a, partner int) float64 {
				rank := 0.5
				for _, q := range f.kept {
					rank += phi(between(a, q), between(a, partner))
				}
				if rank <= nearest {
					return 1
				}
				return 0
			}
			r, want := float64(len(f.Rows)), 0.0
			for _, p := range f.Pairs[:f.Must] {
				term := hit(p[0], p[1])
				for _, a := range f.Rows {
					term -= hit(a, p[1]) / r
				}
				want += r / (r - 1) * term / float64(f.Must)
			}
			got, err := f.hits(t.Context(), enginetest.New(t, 2), between, f.kept, nearest)
			if err != nil || math.Abs(got.Value-want) > 1e-12 {
				t.Errorf("%v, %v, want %v", got.Value, err, want)
			}
		}
	}
}

// Clusters agree with links as far as other rows in the place of the held-out ends do not.
func TestAgreement(t *testing.T) {
	d, _ := drawn(t, 3, 50, 40)
	of := make([]int, 60)
	r := rand.New(rand.NewPCG(2, 2))
	for i := range of {
		of[i] = r.IntN(3)
	}
	for _, f := range d.Folds {
		want := 0.5
		for k, p := range f.Pairs {
			weight := 0.5 / float64(f.Must)
			if k >= f.Must {
				weight = -0.5 / float64(len(f.Pairs)-f.Must)
			}
			for _, a := range f.Rows {
				want += weight * (together(of, p[0], p[1]) - together(of, a, p[1])) / float64(len(f.Rows))
			}
		}
		if got := f.Agreement(of); math.Abs(got.Value-want) > 1e-13 {
			t.Errorf("%v, want %v", got.Value, want)
		}
	}
}

// An increasing function of the distances changes nothing, to the last bit.
func TestMonotone(t *testing.T) {
	d, between := drawn(t, 1, 50, 40)
	for _, f := range d.Folds {
		a, b := ranked(t, f, between), ranked(t, f, func(i, j int) float64 {
			return math.Exp(between(i, j)) - 1
		})
		if a.Value != b.Value || a.Minus(b).Value != 0 {
			t.Errorf("%v, %v", a.Value, b.Value)
		}
		compareFigures(t, a, b)
	}
}

// The parts of one link in two folds count together, unless they are opposite.
func TestCombine(t *testing.T) {
	one := &Fold{Rows: []int{0}, Pairs: [][2]int{{0, 1}}}
	two := &Fold{Rows: []int{1}, Pairs: [][2]int{{1, 0}}}
	a := Part{one, 1, Statistic{0.2, []float64{0.3}, []float64{0.3}}}
	b := Part{two, 3, Statistic{0.6, []float64{0.1}, []float64{0.1}}}
	mean, err := Combine([]Part{a, b})
	if want := 0.25*0.3 + 0.75*0.1; math.Abs(mean-0.5) > 1e-15 || math.Abs(err-want) > 1e-15 {
		t.Errorf("%v ± %v, want 0.5 ± %v", mean, err, want)
	}
	b.Links[0] = -0.1
	if _, err := Combine([]Part{a, b}); math.Abs(err-math.Hypot(0.075, 0.075)) > 1e-15 {
		t.Errorf("opposite parts: %v", err)
	}
}

// Every linked row is held out once, in parts of equal size. The links of a fit have no held-out
// row, those that judge have one.
func TestDivide(t *testing.T) {
	for seed := range uint64(10) {
		for _, count := range []int{0, 2, 3, 7} {
			r := rand.New(rand.NewPCG(seed, 9))
			labels := make([]string, 40+r.IntN(30))
			for i := range labels {
				labels[i] = string(rune('a' + r.IntN(3)))
			}
			set := enginetest.Drawn(t, labels, 30+r.IntN(30), 30+r.IntN(30), seed)
			d, err := Divide(set, count, seed)
			if err != nil {
				t.Fatal(err)
			}
			checkDivision(t, d, set, labels)
		}
	}
}

func checkDivision(t *testing.T, d *Division, set *links.Set, labels []string) {
	t.Helper()
	times := map[int]int{}
	for _, f := range d.Folds {
		held := map[int]bool{}
		for _, i := range f.Rows {
			held[i] = true
			times[i]++
		}
		if n := len(linked(set)); len(f.Rows) < n/d.parts || len(f.Rows) > n/d.parts+1 {
			t.Errorf("a part of %d of %d rows", len(f.Rows), n)
		}
		for k, p := range f.Pairs {
			if !held[p[0]] || held[p[1]] || (labels[p[0]] == labels[p[1]]) != (k < f.Must) {
				t.Errorf("pair %d, %v", k, p)
			}
		}
		fit, err := set.Restrict(f.kept)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range append(fit.Must(), fit.Cannot()...) {
			if held[f.kept[l.I]] || held[f.kept[l.J]] {
				t.Errorf("link %v of the fit has a held-out row", l)
			}
		}
	}
	for _, i := range linked(set) {
		if times[i] != 1 {
			t.Errorf("row %d is held out %d times", i, times[i])
		}
	}
}
