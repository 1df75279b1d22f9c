// Command words looks for words and phrases that rules.txt replaces by better ones, and for
// lines of prose that are longer than 100 characters, or of Go that are wider than 110 columns.
//
//	words              the pages (*.md) and help topics of the module in the current folder
//	words FILE...      these files
//	words -code        the Go files of the module instead: comments, strings and declared names
//	words -sentences FILE...
//	                   the number of sentences of each page, and how many words they have
//	words -count       how many words the pages have: by hand, generated, results
//
// A finding is one line: file, line number, the word, and the better word. The exit code is 1 when
// there are findings. rules.txt has the words, allowed.txt the phrases that may hold them.
//
// Code blocks, code in backquotes, the targets of links and generated parts of a page (between
// "<!-- NAME -->" and "<!-- end of NAME -->") are not looked at. Lines of tables may be long. The
// folder docs/results is left out, since programs write it, and so are docs/cli.md,
// docs/parameters.md and docs/bench-cli.md, which hold help texts of Go files.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	code := flag.Bool("code", false, "look at Go files instead of pages and help topics")
	sentences := flag.Bool("sentences", false, "count the words of sentences in the pages given")
	count := flag.Bool("count", false, "count the words of all pages")
	flag.Parse()
	var err error
	if *count {
		err = amounts(os.Stdout, ".")
	} else {
		err = run(os.Stdout, ".", flag.Args(), *code, *sentences)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

// run does what the command does in the folder root, and fails when there are findings.
func run(out io.Writer, root string, files []string, code, sentences bool) error {
	if len(files) == 0 {
		if sentences {
			return errors.New("no files: -sentences wants pages")
		}
		var err error
		if files, err = find(root, code); err != nil {
			return err
		}
	}
	findings := 0
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if sentences {
			fmt.Fprintf(out, "%s: %s\n", name, count(string(content)))
			continue
		}
		list, err := check(name, string(content))
		if err != nil {
			return err
		}
		for _, f := range list {
			fmt.Fprintf(out, "%s:%s\n", name, f)
		}
		findings += len(list)
	}
	if findings > 0 {
		return fmt.Errorf("%d findings", findings)
	}
	return nil
}

// check returns the findings in a file; what the file holds follows from its name.
func check(name, content string) ([]finding, error) {
	switch filepath.Ext(name) {
	case ".go":
		return checkGo(name, content)
	case ".md":
		return checkPage(content), nil
	}
	return search(passage{1, content}, textRules), nil
}
