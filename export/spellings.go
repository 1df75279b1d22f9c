package export

import (
	"slices"
	"strings"
	"unicode"
)

// maxSpellings is the number of spellings of a word that are listed: 10 letters have as many.
const maxSpellings = 1 << 10

// spellings returns the texts that are a word of a boolean, which is in lower case, but for the
// case of their letters that some chooses. If there are too many, they are the word, the word in
// upper case, and the word with a capital.
func spellings(word string, some func(rune) bool) []string {
	list := []string{""}
	for _, r := range word {
		forms := []rune{r}
		for other := unicode.SimpleFold(r); other != r && some(r); other = unicode.SimpleFold(other) {
			if unicode.ToLower(other) == r {
				forms = append(forms, other)
			}
		}
		if len(list)*len(forms) > maxSpellings {
			first := []rune(word)
			first[0] = unicode.ToUpper(first[0])
			usual := slices.Compact([]string{word, strings.ToUpper(word), string(first)})
			return slices.DeleteFunc(usual, func(text string) bool { return strings.ToLower(text) != word })
		}
		longer := make([]string, 0, len(list)*len(forms))
		for _, form := range forms {
			for _, text := range list {
				longer = append(longer, text+string(form))
			}
		}
		list = longer
	}
	return list
}

func anyRune(rune) bool { return true }

// notASCII chooses the letters that LOWER may leave in SQL.
func notASCII(r rune) bool { return r >= unicode.MaxASCII }

// codes are texts of cells and what stands for them in a graph, without repetition.
type codes[T any] struct {
	texts  []string
	values []T
	seen   map[string]bool
}

// add adds a text, also with one space before it, behind it, or both: a graph cannot trim.
func (c *codes[T]) add(text string, value T) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	for _, spaced := range []string{text, " " + text, text + " ", " " + text + " "} {
		if !c.seen[spaced] {
			c.seen[spaced] = true
			c.texts, c.values = append(c.texts, spaced), append(c.values, value)
		}
	}
}
