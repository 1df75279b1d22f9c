package dataset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// ways are ways to write a positive number with one decimal, and a negative one, that are read as
// numbers, with the delimiter of the file.
var ways = map[string]struct {
	delimiter string
	write     func(v float64) string
	warned    bool
}{
	"point": {",", func(v float64) string { return tenths(v, ".") }, false},
	"comma": {";", func(v float64) string { return tenths(v, ",") }, false},
	"minus": {",", func(v float64) string {
		return strings.Replace(tenths(v, "."), "-", "−", 1)
	}, true},
	"dollars": {",", func(v float64) string {
		return strings.Replace("$"+tenths(v, "."), "$-", "-$", 1)
	}, true},
	"dollars behind":        {",", func(v float64) string { return "$" + tenths(v, ".") }, true},
	"euros":                 {";", func(v float64) string { return tenths(v, ",") + "\u00a0€" }, true},
	"percent":               {",", func(v float64) string { return tenths(v, ".") + "%" }, true},
	"percent, spaced":       {";", func(v float64) string { return tenths(v, ",") + " %" }, true},
	"narrow spaces":         {",", func(v float64) string { return grouped(v, "\u202f", ".") }, true},
	"narrow spaces, comma":  {";", func(v float64) string { return grouped(v, "\u202f", ",") }, true},
	"apostrophes":           {",", func(v float64) string { return grouped(v, "'", ".") }, true},
	"Swiss apostrophes":     {";", func(v float64) string { return grouped(v, "’", ".") }, true},
	"thousands":             {"|", func(v float64) string { return grouped(v, ",", ".") }, true},
	"thousands by points":   {";", func(v float64) string { return grouped(v, ".", ",") }, true},
	"dollars and thousands": {"|", func(v float64) string { return "$" + grouped(v, ",", ".") }, true},
}

func tenths(v float64, point string) string {
	return strings.Replace(strconv.FormatFloat(v, 'f', 1, 64), ".", point, 1)
}

func grouped(v float64, group, point string) string {
	sign, text := "", tenths(math.Abs(v), point)
	if v < 0 {
		sign = "-"
	}
	whole, rest, _ := strings.Cut(text, point)
	for k := len(whole) - 3; k > 0; k -= 3 {
		whole = whole[:k] + group + whole[k:]
	}
	return sign + whole + point + rest
}

// Every way to write numbers gives the same values, next to a column that is written plainly, and
// in blocks. A way that is not that of the file has a warning.
func TestWaysToWriteNumbers(t *testing.T) {
	values := []float64{12.5, -1234567.5, 987654.1, 0.5, -7, 1200.5}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			text := "a" + way.delimiter + "b\n"
			for k, v := range values {
				text += way.write(v) + way.delimiter + strconv.Itoa(k) + "\n"
			}
			d, err := decode(text, ReadOptions{Mixed: true})
			x := dense(t, d, err)
			for k, v := range values {
				if got := x.Row(k); got[0] != v || got[1] != float64(k) {
					t.Errorf("row %d is %v: want %v, %d", k, got, v, k)
				}
			}
			if (len(d.Warnings) > 0) != way.warned {
				t.Errorf("warnings %q", d.Warnings)
			}
			s, err := OpenStream(write(t, "a.csv", []byte(text)), ReadOptions{Mixed: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, v := range values {
				d, err := s.Next(1)
				if got := dense(t, d, err).Row(0); got[0] != v {
					t.Errorf("in blocks %v: want %v", got, v)
				}
			}
		})
	}
}

