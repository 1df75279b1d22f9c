package labelnoise_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/labelnoise"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// groups returns points of three groups far apart, and their groups.
func groups(n int, seed uint64) (*points.Dense, []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	x, labels := &points.Dense{N: n, D: 3, Data: make([]float64, 3*n)}, make([]string, n)
	for i := range n {
		for j := range 3 {
			x.Data[3*i+j] = r.NormFloat64()
		}
		x.Data[3*i+i%3] += 20
		labels[i] = string(rune('a' + i%3))
	}
	return x, labels
}

// planted returns links between points of the groups; count links of each kind have the wrong sign.
func planted(t *testing.T, labels []string, pairs, count int,
	seed uint64) (set *links.Set, wrong map[[2]int]bool) {
	t.Helper()
	drawn := enginetest.Drawn(t, labels, pairs, pairs, seed)
	wrong = map[[2]int]bool{}
	var list []links.Link
	random := rand.New(rand.NewPCG(seed, 7))
	for _, kind := range [][]links.Link{drawn.Must(), drawn.Cannot()} {
		for at, k := range random.Perm(len(kind)) {
			l := kind[k]
			if at < count {
				l.Sign, wrong[[2]int{l.I, l.J}] = -l.Sign, true
			}
			list = append(list, l)
		}
	}
	set, err := links.New(len(labels), list)
	if err != nil {
		t.Fatal(err)
	}
	return set, wrong
}

