package main

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// longest is the number of characters that a line of prose may have.
const longest = 100

// kinds of blocks of a page.
const (
	paragraph = iota
	heading
	table
)

// block is a paragraph, a list item, a heading or a table of a page.
type block struct {
	kind      int
	generated bool
	passage
}

var (
	item     = regexp.MustCompile(`^\s*([-*+]|\d+\.) +`)
	inline   = regexp.MustCompile("`[^`\n]+`")
	target   = regexp.MustCompile(`\]\([^)\s]*\)`)
	comment  = regexp.MustCompile(`(?s)<!--.*?-->`)
	begins   = regexp.MustCompile(`^<!-- ([\w-]+)(:begin)? -->$`)
	address  = regexp.MustCompile(`https?://\S+`)
	onlyLink = regexp.MustCompile(`^\s*([-*+] +)?!?\[[^\]]*\]\([^)]*\)\W*$`)
)

// blocks returns those of a page, without code and comments.
func blocks(content string) []block {
	var list []block
	var current *block
	fence, generated := false, ""
	for i, line := range strings.Split(content, "\n") {
		trimmed := strings.TrimSpace(line)
		switch m := begins.FindStringSubmatch(trimmed); {
		case m != nil && generated == "":
			generated = m[1]
		case trimmed == "<!-- end of "+generated+" -->", trimmed == "<!-- "+generated+":end -->":
			generated = ""
		}
		if strings.HasPrefix(trimmed, "```") {
			fence = !fence
			current = nil
			continue
		}
		code := current == nil && strings.HasPrefix(line, "    ")
		if fence || code || trimmed == "" || strings.HasPrefix(trimmed, "<!--") {
			current = nil
			continue
		}
		kind := paragraph
		switch {
		case strings.HasPrefix(trimmed, "#"):
			kind = heading
		case strings.HasPrefix(trimmed, "|"):
			kind = table
		}
		if current == nil || current.kind != kind || kind == heading || item.MatchString(line) {
			list = append(list, block{kind, generated != "", passage{i + 1, line}})
			current = &list[len(list)-1]
			continue
		}
		current.text += "\n" + line
	}
	return list
}

// prose returns a text without code, comments and the targets of links.
func prose(text string) string {
	for _, r := range []*regexp.Regexp{comment, address, inline} {
		text = r.ReplaceAllString(text, "x")
	}
	return target.ReplaceAllString(text, "]")
}

// checkPage returns the findings on a page, in the order of lines.
func checkPage(content string) []finding {
	var found []finding
	for _, b := range blocks(content) {
		if b.generated {
			continue
		}
		found = append(found, search(passage{b.line, prose(b.text)}, textRules)...)
		if b.kind != table {
			found = append(found, long(b.passage)...)
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return a.line - b.line })
	return found
}

// long returns the lines of a passage that are too long, but for those that are one link.
func long(p passage) []finding {
	var found []finding
	for i, line := range strings.Split(p.text, "\n") {
		if utf8.RuneCountInString(line) > longest && !onlyLink.MatchString(line) {
			found = append(found, finding{p.line + i, "long line", "at most 100 characters"})
		}
	}
	return found
}