// Columns of one file may have different decimal marks. One that may be that of thousands has a
// warning.
func TestDecimalMarkOfEachColumn(t *testing.T) {
	text := "prix;lat;umsatz;n\n46,34;46.70989;21.964;1\n75,15;46.75221;54.473;2\n-3,5;47.1;-1.234;3\n"
	d, err := decode(text, ReadOptions{Mixed: true})
	if x := dense(t, d, err); !slices.Equal(x.Row(0), []float64{46.34, 46.70989, 21.964, 1}) ||
		!slices.Equal(x.Row(2), []float64{-3.5, 47.1, -1.234, 3}) {
		t.Errorf("%v", x.Data)
	}
	want := []string{`column "prix": "46,34" is read as 46.34`,
		`column "umsatz": "21.964" is read as 21.964, but other columns have the other decimal mark: want the option number, umsatz=eu, if it is 21964`}
	if !slices.Equal(d.Warnings, want) {
		t.Errorf("warnings %q, want %q", d.Warnings, want)
	}
	d, err = decode("a;umsatz\n59,43;21.964\n95,15;54.473\n1,5;1.234.567\n",
		ReadOptions{Mixed: true, Thousands: true})
	if x := dense(t, d, err); !slices.Equal(x.Data, []float64{59.43, 21964, 95.15, 54473, 1.5, 1234567}) {
		t.Errorf("with thousands: %v", x.Data)
	}
	d, err = decode("a;b\n1.5;21.964\n2.5;1.234\n", ReadOptions{Mixed: true})
	if dense(t, d, err); len(d.Warnings) > 0 {
		t.Errorf("no other column has commas: warnings %q", d.Warnings)
	}
}

// Texts that only may be numbers stay texts, and so do those with different units.
func TestTextsThatAreNoNumbers(t *testing.T) {
	for name, cells := range map[string][]string{
		"thousands or decimal comma":    {`"32,190"`, `"18,094"`, `"80,157"`},
		"two currencies":                {"$5", "€5", "$7"},
		"percent and plain":             {"5", "7%", "0.5"},
		"two units":                     {"7 kg", "8 g", "9 kg"},
		"sizes":                         {"7A", "8B", "9C"},
		"exponents of another language": {"1D7", "2D7", "3D8"},
		"a telephone number": {"030\u202f123\u202f456", "030\u202f123\u202f457",
			"030\u202f123\u202f458"},
		"groups of other sizes": {"12'67", "1'2345", "1'22"},
		"lists":                 {`"1,2"`, `"3,4"`, `"1,2,3"`},
		"all in brackets":       {"(1.50)", "(2.50)", "(3.50)"},
		"signs":                 {"<0.05", "<0.1", ">9"},
		"dollar alone":          {"$", "$", "$"},
		"infinity with a unit":  {"$Inf", "$NaN", "$1"},
	} {
		x, _ := mixedOf(t, "a,b\n"+strings.Join(cells, ",1\n")+",1\n", ReadOptions{})
		if !x.Columns[0].IsText() {
			t.Errorf("%s: read as %v", name, x.Columns[0].Numbers)
		}
	}
	_, err := decode("a\n"+strings.Repeat("5%\n", 30)+"7\n", ReadOptions{Mixed: true})
	wantData(t, err, "data.csv", place{32, 30, "a"}, "has no %, but others have one")
	x, _ := mixedOf(t, "a,b\n$5,x\n"+strings.Repeat("$6,x\n", 30)+"7,x\n", ReadOptions{})
	if got := x.Columns[0].Numbers; len(got) != 32 || got[31] != 7 {
		t.Errorf("a price without its currency: %v", got)
	}
	x, _ = mixedOf(t, "a,b\n$5,x\n$6,y\n", ReadOptions{Text: []string{"a"}})
	if !x.Columns[0].IsText() {
		t.Error("a column that is to be text is numbers")
	}
	d, err := decode("a,b\n$5,1\n", ReadOptions{Mixed: true, Numbers: []string{"a"}})
	if x := dense(t, d, err); x.Data[0] != 5 {
		t.Errorf("a column that is to be numbers is %v", x.Data)
	}
}

