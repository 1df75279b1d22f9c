package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// changes are the lines that changed, by file; nil means that every line counts.
type changes map[string]map[int]bool

func (c changes) touch(m *mutant) bool { return c == nil || c[m.file][m.line] }

// folders returns those of the changed files.
func (c changes) folders() (list []string) {
	for file := range c {
		if f := path.Dir(file); !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	slices.Sort(list)
	return list
}

func output(dir, name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	out, err := command.Output()
	if failed, is := errors.AsType[*exec.ExitError](err); is {
		err = fmt.Errorf("%s %s: %s", name, args[0], strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// changedLines returns the lines of the module's Go files that differ from those of a commit.
func changedLines(root, commit string) (changes, error) {
	diff, err := output(root, "git", "diff", "-U0", "--no-color", "--no-ext-diff", "--relative", commit, "--",
		"*.go")
	if err != nil {
		return nil, err
	}
	c, file := changes{}, ""
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		if name, is := strings.CutPrefix(line, "+++ "); is {
			if file, is = strings.CutPrefix(name, "b/"); !is || !ours(root, file) {
				file = ""
			}
		}
		if !strings.HasPrefix(line, "@@ ") || file == "" {
			continue
		}
		var from, count int
		after := line[strings.Index(line, "+")+1:]
		if n, _ := fmt.Sscanf(after, "%d,%d", &from, &count); n == 1 {
			count = 1
		}
		for k := range count {
			if c[file] == nil {
				c[file] = map[int]bool{}
			}
			c[file][from+k] = true
		}
	}
	return c, nil
}

// ours reports whether a file is code of the module: no test, and of no other module.
func ours(root, file string) bool {
	if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") ||
		strings.HasSuffix(path.Dir(file), "test") {
		return false
	}
	for f := path.Dir(file); f != "."; f = path.Dir(f) {
		_, err := os.Stat(filepath.Join(root, f, "go.mod"))
		if err == nil || strings.HasPrefix(path.Base(f), "_") {
			return false
		}
	}
	return true
}

// readEquivalents returns the texts of known faults that change no result: lines that do not begin
// with #. A file that is not there has none.
func readEquivalents(path string) (map[string]bool, error) {
	known := map[string]bool{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		text := strings.TrimPrefix(strings.TrimSpace(lines.Text()), survivorText)
		if text != "" && text[0] != '#' {
			known[text] = true
		}
	}
	return known, lines.Err()
}
