// Package reference writes the help of a program's commands and topics as one page of Markdown, or
// as manual pages.
package reference

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/engine/dataset"
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
		Example: fmt.Sprintf("  %s reference --markdown cli.md\n  %[1]s reference --man /usr/local/share/man", s.Name),
		Hidden:  true,
		Args:    usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			check := s.Check(cmd)
			check.Exclusive("markdown", "man")
			if markdown == "" {
				check.Required("man")
			}
			switch {
			case check.Err != nil:
				return check.Err
			case markdown == "":
				return writeManual(cmd.Root(), man)
			}
			return dataset.Atomic(markdown, func(w io.Writer) error { return writeMarkdown(w, cmd.Root(), intro, also) })
		},
	}
	cmd.Flags().StringVar(&markdown, "markdown", "", "the `FILE` of Markdown to write")
	cmd.Flags().StringVar(&man, "man", "", "the `FOLDER` to write manual pages to, in its folders man1 and man7")
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

// isTopic reports whether a command is only a help text.
func isTopic(cmd *cobra.Command) bool { return cmd.IsAdditionalHelpTopicCommand() }

// about returns the long text of a command, or the short one if there is no other.
func about(cmd *cobra.Command) string { return session.NameOr(cmd.Long, cmd.Short) }

// flagText returns a flag with its letter and the name of its value, its description, and its
// default.
func flagText(f *pflag.Flag) (name, usage, value string) {
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
		value = f.DefValue
	}
	return name, usage, value
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
