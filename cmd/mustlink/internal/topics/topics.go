// Package topics holds the topics of the help, which are there to be read.
package topics

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/methods"
)

// The texts of help topics; docs/cli.md holds them too.
var (
	//go:embed kernels.txt
	kernelsTopic string
	//go:embed formats.txt
	formatsTopic string
)

// Commands returns the commands that are only there to be read: `mustlink help kernels`. The topic
// of links is the help of the command of that name.
func Commands() []*cobra.Command {
	parameters := &cobra.Command{
		Use:   parametersTopic,
		Short: "the methods and their parameters; parameters METHOD for one of them",
		Long: "Parameters are given with -p name=value, as often as needed. 'mustlink help parameters METHOD' shows one method.\n\n" +
			strings.TrimSpace(methods.Parameters()),
	}
	for _, m := range catalog.Methods() {
		parameters.AddCommand(&cobra.Command{Use: m.Name, Short: m.Summary, Long: methodTopic(m)})
	}
	topics := []*cobra.Command{
		{Use: "kernels", Short: "kernels, widths and their rules", Long: strings.TrimSpace(kernelsTopic)},
		{Use: "formats", Short: "files that are read and written", Long: strings.TrimSpace(formatsTopic)},
		parameters,
	}
	for _, c := range topics {
		c.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), c.Long) })
	}
	return topics
}

// parametersTopic is the topic that has a topic of its own for every method.
const parametersTopic = "parameters"

// Help completes the help of root: it refuses methods that do not exist, and completes their names.
func Help(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		return // without other commands there is no help command
	}
	show, complete := help.Run, help.ValidArgsFunction
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 && args[0] == parametersTopic {
			if _, err := catalog.Lookup(args[1]); err != nil {
				return err
			}
		}
		show(cmd, args)
		return nil
	}
	help.ValidArgsFunction = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 && args[0] == parametersTopic {
			return methods.Completions(), cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, toComplete)
	}
}

// methodTopic is all that the catalog says of a method.
func methodTopic(m catalog.Method) string {
	var s strings.Builder
	s.WriteString(methods.Help(m))
	s.WriteByte('\n')
	fmt.Fprintf(&s, "Links: %s.\n", linkUse(m))
	fmt.Fprintf(&s, "Source: %s.\n", strings.TrimSuffix(m.Paper, "."))
	return strings.TrimSpace(s.String())
}

// linkUse says what a method learns from.
func linkUse(m catalog.Method) string {
	if m.UsesTargets {
		return "must-links and cannot-links are ignored; it learns from targets (--targets)"
	}
	use := "must-links"
	if m.UsesCannotLinks {
		use += " and cannot-links"
	}
	if m.UsesTriplets {
		use += ", and triplets"
	}
	if m.UsesQuadruplets {
		use += ", and quadruplets"
	}
	if m.Pairwise {
		use += "; each by itself, so links that follow from others help ('mustlink links close')"
	}
	return use
}
