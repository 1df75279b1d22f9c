package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// generated are pages that programs write from the help of commands.
var generated = []string{"docs/cli.md", "docs/parameters.md", "docs/bench-cli.md"}

// amounts writes in one line how many words the pages have: those that people write, generated ones
// and those of results. It counts the words of prose and tables that hold a letter, without code
// blocks and hidden comments, and in brackets all words, as wc -w does.
func amounts(out io.Writer, root string) error {
	pages, err := find(root, false)
	if err != nil {
		return err
	}
	results, err := filepath.Glob(filepath.Join(root, "docs/results/*.md"))
	if err != nil {
		return err
	}
	groups := [3][]string{pages, nil, results}
	for _, name := range generated {
		groups[1] = append(groups[1], filepath.Join(root, name))
	}
	var read, all [len(groups)]int
	for k, list := range groups {
		for _, name := range list {
			if filepath.Ext(name) != ".md" {
				continue // a help topic, which is part of generated pages
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			read[k] += readable(string(content))
			all[k] += len(strings.Fields(string(content)))
		}
	}
	_, err = fmt.Fprintf(out, "words of pages by hand %d (wc -w %d), generated %d (%d), results %d (%d)\n",
		read[0], all[0], read[1], all[1], read[2], all[2])
	return err
}

// readable counts the words of a page that hold a letter, in prose, headings and tables.
func readable(content string) (count int) {
	for _, b := range blocks(comment.ReplaceAllString(content, "")) {
		for _, word := range strings.Fields(b.text) {
			if strings.ContainsFunc(word, unicode.IsLetter) {
				count++
			}
		}
	}
	return count
}