// Numbers may have one unit, also without a space, which new rows must share; and commas that
// cannot be marks of thousands are decimal, whatever separates the fields.
func TestUnitsAndCommas(t *testing.T) {
	text := "a,b,c\n7.5 kg,-3°C,\"83,99\"\n8 kg,20°C,\"1,5\"\n\"1,200.5 kg\",5°C,\"2,123\"\n"
	d, err := decode(text, ReadOptions{Mixed: true})
	if x := dense(t, d, err); !slices.Equal(x.Data, []float64{7.5, -3, 83.99, 8, 20, 1.5, 1200.5, 5, 2.123}) {
		t.Errorf("%v", x.Data)
	}
	if want := map[string]Marks{"a": "us kg", "b": "us °C", "c": "eu"}; !maps.Equal(d.Marks, want) {
		t.Errorf("marks %v: want %v", d.Marks, want)
	}
	if len(d.Warnings) != 3 || d.Warnings[0] != `column "a": "7.5 kg" is read as 7.5` {
		t.Errorf("warnings %q", d.Warnings)
	}
	o := ReadOptions{Mixed: true, FitMarks: d.Marks}
	_, err = decode(strings.ReplaceAll(text, "kg", "g"), o)
	wantData(t, err, "data.csv", place{0, -1, "a"}, `"7.5 g" has the unit g, but the rows of the fit have kg`)
	d, err = decode("a,b,c\n7.5,\"1,500 °C\",\"2,123\"\n", o)
	if x := dense(t, d, err); !slices.Equal(x.Data, []float64{7.5, 1500, 2.123}) {
		t.Errorf("new rows: %v", x.Data)
	}
}

// A file that is no table as it stands has one clear error or warning.
func TestNoTable(t *testing.T) {
	for _, c := range []struct {
		text string
		at   place
		want string
	}{
		{"# made by X\n# units: m\na,b\n1,2\n3,4\n5,6\n", place{3, -1, ""},
			"all rows have 2 fields from here on: want 1, as in the header"},
		{"a,b\n1,2,\n3,4,\n5,6,\n7,8,\n", place{2, -1, ""}, "all rows have 3 fields from here on: want 2"},
		{"a,b\nm,kg\n0,1\n2,3\n4,5\n6,7\n8,9\n0,1\n2,3\n4,5\n6,7\n8,9\n", place{2, 0, ""},
			"none of its cells is a number, in columns of numbers"},
	} {
		_, err := decode(c.text, ReadOptions{Mixed: true})
		wantData(t, err, "data.csv", c.at, c.want)
		problems, err := Check(write(t, "a.csv", []byte(c.text)), ReadOptions{Mixed: true}, 0)
		if err != nil || len(problems) != 1 {
			t.Errorf("%q: problems %v, %v: want one", c.text, problems, err)
		}
	}
	for text, want := range map[string]string{
		"a b c\n1 2 3\n4 5 6\n":                `if " " separates 3 columns`,
		"a^b^c\n1^2^x\n4^5^6\n":                `if "^" separates 3 columns`,
		"first name\nann 0\nann 1\n":           "",
		"when\n1:2:3\n4:5:6\n":                 "",
		"c,n\nx,1\ny,2\nTotal,3\n":             `the last row has "Total"`,
		"c,label\n1,x\n2,y\n3,Grand total:\n":  `the last row has "Grand total:"`,
		"c,n\nx,1\nTotal,2\ny,3\n":             "",
		"c,n\nx,1\ntotal war,2\nno totals,3\n": "",
	} {
		d, err := decode(text, ReadOptions{Mixed: true})
		if got := strings.Join(d.Warnings, "; "); err != nil || want == "" && got != "" ||
			!strings.Contains(got, want) {
			t.Errorf("%q: warnings %q, %v; want %q", text, got, err, want)
		}
	}
}

// Many columns with marks have a few warnings.
func TestWarningsOfManyColumns(t *testing.T) {
	const columns = 300
	var names, cells []string
	for j := range columns {
		names, cells = append(names, fmt.Sprint("c", j)), append(cells, "$5")
	}
	d, err := decode(strings.Join(names, ",")+"\n"+strings.Join(cells, ",")+"\n", ReadOptions{Mixed: true})
	if dense(t, d, err); len(d.Warnings) != 6 || !strings.Contains(d.Warnings[5], "295 more columns") {
		t.Errorf("%q", d.Warnings)
	}
}

