package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/internal/session"
)

// The first tour is one: the help, the README and the guide show the same commands in the same
// order, and running the pages (make docs-test) shows that they work.
func TestTour(t *testing.T) {
	command := regexp.MustCompile(`(?m)^(?:\$ |  )(mustlink (?:links make|fit|cluster|neighbors|report) .*-o \S+)$`)
	commands := func(text string) (out []string) {
		for _, m := range command.FindAllStringSubmatch(text, 5) {
			out = append(out, m[1])
		}
		return out
	}
	want := commands(newRoot(&session.Session{Name: "mustlink"}).Long)
	if len(want) != 5 {
		t.Fatalf("the help has the tour %q: want five commands", want)
	}
	for _, page := range []string{"../../README.md", "../../docs/guide.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if got := commands(string(text)); !slices.Equal(got, want) {
			t.Errorf("%s has the tour %q: want %q", page, got, want)
		}
	}
}
