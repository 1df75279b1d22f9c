package points

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// sequences returns strings as points.
func sequences(alphabet string, rows ...string) (*Sequences, error) {
	start := []int{0}
	for _, r := range rows {
		start = append(start, start[len(start)-1]+len(r))
	}
	return NewSequences(alphabet, start, []byte(strings.Join(rows, "")))
}

func TestSequencesSelect(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.StringMatching("[ACGT-]{0,8}"), 1, 10).Draw(t, "rows")
		p, err := sequences("ACGT", rows...)
		if err != nil {
			t.Fatal(err)
		}
		pick := rapid.SliceOf(rapid.IntRange(0, len(rows)-1)).Draw(t, "pick")
		q := p.Select(pick).(*Sequences)
		if err := q.Validate(); err != nil {
			t.Fatal(err)
		}
		if q.Len() != len(pick) || q.Dim() != 4 {
			t.Fatalf("%d sequences over %d letters: want %d over 4", q.Len(), q.Dim(), len(pick))
		}
		for i, r := range pick {
			if string(q.Row(i)) != rows[r] {
				t.Fatalf("sequence %d is %q: want %q", i, q.Row(i), rows[r])
			}
		}
		before := slices.Clone(q.Letters)
		for i := range p.Letters {
			p.Letters[i] = 'A'
		}
		if !slices.Equal(before, q.Letters) {
			t.Fatal("the selection shares memory")
		}
	})
}

func TestSequencesInvalid(t *testing.T) {
	for name, c := range map[string]struct {
		alphabet string
		start    []int
		letters  string
		row      int
		words    []string
	}{
		"letter":           {"ACGT", []int{0, 2, 5}, "ACGTX", 1, []string{`'X'`, "position 2", "ACGT"}},
		"no starts":        {"ACGT", nil, "", -1, []string{"starts"}},
		"first start":      {"ACGT", []int{1, 1}, "A", -1, []string{"start of sequence 0"}},
		"last start":       {"ACGT", []int{0, 1}, "AA", -1, []string{"end of the last"}},
		"descending":       {"ACGT", []int{0, 2, 1, 3}, "ACG", -1, []string{"end of sequence 1"}},
		"beyond":           {"ACGT", []int{0, 9, 3}, "ACG", -1, []string{"end of sequence 0"}},
		"empty alphabet":   {"", []int{0}, "", -1, []string{"alphabet"}},
		"gap in alphabet":  {"AC-", []int{0}, "", -1, []string{"gap"}},
		"letter twice":     {"ACA", []int{0}, "", -1, []string{"'A' occurs twice"}},
		"not ASCII":        {"Aé", []int{0}, "", -1, []string{"ASCII"}},
		"blank in letters": {"A C", []int{0}, "", -1, []string{"ASCII"}},
	} {
		_, err := NewSequences(c.alphabet, c.start, []byte(c.letters))
		var de *fault.DataError
		if !errors.As(err, &de) || de.Row != c.row {
			t.Errorf("%s: error %v: want a DataError of row %d", name, err, c.row)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q does not contain %q", name, err, w)
			}
		}
	}
	if _, err := sequences(Protein, "", "ACDEFGHIKLMNPQRSTVWY", "-"); err != nil {
		t.Errorf("error %v: want valid sequences", err)
	}
}
