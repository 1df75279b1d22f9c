package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`^#+ +(.*)`)
)

// brokenLinks returns a message for every link of a page to a missing file or heading. It does not
// follow links to other sites.
func brokenLinks(page, content string) []string {
	var faults []string
	for i, line := range prose(content) {
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			target := m[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if err := resolve(page, content, target); err != nil {
				faults = append(faults, fmt.Sprintf("line %d: link %s: %v", i+1, target, err))
			}
		}
	}
	return faults
}

// resolve returns an error if the target of a link on a page does not exist.
func resolve(page, content, target string) error {
	path, anchor, hasAnchor := strings.Cut(target, "#")
	if path != "" {
		path = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("there is no such file")
		}
		if hasAnchor {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(b)
		}
	}
	if hasAnchor && !headings(content)[anchor] {
		return fmt.Errorf("there is no such heading")
	}
	return nil
}

// headings returns the anchors of a page's headings, as code hosts make them: lower case, spaces as
// hyphens, no punctuation.
func headings(content string) map[string]bool {
	anchors := map[string]bool{}
	for _, line := range prose(content) {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		anchors[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(m[1]))] = true
	}
	return anchors
}

// prose returns the lines of a page, with the lines of fenced blocks emptied.
func prose(content string) []string {
	lines := strings.Split(content, "\n")
	inside := false
	for i, line := range lines {
		fence := strings.HasPrefix(line, "```")
		if fence || inside {
			lines[i] = ""
		}
		inside = inside != fence
	}
	return lines
}
