package docpage

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"strings"
)

// Details takes the long sections out of the page about the reproduction of papers. It returns the
// page with their first paragraphs and links into the folder of that name, and a CSV file for each,
// by its name in the folder. Of claims the page keeps those that are neither reproduced nor mixed.
func Details(page, folder string) (short string, files map[string][]byte, err error) {
	long := map[string]string{"Numbers that are worse": "worse", "What the papers say": "claims",
		"Orders": "orders", "Why numbers and orders differ": "reasons",
		"Other figures, and missing data": "figures", "Quality of rivals and baselines": "rivals",
		"Quality of the papers' own methods": "own",
		"Stars, signs and counts":            "marks", "Times": "times"}
	files = map[string][]byte{}
	sections := strings.SplitAfter(page, "\n\n## ")
	for k, section := range sections {
		title, rest, _ := strings.Cut(section, "\n")
		name := long[title]
		if name == "" {
			continue
		}
		after := ""
		if before, is := strings.CutSuffix(rest, "\n\n## "); is {
			rest, after = before, "\n\n## "
		}
		text, rows := detail(rest)
		kept := title + "\n"
		if text != "" {
			kept += "\n" + text + "\n"
		}
		if name == "claims" {
			kept += "\n" + failing(rest)
		}
		sections[k] = fmt.Sprintf("%s\n[All lines as CSV](%s/%s.csv).%s", kept, folder, name, after)
		var b bytes.Buffer
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			return "", nil, err
		}
		files[name+".csv"] = b.Bytes()
	}
	return strings.TrimRight(strings.Join(sections, ""), "\n") + "\n", files, nil
}

var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// detail returns the paragraphs of a section, and the lines of its tables or list. Lines of a
// second table have fewer cells.
func detail(section string) (text string, rows [][]string) {
	var paragraphs []string
	for block := range strings.SplitSeq(strings.TrimSpace(section), "\n\n") {
		switch {
		case strings.HasPrefix(block, "| "):
			for k, line := range strings.Split(block, "\n") {
				if k == 1 || k == 0 && rows != nil {
					continue
				}
				cells := Cells(link.ReplaceAllString(line, "$1"))
				if rows != nil && len(cells) < len(rows[0]) {
					cells = append(cells, make([]string, len(rows[0])-len(cells))...)
				}
				rows = append(rows, cells)
			}
		case strings.HasPrefix(block, "- "):
			rows = [][]string{{"page", "text"}}
			for item := range strings.SplitSeq(strings.TrimPrefix(block, "- "), "\n- ") {
				item = unescape(link.ReplaceAllString(strings.Join(strings.Fields(item), " "), "$1"))
				name, said, _ := strings.Cut(item, ": ")
				rows = append(rows, []string{name, said})
			}
		default:
			paragraphs = append(paragraphs, block)
		}
	}
	return strings.Join(paragraphs, "\n\n"), rows
}

// failing returns the first three columns of the first table of a section, without mixed verdicts.
func failing(section string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(section, "\n") {
		if strings.HasPrefix(line, "| ") {
			if cells := strings.Split(line, " | ")[:3]; cells[2] != "mixed" {
				b.WriteString(strings.Join(cells, " | ") + " |\n")
			}
		} else if b.Len() > 0 {
			break
		}
	}
	return b.String()
}
