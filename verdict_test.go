package mustlink_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine/fault"
)

// TestHoldOut: a fit with HoldOut has a verdict, which its file keeps and an update drops; the
// metric is that of a fit without it.
func TestHoldOut(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 200)
	plain := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("krca")))
	if plain.Verdict() != nil {
		t.Errorf("without HoldOut: %v", plain.Verdict())
	}
	m := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("krca"), mustlink.HoldOut(1)))
	v := m.Verdict()
	if v.Fits != 1 || v.Finding() == verdict.Unknown || !strings.Contains(v.String(), "AUC") {
		t.Fatalf("%+v", v)
	}
	equal(t, "Embed", try(m.Embed(ctx, table)), try(plain.Embed(ctx, table)))
	var file bytes.Buffer
	try(m.WriteTo(&file))
	again := try(mustlink.LoadFrom(bytes.NewReader(file.Bytes()), int64(file.Len())))
	if got := again.Verdict(); got.String() != v.String() || got.GainError != v.GainError {
		t.Errorf("from the file: %+v, want %+v", got, v)
	}
	more := try(table.SampleLinks(3, 0, 9))
	if updated := try(m.Update(ctx, table, more)); updated.Verdict() != nil {
		t.Errorf("after an update: %v", updated.Verdict())
	}
}

// TestNothingToHoldOut: comparisons and few links have no verdict, and say why.
func TestNothingToHoldOut(t *testing.T) {
	ctx := t.Context()
	table, _ := problem(t, 60)
	few := try(table.SampleLinks(2, 2, 1))
	for name, m := range map[string]*mustlink.Model{
		"few": try(mustlink.Fit(ctx, table, few, mustlink.HoldOut(1))),
		"triplets": try(mustlink.Fit(ctx, table, nil,
			mustlink.Triplets([]mustlink.Triplet{{I: 0, J: 2, K: 1}}), mustlink.HoldOut(1))),
	} {
		if v := m.Verdict(); v.Missing == "" || v.Finding() != verdict.Unknown {
			t.Errorf("%s: %+v", name, v)
		}
	}
	for _, folds := range []int{-1, 1001} {
		if _, err := mustlink.Fit(ctx, table, few, mustlink.HoldOut(folds)); !fault.IsInput(err) {
			t.Errorf("%d folds: %v", folds, err)
		}
	}
}

// TestLighterMethods: a method that nobody named gives way to a lighter one where the memory limit
// does not allow it; a named one is an error.
func TestLighterMethods(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 400)
	m := try(mustlink.Fit(ctx, table, pairs))
	if d := m.Describe(); d.Method != "blend" || d.Chosen != "there are links of both kinds" {
		t.Errorf("%s, %s", d.Method, d.Chosen)
	}
	const limit = 2 << 20
	m = try(mustlink.Fit(ctx, table, pairs, mustlink.MemoryLimit(limit)))
	if d := m.Describe(); d.Method == "blend" ||
		!strings.Contains(d.Chosen, "above the memory limit of 2.0 MiB") {
		t.Errorf("%s, %s", d.Method, d.Chosen)
	}
	var refused *fault.MemoryError
	if _, err := mustlink.Fit(ctx, table, pairs, mustlink.Method("blend"),
		mustlink.MemoryLimit(limit)); !errors.As(err, &refused) {
		t.Errorf("blend by name: %v", err)
	}
	const tight = 100 << 10 // no method fits; nobody named one, so the way out names no parameter of it
	if _, err := mustlink.Fit(ctx, table, pairs, mustlink.MemoryLimit(tight)); !errors.As(err, &refused) ||
		!strings.HasSuffix(err.Error(), "raise the memory limit, or fit a sample of the rows") {
		t.Errorf("limit %d: %v", tight, err)
	}
	_, err := mustlink.Fit(ctx, table, pairs, mustlink.Method("itml"), mustlink.MemoryLimit(tight))
	if err == nil || !strings.Contains(err.Error(), "upper and lower") {
		t.Errorf("itml by name, limit %d: %v", tight, err)
	}
}

// TestRawIfWorse: where held-out links find the chosen metric worse than the rows, the model is the
// rows, and says so; a method or kernel that was named, and KeepWorse, keep the metric.
func TestRawIfWorse(t *testing.T) {
	ctx := t.Context()
	table, pairs := misleading(t)
	m := try(mustlink.Fit(ctx, table, pairs, mustlink.HoldOut(5)))
	v := m.Verdict()
	about := m.Describe()
	if about.Method != "raw" || !strings.Contains(about.Chosen, "blend worse") || v.Rejected != "blend" ||
		v.Found != verdict.Worse || !strings.Contains(v.String(), "which the model is") {
		t.Fatalf("method %s, %+v", about.Method, v)
	}
	raw := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("raw")))
	equal(t, "Embed", try(m.Embed(ctx, table)), try(raw.Embed(ctx, table)))
	var file bytes.Buffer
	try(m.WriteTo(&file))
	again := try(mustlink.LoadFrom(bytes.NewReader(file.Bytes()), int64(file.Len())))
	if got := again.Verdict(); got.Rejected != "blend" || got.String() != v.String() {
		t.Errorf("from the file: %+v", got)
	}
	learned := try(mustlink.Fit(ctx, table, pairs))
	for name, option := range map[string]mustlink.Option{
		"method": mustlink.Method("blend"), "keep": mustlink.KeepWorse(),
	} {
		kept := try(mustlink.Fit(ctx, table, pairs, mustlink.HoldOut(5), option))
		if kept.Verdict().Found != verdict.Worse || kept.Verdict().Rejected != "" {
			t.Errorf("%s: %+v", name, kept.Verdict())
		}
		equal(t, name, try(kept.Embed(ctx, table)), try(learned.Embed(ctx, table)))
	}
}

// misleading returns rows whose two near ones are linked, in so many directions of noise that
// nothing can be learned from links.
func misleading(t *testing.T) (*mustlink.Table, *mustlink.Links) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 1))
	const groups, size, d = 40, 3, 30
	var rows [][]float64
	var labels []string
	for g := range groups {
		center := make([]float64, d)
		for j := range center {
			center[j] = rng.NormFloat64()
		}
		for range size {
			row := make([]float64, d)
			for j := range row {
				row[j] = center[j] + .7*rng.NormFloat64()
			}
			rows, labels = append(rows, row), append(labels, strconv.Itoa(g))
		}
	}
	table := try(try(mustlink.FromRows(rows)).WithLabels(labels))
	return table, try(table.SampleLinks(60, 60, 1))
}
