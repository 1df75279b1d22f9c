package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink"
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
	{"rca"}, {"itml"}, {"lmnn", "unscaled"}, {"lleratio", "mode=linear"}, {"kpca", "kernel=linear"}, {"krca", "kernel=linear", "dims=3", "form=cholesky"},
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
		`method of the model is "krca": want one with a linear map`: export.JSON(&bytes.Buffer{}, p.fit(t, "krca"), export.Limits{}),
		`method of the model is "itml": want one with a linear map`: export.SQL(&bytes.Buffer{}, p.fit(t, "itml", "kernel=cosine"), export.Postgres, export.Limits{}),
		`columns of the model is "without names": want names`:       export.SQL(&bytes.Buffer{}, p.fit(t, "rca"), export.Postgres, export.Limits{}),
		`dialect is "oracle": want one of postgres`:                 export.SQL(&bytes.Buffer{}, p.fit(t, "rca"), "oracle", export.Limits{}),
		`precision is "half"`: onnxError(p.fit(t, "rca"), export.ONNXOptions{Precision: "half"}),
		`precision is "single": want double for a model of method npkl`: onnxError(p.fit(t, "npkl"), export.ONNXOptions{Precision: export.Single}),
		`precision is "single": want double, as float32 has no`:         onnxError(fitMixed(t, "rca", mustlink.Preparing{Kinds: map[string]mustlink.ColumnKind{"age": "category"}, Levels: 4}), export.ONNXOptions{Precision: export.Single}),
		`the terms of the model exceed its coordinates`:                 export.JSON(&bytes.Buffer{}, offset(t, offsets["negative"], 60).fit(t, "kpca", "kernel=cosine", "unscaled"), export.Limits{}),
		`writing the ONNX file`:                                         onnxError(p.fit(t, "krca"), export.ONNXOptions{Limits: export.Limits{Memory: 8000}}),
		`a linear map of 4 features`:                                    export.JSON(&bytes.Buffer{}, p.fit(t, "rca"), export.Limits{Memory: 100}),
		`model is <nil>: want a model made by Fit or Load`:              export.JSON(&bytes.Buffer{}, nil, export.Limits{}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v: want %s …", err, want)
		}
	}
}

func onnxError(m *mustlink.Model, o export.ONNXOptions) error {
	_, err := export.ONNX(context.Background(), &bytes.Buffer{}, m, o)
	return err
}
