package reference

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
)

// writeManual writes a manual page for every command and topic below folder.
func writeManual(root *cobra.Command, folder string) error {
	for _, section := range []string{"man1", "man7"} {
		if err := session.MakeFolder(filepath.Join(folder, section)); err != nil {
			return err
		}
	}
	return walk(root, func(c *cobra.Command) error {
		path := manualFile(folder, c)
		err := dataset.Atomic(path, func(w io.Writer) error { return manualPage(w, c) })
		if errors.Is(err, os.ErrPermission) {
			return fault.Data(path, "cannot write: %w", err)
		}
		return err
	})
}

func manualName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manualPage writes a page in the macros of man(7). It has no date, so that equal sources make
// equal pages.
func manualPage(w io.Writer, c *cobra.Command) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, ".TH %s %s \"\" \"mustlink\" \"mustlink manual\"\n", strings.ToUpper(manualName(c)), manualSection(c))
	fmt.Fprintf(out, ".SH NAME\n%s \\- %s\n", roff(manualName(c)), roff(c.Short))
	if !isTopic(c) {
		fmt.Fprintf(out, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	}
	fmt.Fprintf(out, ".SH DESCRIPTION\n")
	manualText(out, about(c))
	if c.Example != "" {
		fmt.Fprintf(out, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(unindented(c.Example)))
	}
	if !isTopic(c) {
		manualFlags(out, "OPTIONS", c.NonInheritedFlags())
		manualFlags(out, "GLOBAL OPTIONS", c.InheritedFlags())
	}
	manualRelated(out, c)
	return out.Flush()
}

// manualText writes paragraphs; one with an indented line keeps its line breaks.
func manualText(out io.Writer, text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			fmt.Fprintln(out, ".PP")
		}
		kept := strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ")
		if kept {
			fmt.Fprintf(out, ".nf\n%s\n.fi\n", roff(paragraph))
		} else {
			fmt.Fprintln(out, roff(paragraph))
		}
	}
}

func manualFlags(out io.Writer, title string, flags *pflag.FlagSet) {
	begun := false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if !begun {
			fmt.Fprintf(out, ".SH %s\n", title)
			begun = true
		}
		name, usage, value := flagText(f)
		if value != "" {
			usage += " (default " + value + ")"
		}
		fmt.Fprintf(out, ".TP\n.B %s\n%s\n", roff(name), roff(usage))
	})
}

// manualRelated names the pages above and below.
func manualRelated(out io.Writer, c *cobra.Command) {
	var names []string
	if c.HasParent() {
		names = append(names, manualReference(c.Parent()))
	}
	for _, s := range c.Commands() {
		if !s.Hidden && s.Name() != "help" {
			names = append(names, manualReference(s))
		}
	}
	fmt.Fprintf(out, ".SH SEE ALSO\n%s\n", roff(strings.Join(names, ", ")))
}

// roff escapes characters that are special to the formatter.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
