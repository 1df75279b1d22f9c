package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
	"pgregory.net/rapid"
)

// decodeJSON reads JSON Lines from memory.
func decodeJSON(text string, o ReadOptions) (*Data, error) {
	return Decode(strings.NewReader(text), "data.jsonl", "", o)
}

// Lines and the CSV text with the same cells are the same table, whatever the order of names,
// escapes and white space.
func TestJSONIsCSV(t *testing.T) {
	const text = "id,age,city,place.lat,v.0,v.1,label\nr1,31,\"a \"\"b\"\"\",1.5,1,2,x\nr2,,Rome,,3,4e2,y\n" +
		"r3,7,Oslo,-2,5,6,x\n"
	const lines = `{"id":"r1","age":31,"city":"a \"b\"","place":{"lat":1.5},"v":[1,2],"label":"x"}
	{ "label" : "\u0079", "id":"r2", "age":null, "city":"Rome" , "v" : [ 3 , 4e2 ] }` + "\r\n" +
		`{"id":"r3","age":7,"city":"Oslo","place":{"lat":-2},"v":[5,6],"label":"x"}` + "\n\n"
	for _, o := range []ReadOptions{{Mixed: true}, {Mixed: true, MaxLine: 100}} {
		want, err := decode(text, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeJSON(lines, o)
		if err != nil {
			t.Fatal(err)
		}
		want.Name = got.Name
		if diff := difftest.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	d, err := decodeJSON("[1,2]\n[3.5,-4]\n", ReadOptions{})
	if x := dense(t, d, err); !slices.Equal(x.Data, []float64{1, 2, 3.5, -4}) ||
		!slices.Equal(d.Features, []string{"0", "1"}) {
		t.Errorf("arrays: %v, features %q", x.Data, d.Features)
	}
	d, err = decodeJSON("{\"\\\"q\\\"\":1,\"a\":2}\n{\"a\":3,\"\\\"q\\\"\":4}\n", ReadOptions{})
	if x := dense(t, d, err); !slices.Equal(x.Data, []float64{1, 2, 4, 3}) ||
		!slices.Equal(d.Features, []string{`"q"`, "a"}) {
		t.Errorf("a name with quotes: %v, features %q", x.Data, d.Features)
	}
	d, err = decodeJSON("{\"2019\":1,\"2018\":2}\n{\"2018\":3,\"2019\":4}\n", ReadOptions{})
	if x := dense(t, d, err); !slices.Equal(x.Data, []float64{1, 2, 4, 3}) {
		t.Errorf("names that are numbers: %v", x.Data)
	}
}

// Numbers are those of the standard library, whatever lines they are on.
func TestJSONNumbers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(1, 40).Draw(rt, "rows"), rapid.IntRange(1, 6).Draw(rt, "columns")
		var text bytes.Buffer
		var want []float64
		for range n {
			row := rapid.SliceOfN(rapid.Float64Range(-1e15, 1e15), d, d).Draw(rt, "row")
			want = append(want, row...)
			if err := json.NewEncoder(&text).Encode(map[string]any{"v": row}); err != nil {
				rt.Fatal(err)
			}
		}
		got, err := decodeJSON(text.String(), ReadOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		data := dense(t, got, err).Data
		for k := range want {
			if math.Float64bits(want[k]) != math.Float64bits(data[k]) {
				rt.Fatalf("value %d is %v, want %v", k, data[k], want[k])
			}
		}
	})
}

func TestBadJSON(t *testing.T) {
	far := strings.Repeat("{\"a\":1}\n", bufferSize/8+1) // more than is looked at for names
	for _, c := range []struct {
		name, text string
		at         place
		message    string
	}{
		{"empty", "", place{0, -1, ""}, "the file is empty"},
		{"no JSON", "{\"a\":1}\n{\"a\":}\n", place{2, -1, ""}, "it is not JSON"},
		{"a number", "3\n", place{1, -1, ""}, "want an object {...} or an array [...]"},
		{"two on a line", "{\"a\":1} {\"a\":2}\n", place{1, -1, ""}, "it is not JSON"},
		{"no names", "{}\n[]\n", place{0, -1, ""}, "it has no names"},
		{"no name", "{\"\":1}\n", place{1, -1, ""}, "a name is empty"},
		{"twice", "{\"a\":1,\"a\":2}\n", place{1, -1, "a"}, "two values of this name"},
		{"other length", "[1,2]\n[1,2,3]\n", place{2, -1, ""}, "the list has 3 items: want 2"},
		{"other inner length", "{\"v\":[1]}\n{\"v\":[]}\n", place{2, -1, "v"}, "0 items: want 1"},
		{"late name", far + "{\"b\":1}\n", place{bufferSize/8 + 2, -1, "b"}, "no column of this name"},
		{"blank", "{\"a\":1}\n\n{\"a\":2}\n", place{2, 1, ""}, "the line is blank"},
		{"text", "{\"a\":1}\n{\"a\":\"b c\"}\n", place{2, 1, "a"}, "is not a number"},
		{"missing", "{\"a\":1,\"b\":1}\n{\"a\":2}\n", place{2, 1, "b"}, "the cell is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decodeJSON(c.text, ReadOptions{})
			wantData(t, err, "data.jsonl", c.at, c.message)
		})
	}
	_, err := decodeJSON("{\"a\":\""+strings.Repeat("x", 100)+"\"}\n", ReadOptions{MaxLine: 64})
	wantData(t, err, "data.jsonl", place{1, -1, ""}, "longer than the limit of 64 B")
}

// FuzzJSON: any bytes are a table, or an input error. Cells of a table have the numbers that the
// standard library finds.
func FuzzJSON(f *testing.F) {
	fuzzSeeds(f, "{\"a\":1,\"b\":[2,3]}\n{\"a\":4,\"b\":[5,6]}\n", "[1]\n[2]\n", "{\"a\":{\"b\":{\"c\":true}}}\n",
		"{\"a\":\"\\u00e9\\\"\\\\\"}\n", "\ufeff{\"a\":1}\r\n", "{\"a\":1}\n\n", "[[1,2],[3,4]]\n", "{}\n",
		"{\"a\":\"sep=;\"}\n", "\xff\xfe{\x00")
	f.Fuzz(func(t *testing.T, b []byte) {
		o := ReadOptions{MaxLine: 1 << 16, MemoryLimit: 1 << 24}
		d, err := Decode(bytes.NewReader(b), "f.jsonl", "", o)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		x := dense(t, d, nil)
		for i, line := range strings.Split(strings.TrimRight(string(b), "\r\n \t"), "\n") {
			var row []float64
			if json.Unmarshal([]byte(line), &row) != nil || d.Labels != nil || d.IDs != nil {
				continue
			}
			if fmt.Sprint(row) != fmt.Sprint(x.Row(i)) {
				t.Fatalf("line %d is %v: read as %v", i+1, row, x.Row(i))
			}
		}
	})
}
