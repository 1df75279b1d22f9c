package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// lengths is how long the sentences of a page are, in words.
type lengths struct {
	sentences, median, ninth int // ninth is the 90th percentile
	longest                  int // line of the longest sentence
}

func (l lengths) String() string {
	return fmt.Sprintf("%d sentences, median %d words, 90th percentile %d, longest begins on line %d",
		l.sentences, l.median, l.ninth, l.longest)
}

// count counts the words of the sentences of a page: of its paragraphs and list items, not of
// headings, tables, code and generated parts.
func count(content string) lengths {
	var all []int
	var l lengths
	most := 0
	for _, b := range blocks(content) {
		if b.kind != paragraph || b.generated {
			continue
		}
		for _, s := range sentences(b.passage) {
			n := len(strings.Fields(s.text))
			all = append(all, n)
			if n > most {
				most, l.longest = n, s.line
			}
		}
	}
	slices.Sort(all)
	if l.sentences = len(all); l.sentences > 0 {
		l.median, l.ninth = all[len(all)/2], all[len(all)*9/10]
	}
	return l
}

// abbreviations end in a full stop that ends no sentence.
var abbreviations = []string{"e.g.", "i.e.", "al.", "vs.", "cf.", "Fig.", "eq.", "No."}

// sentences splits a paragraph or a list item. Code in backquotes is one word, and so is what has
// no letter or digit with the word before it.
func sentences(p passage) []passage {
	var list []passage
	var current []string
	begin := p.line
	flush := func() {
		if len(current) > 0 {
			list = append(list, passage{begin, strings.Join(current, " ")})
		}
		current = nil
	}
	for i, line := range strings.Split(prose(item.ReplaceAllString(p.text, "")), "\n") {
		for _, word := range strings.Fields(line) {
			if !strings.ContainsFunc(word, func(r rune) bool {
				return unicode.IsLetter(r) || unicode.IsDigit(r)
			}) {
				continue
			}
			if len(current) == 0 {
				begin = p.line + i
			}
			current = append(current, word)
			bare := strings.TrimRight(word, `*_)]"'`)
			if strings.HasSuffix(bare, ".") || strings.HasSuffix(bare, "!") || strings.HasSuffix(bare, "?") {
				if !slices.Contains(abbreviations, strings.TrimLeft(bare, `*_(["'`)) {
					flush()
				}
			}
		}
	}
	flush()
	return list
}
