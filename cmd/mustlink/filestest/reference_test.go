package filestest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
)

// TestManual: every command and topic has a page, which contains only valid macros.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	commandtest.RunOK(t, dir, "reference --man .")
	for _, want := range []string{"man1/mustlink.1", "man1/mustlink-links-make.1", "man7/mustlink-kernels.7",
		"man7/mustlink-parameters-krca.7"} {
		clitest.Read(t, dir, want)
	}
	macros := map[string]bool{".TH": true, ".SH": true, ".B": true, ".TP": true, ".PP": true, ".nf": true,
		".fi": true}
	for _, section := range []string{"man1", "man7"} {
		for _, name := range clitest.Names(t, filepath.Join(dir, section)) {
			page := clitest.Read(t, dir, filepath.Join(section, name))
			if !strings.HasPrefix(page, ".TH ") || !strings.Contains(page, ".SH NAME\n") {
				t.Errorf("%s does not begin as a manual page", name)
			}
			for _, line := range clitest.Lines(page) {
				word, _, _ := strings.Cut(line, " ")
				if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !macros[word] {
					t.Errorf("%s: the line %q would be taken for a macro", name, line)
				}
			}
		}
	}
}

// TestTopics: the topics name every kernel, rule, format, method and parameter.
func TestTopics(t *testing.T) {
	dir := t.TempDir()
	check := func(topic string, words ...string) {
		t.Helper()
		text := commandtest.RunOK(t, dir, "help "+topic).Stdout
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("help %s does not name %q", topic, w)
			}
		}
		if strings.Contains(text, "Flags:") != (topic == "links") {
			t.Errorf("help %s: flags of a topic, or none of a command", topic)
		}
	}
	check("kernels", append(kernel.Names(), kernel.RuleNames()...)...)
	check("links", "i,j,link", "i,chunklet", "i,j,k", "--links-by id", "links make")
	check("formats", session.Formats()...)
	for _, m := range catalog.Methods() {
		words := []string{m.Summary, m.DefaultKernel, "must-links", "Source: "}
		for _, p := range m.Parameters {
			words = append(words, "  "+p.Name, p.Help)
		}
		check("parameters "+m.Name, words...)
		check("parameters", words[:2]...)
	}
}

// TestMethodsInHelp: the help of fit has one line for each method, and no line for a parameter.
func TestMethodsInHelp(t *testing.T) {
	_, list, _ := strings.Cut(commandtest.RunOK(t, t.TempDir(), "fit --help").Stdout, "Methods (-m)")
	list, _, _ = strings.Cut(list, "\n\n")
	methods := clitest.Lines(list)[1:]
	if len(methods) != len(catalog.Methods()) {
		t.Fatalf("%d lines: want %d, one for each method", len(methods), len(catalog.Methods()))
	}
	for i, m := range catalog.Methods() {
		if f := strings.Fields(methods[i]); f[0] != m.Name || strings.Join(f[1:], " ") != m.Summary {
			t.Errorf("line %q: want %s and its summary", methods[i], m.Name)
		}
	}
}
