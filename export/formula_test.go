package export_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/export"
)

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
		`points of the model is "sequences": want vectors`: sequences, `points of the model is "rows of a Gram matrix": want vectors`: products,
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
