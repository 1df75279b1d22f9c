package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

// The ticks of a linear axis are all multiples of one round number within the range, and
// their labels are their values.
func TestRoundTicks(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		width := math.Pow(10, rapid.Float64Range(-280, 290).Draw(rt, "log of the width"))
		lo := width * rapid.Float64Range(-1e6, 1e6).Draw(rt, "begin over width")
		hi := lo + width
		ticks := roundTicks{}.Ticks(lo, hi)
		if len(ticks) < 2 || len(ticks) > 8 {
			rt.Fatalf("%d ticks from %v to %v: want 2 to 8", len(ticks), lo, hi)
		}
		step, _ := roundStep((hi - lo) / 7)
		if lead := step / math.Pow(10,
			math.Floor(math.Log10(step)+1e-9)); math.Abs(lead-1)*math.Abs(lead-2)*math.Abs(lead-5) > 1e-6 {
			rt.Fatalf("step %v: want 1, 2 or 5 times a power of ten", step)
		}
		rounding := 1e-9*step + 0x1p-50*max(math.Abs(lo), math.Abs(hi)) // of the sums below
		if ticks[0].Value-step >= lo+rounding || ticks[len(ticks)-1].Value+step <= hi-rounding {
			rt.Fatalf("ticks %v leave out one from %v to %v", ticks, lo, hi)
		}
		for i, tick := range ticks {
			if tick.Value < lo || tick.Value > hi {
				rt.Fatalf("tick %v is outside", tick.Value)
			}
			if v, err := strconv.ParseFloat(tick.Label, 64); err != nil ||
				math.Abs(v-tick.Value) > 1e-6*step {
				rt.Fatalf("label %q of %v", tick.Label, tick.Value)
			}
			if i > 0 && math.Abs(tick.Value-ticks[i-1].Value-step) > 1e-6*step {
				rt.Fatalf("ticks %v and %v are not %v apart", ticks[i-1].Value, tick.Value, step)
			}
		}
	})
}

// A logarithmic axis has two to eight labels, which are the values of their ticks.
func TestDecades(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		length := rapid.Float64Range(0.1, 590).Draw(rt, "decades")
		begin := rapid.Float64Range(-295, 295-length).Draw(rt, "begin")
		lo, hi := begin, begin+length
		labels := 0
		for _, tick := range (decades{}).Ticks(lo, hi) {
			if tick.Value < lo-1e-9 || tick.Value > hi+1e-9 {
				rt.Fatalf("tick at %v is outside of %v to %v", tick.Value, lo, hi)
			}
			if tick.Label == "" {
				continue
			}
			labels++
			if v, err := strconv.ParseFloat(tick.Label, 64); err != nil ||
				math.Abs(math.Log10(v)-tick.Value) > 1e-6 {
				rt.Fatalf("label %q at %v", tick.Label, tick.Value)
			}
		}
		if labels < 2 || labels > 8 {
			rt.Fatalf("%d labels from 10^%v to 10^%v: want 2 to 8", labels, lo, hi)
		}
	})
}

func TestLabels(t *testing.T) {
	texts := func(ticks []plot.Tick) string {
		var out []string
		for _, tick := range ticks {
			if tick.Label != "" {
				out = append(out, tick.Label)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ got, want string }{
		{texts(roundTicks{}.Ticks(-1.7, 1.7)), "-1.5 -1.0 -0.5 0.0 0.5 1.0 1.5"},
		{texts(roundTicks{}.Ticks(-0.1, 6.1)), "0 1 2 3 4 5 6"},
		{texts(roundTicks{}.Ticks(0, 3e6)), "0 5e5 1.0e6 1.5e6 2.0e6 2.5e6 3.0e6"},
		{texts(decades{}.Ticks(math.Log10(0.45), math.Log10(30))), "0.5 1 2 5 10 20"},
		{texts(decades{}.Ticks(math.Log10(1e-6), math.Log10(1))), "1e-6 1e-5 1e-4 0.001 0.01 0.1 1"},
		{texts(decades{}.Ticks(math.Log10(1.1), math.Log10(1.5))), "1.1 1.2 1.3 1.4 1.5"},
	} {
		if c.got != c.want {
			t.Errorf("labels %q: want %q", c.got, c.want)
		}
	}
}

// A legend stays within its room, counts all groups that it omits, and lists the links as long as
// there is a line for them.
func TestLegendFits(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		room := vg.Point{X: vg.Length(rapid.Float64Range(50, 800).Draw(rt, "width")),
			Y: vg.Length(rapid.Float64Range(50, 800).Draw(rt, "height"))}
		groups, always := rapid.IntRange(0, 80).Draw(rt, "groups"), rapid.IntRange(0, 2).Draw(rt, "links")
		length := rapid.IntRange(1, 18).Draw(rt, "letters")
		var l legend
		for range groups {
			l.groups = append(l.groups, entry{text: strings.Repeat("m", length)})
		}
		for range always {
			l.always = append(l.always, entry{text: "link"})
		}
		fitted := l.fit(room)
		if fitted.width() > room.X/2 {
			rt.Fatalf("the legend is %v wide in %v", fitted.width(), room.X)
		}
		listed, more, links := 0, 0, 0
		for _, column := range fitted.columns {
			if vg.Length(len(column))*linePitch > room.Y {
				rt.Fatalf("%d lines in a room %v high", len(column), room.Y)
			}
			for _, e := range column {
				var n int
				if _, err := fmt.Sscanf(e.text, "and %d more", &n); err == nil {
					more += n
				} else if e.text == "link" {
					links++
				} else {
					listed++
				}
			}
		}
		if len(fitted.columns) > 0 && listed+more != groups {
			rt.Fatalf("%d groups listed and %d more: want %d", listed, more, groups)
		}
		if rows := int(room.Y/linePitch) - 2; len(fitted.columns) > 0 && rows >= 3 && links != always {
			rt.Fatalf("%d of %d links in a legend with %d rows", links, always, rows)
		}
	})
}

