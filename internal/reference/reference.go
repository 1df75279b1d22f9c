// Package reference writes the help of a program's commands and topics as one page of Markdown, or
// as manual pages.
package reference

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// Command returns the hidden command that writes the help of a program in other forms, for
// makefiles. intro is the beginning of the Markdown page, which lists the topics and the commands
// that also names.
func Command(s *session.Session, intro string, also ...string) *cobra.Command {
	var markdown, man string
	cmd := &cobra.Command{
		Use:   "reference (--markdown FILE | --man FOLDER)",
		Short: "write the help of all commands as one page of Markdown, or as manual pages",
		Long: `Write the help of all commands and topics as one page of Markdown, or as manual pages, one for each command
(mustlink-fit.1) and topic (mustlink-kernels.7), into an existing folder.`,
		Example: fmt.Sprintf("  %s reference --markdown cli.md\n  %[1]s reference --man /usr/local/share/man",
			s.Name),
		Hidden: true,
		Args:   usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			check := s.Check(cmd)
			check.Err = usage.CheckFlags(cmd)
			if markdown == "" {
				check.Required("man")
			}
			switch {
			case check.Err != nil:
				return check.Err
			case markdown == "":
				return writeManual(cmd.Root(), man)
			}
			for _, c := range cmd.Root().Commands() {
				if isLong(c) {
					path := filepath.Join(filepath.Dir(markdown), longPage(c))
					err := dataset.Atomic(path, func(w io.Writer) error {
						_, err := fmt.Fprintf(w, "# %s\n\n%s\n\n```text\n%s\n```\n", c.CommandPath(), c.Short,
							strings.TrimSpace(about(c)))
						return err
					})
					if err != nil {
						return err
					}
				}
			}
			return dataset.Atomic(markdown, func(w io.Writer) error {
				return writeMarkdown(w, cmd.Root(), intro, also)
			})
		},
	}
	f := usage.FlagsOf(cmd)
	f.String(&markdown, "markdown", "", "the `FILE` of Markdown to write", usage.Excludes("man"))
	f.String(&man, "man", "", "the `FOLDER` to write manual pages to, in its folders man1 and man7")
	return cmd
}

// walk calls f for a command and all visible commands below it, in the order of the help.
func walk(cmd *cobra.Command, f func(*cobra.Command) error) error {
	if cmd.Hidden || cmd.Name() == "help" {
		return nil
	}
	if err := f(cmd); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if err := walk(c, f); err != nil {
			return err
		}
	}
	return nil
}

// isLong reports whether a topic has topics of its own, and so a page of its own in Markdown.
func isLong(cmd *cobra.Command) bool { return isTopic(cmd) && cmd.HasSubCommands() }

func longPage(cmd *cobra.Command) string { return cmd.Name() + ".md" }

// shells reports whether a command has a command for each shell.
func shells(c *cobra.Command) bool { return c.Name() == "completion" }

// isTopic reports whether a command is only a help text.
func isTopic(cmd *cobra.Command) bool { return cmd.IsAdditionalHelpTopicCommand() }

// about returns the long text of a command, or the short one if there is no other.
func about(cmd *cobra.Command) string { return session.NameOr(cmd.Long, cmd.Short) }

