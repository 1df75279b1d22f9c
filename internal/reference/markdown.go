package reference

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// writeMarkdown writes the help of all commands and topics as one page.
func writeMarkdown(w io.Writer, root *cobra.Command, intro string, also []string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n\n", intro)
	var topics []string
	for _, c := range root.Commands() {
		if isTopic(c) {
			topics = append(topics, markdownLink(c))
		}
	}
	for _, name := range also {
		topics = append(topics, fmt.Sprintf("[%s](#%s-%[1]s)", name, root.Name()))
	}
	if len(topics) > 0 {
		fmt.Fprintf(out, "Topics: %s.\n\n", strings.Join(topics, ", "))
	}
	err := walk(root, func(c *cobra.Command) error {
		if c.HasParent() && isTopic(c.Parent()) {
			return nil // a method, which is listed in its topic
		}
		markdownCommand(out, c)
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func markdownLink(c *cobra.Command) string {
	return fmt.Sprintf("[%s](#%s)", c.Name(), strings.ReplaceAll(c.CommandPath(), " ", "-"))
}

func markdownCommand(out io.Writer, c *cobra.Command) {
	fmt.Fprintf(out, "## %s\n\n%s\n\n", c.CommandPath(), c.Short)
	fmt.Fprintf(out, "```text\n%s\n```\n\n", strings.TrimSpace(about(c)))
	if isTopic(c) {
		return
	}
	if c.Runnable() && !c.HasAvailableSubCommands() {
		fmt.Fprintf(out, "```text\n%s\n```\n\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(out, "```text\n%s\n```\n\n", unindented(c.Example))
	}
	if c.HasAvailableSubCommands() {
		var names []string
		for _, s := range c.Commands() {
			if s.IsAvailableCommand() && s.Name() != "help" {
				names = append(names, markdownLink(s))
			}
		}
		fmt.Fprintf(out, "Commands: %s.\n\n", strings.Join(names, ", "))
	}
	markdownFlags(out, c.NonInheritedFlags())
}

// markdownFlags writes a table of flags, except --help.
func markdownFlags(out io.Writer, flags *pflag.FlagSet) {
	begun := false
	cell := strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if !begun {
			fmt.Fprintf(out, "| flag | |\n| --- | --- |\n")
			begun = true
		}
		name, usage, value := flagText(f)
		if value != "" {
			usage += " (default " + value + ")"
		}
		fmt.Fprintf(out, "| `%s` | %s |\n", strings.ReplaceAll(name, "|", `\|`), cell.Replace(usage))
	})
	if begun {
		fmt.Fprintln(out)
	}
}

// unindented removes two spaces from the beginning of every line.
func unindented(text string) string {
	var s strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		s.WriteString(strings.TrimPrefix(line, "  "))
	}
	return s.String()
}
