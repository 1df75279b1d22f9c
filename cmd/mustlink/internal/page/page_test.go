package page

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
	"github.com/mustlink/mustlink/label"
)

// TestExact: the shares are those of the mean squared distance over all pairs of rows that differ
// in one column of the table alone, which may be several columns of numbers.
func TestExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x, w := &points.Dense{N: 20, D: 4, Data: make([]float64, 80)}, blas.NewMatrix(3, 4)
	for i := range x.Data {
		x.Data[i] = float64(1+i%4) * r.NormFloat64()
	}
	for i := range w.Data {
		w.Data[i] = r.NormFloat64()
	}
	list := exact(x, w, []string{"a", "b", "b", "c"})
	sums, total := make([]float64, 4), 0.0
	for j := range sums {
		for i := range x.N {
			for k := range x.N {
				for c := range w.Rows {
					d := w.At(c, j) * (x.Row(i)[j] - x.Row(k)[j])
					sums[j] += d * d
				}
			}
		}
		total += sums[j]
	}
	want := []weight{{"a", sums[0] / total}, {"b", (sums[1] + sums[2]) / total}, {"c", sums[3] / total}}
	for k := range want {
		if len(list) != 3 || list[k].name != want[k].name || math.Abs(list[k].value-want[k].value) > 1e-12 {
			t.Fatalf("shares %v: want %v", list, want)
		}
	}
	b := bars(list, "note", func(float64) string { return "" })
	if b.Bars[0].Length != 1 || b.Bars[0].Name == b.Bars[1].Name || b.Bars[1].Length < b.Bars[2].Length {
		t.Errorf("bars %v", b.Bars)
	}
}

// TestJudged: the page says what a verdict says, and nothing of a fit that was not judged.
func TestJudged(t *testing.T) {
	if judged(nil) != nil {
		t.Error("a fit that was not judged has a verdict")
	}
	for _, c := range []struct {
		v      verdict.Verdict
		words  string
		judged bool
	}{
		{verdict.Verdict{Found: verdict.Better, AUC: 0.9, Raw: 0.7, GainError: 0.01, Must: 3, Cannot: 4,
			Fits: 1},
			"is better: on rows that no fit saw, it tells a pair that belongs together from one that " +
				"does not in 90 of 100 cases, and the rows as they are in 70.", true},
		{verdict.Verdict{Found: verdict.Better, AUC: 0.998, Raw: 0.7}, "in 99.8 of 100 cases", true},
		{verdict.Verdict{Found: verdict.Worse, AUC: 0.7, Raw: 0.9, GainError: 0.01}, "is worse: on",
			true},
		{verdict.Verdict{Found: verdict.Similar, AUC: 0.71, Raw: 0.7, GainError: 0.1}, "No clear difference",
			true},
		{verdict.Verdict{Missing: "one must-link: want 10"}, "not judged: one must-link: want 10", false},
	} {
		got := judged(&c.v)
		if !strings.Contains(got.Headline, c.words) || got.Judged != c.judged || got.AUC != c.v.AUC ||
			got.Raw != c.v.Raw || got.Finding != string(c.v.Finding()) {
			t.Errorf("%+v: %+v: want %q", c.v, got, c.words)
		}
	}
}

// TestCells: the cells of two rows are cut to what people read.
func TestCells(t *testing.T) {
	long := strings.Repeat("ü", 1000)
	x := &points.Mixed{N: 2, Columns: []points.Column{
		{Name: long, Codes: []int32{0, -1}, Levels: []string{long}}, {Name: "age", Numbers: []float64{7, 8}}}}
	want := [][3]string{{long[:2*59] + "…", long[:2*299] + "…", ""}, {"age", "7", "8"}}
	if got := cells(label.ColumnsOf(&dataset.Data{Points: x}), 0, 1); !slices.Equal(got, want) {
		t.Errorf("cells %q", got)
	}
}

// TestPermuted: the loss of AUC is between -1 and 1, that of a column of noise next to nothing, and
// that of the only other column about all that the AUC is above chance.
func TestPermuted(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 60, 2, 40, 4)
	r := rand.New(rand.NewPCG(3, 5))
	wide := &points.Dense{N: x.N, D: 2}
	for i := range x.N {
		wide.Data = append(wide.Data, 100*x.Row(i)[0], 1e-3*r.NormFloat64())
	}
	method, err := catalog.Lookup("rca")
	if err != nil {
		t.Fatal(err)
	}
	learner, err := method.New(catalog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng := enginetest.New(t, 1)
	model, err := learner.Fit(t.Context(), eng, wide, set)
	if err != nil {
		t.Fatal(err)
	}
	m := &maker{Scene: &pictures.Scene{Metric: &metric.Metric{Eng: eng}}, Options: &Options{Seed: 1},
		ctx: t.Context()}
	list, err := m.permuted(pictures.Space{Fitted: &catalog.Fitted{Model: model}}, wide, set,
		[]string{"a", "b"})
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if a, b := list[0].value, list[1].value; !(a > 0.2 && a <= 1) || math.Abs(b) > 0.1 {
		t.Errorf("losses %g and %g", a, b)
	}
}

// TestWrite: the page is written whole, with the first contradiction of the links; what fails on
// the way fails it, with its error.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(20, 3, false))
	clitest.Write(t, dir, "links.csv",
		"i,j,link\n0,2,must\n2,4,must\n0,4,cannot\n1,3,must\n0,1,cannot\n2,3,cannot\n")
	o := &Options{Input: pictures.Input{Data: source.Data{Path: filepath.Join(dir, "data.csv")},
		Links: source.Links{Path: filepath.Join(dir, "links.csv"), By: dataset.ByRow}},
		Clusters: 2, Seeds: 1, Features: 2, Suspicious: 2, Output: filepath.Join(dir, "page.html")}
	quiet := func() *session.Session {
		s := &session.Session{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
			Getenv: os.Getenv, Quiet: true}
		s.Workers, s.BLASThreads = 1, 1
		return s
	}
	r, err := Write(t.Context(), quiet(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := clitest.Read(t, dir, "page.html")
	if r.Points != 20 || r.Bytes != len(text) || !strings.Contains(text, "contradictions") {
		t.Errorf("report %+v of %d bytes, which tell of contradictions: %t", r, len(text),
			strings.Contains(text, "contradictions"))
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "1 cannot-links join points that must") {
		t.Errorf("warnings %q", r.Warnings)
	}
	other := *o
	other.Output = filepath.Join(dir, "none", "page.html")
	if r, err := Write(t.Context(), quiet(), &other, nil); !errors.Is(err, fs.ErrNotExist) || r != nil {
		t.Errorf("without a folder: %v, error %v", r, err)
	}
	other.Output, other.Data.Path = o.Output, filepath.Join(dir, "none.csv")
	if _, err := Write(t.Context(), quiet(), &other, nil); !fault.IsInput(err) {
		t.Errorf("without data: error %v", err)
	}
	scene, err := o.Read(t.Context(), quiet(), nil)
	if err != nil {
		t.Fatal(err)
	}
	enginetest.FailEverywhere(t, "points", 40, func(ctx context.Context) error {
		return (&maker{Scene: scene, Options: o, ctx: ctx, k: 2, out: &view.Report{}}).points()
	})
}