// A header that looks like a row is doubted, and is a row with HeaderNone.
func TestHeader(t *testing.T) {
	iris := "5.1,3.5,1.4,0.2,setosa\n4.9,3.0,1.4,0.2,setosa\n7.0,3.2,4.7,1.4,versicolor\n"
	for _, c := range []struct {
		text string
		odd  bool
	}{
		{iris, true},
		{"1,2,3\n4,5,6\n", true},
		{"5,1,3\n4,5,6\n", true},
		// Male and State-gov are cells
		{"39,State-gov,77516,Male\n50,Private,83311,Male\n38,State-gov,215646,Female\n", true},
		{"0,1,2\n4,5,6\n", false},                      // the columns of a written matrix
		{"country,1990,1991\nPT,4,5\nES,5,6\n", false}, // years
		{"a,b,0.5\nx,y,1\nz,w,2\n", false},             // a quantile
		{"a,b\n1,2\n", false},
		{"1990,1991\nx,y\n", false}, // texts below numbers
	} {
		d, err := decode(c.text, ReadOptions{Mixed: true})
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if odd := strings.Contains(strings.Join(d.Warnings, ""),
			"the header looks like a row: "); odd != c.odd {
			t.Errorf("%q: warnings %q", c.text, d.Warnings)
		}
		sure, err := decode(c.text, ReadOptions{Mixed: true, Header: HeaderFirst})
		if err != nil || Fingerprint(sure.Points) != Fingerprint(d.Points) || len(sure.Warnings) > 0 {
			t.Errorf("%q with a header: %v, %v", c.text, sure, err)
		}
		all, err := decode(c.text, ReadOptions{Mixed: true, Header: HeaderNone})
		if err != nil || all.Points.Len() != d.Points.Len()+1 || all.Features[0] != "0" ||
			len(all.Warnings) > 0 {
			t.Errorf("%q without a header: %v, %v", c.text, all, err)
		}
	}
	d, err := decode("\ufeff\"5;1\";2\n7;8\n", ReadOptions{Mixed: true, Header: HeaderNone})
	if err != nil || !slices.Equal(d.Features, []string{"0", "1"}) ||
		d.Points.(*points.Mixed).Columns[0].Levels[0] != "5;1" {
		t.Errorf("%+v, %v", d, err)
	}
	d, err = decode(iris, ReadOptions{Mixed: true, Header: HeaderNone, Label: "4"})
	if x := dense(t, d, err); x.N != 3 || x.D != 4 || d.Labels[0] != "setosa" || x.Data[0] != 5.1 {
		t.Errorf("%+v, %v", d, x)
	}
	_, err = decode("1.5,2.5\n3,4\n", ReadOptions{})
	wantData(t, err, "data.csv", place{1, -1, ""}, "the first line holds numbers")
	d, err = decode("1.5,2.5\n3,4\n", ReadOptions{Header: HeaderFirst})
	if x := dense(t, d, err); !slices.Equal(x.Data, []float64{3, 4}) ||
		!slices.Equal(d.Features, []string{"1.5", "2.5"}) {
		t.Errorf("%+v, %v", d, x)
	}
	if _, err = decode(iris, ReadOptions{Header: "yes"}); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "header") {
		t.Errorf("an unknown word: error %v", err)
	}
}

// The first line sep=; of Excel is no content.
func TestSeparatorLine(t *testing.T) {
	for _, c := range []string{",", ";", "\t", "|"} {
		for _, line := range []string{"sep=" + c, "\ufeffsep=" + c, "SEP=" + c + "\r", `"sep=` + c + `"`} {
			d, err := decode(line+"\n"+strings.ReplaceAll("a,b c|d\n1,2\n3,4\n", ",", c), ReadOptions{})
			if c == "|" {
				continue // the name has one
			}
			if x := dense(t, d, err); !slices.Equal(x.Data, []float64{1, 2, 3, 4}) ||
				d.Features[1] != "b c|d" {
				t.Errorf("%q: %v %v", line, x, d.Features)
			}
		}
	}
	_, err := decode("sep=:\na:b\n1:2\n", ReadOptions{})
	wantData(t, err, "data.csv", place{1, -1, ""}, `its fields are separated by ":", as the line says`)
	d, err := decode("sep=;x\n1\n2\n", ReadOptions{})
	if err != nil && d != nil {
		t.Errorf("%v %v", d, err)
	}
}
