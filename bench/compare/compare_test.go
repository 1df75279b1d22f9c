package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/view"
)

func newEngine(t testing.TB, workers int) *engine.Engine {
	t.Helper()
	eng, err := engine.New(engine.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// folder returns a folder that holds two small sets under the names of real ones.
func folder(t testing.TB) string { return folderOf(t, 80) }

// folderOf returns the folder of sets of so many rows.
func folderOf(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for name, generator := range map[string]string{"iris.csv": "xor", "wine.csv": "rings"} {
		d, err := dataset.Generate(generator, dataset.GenerateOptions{N: n, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if err := dataset.WriteData(filepath.Join(dir, name), d, dataset.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDrawLinks: a share of wrong links makes exactly that many links contradict the labels, on the
// same pairs as the draw without wrong links, and the wrong links of a smaller share stay wrong in
// a larger one.
func TestDrawLinks(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(6, 40).Draw(t, "rows")
		labels := make([]string, n)
		for i := range labels {
			labels[i] = string(rune('a' + i%rapid.IntRange(2, 3).Draw(t, "classes")))
		}
		labels[0], labels[1] = "a", "a"
		labels[2] = "z"
		total := rapid.IntRange(0, 80).Draw(t, "links")
		share := rapid.SampledFrom([]float64{0.1, 0.3, 0.5}).Draw(t, "share")
		seed := rapid.Uint64().Draw(t, "seed")
		wrong := func(share float64) (pairs map[[2]int]bool, against int) {
			set, err := drawLinks(labels, total, share, seed)
			if err != nil {
				t.Fatal(err)
			}
			pairs = map[[2]int]bool{}
			for _, l := range slices.Concat(set.Must(), set.Cannot()) {
				contradicts := (labels[l.I] == labels[l.J]) != (l.Sign == links.Must)
				pairs[[2]int{l.I, l.J}] = contradicts
				if contradicts {
					against++
				}
			}
			return pairs, against
		}
		clean, none := wrong(0)
		dirty, some := wrong(share)
		same, different := pairsOf(labels)
		must, cannot := min((total+1)/2, same), min(total/2, different)
		if none != 0 || len(clean) != must+cannot {
			t.Fatalf("%d wrong links among %d: want 0 among %d", none, len(clean), must+cannot)
		}
		if want := int(math.Round(share*float64(must))) +
			int(math.Round(share*float64(cannot))); some != want {
			t.Fatalf("%d wrong links: want %d", some, want)
		}
		for pair := range dirty {
			if _, there := clean[pair]; !there {
				t.Fatalf("pair %v is not in the draw without wrong links", pair)
			}
		}
		fewer, _ := wrong(share / 2)
		for pair, contradicts := range fewer {
			if contradicts && !dirty[pair] {
				t.Fatalf("pair %v is wrong at half the share, but not at the whole", pair)
			}
		}
	})
}

// TestHalves: both halves have the same number of rows of every class, the features of the training
// rows have mean 0 and variance 1, and many features become coordinates with the same distances.
func TestHalves(t *testing.T) {
	ctx, eng := context.Background(), newEngine(t, 1)
	d, err := dataset.Generate("xor", dataset.GenerateOptions{N: 60, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	training, heldOut, err := (&rows{x: d.Points, labels: d.Labels}).halves(ctx, eng, 40, 9)
	if err != nil {
		t.Fatal(err)
	}
	if training.x.N != 20 || heldOut.x.N != 20 {
		t.Fatalf("%d and %d rows: want 20 each", training.x.N, heldOut.x.N)
	}
	for _, h := range []half{training, heldOut} {
		count := map[string]int{}
		for _, l := range h.labels {
			count[l]++
		}
		for l, n := range count {
			if n != 10 {
				t.Errorf("class %s has %d rows in a half: want 10", l, n)
			}
		}
	}
	for j := range training.x.D {
		var sum, squares float64
		for i := range training.x.N {
			sum += training.x.Row(i)[j]
			squares += training.x.Row(i)[j] * training.x.Row(i)[j]
		}
		if n := float64(training.x.N); math.Abs(sum/n) > 1e-12 || math.Abs(squares/n-1) > 1e-12 {
			t.Errorf("feature %d of the training rows has mean %g and variance %g: want 0 and 1", j, sum/n,
				squares/n)
		}
	}

	wide := &points.Dense{N: 12, D: fewFeatures + 20}
	for i := range wide.N * wide.D {
		wide.Data = append(wide.Data, math.Sin(float64(i*i)))
	}
	y, err := prepared(ctx, eng, vectors, wide)
	if err != nil {
		t.Fatal(err)
	}
	if y[0].D > wide.N {
		t.Errorf("%d coordinates of %d points", y[0].D, wide.N)
	}
	for i := range wide.N {
		for j := range i {
			want, got := points.SquaredDistance(wide.Row(i), wide.Row(j)),
				points.SquaredDistance(y[0].Row(i), y[0].Row(j))
			if math.Abs(got-want) > 1e-9*want {
				t.Errorf("squared distance of rows %d and %d is %g: want %g", i, j, got, want)
			}
		}
	}
}

// TestCross: the table is the same for any number of workers and after an interrupt, the values of
// raw points are those of the parts, called by hand, and page, JSON and picture are written.
func TestCross(t *testing.T) {
	ctx := context.Background()
	o := Options{Systems: []string{Raw, "krca", "rca eps_rel=1e-2"}, Repetitions: 3, Seed: 4, Data: folder(t)}
	one, err := Run(ctx, newEngine(t, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Results) != 2 || len(one.Missing) != len(Sets())-2 || len(one.Failures) != 0 {
		t.Fatalf("%d sets, %d missing, failures %v", len(one.Results), len(one.Missing), one.Failures)
	}
	o.State = filepath.Join(t.TempDir(), "state")
	for _, workers := range []int{3, 2} { // the second run takes all from the state file
		again, err := Run(ctx, newEngine(t, workers), o)
		if err != nil {
			t.Fatal(err)
		}
		for s := range one.Results {
			for r, trial := range one.Results[s].Trials {
				for i := range trial {
					if !slices.Equal(trial[i][:fitSeconds], again.Results[s].Trials[r][i][:fitSeconds]) {
						t.Fatalf("set %d, repetition %d, %s: %v, with another number of workers %v", s, r,
							o.Systems[i], trial[i], again.Results[s].Trials[r][i])
					}
				}
			}
		}
		if workers == 2 && again.Results[1].Resumed != 3 {
			t.Errorf("%d repetitions from the state file: want 3", again.Results[1].Resumed)
		}
	}
	page, err := one.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| krca |", "above raw", "| iris |", "Mean ranks", "rca eps\\_rel=1e-2"} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "\\", "")) {
			t.Errorf("%q is missing in the page", want)
		}
	}
	if _, err := json.Marshal(one); err != nil {
		t.Error(err)
	}
	panels, err := one.Panels()
	if err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := view.Write(&picture, "svg", view.Size{}, panels...); err != nil ||
		!bytes.Contains(picture.Bytes(), []byte("krca")) {
		t.Errorf("picture of %d bytes, error %v", picture.Len(), err)
	}
}

// TestMeasures: on well separated classes every measure of raw points is 1, and no training row is
// its own neighbor.
func TestMeasures(t *testing.T) {
	h := half{x: &points.Dense{N: 12, D: 1}}
	for i := range 12 {
		h.x.Data = append(h.x.Data, float64(i)*0.01+100*float64(i%2))
		h.labels = append(h.labels, string(rune('a'+i%2)))
	}
	none, err := links.New(12, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &problem{training: h, heldOut: h, links: none}
	v, err := p.values(context.Background(), newEngine(t, 1), Raw)
	if err != nil {
		t.Fatal(err)
	}
	for m, name := range Measures()[:fitSeconds] {
		if v[m] != 1 {
			t.Errorf("%s is %g: want 1", name, v[m])
		}
	}
	// two rows in classes of their own: none of their neighbors is of these classes
	h.labels = slices.Clone(h.labels)
	h.labels[0], h.labels[2] = "c", "d"
	p = &problem{training: h, heldOut: h, links: none}
	if v, err = p.values(context.Background(), newEngine(t, 1), Raw); err != nil {
		t.Fatal(err)
	}
	if want := 10.0 / 12; math.Abs(v[trainingNeighbors]-want) > 1e-15 {
		t.Errorf("leave-one-out accuracy is %g: want %g", v[trainingNeighbors], want)
	}
	got, err := score.AdjustedRand(h.labels, []int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1})
	if err != nil || v[trainingARI] > got+1e-12 {
		t.Errorf("adjusted Rand index %g: want %g, that of the classes themselves, error %v", v[trainingARI],
			got, err)
	}
}

// TestFailure: a system that cannot fit has no values, also when they come from the state file; the
// page names it, and it ranks last.
func TestFailure(t *testing.T) {
	o := Options{Systems: []string{Raw, "npkl neighbors=1000", "rca"}, Repetitions: 2, Seed: 4,
		Data: folder(t), State: filepath.Join(t.TempDir(), "state")}
	for run, failures := range []int{4, 0} { // the second run takes all from the state file
		c, err := Run(context.Background(), newEngine(t, 2), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Failures) != failures {
			t.Fatalf("run %d: %d failures: want %d", run, len(c.Failures), failures)
		}
		for _, r := range c.Results {
			for _, trial := range r.Trials {
				for m := range measures {
					if !math.IsNaN(trial[1][m]) || math.IsNaN(trial[2][m]) {
						t.Errorf("run %d, %s: %v and %v", run, Measures()[m], trial[1][m], trial[2][m])
					}
				}
			}
		}
		ranking, err := c.Ranking(trainingRand)
		if err != nil || ranking.Mean[1] != 3 {
			t.Errorf("run %d: ranks %v, error %v", run, ranking, err)
		}
		page, err := c.Markdown()
		if err != nil || !strings.Contains(page, "npkl neighbors=1000 on iris: 2 of 2") {
			t.Errorf("run %d: the page does not name the failure, error %v", run, err)
		}
	}
}

// TestChooser: the system that selects a method is as good as its best candidate on a set where
// linear methods fail.
func TestChooser(t *testing.T) {
	o := Options{Sets: []string{"iris"}, Systems: []string{"rca", "krca", "select methods=krca+rca"},
		Repetitions: 2, Seed: 4, Data: folderOf(t, 200),
		Links: Links{PerRow: 3}}
	c, err := Run(context.Background(), newEngine(t, 2), o)
	if err != nil {
		t.Fatal(err)
	}
	of := c.Results[0].Ours
	if line, bent, chosen := of[0][trainingRand].Mean, of[1][trainingRand].Mean,
		of[2][trainingRand].Mean; chosen < line+0.2 || chosen < bent-0.05 {
		t.Errorf("balanced Rand %.3f of the linear method, %.3f of the other, %.3f of the selected one", line,
			bent, chosen)
	}
}

// TestSummaries: means, counts and ranks of values written by hand.
func TestSummaries(t *testing.T) {
	c := &Cross{Systems: []string{Raw, "a", "b"}}
	for s := range 3 {
		r := &paper.Result{Repetitions: 2, Ours: make([][]paper.Value, 3)}
		for trial := range 2 {
			values := make([][]float64, 3)
			for i := range values {
				values[i] = make([]float64, measures)
				for m := range values[i] {
					values[i][m] = float64(s) + 0.1*float64(trial) + float64(i) // b above a above raw
				}
			}
			if s == 2 {
				values[2][trainingRand] = math.NaN()
			}
			r.Trials = append(r.Trials, values)
		}
		for i := range 3 {
			for m := range measures {
				r.Ours[i] = append(r.Ours[i], paper.Value{Mean: (r.Trials[0][i][m] + r.Trials[1][i][m]) / 2})
			}
		}
		c.Results = append(c.Results, r)
	}
	all, err := c.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	if got := all[1].Mean[trainingRand]; math.Abs(got-2.05) > 1e-12 || all[1].Above[trainingRand] != 3 {
		t.Errorf("mean %g, above on %d: want 2.05 and 3", got, all[1].Above[trainingRand])
	}
	if got := all[2].Mean[trainingRand]; math.Abs(got-2.55) > 1e-12 || all[2].Above[trainingRand] != 2 {
		t.Errorf("mean %g over the sets with values, above on %d: want 2.55 and 2", got,
			all[2].Above[trainingRand])
	}
	if in := all[1].Interval[trainingRand]; !(in.Low >= 2 && in.High <= 2.1 && in.Low < in.High) {
		t.Errorf("interval %v: want one between 2 and 2.1", in)
	}
	r, err := c.Ranking(trainingRand)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{(3 + 3 + 2) / 3.0, (2 + 2 + 1) / 3.0, (1 + 1 + 3) / 3.0} {
		if math.Abs(r.Mean[i]-want) > 1e-12 {
			t.Errorf("rank %d is %g: want %g", i, r.Mean[i], want)
		}
	}
}

// TestCurves: all draws have values, those of raw points do not depend on the number of links, and
// the page and the picture are written.
func TestCurves(t *testing.T) {
	o := Options{Sets: []string{"iris"}, Systems: []string{Raw, "rca"}, Repetitions: 1, Seed: 2,
		Data: folder(t)}
	c, err := RunCurves(context.Background(), newEngine(t, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	trial := c.Results[0].Trials[0]
	if len(trial[0]) != perDraw*(len(Counts())+len(Shares())) {
		t.Fatalf("%d values: want %d", len(trial[0]), perDraw*len(draws()))
	}
	for k := range draws() {
		if trial[0][column(k, false)] != trial[0][0] || trial[0][column(k, true)] != trial[0][1] {
			t.Errorf("the values of raw points change with draw %d", k)
		}
	}
	page, err := c.Markdown()
	if err != nil || !strings.Contains(page, "5000 links") || !strings.Contains(page, "30 % wrong") ||
		strings.Contains(page, "Links: ") ||
		!strings.Contains(page, "links and k-means are those of [cross]") {
		t.Errorf("the page lacks columns, or repeats the set-up of cross, error %v", err)
	}
	panels, err := c.Panels()
	if err != nil || len(panels) != 4 {
		t.Errorf("%d panels, error %v", len(panels), err)
	}
}

// TestMistakes: unknown names and empty folders are input errors.
func TestMistakes(t *testing.T) {
	ctx, eng := context.Background(), newEngine(t, 1)
	for name, o := range map[string]Options{
		"unknown set":       {Sets: []string{"irsi"}, Data: folder(t)},
		"unknown method":    {Systems: []string{"krac"}, Data: folder(t)},
		"unknown parameter": {Systems: []string{"krca esp=1"}, Data: folder(t)},
		"no value":          {Systems: []string{"krca eps"}, Data: folder(t)},
		"no words":          {Systems: []string{" "}, Data: folder(t)},
		"a choice of none":  {Systems: []string{"select methods=krac"}, Data: folder(t)},
		"a choice by luck":  {Systems: []string{"select by=luck"}, Data: folder(t)},
		"an empty folder":   {Data: t.TempDir()},
		"a set not there":   {Sets: []string{"usps"}, Data: folder(t)},
	} {
		if _, err := Run(ctx, eng, o); !fault.IsInput(err) {
			t.Errorf("%s: error %v: want an input error", name, err)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := Run(stopped, eng, Options{Data: folder(t), Systems: []string{Raw}}); err == nil {
		t.Error("no error after the context was canceled")
	}
}

// TestSetsOfTheFolder: every set of the folder of data sets can be read and divided.
func TestSetsOfTheFolder(t *testing.T) {
	data := os.Getenv("MUSTLINK_DATA")
	if data == "" {
		t.Skip("MUSTLINK_DATA is not set")
	}
	eng := newEngine(t, 0)
	for _, s := range Sets() {
		r, err := s.read(func(name string) string { return filepath.Join(data, name) })
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		training, heldOut, err := r.halves(context.Background(), eng, 200, 1)
		if err != nil || training.x.D != heldOut.x.D || training.x.Validate() != nil ||
			heldOut.x.Validate() != nil {
			t.Errorf("%s: %d and %d features, error %v", s.Name, training.x.D, heldOut.x.D, err)
		}
	}
}
