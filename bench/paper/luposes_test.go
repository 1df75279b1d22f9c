package paper

import (
	"strings"
	"testing"
)

// TestLuPoseColumn: the three recalls are compared where ITML and diffusion have their printed
// values, whatever gml has there.
func TestLuPoseColumn(t *testing.T) {
	r := handmade(t, luFigure6(), "", func(trial int, row, column string) float64 {
		v := 0.1 + 0.003*float64(trial)
		if column == "drawn: similar, of others at 28" {
			switch row {
			case luThin, luDiffusion:
				v += 0.1215
			case "gml, round 5, gamma 100, p1":
				v += 0.2
			}
		}
		return v
	})
	list := r.Comparisons()
	want := []Verdict{Worse, Reproduced, Reproduced}
	if len(list) != len(want) {
		t.Fatalf("%+v", list)
	}
	for k, c := range list {
		if !strings.HasSuffix(c.What, "of others at 28") || c.Verdict != want[k] {
			t.Errorf("%+v: want %s", c, want[k])
		}
	}
	if c := luPoseClaims(r); c[0].Verdict != Reproduced || c[1].Verdict == Reproduced {
		t.Errorf("%+v", c)
	}
}

// TestLuFaces: the subjects are aligned from the first round whose recall at 10 reaches the
// threshold, or never; what the text says follows from the rows.
func TestLuFaces(t *testing.T) {
	d := &Drawing{Figure: luFigure5()}
	for system := range luRounds + 3 {
		d.Rows = append(d.Rows, []float64{float64(system), 0.3, 0.4, 0.5, 0.8 + 0.04*float64(system)})
	}
	d.Rows[luRounds+1] = []float64{float64(luRounds + 1), 0.2, 0.3, 0.4, 0.7}
	c := luFacesCompared(d)
	if len(c) != 1 || c[0].Ours.Mean != 3 || c[0].Verdict != Better {
		t.Errorf("%+v", c)
	}
	for _, c := range luFacesClaims(d) {
		if c.Verdict != Reproduced {
			t.Errorf("%+v", c)
		}
	}
	for _, row := range d.Rows {
		row[4] = 0.5
	}
	if c, claims := luFacesCompared(d), luFacesClaims(d); c[0].Ours.Mean != luRounds+1 ||
		c[0].Verdict != Worse || claims[0].Verdict != Worse || claims[1].Verdict != Reproduced {
		t.Errorf("%+v, %+v", c, claims)
	}
}
