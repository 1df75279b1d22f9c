package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/export"
)

// problem is training rows in three classes far from the origin, links between them, and 1000 rows
// to embed, of which the first are training rows.
type problem struct {
	train, rows [][]float64
	labels      []int
	links       *mustlink.Links
}

func newProblem(t testing.TB, n, d int) problem {
	rng := rand.New(rand.NewPCG(11, 4))
	p := problem{labels: make([]int, n)}
	draw := func(class int) []float64 {
		row := make([]float64, d)
		for j := range row {
			row[j] = 10*float64(j) + (1+float64(j))*(rng.NormFloat64()+2*float64(class)*float64(j%2))
		}
		return row
	}
	for i := range n {
		p.labels[i] = i % 3
		p.train = append(p.train, draw(i%3))
	}
	p.rows = append(p.rows, p.train[:min(n, 300)]...)
	for len(p.rows) < 1000 {
		p.rows = append(p.rows, draw(rng.IntN(3)))
	}
	var must, cannot [][2]int
	for range 60 {
		i, j := rng.IntN(n), rng.IntN(n)
		switch {
		case i == j:
		case p.labels[i] == p.labels[j]:
			must = append(must, [2]int{i, j})
		default:
			cannot = append(cannot, [2]int{i, j})
		}
	}
	var err error
	if p.links, err = mustlink.NewLinks(n, must, cannot); err != nil {
		t.Fatal(err)
	}
	return p
}

