package blocking

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// TestFunctions: keys of texts, and the published codes of Soundex.
func TestFunctions(t *testing.T) {
	for call, want := range map[string]string{
		"zip: 8001 ": "8001", "first-letter:'Anna": "a", "first-three:Öz Bek": "özb",
		"digits:(089) 12-3": "089123",
		"year:3 May 1968":   "1968", "year:19-68": "", "soundex:Robert": "r163", "soundex:Rupert": "r163",
		"soundex:Ashcraft": "a261", "soundex:Tymczak": "t522", "soundex:Pfister": "p236",
		"soundex:Lee": "l000", "soundex:Müller": "m460",
		"soundex:17": "", "first-letter:": "",
	} {
		name, text, _ := strings.Cut(call, ":")
		rule, err := Parse(map[bool]string{true: name, false: name + "(c)"}[name == "zip"])
		if err != nil {
			t.Fatal(err)
		}
		if got := rule[0].of(strings.ToLower(strings.TrimSpace(text))); got != want {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
	if len(Functions()) != len(functions()) {
		t.Errorf("functions %v of %d", Functions(), len(functions()))
	}
	for _, bad := range []string{"", "zip,", "sound(name)", "year(name", "year()"} {
		if rule, err := Parse(bad); !fault.IsInput(err) {
			t.Errorf("%q: %v, %v", bad, rule, err)
		}
	}
}

// TestPairs: the pairs are those of the definition, for all rows and rules.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	eng := enginetest.New(t, 2)
	for range 50 {
		n := 1 + rng.IntN(40)
		columns := map[string]*points.Column{}
		for _, name := range []string{"a", "b"} {
			c := &points.Column{Name: name, Levels: []string{"Xa", "xb", "y", "7"}, Codes: make([]int32, n)}
			for i := range c.Codes {
				c.Codes[i] = int32(rng.IntN(5)) - 1
			}
			columns[name] = c
		}
		column := func(name string) (*points.Column, error) { return columns[name], nil }
		var rules []Rule
		for _, text := range []string{"a,first-letter(b)", "first-letter(a),b"} {
			rule, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, rule)
		}
		text := func(name string, i int) string {
			if code := columns[name].Codes[i]; code >= 0 {
				return strings.ToLower(columns[name].Levels[code])
			}
			return ""
		}
		equal := func(x, y string) bool { return x == y && x != "" }
		letter := func(text string) string { return strings.Trim(text, "ab7") }
		want := [][2]int32{}
		for i := range n {
			for j := i + 1; j < n; j++ {
				if equal(text("a", i), text("a", j)) && equal(letter(text("b", i)), letter(text("b", j))) ||
					equal(letter(text("a", i)), letter(text("a", j))) && equal(text("b", i), text("b", j)) {
					want = append(want, [2]int32{int32(i), int32(j)})
				}
			}
		}
		got, err := Pairs(t.Context(), eng, rules, column, 1<<20)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
		if _, err := Pairs(t.Context(), eng, rules, column, len(want)-1); !fault.IsInput(err) {
			t.Errorf("%d pairs of at most %d: %v", len(want), len(want)-1, err)
		}
	}
	none := func(name string) (*points.Column, error) { return nil, fmt.Errorf("no %s", name) }
	if _, err := Pairs(t.Context(), eng, []Rule{{{Column: "c"}}}, none, 1); err == nil {
		t.Error("a column that is not there")
	}
}

// TestEnds: no pairs are made after the end of the context, and none that the memory has no room
// for.
func TestEnds(t *testing.T) {
	column := func(string) (*points.Column, error) {
		return &points.Column{Name: "c", Levels: []string{"a"}, Codes: make([]int32, 9)}, nil
	}
	rule, err := Parse("c")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pairs, err := Pairs(ctx, enginetest.New(t, 1), []Rule{rule}, column, 36)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%d pairs after the end of the context, error %v", len(pairs), err)
	}
	for limit, fits := range map[int64]bool{36 * 16: true, 36*16 - 1: false} {
		eng := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: limit})
		pairs, err := Pairs(t.Context(), eng, []Rule{rule}, column, 36)
		memory, is := errors.AsType[*fault.MemoryError](err)
		if is == fits || fits && (err != nil || len(pairs) != 36) {
			t.Errorf("%d pairs in %d bytes, error %v", len(pairs), limit, err)
		} else if is && memory.What != "36 pairs of equal keys" {
			t.Errorf("error of %q", memory.What)
		}
	}
}

// FuzzParse: a rule names a column in each part, and an empty cell has no key; other input is an
// input error.
func FuzzParse(f *testing.F) {
	for _, rule := range []string{"zip", "zip,first-letter(name)", "year( born )", "soundex(a)(b)",
		"digits("} {
		f.Add(rule, "Anna-Lena 1968")
	}
	f.Fuzz(func(t *testing.T, text, cell string) {
		rule, err := Parse(text)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("%q: %v is no input error", text, err)
			}
			return
		}
		if len(rule) != strings.Count(text, ",")+1 {
			t.Fatalf("%q: %d keys", text, len(rule))
		}
		for _, key := range rule {
			if key.of(cell); key.Column == "" || key.of("") != "" {
				t.Fatalf("%q: column %q, key %q of an empty cell", text, key.Column, key.of(""))
			}
		}
	})
}
