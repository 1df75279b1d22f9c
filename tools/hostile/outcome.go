package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	memoryLimit  = 100_000_000 // of --memory-limit
	addressSpace = 4 << 30     // hard limit; Go's runtime alone reserves about 1.3 GiB
)

var patience = 20 * time.Second

// class is how a run ended.
type class int

// The classes. The first three are good.
const (
	done    class = iota
	refused       // with a typed error: exit code 2, and one line on standard error
	skipped       // the program lacks the command or the flag
	untyped       // any other exit code, or another number of lines, or a line with control characters
	trace         // a panic, a fatal error of the runtime, or the end by a signal
	hang          // no end within the patience
	peak          // more memory than that of an idle program and twice the limit
	// a wrong result without a word: not finite, all distances equal, a damaged or forgotten file
	wrong
	classes
)

// program is a build under test.
type program struct {
	build   string
	path    string
	library string // folder of make build-lib, "" for none
}

// ended is what is known of a run.
type ended struct {
	code   int // -1 after a signal
	late   bool
	stderr string
	stdout string
	peak   int64 // bytes, 0 if it cannot be measured
}

// run runs the program in a folder under a hard limit of address space.
func (p program) run(dir, stdin string, args ...string) (ended, error) {
	forgetPeak()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	script := fmt.Sprintf(`ulimit -v %d && exec "$0" "$@"`, addressSpace>>10)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script, p.path}, args...)...)
	var stdout, stderr head
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && !is && ctx.Err() == nil {
		return ended{}, err
	} else if is && exit.ProcessState == nil {
		return ended{}, err
	}
	return ended{cmd.ProcessState.ExitCode(), ctx.Err() != nil, stderr.String(), stdout.String(),
		peakOf(cmd.ProcessState)}, nil
}

// idle returns the memory of a program that does nothing.
func (p program) idle() (int64, error) {
	o, err := p.run(".", "", "info", "-q")
	if err == nil && o.code != 0 {
		err = fmt.Errorf("%s info: exit code %d, %s", p.path, o.code, o.stderr)
	}
	return o.peak, err
}

// classify returns the class of a run. idle is the memory of a program that does nothing.
func classify(o ended, idle int64) class { return classifyWithin(o, idle, memoryLimit) }

// classifyWithin is classify for another limit.
func classifyWithin(o ended, idle, limit int64) class {
	switch {
	case o.late:
		return hang
	case o.code < 0 || traced(o.stderr):
		return trace
	case o.peak > idle+2*limit:
		return peak
	case o.code == 0:
		return done
	case o.code == 2 && strings.Contains(o.stderr, "mustlink: unknown "):
		return skipped
	case o.code == 2 && oneLine(o.stderr):
		return refused
	}
	return untyped
}

// traced reports whether a text has a stack trace.
func traced(text string) bool {
	for _, sign := range []string{"goroutine ", "panic: ", "fatal error: ", "runtime error", ".go:"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// oneLine reports whether standard error is one line after the program's name, apart from warnings,
// without control characters and bytes that are no text. The command has exit code 2 for errors of
// package fault alone, so that this line is the message of one.
func oneLine(stderr string) bool {
	const question = "[y/n/s/q] " // the last of an interactive command
	if at := strings.LastIndex(stderr, question); at >= 0 {
		stderr = strings.TrimLeft(stderr[at+len(question):], "\n")
	}
	errors := 0
	for line := range strings.Lines(stderr) {
		text, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "mustlink: ")
		if !is || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return false
		}
		if !strings.HasPrefix(text, "warning: ") {
			errors++
		}
	}
	return errors == 1
}

// head keeps the beginning of what is written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	if room := 1<<16 - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// absolute returns the absolute path of a file that exists.
func absolute(path string) (string, error) {
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