func TestLegend(t *testing.T) {
	s := cloud(100, 40)
	s.AllMust = 70
	svg := picture(t, Size{Width: 6, Height: 3}, s)
	for _, w := range []string{">0 (3)<", ">9 (3)<", ">must-link (10 of 70)<", ">cannot-link (10)<"} {
		if !strings.Contains(svg, w) {
			t.Errorf("the legend does not contain %q", w)
		}
	}
	var more int
	if _, err := fmt.Sscanf(svg[max(0, strings.Index(svg, ">and ")):], ">and %d more<", &more); err != nil ||
		more == 0 {
		t.Errorf("the legend does not count what it leaves out: %v", err)
	}
	if n := strings.Count(svg, " (3)<") + strings.Count(svg, " (2)<"); n+more != 40 {
		t.Errorf("%d groups listed and %d more: want 40", n, more)
	}
	s.NoLegend = true
	if svg := picture(t, Size{}, s); strings.Contains(svg, "must-link") || strings.Contains(svg, "(3)") {
		t.Error("a legend though none was wanted")
	}
	lines := picture(t, Size{},
		Lines{Series: []Series{{Name: "ours", X: []float64{1}, Y: []float64{1}},
			{X: []float64{1}, Y: []float64{1}}}})
	if !strings.Contains(lines, ">ours<") || !strings.Contains(lines, ">series 1<") {
		t.Error("the legend does not name the lines")
	}
}

// Up to 64 groups are distinct, and neighbors differ in both color and shape.
func TestMarkers(t *testing.T) {
	seen := map[[2]any]bool{}
	for g := range 64 {
		m := markerOf(g, 1)
		seen[[2]any{m.color, m.shape}] = true
		if next := markerOf(g+1, 1); next.color == m.color || next.shape == m.shape {
			t.Errorf("groups %d and %d share a color or a shape", g, g+1)
		}
	}
	if len(seen) != 64 {
		t.Errorf("%d markers for 64 groups", len(seen))
	}
	if many, few := cloud(20000, 2).markers()["1"], cloud(20, 2).markers()["1"]; many.radius >= few.radius ||
		many.color.A >= few.color.A {
		t.Errorf("markers of many points %v, of few %v: want them smaller and more translucent", many, few)
	}
}

// TestThin: labels that would touch are left out, and no others; a text that is too long gets
// smaller, then two lines, and is cut only if these do not suffice.
func TestThin(t *testing.T) {
	for _, c := range []struct {
		length vg.Length
		want   string
	}{{300, "0 100 200 300 400"}, {70, "0 200 400"}, {10, "0"}} {
		p := NewPlot("", "", "")
		p.X.Min, p.X.Max = 0, 400
		thin(&p.X, c.length)
		var labels []string
		for _, tick := range p.X.Tick.Marker.Ticks(0, 400) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("on %v points: labels %q: want %q", c.length, got, c.want)
		}
	}
	p := NewPlot("", "a label of several words", "")
	whole := p.X.Label.TextStyle.Width(p.X.Label.Text)
	for _, c := range []struct {
		share float64
		cut   bool
		lines int
	}{{1, false, 1}, {0.85, false, 1}, {0.6, false, 2}, {0.2, true, 2}} {
		text, style := p.X.Label.Text, p.X.Label.TextStyle
		fitText(&text, &style, whole*vg.Length(c.share))
		if lines := strings.Count(text, "\n") + 1; lines != c.lines || strings.Contains(text, "…") != c.cut ||
			style.Width(text) > whole*vg.Length(c.share) {
			t.Errorf("in %v of its width: %q", c.share, text)
		}
	}
}
