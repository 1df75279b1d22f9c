package throughput

import (
	"fmt"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
)

// Markdown returns the results as tables.
func (r *Report) Markdown() string {
	var b strings.Builder
	if len(r.Fits) > 0 {
		b.WriteString("| a fit is | goroutines | fits/s | of one goroutine | from | to |\n| --- | ---: | " +
			"---: | ---: | ---: | ---: |\n")
		for _, f := range r.Fits {
			for _, a := range f.Among {
				fmt.Fprintf(&b, "| %s | %d | %s | %.2f | %.2f | %.2f |\n", f.What, a.Goroutines,
					count(a.PerSecond.Median), a.Gain.Median, a.Gain.Min, a.Gain.Max)
			}
		}
		b.WriteByte('\n')
	}
	if len(r.Flows) > 0 {
		b.WriteString("| embed | rows | rows/s | from | to | MB/s read | peak memory |\n| --- | ---: | " +
			"---: | ---: | ---: | ---: | ---: |\n")
		for _, f := range r.Flows {
			peak := "-"
			if f.Peak > 0 {
				peak = fault.FormatBytes(f.Peak)
			}
			perRow := float64(f.Bytes) / float64(f.Rows)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.0f | %s |\n", f.What, count(float64(f.Rows)),
				count(f.RowsPerSecond.Median), count(f.RowsPerSecond.Min), count(f.RowsPerSecond.Max),
				f.RowsPerSecond.Median*perRow/1e6, peak)
		}
		b.WriteByte('\n')
	}
	if len(r.Parses) > 0 {
		b.WriteString("| CSV, one core | MB | MB/s | from | to |\n| --- | ---: | ---: | ---: | ---: |\n")
		for _, p := range r.Parses {
			s := p.BytesPerSecond
			fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f | %.0f |\n", p.What, float64(p.Bytes)/1e6,
				s.Median/1e6, s.Min/1e6, s.Max/1e6)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// count returns a number as text, with commas between thousands.
func count(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Panels draws the fits per second and the gain relative to one goroutine.
func (r *Report) Panels() []view.Panel {
	rates := view.Lines{Title: "fits a second", XLabel: "goroutines", YLabel: "fits/s", LogX: true,
		LogY: true}
	gains := view.Lines{Title: "fits of one goroutine = 1", XLabel: "goroutines", YLabel: "gain", LogX: true}
	for _, f := range r.Fits {
		name := f.Name
		if f.GOGC != 0 {
			name += fmt.Sprintf(", GOGC=%d", f.GOGC)
		}
		if f.Kept != 0 {
			name += fmt.Sprintf(", %d kept", f.Kept)
		}
		rate, gain := view.Series{Name: name, Markers: true, Bars: true},
			view.Series{Name: name, Markers: true, Bars: true}
		for _, a := range f.Among {
			g := float64(a.Goroutines)
			rate.X, gain.X = append(rate.X, g), append(gain.X, g)
			rate.Y, rate.Low, rate.High = append(rate.Y, a.PerSecond.Median),
				append(rate.Low, a.PerSecond.Min), append(rate.High, a.PerSecond.Max)
			gain.Y, gain.Low, gain.High = append(gain.Y, a.Gain.Median), append(gain.Low, a.Gain.Min),
				append(gain.High, a.Gain.Max)
		}
		rates.Series, gains.Series = append(rates.Series, rate), append(gains.Series, gain)
	}
	return []view.Panel{rates, gains}
}
