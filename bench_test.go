package mustlink_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
)

// BenchmarkFit fits krca to 150 rows of 4 features, in turn through this package and through the
// catalog's learner, and reports the ratio of fits per second: 1 if this package adds no cost. The
// ratio is the median over batches.
func BenchmarkFit(b *testing.B) {
	ctx := context.Background()
	d := try(dataset.Generate("blobs", dataset.GenerateOptions{N: 150, Seed: 1}))
	rows := make([][]float64, d.Points.Len())
	for i := range rows {
		x, y := d.Points.(interface{ Row(int) []float64 }).Row(i)[0],
			d.Points.(interface{ Row(int) []float64 }).Row(i)[1]
		rows[i] = []float64{x, y, x * y, x - y}
	}
	table := try(try(mustlink.FromRows(rows)).WithLabels(d.Labels))
	pairs := try(table.SampleLinks(50, 0, 1))
	eng := try(engine.New(engine.Options{}))
	learner := try(catalog.New("krca", catalog.Config{Seed: 1}))
	door := func() { try(mustlink.Fit(ctx, table, pairs, mustlink.Method("krca"), mustlink.Engine(eng))) }
	direct := func() { try(learner.Fit(ctx, eng, table.Data().Points, pairs)) }
	const batch = 20
	var ratios []float64
	for b.Loop() {
		ratios = append(ratios, float64(took(batch, direct))/float64(took(batch, door)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "door/direct")
}

// took returns the duration of count calls.
func took(count int, call func()) time.Duration {
	begin := time.Now()
	for range count {
		call()
	}
	return time.Since(begin)
}
