package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

var (
	//go:embed rules.txt
	rulesText string
	//go:embed names.txt
	namesText string
	//go:embed allowed.txt
	allowedText string
)

// The rules of texts, and those that names in Go have besides.
var (
	textRules = parse(rulesText)
	nameRules = parse(rulesText + "\n" + namesText)
	allowed   = parse(allowedText)
)

// rule is a phrase that is not used. A word with a capital letter in it is looked for as it stands,
// others in any case.
type rule struct {
	phrase []string
	better string
}

// rulesByFirst are rules by their first word, longer phrases first.
type rulesByFirst map[string][]rule

// finding is a place that breaks a rule.
type finding struct {
	line         int
	what, better string
}

func (f finding) String() string { return fmt.Sprintf("%d: %s: %s", f.line, f.what, f.better) }

// parse reads rules, one a line: phrases with commas between them, "|", the better words. A "~"
// stands for the endings of a verb that ends in -ise. "#" begins a comment.
func parse(text string) rulesByFirst {
	rules := rulesByFirst{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		phrases, better, _ := strings.Cut(line, "|")
		for phrase := range strings.SplitSeq(phrases, ",") {
			if phrase = strings.TrimSpace(phrase); phrase == "" {
				continue
			}
			endings := []string{""}
			if strings.HasSuffix(phrase, "~") {
				endings = []string{"e", "es", "ed", "er", "ers", "ing", "ation", "ations"}
			}
			for _, ending := range endings {
				whole := strings.TrimSuffix(phrase, "~") + ending
				words := strings.Fields(whole)
				rules[words[0]] = append(rules[words[0]], rule{words, strings.TrimSpace(better)})
			}
		}
	}
	for _, list := range rules {
		slices.SortStableFunc(list, func(a, b rule) int { return len(b.phrase) - len(a.phrase) })
	}
	return rules
}

// passage is a piece of text that begins on a line of a file.
type passage struct {
	line int
	text string
}

// word is a word of a passage.
type word struct {
	text string
	line int
	last bool // of a sentence
}

// tokens returns the words of a passage; names such as "newColors" and "new_colors" are two words.
func (p passage) tokens() []word {
	var list []word
	line, begin := p.line, -1
	runes := []rune(p.text)
	flush := func(end int) {
		if begin >= 0 {
			inName := end+1 < len(runes) && unicode.IsLetter(runes[end+1]) // such as "model.links"
			last := end < len(runes) && strings.ContainsRune(".:!?", runes[end]) && !inName
			list = append(list, word{string(runes[begin:end]), line, last})
		}
		begin = -1
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			flush(i)
		case begin < 0:
			begin = i
		case unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1]):
			flush(i)
			begin = i
		}
		if r == '\n' {
			line++
		}
	}
	flush(len(runes))
	return list
}

// matches reports whether a phrase stands at the beginning of tokens.
func (r rule) matches(list []word) bool {
	if len(list) < len(r.phrase) {
		return false
	}
	for i, want := range r.phrase {
		if i > 0 && list[i-1].last || want != list[i].text && want != strings.ToLower(list[i].text) {
			return false
		}
	}
	return true
}

// at returns the first rule that tokens begin with.
func at(rules rulesByFirst, list []word) (rule, bool) {
	for _, key := range []string{list[0].text, strings.ToLower(list[0].text)} {
		for _, r := range rules[key] {
			if r.matches(list) {
				return r, true
			}
		}
	}
	return rule{}, false
}

// search returns the phrases of a passage that break rules and are not in an allowed phrase.
func search(p passage, bad rulesByFirst) []finding {
	var found []finding
	list := p.tokens()
	for i := 0; i < len(list); {
		if r, ok := at(allowed, list[i:]); ok {
			i += len(r.phrase)
			continue
		}
		if r, ok := at(bad, list[i:]); ok {
			found = append(found, finding{list[i].line, strings.Join(r.phrase, " "), r.better})
			i += len(r.phrase)
			continue
		}
		i++
	}
	return found
}