func options(t *testing.T, metrics ...string) labelnoise.Options {
	t.Helper()
	o, err := labelnoise.DefaultOptions(1)
	if err != nil {
		t.Fatal(err)
	}
	if len(metrics) == 0 {
		return o
	}
	o.Metrics, o.Folds, o.Repetitions, o.Rounds = nil, 5, 1, 2
	for _, name := range metrics {
		m, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := m.New(catalog.Config{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		o.Metrics = append(o.Metrics, l)
	}
	return o
}

func rank(t *testing.T, workers int, x points.Points, set *links.Set,
	o labelnoise.Options) *labelnoise.Result {
	t.Helper()
	r, err := labelnoise.Rank(context.Background(), enginetest.New(t, workers), x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// likely returns the number of links that are more likely wrong than right.
func likely(r *labelnoise.Result) (count int) {
	for _, s := range r.Links {
		if s.Score > 0 {
			count++
		}
	}
	return count
}

// With well-separated groups, at least nine in ten of the most suspicious links are wrong, and
// leaving them out removes nearly all wrong links.
func TestPlanted(t *testing.T) {
	racetest.Skip(t, "hundreds of fits; TestOrderAndWorkers ranks with several workers")
	for seed := range uint64(2) {
		x, labels := groups(60, seed)
		set, wrong := planted(t, labels, 60, 5, seed+5)
		r := rank(t, 0, x, set, options(t))
		if len(r.Links) != set.Len() || len(r.Notices) > 0 || !slices.Equal(r.Metrics, labelnoise.Metrics()) {
			t.Fatalf("%d links are ranked of %d, by %v, notices %v", len(r.Links), set.Len(), r.Metrics,
				r.Notices)
		}
		found := 0
		for k, s := range r.Links {
			if k < len(wrong) && wrong[[2]int{s.Link.I, s.Link.J}] {
				found++
			}
			if k > 0 && s.Score > r.Links[k-1].Score || (k < likely(r)) != (s.Score > 0) {
				t.Errorf("score %d is %g with %d likely wrong links: want descending scores, positive for "+
					"these links only", k, s.Score, likely(r))
			}
		}
		if 10*found < 9*len(wrong) || likely(r) == 0 || likely(r) > len(wrong) {
			t.Errorf("seed %d: of the first %d links %d are wrong, %d are estimated to be", seed, len(wrong),
				found, likely(r))
		}
		kept, err := r.Without(len(wrong))
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, l := range slices.Concat(kept.Must(), kept.Cannot()) {
			if wrong[[2]int{l.I, l.J}] {
				left++
			}
		}
		if kept.Len() != set.Len()-len(wrong) || left != len(wrong)-found {
			t.Errorf("seed %d: %d links remain of %d, %d of them wrong", seed, kept.Len(), set.Len(), left)
		}
	}
}

// The scores are a fixed point of both steps of expectation maximization. The share of wrong links
// is the mean of their probabilities. The probabilities of the regression, whose constant has no
// penalty, add up to the number of pairs that belong together.
func TestProbabilitiesAddUp(t *testing.T) {
	propertytest.CheckSome(t, 25, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		x, labels, _ := enginetest.Bands(t, 60, 3, 10, seed)
		set, _ := planted(t, labels, rapid.IntRange(10, 40).Draw(rt, "pairs"),
			rapid.IntRange(0, 5).Draw(rt, "wrong"), seed)
		r := rank(t, 1, x, set, options(t, "itml"))
		probability := func(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }
		wrong := 0.0
		for _, s := range r.Links {
			wrong += probability(s.Score)
		}
		share := (wrong + 1) / float64(len(r.Links)+20)
		if math.Abs(share-r.Share) > 1e-6 {
			rt.Fatalf("the share of wrong links is %g, the mean of their probabilities %g", r.Share, share)
		}
		regression, together := 0.0, 0.0
		for _, s := range r.Links {
			regression += probability(-float64(s.Link.Sign) * (s.Score - math.Log(share/(1-share))))
			if s.Link.Sign == links.Must {
				together += 1 - probability(s.Score)
			} else {
				together += probability(s.Score)
			}
		}
		if math.Abs(regression-together) > 1e-3*together {
			rt.Fatalf("probabilities add up to %g, pairs that belong together to %g", regression, together)
		}
	})
}

// The ranking is bit-identical for any number of workers, any order of links and any order of the
// two rows of a link.
func TestOrderAndWorkers(t *testing.T) {
	x, labels := groups(60, 7)
	set, _ := planted(t, labels, 30, 3, 9)
	o := options(t, "npkl", "krca")
	want := rank(t, 1, x, set, o)
	list := slices.Concat(set.Cannot(), set.Must())
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for k := range list {
		if r.IntN(2) == 0 {
			list[k].I, list[k].J = list[k].J, list[k].I
		}
	}
	mixed, err := links.New(set.N(), list)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		I, J            int
		Score, Distance float64
	}
	plain := func(r *labelnoise.Result) (out []entry) {
		for _, s := range r.Links {
			out = append(out, entry{s.Link.I, s.Link.J, s.Score, s.Distance})
		}
		return out
	}
	for _, workers := range []int{1, 2, 5} {
		if d := difftest.Diff(plain(want), plain(rank(t, workers, x, mixed, o))); d != "" {
			t.Errorf("%d workers and another order: %s", workers, d)
		}
	}
	o.Seed++
	if difftest.Diff(plain(want), plain(rank(t, 1, x, mixed, o))) == "" {
		t.Error("another seed gives the same folds")
	}
}

// A must-link across groups contradicts the closure of the other links. All links of the
// contradiction report it, with its path.
func TestContradiction(t *testing.T) {
	x, labels := groups(30, 2)
	set, _ := planted(t, labels, 12, 0, 4)
	list := slices.Concat(set.Must(), set.Cannot())
	has := map[[2]int]bool{}
	for _, l := range list {
		has[[2]int{l.I, l.J}] = true
	}
	for _, l := range []links.Link{links.NewLink(0, 3, links.Must), links.NewLink(3, 7, links.Must),
		links.NewLink(0, 7, links.Cannot)} {
		if !has[[2]int{l.I, l.J}] {
			list = append(list, l)
		}
	}
	set, err := links.New(30, list)
	if err != nil {
		t.Fatal(err)
	}
	conflicts := set.Conflicts()
	if len(conflicts) == 0 {
		t.Fatal("the links have no contradiction")
	}
	r := rank(t, 1, x, set, options(t, "itml"))
	named := map[string]bool{}
	for _, s := range r.Links {
		part := false
		for _, c := range conflicts {
			part = part || slices.ContainsFunc(append([]links.Link{c.Link}, c.Path...),
				func(l links.Link) bool {
					return l.I == s.Link.I && l.J == s.Link.J
				})
		}
		if part != (s.Conflict != nil) {
			t.Errorf("link %v is part of a contradiction: %v, reported %v", s.Link, part, s.Conflict)
		}
		if s.Conflict != nil {
			named[s.Conflict.String()] = true
			if reason := s.Reason(); !strings.Contains(reason, s.Conflict.PathString()) {
				t.Errorf("the reason %q does not name the path %s", reason, s.Conflict.PathString())
			}
		}
	}
	if !named[conflicts[0].String()] {
		t.Errorf("%s is not reported", conflicts[0])
	}
	if first := r.Links[0].Link; first.I != 3 || first.J != 7 {
		t.Errorf("the most suspicious link is %v: want 3-7", first)
	}
}

// Among must-links alone the long ones are suspicious, among cannot-links alone the short ones.
// Metrics that require both kinds are left out.
func TestOneKind(t *testing.T) {
	x, labels := groups(60, 5)
	for _, sign := range []links.Sign{links.Must, links.Cannot} {
		set, _ := planted(t, labels, 30, 0, 6)
		list := set.Must()
		odd := links.NewLink(0, 4, links.Must)
		if sign == links.Cannot {
			list, odd = set.Cannot(), links.NewLink(0, 3, links.Cannot)
		}
		alone, err := links.New(60, append(slices.Clone(list), odd))
		if err != nil {
			t.Fatal(err)
		}
		r := rank(t, 1, x, alone, options(t))
		if first := r.Links[0]; first.Link.I != odd.I || first.Link.J != odd.J ||
			!(first.Score > r.Links[1].Score+0.5) {
			t.Errorf("the most suspicious %s-link is %v, score %g, the next %g: want %d-%d, far above", sign,
				first.Link, first.Score, r.Links[1].Score, odd.I, odd.J)
		}
		if len(r.Metrics)+len(r.Notices) != len(labelnoise.Metrics()) || len(r.Metrics) == 0 {
			t.Errorf("%s-links alone: metrics %v, notices %v", sign, r.Metrics, r.Notices)
		}
	}
}

// Weights are multiplied by the probability that a link is right, and are never 0.
func TestReweighted(t *testing.T) {
	racetest.Skip(t, "hundreds of fits; TestOrderAndWorkers ranks with several workers")
	x, labels := groups(60, 8)
	set, wrong := planted(t, labels, 40, 3, 1)
	list := slices.Concat(set.Must(), set.Cannot())
	for k := range list {
		list[k].Weight = 2
	}
	set, err := links.New(60, list)
	if err != nil {
		t.Fatal(err)
	}
	r := rank(t, 1, x, set, options(t))
	reweighted, err := r.Reweighted()
	if err != nil {
		t.Fatal(err)
	}
	score := map[[2]int]float64{}
	for _, s := range r.Links {
		score[[2]int{s.Link.I, s.Link.J}] = s.Score
	}
	for _, l := range slices.Concat(reweighted.Must(), reweighted.Cannot()) {
		pair := [2]int{l.I, l.J}
		right := 1 / (1 + math.Exp(score[pair])*(1-r.Share)/r.Share)
		if want := 2 * max(right, 1e-3); math.Abs(l.Weight-want) > 1e-15 {
			t.Errorf("link %v: want the weight %g", l, want)
		}
		if wrong[pair] && l.Weight >= 1 {
			t.Errorf("link %v is wrong and has the weight %g", l, l.Weight)
		}
	}
	if reweighted.Len() != set.Len() {
		t.Errorf("%d links, want %d", reweighted.Len(), set.Len())
	}
}

// Links that cannot be ranked are refused, and the error names what is missing.
func TestBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 1)
	x, labels := groups(30, 1)
	set, _ := planted(t, labels, 10, 0, 1)
	of := func(n int, list ...links.Link) *links.Set {
		s, err := links.New(n, list)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	must, cannot := links.NewLink(0, 3, links.Must), links.NewLink(0, 1, links.Cannot)
	for name, c := range map[string]struct {
		set    *links.Set
		change func(o *labelnoise.Options)
		word   string
	}{
		"no links":      {of(30), nil, "no links"},
		"a must-link":   {of(30, must), nil, "single must-link"},
		"a cannot-link": {of(30, cannot), nil, "single cannot-link"},
		"one of each":   {of(30, must, cannot), nil, "single"},
		"other rows":    {of(31, must, cannot), nil, "30"},
		"no metrics":    {set, func(o *labelnoise.Options) { o.Metrics = nil }, "metrics"},
		"one fold":      {set, func(o *labelnoise.Options) { o.Folds = 1 }, "folds"},
		"no round":      {set, func(o *labelnoise.Options) { o.Rounds = 0 }, "rounds"},
		"no repetition": {set, func(o *labelnoise.Options) { o.Repetitions = 0 }, "repetitions"},
		"no metric left": {of(30, cannot, links.NewLink(2, 4, links.Cannot),
			links.NewLink(5, 6, links.Cannot)), func(o *labelnoise.Options) {
			o.Metrics = options(t, "krca").Metrics
		}, "must-link"},
	} {
		o := options(t)
		if c.change != nil {
			c.change(&o)
		}
		r, err := labelnoise.Rank(ctx, eng, x, c.set, o)
		if r != nil || !fault.IsInput(err) || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: error %v: want an input error with %q", name, err, c.word)
		}
	}
	r := rank(t, 1, x, set, options(t, "krca"))
	for _, count := range []int{-1, set.Len()} {
		if _, err := r.Without(count); !fault.IsInput(err) {
			t.Errorf("without %d links: error %v", count, err)
		}
	}
}

