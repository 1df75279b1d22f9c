package dataset

import (
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/points"
)

// In a column of numbers a dash and its like are missing, which a warning says once. In a column of
// texts they are texts, and so they are alone.
func TestBlanks(t *testing.T) {
	for _, blank := range blanks {
		var b strings.Builder
		b.WriteString("number,text,label\n")
		for i := range 40 {
			number, text := "1.5", "red"
			if i%7 == 3 {
				number, text = blank, blank
			}
			b.WriteString(number + "," + text + "," + string(rune('a'+i%2)) + "\n")
		}
		d, err := Decode(strings.NewReader(b.String()), "blanks", "csv", ReadOptions{Mixed: true})
		if err != nil {
			t.Fatalf("%q: %v", blank, err)
		}
		x, ok := d.Points.(*points.Mixed)
		if !ok || len(x.Columns) != 2 {
			t.Fatalf("%q: points %T", blank, d.Points)
		}
		for i := range x.N {
			v := x.Columns[0].Numbers[i]
			if missing := i%7 == 3; missing != math.IsNaN(v) || !missing && v != 1.5 {
				t.Fatalf("%q: number %d is %v", blank, i, v)
			}
			if got := x.Columns[1].Levels[x.Columns[1].Codes[i]]; (got == blank) != (i%7 == 3) {
				t.Fatalf("%q: text %d is %q", blank, i, got)
			}
		}
		notes := 0
		for _, w := range d.Warnings {
			if strings.Contains(w, `column "number": "`+blank+`" is read as missing`) {
				notes++
			}
		}
		if notes != 1 {
			t.Errorf("%q: warnings %q: want one about the column number", blank, d.Warnings)
		}
	}
}
