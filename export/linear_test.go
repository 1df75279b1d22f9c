package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/export"
)

// linearMap is the content of a JSON file that this test uses.
type linearMap struct {
	Features []struct {
		Name, Column, Kind string
		Missing            *float64
		Texts              []string
		NotMissing         []string `json:"not_missing"`
	}
	MissingTexts           []string `json:"missing_texts"`
	Center, Offset         []float64
	Transform, Mahalanobis [][]float64
}

// coordinates of a row of features.
func (l linearMap) of(f []float64) []float64 {
	y := make([]float64, len(l.Transform))
	for c, row := range l.Transform {
		y[c] = -l.Offset[c]
		for j, v := range row {
			y[c] += v * (f[j] - l.Center[j])
		}
	}
	return y
}

// linearModels are models with linear maps, those of kernels among them.
var linearModels = [][]string{
	{"rca"}, {"itml"}, {"lmnn", "unscaled"}, {"lleratio", "mode=linear"}, {"kpca", "kernel=linear"},
	{"krca", "kernel=linear", "dims=3", "form=cholesky"}, {"adapt"},
	{"parts", "base=lleratio", "kernel=linear", "size=20", "dims=4"},
}

// TestJSON compares coordinates and distances of the description with those of the model.
func TestJSON(t *testing.T) {
	p := newProblem(t, 120, 5)
	rows := table(t, p.rows)
	for _, c := range linearModels {
		m := p.fit(t, c[0], c[1:]...)
		var text bytes.Buffer
		if err := export.JSON(&text, m, export.Limits{}); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		var l linearMap
		if err := json.Unmarshal(text.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if len(l.Features) != 5 || l.Features[2].Column != "2" || l.Features[2].Missing != nil {
			t.Errorf("%v: features %v: want five numbers that are never missing", c, l.Features)
		}
		var got []float64
		for _, row := range p.rows {
			got = append(got, l.of(row)...)
		}
		if off := distance(got, embed(t, m, rows)); !(off <= 1e-11) {
			t.Errorf("%v: coordinates differ by %.2g of the largest", c, off)
		}
		pairs := [][2]int{{0, 1}, {5, 900}, {17, 333}}
		want, err := m.Distances(context.Background(), rows, pairs)
		if err != nil {
			t.Fatal(err)
		}
		if c[0] == "krca" {
			continue // its distances use all directions
		}
		for k, pair := range pairs {
			d := make([]float64, 5)
			for j := range d {
				d[j] = p.rows[pair[0]][j] - p.rows[pair[1]][j]
			}
			x := mat.NewVecDense(5, d)
			a := mat.NewDense(5, 5, nil)
			for i, row := range l.Mahalanobis {
				a.SetRow(i, row)
			}
			if got := math.Sqrt(mat.Inner(x, a, x)); !(math.Abs(got-want[k]) <= 1e-9*want[k]) {
				t.Errorf("%v: distance %g by the Mahalanobis matrix, %g by the model", c, got, want[k])
			}
		}
	}
}

// TestNotLinear refuses maps that are not linear, and columns without names.
func TestNotLinear(t *testing.T) {
	p := newProblem(t, 60, 4)
	for want, err := range map[string]error{
		`method of the model is "krca": want one with a linear map`: export.JSON(&bytes.Buffer{},
			p.fit(t, "krca"), export.Limits{}),
		`method of the model is "itml": want one with a linear map`: export.SQL(&bytes.Buffer{},
			p.fit(t, "itml", "kernel=cosine"), export.Postgres, export.Limits{}),
		`method of the model is "adapt": want one with a linear map, which coordinates at unit`: export.JSON(
			&bytes.Buffer{}, p.fit(t, "adapt", "unit=yes"), export.Limits{}),
		`method of the model is "adapt": want one with a linear map, which coordinates at`: export.SQL(
			&bytes.Buffer{}, p.fit(t, "adapt", "unit=yes"), export.Postgres, export.Limits{}),
		`method of the model is "adapt": want one with a formula for new rows (with smooth=0`: onnxError(
			p.fit(t, "adapt", "smooth=5"), export.ONNXOptions{}),
		`columns of the model is "without names": want names`: export.SQL(&bytes.Buffer{},
			p.fit(t, "rca"), export.Postgres, export.Limits{}),
		`dialect is "oracle": want one of postgres`: export.SQL(&bytes.Buffer{},
			p.fit(t, "rca"), "oracle", export.Limits{}),
		`precision is "half"`: onnxError(p.fit(t, "rca"), export.ONNXOptions{Precision: "half"}),
		`a number of the model is beyond single precision`: onnxError(tiny(p).fit(t, "krca", "unscaled",
			"kernel=rbf:sigma=mean", "dims=2"), export.ONNXOptions{Precision: export.Single}),
		`precision is "single": want double for a model of method npkl`: onnxError(p.fit(t, "npkl"),
			export.ONNXOptions{Precision: export.Single}),
		`precision is "single": want double, as float32 has no`: onnxError(fitMixed(t, "rca",
			mustlink.Preparing{Kinds: map[string]mustlink.ColumnKind{"age": "category"}, Levels: 4}),
			export.ONNXOptions{Precision: export.Single}),
		`the terms of the model exceed its coordinates`: export.JSON(&bytes.Buffer{},
			offset(t, offsets["negative"], 60).fit(t, "kpca", "kernel=cosine", "unscaled"), export.Limits{}),
		`writing the ONNX file`: onnxError(p.fit(t, "krca"),
			export.ONNXOptions{Limits: export.Limits{Memory: 8000}}),
		`a linear map of 4 features`: export.JSON(&bytes.Buffer{},
			p.fit(t, "rca"), export.Limits{Memory: 100}),
		`model is <nil>: want a model made by Fit or Load`: export.JSON(&bytes.Buffer{}, nil,
			export.Limits{}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v: want %s …", err, want)
		}
	}
}

// tiny returns a problem whose squared distances float32 does not have.
func tiny(p problem) problem {
	out := p
	out.train = nil
	for _, row := range p.train {
		small := make([]float64, len(row))
		for j, v := range row {
			small[j] = v * 0x1p-80
		}
		out.train = append(out.train, small)
	}
	return out
}

func onnxError(m *mustlink.Model, o export.ONNXOptions) error {
	_, err := export.ONNX(context.Background(), &bytes.Buffer{}, m, o)
	return err
}

// offsets are columns whose values differ by little of what they are: each by its smallest value
// and the width of its range.
var offsets = map[string][][2]float64{
	"millions": {{1e6, 1}, {0, 1}},
	"seconds":  {{1.7e9, 86400}, {0, 25}},
	"meters":   {{389000, 1000}, {5820000, 1000}},
	"degrees":  {{52.5, .04}, {13.4, .06}},
	"years":    {{1950, 75}, {0, 3}, {1e4, 1e3}},
	"negative": {{-4e6, .5}, {-1e5, 1}, {3, 1e-3}},
}

// offset returns a problem of single precision numbers: what a graph takes.
func offset(t testing.TB, columns [][2]float64, n int) problem {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	p := newProblem(t, n, 2)
	p.rows = nil
	for i := range 200 + n {
		row := make([]float64, len(columns))
		for j, c := range columns {
			row[j] = c[0] + c[1]*(rng.Float64()+float64(i%3)*float64(j%2))/2
		}
		if i < n {
			p.train[i] = row
			continue
		}
		for j, v := range row {
			row[j] = float64(float32(v))
		}
		p.rows = append(p.rows, row)
	}
	return p
}

// TestOffsetRuntime compares graphs of every method with Embed on numbers far from zero.
func TestOffsetRuntime(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	for name, columns := range offsets {
		p := offset(t, columns, 90)
		for _, c := range exportable {
			r.addOffset(name, p, c)
		}
		for _, c := range unscaledOffsets {
			r.addOffset(name, p, append([]string{c[0], "unscaled"}, c[1:]...))
		}
	}
	r.compare()
}

// unscaledOffsets are methods that are also fitted to the numbers as they are.
var unscaledOffsets = [][]string{
	{"rca"}, {"xrca"}, {"adapt"}, {"adapt", "unit=yes"}, {"lfda"}, {"covariance"}, {"itml"}, {"lmnn"},
	{"mmc"}, {"raw"}, {"lleratio"},
	{"krca", "dims=4"}, {"gml"}, {"llma"}, {"parts"},
	{"kpca", "kernel=exp:width=2"}, {"kpca", "kernel=poly:degree=2"}, {"kpca", "kernel=cosine"},
	{"kpca", "kernel=linear"}, {"krca", "kernel=linear"},
}

// addOffset adds a model, unless its points coincide up to rounding, or its export is refused since
// the coordinates do.
func (r *runtime) addOffset(name string, p problem, c []string) {
	m, err := p.tryFit(r.t, c[0], c[1:]...)
	if fault.IsInput(err) {
		return
	}
	if err != nil {
		r.t.Fatal(err)
	}
	f, err := m.Record().Model.(algorithms.Formulas).Formula()
	if err != nil {
		r.t.Fatal(err)
	}
	want := embed(r.t, m, table(r.t, p.rows))
	name += " " + strings.NewReplacer("/", " ", ":", " ").Replace(strings.Join(c, " "))
	for _, precision := range []export.Precision{export.Double, export.Single} {
		limit := limitOf(m, precision)
		if precision == export.Double && formula.Condition(f) < math.Inf(1) {
			limit = max(limit, 0x1p-50*formula.Condition(f))
		}
		var file bytes.Buffer
		switch _, err := export.ONNX(context.Background(), &file, m,
			export.ONNXOptions{Precision: precision}); {
		case err == nil:
			r.addFile(name, file.Bytes(), precision, p.rows, nil, want, limit)
		case !fault.IsInput(err):
			r.t.Errorf("%s: %v", name, err)
		default:
			r.t.Logf("%s %s: %v", name, precision, err)
		}
	}
}

// TestOffsetJSON compares linear maps with Embed on numbers far from zero.
func TestOffsetJSON(t *testing.T) {
	for name, columns := range offsets {
		p := offset(t, columns, 90)
		for _, c := range [][]string{{"rca"}, {"rca", "unscaled"}, {"itml"}, {"lfda"},
			{"covariance", "unscaled"}, {"lleratio", "mode=linear"}, {"lmnn", "unscaled"},
			{"kpca", "kernel=linear"}} {
			m := p.fit(t, c[0], c[1:]...)
			var text bytes.Buffer
			if err := export.JSON(&text, m, export.Limits{}); err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			var l linearMap
			if err := json.Unmarshal(text.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			var got []float64
			for _, row := range p.rows {
				got = append(got, l.of(row)...)
			}
			if off := distance(got, embed(t, m, table(t, p.rows))); !(off <= 1e-12) {
				t.Errorf("%s %v: coordinates differ by %.2g of the largest", name, c, off)
			}
		}
	}
}

// TestFormulas compares the formulas of models, evaluated one by one, with Embed.
func TestFormulas(t *testing.T) {
	p := newProblem(t, 120, 5)
	rows := table(t, p.rows[100:140]) // training rows and new ones
	for _, c := range exportable {
		m := p.fit(t, c[0], c[1:]...)
		f, err := m.Record().Model.(algorithms.Formulas).Formula()
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		x, err := m.Record().Prepare(rows.Data())
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for i := range x.Len() {
			y, _ := formula.Evaluate(f, x.(*points.Dense).Row(i))
			got = append(got, y...)
		}
		limit := 4 * max(limitOf(m, export.Double), 2*0x1p-52*formula.Condition(f))
		if off := distance(got, embed(t, m, rows)); !(off <= limit) {
			t.Errorf("%v: coordinates of the formula differ by %.2g of the largest", c, off)
		}
	}
}

// TestCondition compares the condition of a map with that of one whose terms cancel to a millionth.
func TestCondition(t *testing.T) {
	p := newProblem(t, 60, 3)
	m := p.fit(t, "kpca", "kernel=rbf:sigma=1", "dims=2")
	f, err := m.Record().Model.(algorithms.Formulas).Formula()
	if err != nil {
		t.Fatal(err)
	}
	plain := f.(*formula.Expansion)
	before := formula.Condition(plain)
	y, terms := formula.Evaluate(plain, p.train[0])
	for c := range y {
		if !(terms[c] >= y[c] && terms[c] >= -y[c]) {
			t.Errorf("terms %g of coordinate %g: want at least its magnitude", terms[c], y[c])
		}
	}
	sum := &formula.Sum{Terms: []formula.Map{plain, scaled(plain, 1e6), scaled(plain, -1e6)}}
	if after := formula.Condition(sum); !(after > 1e6*before && after < 4e6*before) {
		t.Errorf("condition %g after %g: want 2e6 times as much", after, before)
	}
	if c := formula.Condition(&formula.Linear{W: plain.V}); !math.IsInf(c, 1) {
		t.Errorf("condition %g of a linear map, whose rows are not known: want +Inf", c)
	}
}

// scaled returns a map multiplied by a number.
func scaled(m *formula.Expansion, by float64) *formula.Expansion {
	out := *m
	out.V = m.V.Clone()
	out.Center = nil
	for l := range out.V.Rows {
		for c := range out.V.Row(l) {
			out.V.Row(l)[c] *= by
		}
	}
	for _, v := range m.Center {
		out.Center = append(out.Center, by*v)
	}
	return &out
}

// TestRefusedPoints refuses models of sequences and of rows of a Gram matrix.
func TestRefusedPoints(t *testing.T) {
	letters, gram := []string{}, mat.NewDense(30, 30, nil)
	p := newProblem(t, 30, 4)
	for i, x := range p.train {
		letters = append(letters, strings.Repeat([]string{"ACGT", "AACC", "TTGA"}[i%3], 3+i%4))
		for j, y := range p.train {
			gram.Set(i, j, mat.Dot(mat.NewVecDense(4, x), mat.NewVecDense(4, y)))
		}
	}
	sequences, err := mustlink.FromSequences("ACGT", letters)
	if err != nil {
		t.Fatal(err)
	}
	products, err := mustlink.FromGram(gram, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, x := range map[string]*mustlink.Table{
		`points of the model is "sequences": want vectors`:             sequences,
		`points of the model is "rows of a Gram matrix": want vectors`: products,
	} {
		m, err := mustlink.Fit(context.Background(), x, p.links, mustlink.Method("krca"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = export.ONNX(context.Background(), nil, m, export.ONNXOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v: want %s …", err, want)
		}
	}
}
