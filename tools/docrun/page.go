package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// block is a fenced block of a page.
type block struct {
	language string
	line     int // of its fence, from 1
	text     []string
	mark     mark
}

// mark is the content of the comment above a block.
type mark struct {
	skip  string     // why it is not run
	code  int        // exit code of its last command
	data  []dataFile // files that it requires
	from  string     // the file that contains the lines of a snippet
	after string     // the Python file that runs before it
}

type dataFile struct{ name, as string }

var comment = regexp.MustCompile(`^<!-- run: (\w+),? (.*\S) -->$`)

// blocks returns the fenced blocks of a page. Errors, with their line, are: a mark that is not
// understood, a mark without a block, a fence that is not closed, and an indented command line,
// which would not be run.
func blocks(page string) ([]block, error) {
	var found []block
	var marked *mark
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "<!-- run:"):
			m, err := parseMark(line, marked)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			marked = m
		case strings.HasPrefix(line, "```"):
			b := block{language: strings.TrimSpace(line[3:]), line: i + 1}
			end := i + 1
			for end < len(lines) && strings.TrimRight(lines[end], " ") != "```" {
				end++
			}
			if end == len(lines) {
				return nil, fmt.Errorf("line %d: the block is not closed", i+1)
			}
			b.text = lines[i+1 : end]
			if marked != nil {
				b.mark = *marked
			}
			marked = nil
			found = append(found, b)
			i = end
		case indentedCommand.MatchString(line):
			return nil, fmt.Errorf("line %d: an indented command is not run: put it into a fenced block", i+1)
		case strings.TrimSpace(line) != "" && marked != nil:
			return nil, fmt.Errorf("line %d: a run mark has no block below it", i+1)
		}
	}
	if marked != nil {
		return nil, fmt.Errorf("a run mark at the end has no block below it")
	}
	return found, nil
}

var indentedCommand = regexp.MustCompile(`^(    |\t)(\$ )?(mustlink|mustlink-bench|make|go) `)

// parseMark adds the content of a comment to the marks above it.
func parseMark(line string, above *mark) (*mark, error) {
	m := &mark{}
	if above != nil {
		*m = *above
	}
	parts := comment.FindStringSubmatch(strings.TrimSpace(line))
	if parts == nil {
		return nil, fmt.Errorf("the run mark is not of the form <!-- run: WORD ... -->")
	}
	switch word, rest := parts[1], parts[2]; word {
	case "skip":
		m.skip = rest
	case "code":
		code, err := strconv.Atoi(rest)
		if err != nil {
			return nil, fmt.Errorf("run: code %q: want a number", rest)
		}
		m.code = code
	case "data":
		for _, item := range strings.Split(rest, ",") {
			name, as, renamed := strings.Cut(strings.TrimSpace(item), " as ")
			if !renamed {
				as = name
			}
			m.data = append(m.data, dataFile{name, as})
		}
	case "from":
		m.from = rest
	case "after":
		m.after = rest
	default:
		return nil, fmt.Errorf("run: %q: want skip, code, data, from or after", word)
	}
	return m, nil
}

// command is one command of a console block with its shown output.
type command struct {
	text  string
	shown []string
	first int // index of the first shown line in the block's text
}

// commands returns the commands of a console block.
func (b *block) commands() ([]command, error) {
	var list []command
	for i, line := range b.text {
		switch text, isCommand := strings.CutPrefix(line, "$ "); {
		case isCommand:
			list = append(list, command{text: text, first: i + 1})
		case len(list) == 0:
			return nil, fmt.Errorf("line %d: output in front of the first command", b.line+1+i)
		default:
			c := &list[len(list)-1]
			if rest, goesOn := strings.CutPrefix(line, "> "); goesOn && len(c.shown) == 0 {
				c.text += "\n" + rest
				c.first = i + 1
			} else {
				c.shown = append(c.shown, line)
			}
		}
	}
	return list, nil
}
