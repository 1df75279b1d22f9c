package similarity

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// jaroWinkler follows the definition: letters are common within half the longer text, less one, and
// half the common letters in another order are transpositions.
func jaroWinkler(s, t string) float64 {
	a, b := []rune(s), []rune(t)
	window := max(len(a), len(b))/2 - 1
	taken := make([]bool, len(b))
	var first, second []rune
	for i, r := range a {
		for j, other := range b {
			if !taken[j] && r == other && j-i <= window && i-j <= window {
				taken[j] = true
				first = append(first, r)
				break
			}
		}
	}
	for j, r := range b {
		if taken[j] {
			second = append(second, r)
		}
	}
	if slices.Equal(a, b) && len(a) > 0 {
		return 1
	}
	m := float64(len(first))
	if m == 0 {
		return 0
	}
	half := 0.0
	for k := range first {
		if first[k] != second[k] {
			half += 0.5
		}
	}
	jaro := (m/float64(len(a)) + m/float64(len(b)) + (m-half)/m) / 3
	prefix := 0
	for prefix < min(4, len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	return jaro + 0.1*float64(prefix)*(1-jaro)
}

// distance is the recursive definition of Levenshtein's.
func distance(a, b []rune) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return len(a) + len(b)
	case a[0] == b[0]:
		return distance(a[1:], b[1:])
	}
	return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))
}

// TestPublished: examples of Winkler (1990) and of textbooks.
func TestPublished(t *testing.T) {
	for pair, want := range map[[2]string]float64{
		{"MARTHA", "MARHTA"}: 0.961, {"DIXON", "DICKSONX"}: 0.813, {"DWAYNE", "DUANE"}: 0.840,
	} {
		if got := JaroWinkler(pair[0], pair[1]); math.Abs(got-want) > 0.0005 {
			t.Errorf("%v: %v, want %v", pair, got, want)
		}
	}
	for pair, want := range map[[2]string]float64{{"kitten", "sitting"}: 3, {"Saturday", "Sunday"}: 3} {
		longest := float64(max(len(pair[0]), len(pair[1])))
		if got := (1 - Levenshtein(pair[0], pair[1])) * longest; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", pair, got, want)
		}
	}
}

// TestDefinitions: random texts have the similarities of the definitions, in both orders.
func TestDefinitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range rng.IntN(7) {
			b.WriteRune([]rune("abcßé")[rng.IntN(5)])
		}
		return b.String()
	}
	for range 2000 {
		a, b := text(), text()
		if got, want := JaroWinkler(a, b), jaroWinkler(a, b); math.Abs(got-want) > 1e-6 {
			t.Errorf("%q %q: Jaro-Winkler %v, want %v", a, b, got, want)
		}
		want, x, y := 1.0, []rune(a), []rune(b)
		if longest := max(len(x), len(y)); longest > 0 {
			want -= float64(distance(x, y)) / float64(longest)
		}
		if got, other := Levenshtein(a, b), Levenshtein(b, a); math.Abs(got-want) > 1e-12 || got != other {
			t.Errorf("%q %q: Levenshtein %v and %v, want %v", a, b, got, other, want)
		}
	}
}

// TestOneText: a single text tells nothing about how rare its words are, and a column beyond the
// memory limit is refused by name.
func TestOneText(t *testing.T) {
	column := &points.Column{Name: "street", Levels: []string{"Main Street"}, Codes: []int32{0, -1}}
	c, err := NewColumn(enginetest.New(t, 1), column)
	if err != nil {
		t.Fatal(err)
	}
	var got [Features]float64
	if c.Compare(0, 0, got[:]); got != [Features]float64{1, 1, 1, 0, 0} {
		t.Errorf("the text has %v with itself", got)
	}
	_, err = NewColumn(enginetest.With(t, engine.Options{MemoryLimit: 100}), column)
	if me, ok := errors.AsType[*fault.MemoryError](err); !ok || me.What != `words of column "street"` {
		t.Errorf("error %v: want that of the words of the column", err)
	}
}

// TestColumn: the weights of words fall with the records that have them, and gaps say nothing.
func TestColumn(t *testing.T) {
	levels := []string{"Main Street", "main street 7", "Oak Street", strings.Repeat("x", 1<<20), "?!"}
	c, err := NewColumn(enginetest.New(t, 2), &points.Column{Name: "s", Levels: levels,
		Codes: []int32{0, 1, 2, -1, 3, 4, 0}})
	if err != nil {
		t.Fatal(err)
	}
	street, main := math.Log(6./4)/math.Log(6), math.Log(6./3)/math.Log(6)
	for pair, want := range map[[2]int][Features]float64{
		{0, 6}: {1, 1, 1, street + main, 0},
		{0, 1}: {jaroWinkler("main street", "main street 7"), 11. / 13, 2. / 3, street + main, 0},
		{0, 2}: {jaroWinkler("main street", "oak street"), 8. / 11, 1. / 3, street, 0},
		{3, 0}: {0, 0, 0, 0, 1}, {3, 3}: {0, 0, 0, 0, 1},
		{4, 4}: {1, 1, 1, 1, 0}, {5, 5}: {1, 1, 0, 0, 0}, {4, 5}: {0, 0, 0, 0, 0},
	} {
		var got, other [Features]float64
		c.Compare(pair[0], pair[1], got[:])
		c.Compare(pair[1], pair[0], other[:])
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-6 || got[k] != other[k] {
				t.Errorf("%v: %v and %v, want %v", pair, got, other, want)
				break
			}
		}
	}
}
