// Package viewtest provides what tests of the report page share, in this module and in a browser.
package viewtest

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/internal/view"
)

// hostile are texts that a careless page would run as code.
var hostile = []string{
	`</script><script>window.broken = true</script>`, `<img src=x onerror="window.broken=true">`,
	`"; window.broken = true; "`,
	"<!-- <script>", "]]>", "\u2028\u2029", "שלום עולם", "👩‍🔬 🧪", strings.Repeat("long ", 200_000), "",
	"{{.Title}}", "\x00\x1b[31m",
}

// Sample returns a report about n points whose texts are hostile.
func Sample(n int) *view.Report {
	r := &view.Report{
		Title: "sample " + hostile[0], Summary: hostile[1], Warnings: []string{hostile[2], hostile[3]},
		Data: []view.Fact{{Name: "rows", Value: hostile[0]}}, Links: []view.Fact{{Name: "must", Value: "3"}},
		Scores: view.Scores{Note: hostile[5], Columns: []string{"balanced Rand", hostile[1]},
			Rows: []view.Row{
				{Name: "raw", Scores: []view.Score{{Mean: 0.5, SD: 0.01},
					{Mean: math.NaN(), SD: math.NaN()}}},
				{Name: "krca", Note: hostile[1],
					Scores: []view.Score{{Mean: 0.9, SD: math.NaN(), InSample: true}, {Mean: 1, SD: 0}}},
			}},
		Models: []view.Model{{
			Name: "krca", About: hostile[0], Facts: []view.Fact{{Name: "kernel", Value: "rbf"}},
			Notices: []string{hostile[2]},
			Verdict: &view.Verdict{Finding: "better", Headline: "better than raw", Judged: true, AUC: 0.93,
				Error: 0.02, Raw: 0.71, Note: hostile[1], Reasons: []string{hostile[0]}},
			Importance: &view.Importance{Note: "shares",
				Bars: []view.Bar{{Name: hostile[1], Length: 1, Value: "60 %"},
					{Name: strings.Repeat("wide", 40), Length: 0.5, Value: "30 %"}}},
		}, {Name: "none", Verdict: &view.Verdict{Finding: "unknown", Headline: "not judged: too few links"}}},
		Curves: []view.Picture{{Title: "ROC",
			SVG: []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="700" height="10"><rect width="700" height="5"/></svg>`)}},
		Pictures: []view.Picture{{Title: "trace",
			SVG: []byte(`<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="5" height="5"/></svg>`)}},
		Command: "mustlink report " + hostile[0], Versions: []view.Fact{{Name: "mustlink", Value: "test"}},
	}
	p := &r.Points
	p.Count = n
	var x, y, z []float64
	for i := range n {
		p.Labels = append(p.Labels, hostile[i%len(hostile)])
		p.IDs = append(p.IDs, hostile[(i+3)%8])
		x, y, z = append(x, math.Cos(float64(i))), append(y, math.Sin(float64(i))), append(z, float64(i)*1e-3)
	}
	p.Features = []view.Feature{{Name: hostile[1], Values: z}, {Name: "x", Values: x}}
	p.Views = []view.Layout{
		{Name: "raw", XLabel: "first", YLabel: "second", X: x, Y: y, Before: true, Near: near(n, 1)},
		{Name: "krca", XLabel: "a", YLabel: "b", X: y, Y: z, Clusters: make([]int, n), NoScale: true,
			Near: near(n, 2)},
		{Name: hostile[0], XLabel: "a", YLabel: "b", X: z, Y: x},
	}
	for i := 0; i+2 < n; i += 2 {
		p.Must = append(p.Must, [2]int{i, i + 1})
		p.Cannot = append(p.Cannot, [2]int{i, i + 2})
	}
	for i := range min(n-1, 30) {
		link := []string{"must", "cannot"}[i%2]
		r.Violations = append(r.Violations,
			view.Violation{I: i, J: i + 1, Link: link, Line: i + 2, Metric: "krca", Distance: 1 + float64(i),
				Expected: 1, Excess: 1 + float64(i*7%11)})
	}
	return r
}

// near returns two neighbors of each of n points: those with the next numbers, step apart.
func near(n, step int) *view.Neighbors {
	out := &view.Neighbors{Count: 2}
	for i := range n {
		for k := 1; k <= 2; k++ {
			out.Index, out.Distance = append(out.Index, int32((i+k*step)%n)), append(out.Distance, float64(k))
		}
	}
	return out
}

// Written returns the page of a report.
func Written(t testing.TB, r *view.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := view.WriteReport(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
