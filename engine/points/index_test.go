package points

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestIndex: the first equal row is that of a comparison of all rows, for every kind of points.
func TestIndex(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n, m := rapid.IntRange(1, 12).Draw(rt, "n"), rapid.IntRange(0, 4).Draw(rt, "m")
		value := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 2})
		dense := func(rows int) *Dense {
			return &Dense{N: rows, D: 2, Data: rapid.SliceOfN(value, 2*rows, 2*rows).Draw(rt, "values")}
		}
		y, x := dense(n), dense(m)
		same := func(i, j int) bool { return slices.Equal(x.Row(i), y.Row(j)) }
		for name, pair := range map[string][2]Points{
			"dense":     {x, y},
			"sparse":    {sparseOf(x), sparseOf(y)},
			"sequences": {lettersOf(x), lettersOf(y)},
		} {
			ix := NewIndex(pair[1])
			for i := range m {
				want := -1
				for j := n - 1; j >= 0; j-- {
					if same(i, j) {
						want = j
					}
				}
				if got := ix.Find(pair[0], i); got != want {
					rt.Fatalf("%s: row %d is %v: want %v", name, i, got, want)
				}
			}
		}
	})
}

// sparseOf stores every value, zeros too.
func sparseOf(x *Dense) *CSR {
	out := &CSR{N: x.N, D: x.D, Start: []int{0}, Val: x.Data}
	for range x.N {
		out.Col = append(out.Col, 0, 1)
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}

func lettersOf(x *Dense) *Sequences {
	out := &Sequences{Alphabet: "ACG", Start: []int{0}}
	for i := range x.N {
		for _, v := range x.Row(i) {
			out.Letters = append(out.Letters, byte(v))
		}
		out.Start = append(out.Start, len(out.Letters))
	}
	return out
}

// TestIndexOfReferences: a row of a Gram matrix is found as its reference object.
func TestIndexOfReferences(t *testing.T) {
	y := &Gram{N: 3, M: 3, Reference: []int{0, 1, 2}}
	x := &Gram{N: 3, M: 3, Reference: []int{2, -1, 0}}
	ix := NewIndex(y)
	for i, want := range []int{2, -1, 0} {
		if got := ix.Find(x, i); got != want {
			t.Errorf("row %d is %v: want %v", i, got, want)
		}
	}
	if got := ix.Find(&Dense{N: 1, D: 3, Data: []float64{1, 2, 3}}, 0); got != -1 {
		t.Errorf("a vector is row %v of a Gram matrix", got)
	}
}

// scattered returns n sparse vectors of so many values each, out of d features.
func scattered(rng *rand.Rand, n, values, d int) *CSR {
	p := &CSR{N: n, D: d, Start: []int{0}}
	for range n {
		row := map[int32]bool{}
		for range values {
			row[int32(rng.IntN(d))] = true
		}
		for _, c := range sortedKeys(row) {
			p.Col, p.Val = append(p.Col, c), append(p.Val, rng.NormFloat64())
		}
		p.Start = append(p.Start, len(p.Col))
	}
	return p
}

func sortedKeys(m map[int32]bool) []int32 {
	var keys []int32
	for c := range m {
		keys = append(keys, c)
	}
	slices.Sort(keys)
	return keys
}

// TestCompact: compacted points name the same values by the same features, in order, whether few or
// many of the features occur.
func TestCompact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 7, 60, 5000, math.MaxInt32} {
		p, y := scattered(rng, 20, 6, d), scattered(rng, 9, 4, d)
		c, columns := p.Compact()
		if err := c.Validate(); err != nil || c.D != len(columns) || !slices.IsSorted(columns) {
			t.Fatalf("of %d features: %v, %d columns for %d features", d, err, len(columns), c.D)
		}
		occurs := map[int32]bool{}
		for k, j := range c.Col {
			if columns[j] != p.Col[k] {
				t.Fatalf("of %d features: value %d is of feature %d, want %d", d, k, columns[j], p.Col[k])
			}
			occurs[columns[j]] = true
		}
		if len(occurs) != len(columns) || !slices.Equal(c.Val, p.Val) || !slices.Equal(c.Start, p.Start) {
			t.Fatalf("of %d features: other values, or a column that does not occur", d)
		}
		r := y.Restrict(columns)
		if err := r.Validate(); err != nil || r.D != len(columns) {
			t.Fatal(err)
		}
		for i := range y.N {
			var want []float64
			col, val := y.Row(i)
			for k, c := range col {
				if occurs[c] {
					want = append(want, val[k])
				}
			}
			at, got := r.Row(i)
			for k, j := range at {
				if !slices.Contains(col, columns[j]) {
					t.Errorf("row %d has value %v at feature %d, where it had none", i, got[k], columns[j])
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("row %d of %d features: %v, want %v", i, d, got, want)
			}
		}
	}
	if c, columns := (&CSR{N: 2, D: math.MaxInt32, Start: []int{0, 0, 0}}).Compact(); c.D != 0 ||
		columns == nil {
		t.Errorf("points without values: %d features, columns %v", c.D, columns)
	}
}

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
