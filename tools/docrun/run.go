package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// limit is the maximum duration of one command or program.
const limit = 2 * time.Minute

// runner runs the blocks of one page.
type runner struct {
	module  string // root of the module
	bin     string // folder in front of PATH, "" for none
	data    string // folder of data sets, "" for none
	scratch string
	update  bool

	python       string // of the page so far
	counts       counts
	ran, skipped int
	faults       []string
	replacements []replacement
}

// counts counts blocks by their language and the reason why they were not run, "" for those that
// were.
type counts map[string]map[string]int

func (c counts) add(language, reason string) {
	if c[language] == nil {
		c[language] = map[string]int{}
	}
	c[language][reason]++
}

// String returns the counts, languages and reasons in order.
func (c counts) String() string {
	var parts []string
	for _, language := range slices.Sorted(maps.Keys(c)) {
		part := fmt.Sprintf("%s %d run", language, c[language][""])
		for _, reason := range slices.Sorted(maps.Keys(c[language])) {
			if reason != "" {
				part += fmt.Sprintf(", %d skipped: %s", c[language][reason], reason)
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// reason says why a block is not run, "" if it is.
func (r *runner) reason(b *block) string {
	switch {
	case slices.Contains([]string{"c", "javascript", "sql"}, b.language):
		return "not run here"
	case b.mark.skip != "":
		return "marked so"
	case len(b.mark.data) > 0 && r.data == "":
		return "no MUSTLINK_DATA"
	case b.language == "python" && os.Getenv("MUSTLINK_LIBRARY") == "":
		return "no MUSTLINK_LIBRARY"
	}
	return ""
}

// replacement replaces shown lines of a page with printed text.
type replacement struct {
	first, count int // lines of the page, from 0
	lines        []string
}

func (r *runner) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

// run runs a block if it knows its language.
func (r *runner) run(ctx context.Context, b *block) error {
	switch b.language {
	case "console", "sh", "go", "python", "c", "javascript", "sql":
	default:
		return nil
	}
	reason := r.reason(b)
	r.counts.add(b.language, reason)
	if reason != "" {
		r.skipped++
		return nil
	}
	r.ran++
	if err := r.fetch(b.mark.data); err != nil {
		return err
	}
	switch {
	case b.language == "console":
		return r.console(ctx, b)
	case b.language == "python": // the blocks of a page are one program
		if b.mark.after != "" {
			before, err := os.ReadFile(filepath.Join(r.module, filepath.FromSlash(b.mark.after)))
			if err != nil {
				return err
			}
			r.python += string(before)
		}
		r.python += strings.Join(b.text, "\n") + "\n"
		python := cmp.Or(os.Getenv("PYTHON"), "python3")
		printed, code, err := r.execute(ctx, r.scratch, python, "-c", r.python)
		if err == nil && code != b.mark.code {
			r.fault(b.line, "exit code %d, not %d\n%s", code, b.mark.code, printed)
		}
		return err
	case b.language == "sh":
		printed, code, err := r.execute(ctx, r.scratch, "bash", "-euo", "pipefail", "-c",
			strings.Join(b.text, "\n"))
		if err == nil && code != b.mark.code {
			r.fault(b.line, "exit code %d, not %d\n%s", code, b.mark.code, printed)
		}
		return err
	case b.mark.from != "":
		return r.snippet(b)
	}
	return r.program(ctx, b)
}

// console runs the commands of a block, each in its own shell.
func (r *runner) console(ctx context.Context, b *block) error {
	list, err := b.commands()
	if err != nil {
		return err
	}
	for i, c := range list {
		line := b.line + c.first
		printed, code, err := r.execute(ctx, r.scratch, "bash", "-o", "pipefail", "-c", c.text)
		if err != nil {
			return err
		}
		want := 0
		if i == len(list)-1 {
			want = b.mark.code
		}
		if code != want {
			r.fault(line, "%s: exit code %d, not %d\n%s", c.text, code, want, printed)
			continue
		}
		got := splitLines(printed)
		if len(c.shown) == 0 || matches(c.shown, got) {
			continue
		}
		if r.update {
			r.replacements = append(r.replacements, replacement{line, len(c.shown), got})
			continue
		}
		r.fault(line, "%s\n-- shown\n%s\n-- printed\n%s", c.text, strings.Join(c.shown, "\n"), printed)
	}
	return nil
}

// program compiles and runs a whole program, and compares its output with the comment at its end.
func (r *runner) program(ctx context.Context, b *block) error {
	text := strings.Join(b.text, "\n") + "\n"
	_, output, said := strings.Cut(text, "// Output:\n")
	if !strings.HasPrefix(text, "package main\n") || !said {
		r.fault(b.line, "want a program with package main and // Output:, or a mark <!-- run: from FILE -->")
		return nil
	}
	var shown []string
	for _, line := range strings.Split(output, "\n") {
		rest, isComment := strings.CutPrefix(strings.TrimSpace(line), "//")
		if !isComment {
			break
		}
		shown = append(shown, strings.TrimSpace(rest))
	}
	file := filepath.Join(r.scratch, "program.go")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return err
	}
	program := filepath.Join(r.scratch, "program.exe")
	printed, code, err := r.execute(ctx, r.module, "go", "build", "-o", program, file)
	if err == nil && code == 0 {
		printed, code, err = r.execute(ctx, r.scratch, program)
	}
	if err == nil && (code != 0 || !matches(shown, splitLines(printed))) {
		r.fault(b.line, "the program ends with code %d and prints\n%s", code, printed)
	}
	return err
}

// snippet searches a file of the module for the lines of a block.
func (r *runner) snippet(b *block) error {
	content, err := os.ReadFile(filepath.Join(r.module, filepath.FromSlash(b.mark.from)))
	if err != nil {
		return err
	}
	lines := splitLines(string(content))
	for i, want := range b.text {
		if want = strings.TrimSpace(want); want == "" {
			continue
		}
		for len(lines) > 0 && strings.TrimSpace(lines[0]) != want {
			lines = lines[1:]
		}
		if len(lines) == 0 {
			r.fault(b.line+1+i, "%s has no line %q behind those above", b.mark.from, want)
			return nil
		}
	}
	return nil
}

// execute returns what a command prints and its exit code.
func (r *runner) execute(ctx context.Context, dir, name string, args ...string) (string, int, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	cmd.Dir = dir
	cmd.Env = os.Environ()
	if r.bin != "" {
		cmd.Env = append(cmd.Env, "PATH="+r.bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", 0, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), ctx.Err())
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode(), nil
	}
	return string(out), 0, err
}

// fetch copies data sets into the scratch folder; it decompresses those whose new name lacks .gz.
func (r *runner) fetch(files []dataFile) error {
	for _, f := range files {
		if err := r.fetchFile(f); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) fetchFile(f dataFile) error {
	in, err := os.Open(filepath.Join(r.data, f.name))
	if err != nil {
		return err
	}
	defer in.Close()
	var from io.Reader = in
	if strings.HasSuffix(f.name, ".gz") && !strings.HasSuffix(f.as, ".gz") {
		if from, err = gzip.NewReader(in); err != nil {
			return err
		}
	}
	out, err := os.Create(filepath.Join(r.scratch, f.as))
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close())
}

// splitLines returns the lines of a text, without white space at the ends of lines and without
// blank lines at the end.
func splitLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
