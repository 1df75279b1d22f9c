package prepare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
)

// maxTerms is the limit on the terms of a column of text, and countedTerms on those that are
// counted at a time: beyond, those that occurred once so far are forgotten.
const (
	maxTerms     = 1000
	countedTerms = 1 << 20
)

// terms makes a column of each frequent term of texts: its tf-idf, in rows of unit length.
type terms struct {
	letters int // of a term, 0 for words
	list    []string
	weight  []float64
	place   map[string]int // of list
}

// split calls f with the terms of a text, in lower case: words are two or more letters, digits or
// low lines.
func (t *terms) split(text string, f func(term string)) {
	text = strings.ToLower(text)
	if t.letters > 0 {
		t.slide(strings.Join(strings.Fields(text), " "), f)
		return
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		if len([]rune(word)) > 1 {
			f(word)
		}
	}
}

// slide calls f with all letters in a row.
func (t *terms) slide(text string, f func(term string)) {
	var starts []int
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	for i := 0; i+t.letters < len(starts); i++ {
		f(text[starts[i]:starts[i+t.letters]])
	}
}

// newTerms chooses the terms that the most rows have: those of at least two rows, or all if there
// are none.
func newTerms(x *points.Column, letters int) *terms {
	t := &terms{letters: letters}
	rows := make(map[string]int)
	seen := make(map[string]bool)
	for _, code := range x.Codes {
		if code < 0 {
			continue
		}
		clear(seen)
		t.split(x.Levels[code], func(term string) {
			if !seen[term] {
				seen[term] = true
				rows[strings.Clone(term)]++
			}
		})
		if len(rows) > countedTerms {
			maps.DeleteFunc(rows, func(_ string, n int) bool { return n == 1 })
		}
	}
	list := slices.Collect(maps.Keys(rows))
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b)) })
	list = list[:min(len(list), maxTerms)]
	if k := slices.IndexFunc(list, func(term string) bool { return rows[term] == 1 }); k > 0 {
		list = list[:k]
	}
	slices.Sort(list)
	t.list = list
	for _, term := range list {
		t.weight = append(t.weight, dataset.TermWeight(len(x.Codes), rows[term]))
	}
	t.number()
	return t
}

// number sets the places of terms.
func (t *terms) number() {
	t.place = make(map[string]int, len(t.list))
	for k, term := range t.list {
		t.place[term] = k
	}
}

// bind returns what writes the rows of a column.
func (t *terms) bind(x *points.Column) writer {
	x = texts(x)
	return func(out []float64, stride, lo, hi int) {
		for i, code := range x.Codes[lo:hi] {
			if code >= 0 {
				t.write(out[i*stride:i*stride+len(t.list)], x.Levels[code])
			}
		}
	}
}

// write writes the tf-idf of a text to a row of zeros.
func (t *terms) write(row []float64, text string) {
	t.split(text, func(term string) {
		if k, ok := t.place[term]; ok {
			row[k] += t.weight[k]
		}
	})
	sum := 0.0
	for _, v := range row {
		sum += v * v
	}
	if sum == 0 {
		return
	}
	length := math.Sqrt(sum)
	for k := range row {
		row[k] /= length
	}
}
