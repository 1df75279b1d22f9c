package view

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// roundTicks marks the multiples of 1, 2 or 5 times a power of ten: two to eight of them.
type roundTicks struct{}

// Ticks implements plot.Ticker of the plotting library.
func (roundTicks) Ticks(lo, hi float64) []plot.Tick {
	step, exponent := roundStep((hi - lo) / 7)
	var ticks []plot.Tick
	for k := math.Ceil(lo / step); k*step <= hi && len(ticks) < 10; k++ {
		v := max(k*step, lo) // of a rounded k it may be a little outside
		if v == 0 {
			v = 0 // not -0
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v, exponent, max(math.Abs(lo), math.Abs(hi)))})
	}
	return ticks
}

// roundStep returns the smallest of 1, 2, 5 times a power of ten that is at least v, and the
// exponent of that power.
func roundStep(v float64) (step float64, exponent int) {
	exponent = int(math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		// The tolerance makes 0.1, which is a rounded product, count as 1 times 10^-1.
		if step = m * math.Pow(10, float64(exponent)); step >= v*(1-1e-9) {
			return step, exponent
		}
	}
	exponent++
	return math.Pow(10, float64(exponent)), exponent
}

// label writes v with digits down to 10^exponent; size is the largest absolute value on the axis.
func label(v float64, exponent int, size float64) string {
	if size < 1e5 && exponent >= -4 {
		return strconv.FormatFloat(v, 'f', max(0, -exponent), 64)
	}
	if v == 0 {
		return "0"
	}
	digits := int(math.Floor(math.Log10(math.Abs(v)))) - exponent
	return tidy(strconv.FormatFloat(v, 'e', max(0, digits), 64))
}

// tidy writes 1e5, 1e-5 and 1 for 1e+05, 1e-05 and 1e+00.
func tidy(s string) string {
	mantissa, exponent, found := strings.Cut(s, "e")
	if !found {
		return s
	}
	digits := strings.TrimLeft(exponent, "+-0")
	switch {
	case digits == "":
		return mantissa
	case exponent[0] == '-':
		digits = "-" + digits
	}
	return mantissa + "e" + digits
}

// decades marks powers of ten on an axis of decimal logarithms, at most seven of them, and also
// their multiples by 2 and 5 if there are few. On a range with fewer than two such numbers it marks
// the ticks of a linear axis.
type decades struct{}

// Ticks implements plot.Ticker of the plotting library; lo and hi are logarithms.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	stride := math.Ceil((hi - lo) / 6)
	var ticks []plot.Tick
	labeled := 0
	for e := math.Floor(lo/stride) * stride; e <= hi; e += stride {
		for m := 1.0; m < 10; m++ {
			t := plot.Tick{Value: e + math.Log10(m)}
			if t.Value < lo || t.Value > hi || m > 1 && stride > 1 {
				continue
			}
			if m == 1 || hi-lo <= 2 && (m == 2 || m == 5) {
				t.Label = logLabel(m, int(e))
				labeled++
			}
			ticks = append(ticks, t)
		}
	}
	if labeled >= 2 {
		return ticks
	}
	ticks = roundTicks{}.Ticks(math.Pow(10, lo), math.Pow(10, hi))
	for i := range ticks {
		ticks[i].Value = math.Log10(ticks[i].Value)
	}
	return ticks
}

// logLabel writes m 10^e.
func logLabel(m float64, e int) string {
	if e >= -3 && e < 5 {
		return strconv.FormatFloat(m*math.Pow(10, float64(e)), 'f', max(0, -e), 64)
	}
	return strconv.Itoa(int(m)) + "e" + strconv.Itoa(e)
}
