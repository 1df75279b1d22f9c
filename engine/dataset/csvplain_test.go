package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// cell returns a number in one of the forms that files have.
func cell(t *rapid.T, rng *rand.Rand) string {
	v := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(40)-20))
	switch rapid.IntRange(0, 5).Draw(t, "way") {
	case 0:
		return strconv.Itoa(rng.IntN(2000) - 1000)
	case 1:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case 2:
		return strconv.FormatFloat(rng.NormFloat64(), 'f', rng.IntN(17), 64)
	case 3:
		return strconv.FormatFloat(v, 'e', rng.IntN(20), 64)
	case 4:
		return []string{"-0", "0.", ".5", "-.25", "+1", "00012", "1e3", "9007199254740993.0", "0.1234567890123456"}[rng.IntN(9)]
	}
	return strconv.FormatFloat(rng.NormFloat64(), 'f', 5, 64)
}

// Quotes around fields and spaces in front of them prevent the fast path: the values are
// bit-identical.
func TestPlainRecordsAreRecords(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		columns := []string{"x", "y", "id", "z", "label"}[:rapid.IntRange(1, 5).Draw(t, "columns")]
		rng.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		var plain, long strings.Builder
		for _, text := range []*strings.Builder{&plain, &long} {
			fmt.Fprintln(text, strings.Join(columns, ","))
		}
		for i := range rapid.IntRange(1, 30).Draw(t, "rows") {
			fields := make([]string, len(columns))
			for c, name := range columns {
				switch name {
				case "id":
					fields[c] = fmt.Sprint("p", i)
				case "label":
					fields[c] = []string{"a", "bé", "c d"}[rng.IntN(3)]
				default:
					fields[c] = cell(t, rng)
				}
			}
			fmt.Fprintln(&plain, strings.Join(fields, ","))
			if rng.IntN(2) == 0 {
				fmt.Fprintf(&long, "\"%s\"\n", strings.Join(fields, `","`))
			} else {
				fmt.Fprintf(&long, " %s\n", strings.Join(fields, ", "))
			}
		}
		want, err := Decode(strings.NewReader(long.String()), "-", "csv", ReadOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, long.String())
		}
		got, err := Decode(strings.NewReader(plain.String()), "-", "csv", ReadOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, plain.String())
		}
		if diff := difftest.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", diff, plain.String())
		}
	})
}

// Records that are not plain are reported with the right row and line after any plain records.
func TestPlainRecordsThenProblems(t *testing.T) {
	for text, words := range map[string][]string{
		"id,x\na,1\nb,2\na,3\n":            {"line 4", "row 2", "id"},
		"x,label\n1,a\n2,\n":               {"line 3", "row 1", "empty"},
		"x,y\n1,2\n3\n":                    {"line 3", "row 1", "1 field"},
		"x,y\n1,2\n3,4,5\n":                {"line 3", "row 1", "3 fields"},
		"x,y\n1,2\n\n3,4\n":                {"line 3", "blank"},
		"x,y\n1,2\n3,inf\n":                {"line 3", "row 1", `"y"`},
		"x,y\n1,2\n3,4 \n5,6\n7,8e999\n":   {"line 5", "row 3", "range"},
		"x,y\n1,2\n3,4\r5\n":               {"line 3", "carriage"},
		"x,y\n1,2\n" + "3,\"4\n5\"\n6,x\n": {"row 1"},
	} {
		_, err := Decode(strings.NewReader(text), "-", "csv", ReadOptions{})
		if err == nil {
			t.Errorf("%q: no error", text)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: no %q in: %v", text, w, err)
			}
		}
	}
}

// A byte order mark is removed at the beginning of a record, but not inside a field of several
// lines.
func TestMarkInsideAField(t *testing.T) {
	d, err := Decode(strings.NewReader("\ufeffid,x\n\ufeff\"a\n\ufeffb\",1\n"), "-", "csv", ReadOptions{})
	if err != nil || d.IDs[0] != "a\n\ufeffb" {
		t.Fatalf("%+v, %v", d, err)
	}
}