// Two links of each kind are enough for any number of folds.
func TestFewLinks(t *testing.T) {
	x, _ := groups(30, 1)
	set, err := links.New(30,
		[]links.Link{links.NewLink(0, 3, links.Must), links.NewLink(1, 4, links.Must),
			links.NewLink(0, 1, links.Cannot), links.NewLink(3, 5, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "itml")
	for o.Folds = 2; o.Folds <= 10; o.Folds += 4 {
		r := rank(t, 1, x, set, o)
		if len(r.Links) != 4 || likely(r) != 0 {
			t.Errorf("%d folds: %v", o.Folds, r.Links)
		}
	}
}

// A canceled context is returned as the error, and progress counts all fits.
func TestCancelAndProgress(t *testing.T) {
	x, labels := groups(60, 1)
	set, _ := planted(t, labels, 20, 0, 1)
	o := options(t, "itml", "krca")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	last := algorithms.Progress{}
	o.Progress = func(p algorithms.Progress) {
		if p.Done != last.Done+1 || p.Total != 2*2*5 {
			t.Errorf("%d of %d fits after %d", p.Done, p.Total, last.Done)
		}
		last = p
	}
	rank(t, 2, x, set, o)
	if last.Done != last.Total {
		t.Errorf("progress ends at %d of %d", last.Done, last.Total)
	}
	o.Progress = func(p algorithms.Progress) {
		if p.Done == 3 {
			cancel()
		}
	}
	if _, err := labelnoise.Rank(ctx, enginetest.New(t, 2), x, set, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a cancel", err)
	}
}

// What fails anywhere is the error, or makes the fit of a method fail, which is then left out.
func TestFailing(t *testing.T) {
	x, labels := groups(30, 1)
	set, _ := planted(t, labels, 20, 0, 1)
	o := options(t, "itml")
	o.Folds = 2
	enginetest.FailEverywhere(t, "itml", 200, func(ctx context.Context) error {
		_, err := labelnoise.Rank(ctx, enginetest.New(t, 1), x, set, o)
		return err
	}, "(*ranking).measure < labelnoise.(*ranking).runRound")
}