func table(t testing.TB, rows [][]float64) *mustlink.Table {
	t.Helper()
	out, err := mustlink.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fit fits a method with parameters NAME=VALUE; kernel=K is the kernel, unscaled leaves the rows as
// they are.
func (p problem) fit(t testing.TB, method string, params ...string) *mustlink.Model {
	t.Helper()
	m, err := p.tryFit(t, method, params...)
	if err != nil {
		t.Fatalf("%s %v: %v", method, params, err)
	}
	return m
}

func (p problem) tryFit(t testing.TB, method string, params ...string) (*mustlink.Model, error) {
	t.Helper()
	options := []mustlink.Option{mustlink.Method(method)}
	scaled := true
	for _, text := range params {
		name, value, _ := strings.Cut(text, "=")
		switch name {
		case "kernel":
			options = append(options, mustlink.Kernel(value))
		case "unscaled":
			scaled = false
		default:
			options = append(options, mustlink.Param(name, value))
		}
	}
	if scaled {
		options = append(options, mustlink.Standardize())
	} else {
		options = append(options, mustlink.Unprepared())
	}
	if m, err := catalog.Lookup(method); err == nil && m.UsesTargets {
		targets := make([]float64, len(p.labels))
		for i, label := range p.labels {
			targets[i] = float64(label)
		}
		options = append(options, mustlink.Targets(targets))
	}
	if method == "lsml" {
		options = append(options,
			mustlink.Quadruplets([]mustlink.Quadruplet{{I: 0, J: 3, K: 0, L: 1}, {I: 1, J: 4, K: 1, L: 2},
				{I: 2, J: 5, K: 0, L: 2}, {I: 3, J: 6, K: 7, L: 8}}))
	}
	return mustlink.Fit(context.Background(), table(t, p.train), p.links, options...)
}

func embed(t testing.TB, m *mustlink.Model, x *mustlink.Table) *mat.Dense {
	t.Helper()
	y, err := m.Embed(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// exportable are methods with what to fit them with. Every method is here or in refused.
var exportable = [][]string{
	{"krca", "dims=5"}, {"krca", "form=spectral"}, {"krca", "kernel=rbf:sigma=0.3"},
	{"krca", "kernel=exp:width=2", "dims=4"}, {"krca", "kernel=cauchy:width=2", "dims=4"},
	{"krca", "kernel=linear", "form=spectral", "dims=3"}, {"krca", "kernel=poly:degree=2,coef=1"},
	{"krca", "kernel=cosine", "dims=4"},
	{"krca", "kernel=rbf:sigma=mean@poly:degree=2", "dims=4"}, {"krca", "unscaled", "dims=5"},
	{"kbeta", "extension=nystrom"}, {"kbeta", "extension=nystrom", "kernel=exp:width=1", "dims=3"},
	{"gml"}, {"gml", "prior=datadep"}, {"gml", "kernel=cosine", "prior=datadep"},
	{"lleratio"}, {"lleratio", "mode=linear"}, {"lleratio", "kernel=poly:degree=2"},
	{"kpca", "kernel=exp:width=3", "dims=4"}, {"kpca", "kernel=cosine"},
	{"kpca", "kernel=rbf:sigma=median", "dims=10"}, {"kpca", "kernel=linear"},
	{"kpca", "kernel=sigmoid:scale=0.5@rbf:sigma=0.2", "dims=3"},
	{"kpca", "kernel=exp:width=1@cosine", "dims=3"}, {"kpca", "kernel=cosine@rbf:sigma=2", "dims=3"},
	{"itml"}, {"itml", "kernel=rbf:sigma=mean"}, {"itml", "kernel=exp:width=2"},
	{"itml", "kernel=poly:degree=3,coef=1,scale=0.1"}, {"itml", "unscaled"},
	{"rca"}, {"rca", "kernel=rbf:sigma=mean"}, {"xrca"},
	{"adapt"}, {"adapt", "unit=yes"}, {"adapt", "unit=yes", "dims=3", "kernel=rbf:sigma=mean"},
	{"dca"}, {"dca", "kernel=rbf:sigma=mean"}, {"mmc"},
	{"lmnn"}, {"nca"}, {"lsml"}, {"scml"}, {"lfda"}, {"sdml"},
	{"mlkr"}, {"covariance"}, {"raw"}, {"xiang"}, {"llma"}, {"parts"}, {"npkl"}, {"blend"},
}

// refused are methods with the beginning of the message.
var refused = [][2]string{
	{"kbeta", `extension of the model is "lle": want nystrom`},
	{"forest", `method of the model is "forest"`},
	{"klein", `method of the model is "klein"`}, {"spectral", `method of the model is "spectral"`},
	{"cmvu", `method of the model is "cmvu"`},
	{"npk", `method of the model is "npk"`}, {"simplenpkl", `method of the model is "simplenpkl"`},
	{"sdplr", `method of the model is "sdplr"`},
}

// TestRuntime compares graphs of every method, evaluated by onnxruntime, with Embed.
func TestRuntime(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	p := newProblem(t, 240, 6)
	rows := table(t, p.rows)
	for _, c := range exportable {
		m := p.fit(t, c[0], c[1:]...)
		want := embed(t, m, rows)
		for _, precision := range []export.Precision{export.Double, export.Single} {
			if precision == export.Single && (c[0] == "npkl" || c[0] == "blend") {
				continue // refused
			}
			r.add(strings.NewReplacer("/", " ", ":", " ").Replace(strings.Join(c, " ")), m, precision, p.rows,
				nil, want)
		}
	}
	r.addSparse(p)
	r.compare()
}

// TestEqualRowsRuntime: training rows that are equal get the mean of their coordinates, rows near
// them are new.
func TestEqualRowsRuntime(t *testing.T) {
	r := newRuntime(t)
	p := newProblem(t, 60, 4)
	for i := range 30 { // of the same class
		copy(p.train[30+i], p.train[i])
	}
	for _, row := range p.train[:30] {
		near := slices.Clone(row)
		near[0] += 1e-6
		p.rows = append(p.rows, near)
	}
	rows := table(t, p.rows)
	for _, method := range []string{"npkl", "blend"} {
		m := p.fit(t, method)
		r.add(method+" equal rows", m, export.Double, p.rows, nil, embed(t, m, rows))
	}
	r.compare()
}

// TestConstantRuntime: a column that did not vary in the fit has no weight, whatever new rows have
// there, in graphs and in linear maps.
func TestConstantRuntime(t *testing.T) {
	r := newRuntime(t)
	p := newProblem(t, 60, 4)
	for _, row := range p.train {
		row[2] = 7.25
	}
	rows := table(t, p.rows) // of which the last differ
	for _, c := range [][]string{{"rca"}, {"krca", "dims=3"}, {"lleratio", "mode=linear"}, {"raw"},
		{"itml"}} {
		m := p.fit(t, c[0], c[1:]...)
		want := embed(t, m, rows)
		r.add(c[0]+" constant column", m, export.Double, p.rows, nil, want)
		if c[0] == "krca" {
			continue
		}
		var text bytes.Buffer
		var l linearMap
		if err := export.JSON(&text, m, export.Limits{}); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, row := range p.rows {
			got = append(got, l.of(row)...)
		}
		r.near(c[0]+" constant column as JSON", got, want, 1e-11)
	}
	r.compare()
}

// TestMeanRuntime: the mean of the training rows, which has no direction, gets the coordinates of
// Embed in a graph where all others are at unit length.
func TestMeanRuntime(t *testing.T) {
	r := newRuntime(t)
	p := newProblem(t, 64, 4)
	for i, row := range p.train { // whole numbers, each with its opposite: their mean is 0
		for j, v := range row {
			if row[j] = math.Round(v); i%2 > 0 {
				row[j] = -p.train[i-1][j]
			}
		}
	}
	p.rows = append(p.rows, make([]float64, 4))
	m := p.fit(t, "adapt", "unit=yes", "unscaled")
	want := embed(t, m, table(t, p.rows))
	for _, precision := range []export.Precision{export.Double, export.Single} {
		r.add("adapt mean", m, precision, p.rows, nil, want)
	}
	r.compare()
}

// TestGapRuntime: without imputation a gap gives coordinates that are no numbers, and other rows
// keep theirs.
func TestGapRuntime(t *testing.T) {
	t.Parallel()
	p := newProblem(t, 60, 4)
	for _, c := range exportable {
		m := p.fit(t, c[0], c[1:]...)
		var file bytes.Buffer
		if _, err := export.ONNX(context.Background(), &file, m, export.ONNXOptions{}); err != nil {
			t.Fatal(err)
		}
		rows := [][]float64{slices.Clone(p.rows[0]), p.rows[1]}
		rows[0][1] = math.NaN()
		got, err := evaluate(file.Bytes(), export.Double, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		dims := m.Dim()
		want := embed(t, m, table(t, rows[1:]))
		for k, v := range got {
			if i := k / dims; i == 0 && v == v || i == 1 && !(math.Abs(v-want.At(0, k%dims)) <= 1e-6) {
				t.Errorf("%v: coordinate %d of row %d is %g", c, k%dims, i, v)
			}
		}
	}
}

// addSparse adds models of sparse rows, which are dense in graphs, one of them with the tf-idf.
func (r *runtime) addSparse(p problem) {
	rng := rand.New(rand.NewPCG(3, 3))
	start, column, counts := []int{0}, []int32{}, []float64{}
	dense := make([][]float64, 240)
	for i := range dense {
		dense[i] = make([]float64, 30)
		for j := range dense[i] {
			if rng.IntN(5) == 0 && i != 7 { // row 7 has no term
				dense[i][j] = float64(1 + rng.IntN(4) + 3*(i%3)*(j%2))
				column, counts = append(column, int32(j)), append(counts, dense[i][j])
			}
		}
		start = append(start, len(column))
	}
	x, err := mustlink.FromSparse(240, 30, start, column, counts)
	if err != nil {
		r.t.Fatal(err)
	}
	for name, option := range map[string]mustlink.Option{"sparse": mustlink.Unprepared(),
		"tfidf": mustlink.TFIDF()} {
		m, err := mustlink.Fit(context.Background(), x, p.links, mustlink.Method("krca"),
			mustlink.Param("dims", "4"), option)
		if err != nil {
			r.t.Fatal(err)
		}
		want := embed(r.t, m, x)
		r.add("krca "+name, m, export.Double, dense, nil, want)
		r.add("krca "+name, m, export.Single, dense, nil, want)
	}
}

// TestEveryMethod exports or refuses each method of the catalog.
func TestEveryMethod(t *testing.T) {
	p := newProblem(t, 60, 4)
	known := map[string]bool{}
	for _, c := range exportable {
		known[c[0]] = true
	}
	for _, c := range refused {
		known[c[0]] = true
		_, err := export.ONNX(context.Background(), &bytes.Buffer{}, p.fit(t, c[0]), export.ONNXOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), c[1]) {
			t.Errorf("%s: error %v: want %s …", c[0], err, c[1])
		}
	}
	for _, m := range catalog.Methods() {
		if !known[m.Name] {
			t.Errorf("%s: want it among the exportable or the refused methods", m.Name)
		}
	}
}
