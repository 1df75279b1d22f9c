package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// The spectrum kernel (Leslie, Eskin & Noble 2002) of two sequences is the inner product of their
// counts of each word of k letters (k-mer), here divided by the lengths of the two count vectors: a
// cosine. Sequences are therefore turned into sparse vectors of counts, and the spectrum stage is
// the cosine map. Sums of products of counts are exact whole numbers, so the numbering of the words
// does not affect the result.

// vectorsOf returns points with a base inner product: sequences become word counts, other points
// are returned unchanged. All sets of one call share one numbering of words. A sequence without a
// word is a *fault.DataError with its row.
func (k Kernel) vectorsOf(sets ...points.Points) ([]points.Points, error) {
	if !k.takesSequences() {
		return sets, nil
	}
	out := make([]points.Points, len(sets))
	var n numbering
	for s, x := range sets {
		p := x.(*points.Sequences) // accepts has checked the type
		if i := slices.Index(sets[:s], x); i >= 0 {
			out[s] = out[i] // equal sets stay equal pointers
			continue
		}
		if n == nil {
			n = newNumbering(p.Alphabet, k.stages[0].degree)
		}
		var err error
		if out[s], err = countWords(p, k.stages[0].degree, n); err != nil {
			return nil, err
		}
	}
	for _, x := range out {
		x.(*points.CSR).D = n.size()
	}
	return out, nil
}

// takesSequences reports whether the innermost kernel is the spectrum.
func (k Kernel) takesSequences() bool { return len(k.stages) > 0 && k.stages[0].entry().sequences }

// wordsOf calls f with every word of k letters without a gap in row, in order.
func wordsOf(row []byte, k int, f func(word []byte)) {
	from := 0 // beginning of the run without gaps
	for i, c := range row {
		if c == points.Gap {
			from = i + 1
		} else if i+1-from >= k {
			f(row[i+1-k : i+1])
		}
	}
}

func noWord(p *points.Sequences, i, k int) error {
	e := fault.Row(i, "the sequence has %d letters: want at least %d for %d-mers", len(p.Row(i)), k, k)
	if len(p.Row(i)) >= k {
		e.Err = fmt.Errorf("every run of %d letters in the sequence contains a letter outside the "+
			"alphabet: want one without, for %d-mers", k, k)
	}
	return e
}

// countWords returns the sparse vectors of word counts. The caller sets their D. Cost: O(L k) for L
// letters in total, and the sorting of each sequence's words.
func countWords(p *points.Sequences, k int, n numbering) (*points.CSR, error) {
	out := &points.CSR{N: p.Len(), Start: make([]int, 1, p.Len()+1)}
	var words []int32
	for i := range p.Len() {
		words = words[:0]
		wordsOf(p.Row(i), k, func(word []byte) { words = append(words, n.number(word)) })
		if len(words) == 0 {
			return nil, noWord(p, i, k)
		}
		slices.Sort(words)
		for j := 0; j < len(words); {
			run := j
			for j < len(words) && words[j] == words[run] {
				j++
			}
			out.Col = append(out.Col, words[run])
			out.Val = append(out.Val, float64(j-run))
		}
		out.Start = append(out.Start, len(out.Col))
	}
	return out, nil
}

// numbering assigns each word of k letters a number from 0 to size()-1.
type numbering interface {
	number(word []byte) int32
	size() int
}

// maxDirect is the maximum number of possible words for a numbering without a table.
const maxDirect = 1 << 20

// newNumbering numbers words by their letters as digits if few words are possible, and otherwise in
// order of appearance.
func newNumbering(alphabet string, k int) numbering {
	total := 1
	for range k {
		if total > maxDirect/len(alphabet) {
			return appearance{}
		}
		total *= len(alphabet)
	}
	d := &digits{base: int32(len(alphabet)), total: total}
	for i, c := range []byte(alphabet) {
		d.value[c] = int32(i)
	}
	return d
}

// digits reads a word as a number in the base of the alphabet's size.
type digits struct {
	value [256]int32
	base  int32
	total int
}

func (d *digits) number(word []byte) int32 {
	n := int32(0)
	for _, c := range word {
		n = n*d.base + d.value[c]
	}
	return n
}

func (d *digits) size() int { return d.total }

// appearance numbers the words that occur.
type appearance map[string]int32

func (a appearance) number(word []byte) int32 {
	if n, ok := a[string(word)]; ok {
		return n
	}
	if len(a) == math.MaxInt32 {
		panic("kernel: more than 2147483647 different words")
	}
	n := int32(len(a))
	a[string(word)] = n
	return n
}

func (a appearance) size() int { return len(a) }
