// Package similarity (internal: may change) compares texts: names, streets, dates as people write
// them.
package similarity

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/hbollon/go-edlib"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// JaroWinkler returns the similarity of Jaro (1989) with the bonus of Winkler (1990) for up to four
// equal first letters, in single precision: from 0, also for an empty text, to 1 for equal texts.
// Cost: O(len(a) len(b)).
func JaroWinkler(a, b string) float64 { return float64(edlib.JaroWinklerSimilarity(a, b)) }

// Levenshtein returns 1 less the number of letters to insert, delete or replace over the length of
// the longer text: from 0 to 1 for equal texts. Cost: O(len(a) len(b)).
func Levenshtein(a, b string) float64 {
	longest := max(len([]rune(a)), len([]rune(b)))
	if longest == 0 {
		return 1
	}
	return 1 - float64(edlib.LevenshteinDistance(a, b))/float64(longest)
}

// Words returns the words of a text, ascending, each once: letters and digits in a row, in lower
// case.
func Words(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slices.Sort(words)
	return slices.Compact(words)
}

// mostLetters is the number of letters of a text that are compared one by one.
const mostLetters = 100

// Column compares the texts of a column. It is immutable and safe for concurrent use.
type Column struct {
	codes  []int32   // of each row, -1 for a gap
	texts  []string  // of each level, in lower case, at most mostLetters letters
	words  [][]int32 // of each level, ascending
	weight []float64 // of each word: log(rows/rows with it)/log(rows), 0 of all rows, 1 of one row
}

// Features is the number of numbers that [Column.Compare] writes.
const Features = 5

// NewColumn prepares the texts of a column. Cost: O(letters log(words)). An error is a
// *fault.MemoryError.
func NewColumn(eng *engine.Engine, c *points.Column) (*Column, error) {
	letters := int64(0)
	for _, level := range c.Levels {
		letters += int64(len(level))
	}
	const levelBytes, letterBytes = 100, 20 // of its text and list of words; of up to one word a letter
	if err := eng.Check(fmt.Sprintf("words of column %q", c.Name),
		levelBytes*int64(len(c.Levels))+letterBytes*letters, "compare fewer columns"); err != nil {
		return nil, err
	}
	out := &Column{codes: c.Codes, texts: make([]string, len(c.Levels)),
		words: make([][]int32, len(c.Levels))}
	rows, known := make([]float64, len(c.Levels)), map[string]int32{}
	total := 0.0
	for _, code := range c.Codes {
		if code >= 0 {
			rows[code]++
			total++
		}
	}
	for k, level := range c.Levels {
		text := []rune(strings.ToLower(strings.TrimSpace(level)))
		out.texts[k] = string(text[:min(len(text), mostLetters)])
		for _, word := range Words(level) {
			number, ok := known[word]
			if !ok {
				number = int32(len(known))
				known[word] = number
				out.weight = append(out.weight, 0)
			}
			out.words[k] = append(out.words[k], number)
			out.weight[number] += rows[k]
		}
		slices.Sort(out.words[k])
	}
	for k, with := range out.weight {
		out.weight[k] = 0
		if with > 0 && total > 1 {
			out.weight[k] = math.Log(total/with) / math.Log(total)
		}
	}
	return out, nil
}

// Compare writes the features of rows i and j: both similarities of the whole texts in lower case,
// the share of their words that both have, the sum of the weights of these, and whether a text is
// missing. Without one of the texts the others are 0: nothing is known. Texts of more than 100
// letters are compared letter by letter in these alone. Cost: O(letters^2).
func (c *Column) Compare(i, j int, to []float64) {
	clear(to[:Features])
	a, b := c.codes[i], c.codes[j]
	if a < 0 || b < 0 {
		to[4] = 1
		return
	}
	to[0], to[1] = 1, 1
	if c.texts[a] != c.texts[b] {
		to[0], to[1] = JaroWinkler(c.texts[a], c.texts[b]), Levenshtein(c.texts[a], c.texts[b])
	}
	x, y := c.words[a], c.words[b]
	common := 0
	for p, q := 0, 0; p < len(x) && q < len(y); {
		switch {
		case x[p] < y[q]:
			p++
		case x[p] > y[q]:
			q++
		default:
			common++
			to[3] += c.weight[x[p]]
			p, q = p+1, q+1
		}
	}
	if all := len(x) + len(y) - common; all > 0 {
		to[2] = float64(common) / float64(all)
	}
}
