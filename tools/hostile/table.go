package main

import (
	"fmt"
	"io"
	"sync"
)

// tally counts the classes of one part with one build.
type tally struct {
	mu          sync.Mutex
	part, build string
	from        class // the first class that is listed
	counts      [classes]int
}

func newTally(part, build string, from class) *tally {
	return &tally{part: part, build: build, from: from}
}

// add counts a run, and lists it if it is bad.
func (t *tally) add(list io.Writer, c class, what string, o ended) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[c]++
	if c >= t.from {
		fmt.Fprintf(list, "%s, %s, %s: %s\n\tcode %d, %d MiB: %s\n", t.part, t.build, names[c], what, o.code,
			o.peak>>20, first(o.stderr))
	}
}

// first returns the beginning of a text.
func first(text string) string {
	const enough = 300
	if len(text) > enough {
		text = text[:enough] + "..."
	}
	return fmt.Sprintf("%q", text)
}

func (t *tally) total() (n int) {
	for _, v := range t.counts {
		n += v
	}
	return n
}

func (t *tally) bad() bool {
	for _, v := range t.counts[untyped:] {
		if v > 0 {
			return true
		}
	}
	return false
}

var names = [classes]string{"done", "refused", "skipped", "untyped", "trace", "hang", "peak", "wrong"}

// printTable writes the tallies as Markdown.
func printTable(w io.Writer, rows []*tally) {
	fmt.Fprint(w, "| part | build | runs |")
	for _, n := range names {
		fmt.Fprintf(w, " %s |", n)
	}
	fmt.Fprintln(w, "\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, t := range rows {
		fmt.Fprintf(w, "| %s | %s | %d |", t.part, t.build, t.total())
		for _, v := range t.counts {
			fmt.Fprintf(w, " %d |", v)
		}
		fmt.Fprintln(w)
	}
}
