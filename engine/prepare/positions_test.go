package prepare

import (
	"errors"
	"math"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

// A column has numbers, or times in seconds; gaps are NaN, and what is neither is named.
func TestPositions(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		want  []float64 // from the first one
		times bool
		bad   int // row
	}{
		"numbers": {[]string{"1", " 2.5 ", "", "-3e2"}, []float64{0, 1.5, math.NaN(), -301}, false, -1},
		"times": {[]string{"2024-02-28 23:59:30", "2024-02-29 00:00:00.5", "", "2024-03-01"},
			[]float64{0, 30.5, math.NaN(), 24*3600 + 30}, true, -1},
		"zones": {[]string{"2024-05-01T10:00:00Z", "2024-05-01T12:00:00+01:00"},
			[]float64{0, 3600}, true, -1},
		"clock":     {[]string{"10:00", "10:02"}, []float64{0, 120}, true, -1},
		"gaps":      {[]string{"", ""}, []float64{math.NaN(), math.NaN()}, false, -1},
		"no number": {[]string{"1", "one"}, nil, false, 1},
		"infinite":  {[]string{"1", "2", "inf"}, nil, false, 2},
		"no time":   {[]string{"2024-02-28", "2024-02-29", "yesterday"}, nil, true, 2},
		"texts":     {[]string{"a", "b"}, nil, false, 0},
	} {
		got, times, err := Positions(c.texts)
		e, is := errors.AsType[*fault.DataError](err)
		if is != (c.bad >= 0) || is && e.Row != c.bad || times != c.times {
			t.Errorf("%s: times %t, error %v", name, times, err)
			continue
		}
		for i, v := range got {
			if d := v - got[0]; math.IsNaN(d) != math.IsNaN(c.want[i]) || math.Abs(d-c.want[i]) > 1e-6 {
				t.Errorf("%s: value %d is %v above the first, want %v", name, i, d, c.want[i])
			}
		}
	}
}
