package mustlink_test

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
)

// TestCalibrate: the counts of the calibration are those of the learned distances of the links; a
// file keeps it; the model that it was made from has none; an update drops it.
func TestCalibrate(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 120)
	held := try(table.SampleLinks(40, 40, 9))
	m := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("itml")))
	calibrated := try(m.Calibrate(ctx, table, held))
	if m.Calibration() != nil {
		t.Error("Calibrate changed its model")
	}
	c := calibrated.Calibration()
	if must, cannot := c.Count(); must != 40 || cannot != 40 {
		t.Errorf("%d and %d links: want 40 of each kind", must, cannot)
	}
	list := append(append([]mustlink.Link{}, held.Must()...), held.Cannot()...)
	var rows [][2]int
	for _, l := range list {
		rows = append(rows, [2]int{l.I, l.J})
	}
	distances := try(m.Distances(ctx, table, rows))
	for k, limit := range distances {
		must, cannot := 0, 0
		limit *= 1 + 1e-9 // distances and coordinates differ by rounding
		for l, d := range distances {
			if d <= limit && l < 40 {
				must++
			} else if d <= limit {
				cannot++
			}
		}
		if at := c.At(limit); at.Must != must || at.Cannot != cannot {
			t.Fatalf("up to link %d: %d and %d links, want %d and %d", k, at.Must, at.Cannot, must, cannot)
		}
	}
	path := filepath.Join(t.TempDir(), "model.mlk")
	try(path, calibrated.Save(path))
	again := try(mustlink.Load(path))
	if !reflect.DeepEqual(again.Calibration(), c) {
		t.Error("the file has another calibration")
	}
	if updated := try(again.Update(ctx, table,
		try(mustlink.NewLinks(120, [][2]int{{0, 2}}, nil)))); updated.Calibration() != nil {
		t.Error("an update keeps the calibration of other distances")
	}
}

// TestModelPairs compares with the distances of all pairs in the coordinates.
func TestModelPairs(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 150)
	m := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("rca")))
	y := try(m.Embed(ctx, table))
	const threshold = 0.3
	got := map[[2]int32]float64{}
	last := 0.0
	for _, p := range try(m.Pairs(ctx, table, threshold, mustlink.PairOptions{})) {
		if got[[2]int32{p.I, p.J}] = p.Distance; p.Distance < last || p.I >= p.J {
			t.Fatalf("pair %+v after distance %v", p, last)
		}
		last = p.Distance
	}
	want := 0
	for i := range 150 {
		for j := range i {
			d := 0.0
			for c := range y.RawMatrix().Cols {
				d = math.Hypot(d, y.At(i, c)-y.At(j, c))
			}
			found, there := got[[2]int32{int32(j), int32(i)}]
			if there != (d <= threshold) || there && math.Abs(found-d) > 1e-12 {
				t.Fatalf("rows %d and %d at %v: %v, %v", j, i, d, found, there)
			}
			if there {
				want++
			}
		}
	}
	if want != len(got) || want == 0 || want == 150*149/2 {
		t.Errorf("%d pairs, want %d", len(got), want)
	}
}

// TestMisuseOfCalibration: mistakes are errors of the input.
func TestMisuseOfCalibration(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 60)
	m := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("rca")))
	var empty *mustlink.Model
	var none context.Context
	for name, f := range map[string]func() error{
		"no model":   func() error { _, err := empty.Calibrate(ctx, table, pairs); return err },
		"no context": func() error { _, err := m.Calibrate(none, table, pairs); return err },
		"no table":   func() error { _, err := m.Calibrate(ctx, nil, pairs); return err },
		"no links":   func() error { _, err := m.Calibrate(ctx, table, nil); return err },
		"other rows": func() error {
			_, err := m.Calibrate(ctx, table, try(mustlink.NewLinks(9, nil, nil)))
			return err
		},
		"one kind": func() error {
			_, err := m.Calibrate(ctx, table, pairs.WithoutCannot())
			return err
		},
		"threshold": func() error {
			_, err := m.Pairs(ctx, table, math.Inf(1), mustlink.PairOptions{})
			return err
		},
		"pairs of none": func() error { _, err := m.Pairs(ctx, nil, 1, mustlink.PairOptions{}); return err },
		"too many pairs": func() error {
			_, err := m.Pairs(ctx, table, 100, mustlink.PairOptions{Most: 5})
			return err
		},
	} {
		if err := f(); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.Pairs(canceled, table, 1, mustlink.PairOptions{}); err == nil || fault.IsInput(err) {
		t.Errorf("canceled: error %v", err)
	}
	if empty.Calibration() != nil {
		t.Error("an empty model has a calibration")
	}
}