// flagText returns a flag with its letter and the name of its value, and its description with its
// default.
func flagText(f *pflag.Flag) (name, usage string) {
	kind, usage := pflag.UnquoteUsage(f)
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if kind != "" {
		name += " " + kind
	}
	switch f.DefValue {
	case "", "0", "false", "[]":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	return name, usage
}

// manualFile is the name of a command's manual page.
func manualFile(folder string, cmd *cobra.Command) string {
	section := manualSection(cmd)
	return filepath.Join(folder, "man"+section, manualName(cmd)+"."+section)
}

func manualSection(cmd *cobra.Command) string {
	if isTopic(cmd) {
		return "7"
	}
	return "1"
}

func manualReference(cmd *cobra.Command) string {
	return fmt.Sprintf("%s(%s)", manualName(cmd), manualSection(cmd))
}

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
	common := commonFlags(root)
	err := walk(root, func(c *cobra.Command) error {
		switch {
		case c.HasParent() && (isTopic(c.Parent()) || shells(c.Parent())):
			return nil // a method, which is listed in its topic, or a shell
		case isLong(c):
			fmt.Fprintf(out, "## %s\n\n%s: [the page](%s).\n\n", c.CommandPath(), c.Short, longPage(c))
			return nil
		}
		markdownCommand(out, c, common)
		return nil
	})
	if len(common) > 0 {
		fmt.Fprint(out, "## Flags of several commands\n\n| flag | |\n| --- | --- |\n")
		for _, row := range slices.Sorted(maps.Keys(common)) {
			fmt.Fprintln(out, row)
		}
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

func markdownLink(c *cobra.Command) string {
	if isLong(c) {
		return fmt.Sprintf("[%s](%s)", c.Name(), longPage(c))
	}
	return fmt.Sprintf("[%s](#%s)", c.Name(), strings.ReplaceAll(c.CommandPath(), " ", "-"))
}

func markdownCommand(out io.Writer, c *cobra.Command, common map[string]bool) {
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
			switch {
			case !s.IsAvailableCommand() || s.Name() == "help":
			case shells(c): // these have no section
				names = append(names, "`"+s.Name()+"`")
			default:
				names = append(names, markdownLink(s))
			}
		}
		fmt.Fprintf(out, "Commands: %s.\n\n", strings.Join(names, ", "))
	}
	markdownFlags(out, c.NonInheritedFlags(), common)
}

// unlessGiven begins the text of a flag that a command takes only without a model.
const unlessGiven = "without MODEL: "

// commonFlags returns the lines of flags that three commands or more have with the same text.
func commonFlags(root *cobra.Command) map[string]bool {
	const several = 3
	seen, common := map[string]int{}, map[string]bool{}
	_ = walk(root, func(c *cobra.Command) error { // the function returns no error
		visible(c.NonInheritedFlags(), func(f *pflag.Flag) {
			row := strings.Replace(flagRow(f), unlessGiven, "", 1)
			seen[row]++
			if seen[row] == several {
				common[row] = true
			}
		})
		return nil
	})
	return common
}

// visible calls use for the flags of the help, except --help.
func visible(flags *pflag.FlagSet, use func(f *pflag.Flag)) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			use(f)
		}
	})
}

// flagRow returns a flag as a line of a table.
func flagRow(f *pflag.Flag) string {
	name, usage := flagText(f)
	return fmt.Sprintf("| `%s` | %s |", strings.ReplaceAll(name, "|", `\|`),
		strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(usage))
}

// markdownFlags writes the flags of a command: a table of its own, and the names of those that it
// has in common with others.
func markdownFlags(out io.Writer, flags *pflag.FlagSet, common map[string]bool) {
	var own, shared, conditional []string
	visible(flags, func(f *pflag.Flag) {
		row := flagRow(f)
		switch always := strings.Replace(row, unlessGiven, "", 1); {
		case !common[always]:
			own = append(own, row)
		case always != row:
			conditional = append(conditional, "`--"+f.Name+"`")
		default:
			shared = append(shared, "`--"+f.Name+"`")
		}
	})
	if len(own) > 0 {
		fmt.Fprintf(out, "| flag | |\n| --- | --- |\n%s\n\n", strings.Join(own, "\n"))
	}
	if len(shared) > 0 {
		fmt.Fprintf(out, "[Flags of several commands](#flags-of-several-commands): %s", strings.Join(shared, ", "))
		if len(conditional) > 0 {
			fmt.Fprintf(out, "; without MODEL also %s", strings.Join(conditional, ", "))
		}
		fmt.Fprint(out, ".\n\n")
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
	fmt.Fprintf(out, ".TH %s %s \"\" \"mustlink\" \"mustlink manual\"\n", strings.ToUpper(manualName(c)),
		manualSection(c))
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
		name, usage := flagText(f)
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
