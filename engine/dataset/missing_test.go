package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// In a column of numbers a dash and its like are missing, which a warning says once. In a column of
// texts they are texts, and so they are alone.
func TestBlanks(t *testing.T) {
	for _, word := range slices.Concat(Missing(), blanks) {
		if !isBlank(word) {
			t.Errorf("%q is a value in a column of numbers", word)
		}
	}
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

// The marks of a column's numbers are found in a file that shows them, and given to one that does
// not: 21.964 alone may be either.
func TestMarks(t *testing.T) {
	read := func(text string, marks map[string]Marks) *Data {
		t.Helper()
		d, err := Decode(strings.NewReader(text), "marks", "csv", ReadOptions{Mixed: true, FitMarks: marks})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	number := func(d *Data) float64 {
		if x, ok := d.Points.(*points.Mixed); ok {
			return x.Columns[0].Numbers[0]
		}
		return d.Points.(*points.Dense).Data[0]
	}
	for _, c := range []struct {
		rows  string
		want  float64
		marks Marks
	}{
		{"21.964,5;1\n3,5;2\n", 21964.5, EU},
		{"\"21,964.5\",1\n\"1,234.5\",2\n", 21964.5, US},
		{"21964.5,1\n3.5,2\n", 21964.5, ""},
	} {
		separator := map[bool]string{true: ";", false: ","}[c.marks == EU]
		d := read("v"+separator+"w\n"+c.rows, nil)
		if got := number(d); got != c.want || d.Marks["v"] != c.marks {
			t.Errorf("%q is %v with marks %v: want %v, %q", c.rows, got, d.Marks, c.want, c.marks)
		}
	}
	for marks, want := range map[Marks][2]float64{"": {21.964, .5}, US: {21.964, .5}, EU: {21964, .5}} {
		for k, cell := range []string{"21.964", "0.5"} {
			d := read("v;w\n"+cell+";1\n", map[string]Marks{"v": marks})
			if got := number(d); got != want[k] {
				t.Errorf("%s with the marks %q of a fit is %v: want %v", cell, marks, got, want[k])
			}
		}
	}
	for column, marks := range map[string]Marks{"v": EU, "x": US, "w": "fr"} {
		_, err := Decode(strings.NewReader("v;w\n0.5;1\n"), "marks", "csv",
			ReadOptions{Mixed: true, Marks: map[string]Marks{column: marks}})
		if !fault.IsInput(err) || !strings.Contains(err.Error(), column) {
			t.Errorf("0.5 with %s=%s: error %v", column, marks, err)
		}
	}
}
