// Package topics provides the help topics that are not commands, and lists of methods and kernels
// for the help and the completion of commands.
package topics

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/kernel"
)

// The texts of help topics; docs/cli.md contains them too.
var (
	//go:embed kernels.txt
	kernelsTopic string
	//go:embed formats.txt
	formatsTopic string
)

// Commands returns the help topics, as commands without a function: `mustlink help kernels`. The
// topic of links is the help of the command of that name.
func Commands() []*cobra.Command {
	parameters := &cobra.Command{
		Use:   parametersTopic,
		Short: "methods and their parameters; 'help parameters METHOD' for one of them",
		Long: "Set parameters with -p name=value, once for each parameter. 'mustlink help parameters " +
			"METHOD' shows one method.\n\n" +
			strings.TrimSpace(parameters()),
	}
	for _, m := range catalog.Methods() {
		parameters.AddCommand(&cobra.Command{Use: m.Name, Short: m.Summary, Long: methodTopic(m)})
	}
	topics := []*cobra.Command{
		{Use: "kernels", Short: "kernels, widths and their rules",
			Long: strings.TrimSpace(strings.Replace(kernelsTopic, "KERNELS\n", kernel.Help(), 1))},
		{Use: "formats", Short: "files that are read and written", Long: strings.TrimSpace(formatsTopic)},
		parameters,
	}
	for _, c := range topics {
		c.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), c.Long) })
	}
	return topics
}

// parametersTopic is the topic with a subtopic for every method.
const parametersTopic = "parameters"

// Help extends the help command of root: it refuses methods that do not exist, and completes
// their names.
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
	help.ValidArgsFunction = func(cmd *cobra.Command, args []string, toComplete string) ([]string,
		cobra.ShellCompDirective) {
		if len(args) == 1 && args[0] == parametersTopic {
			return methodCompletions(), cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, toComplete)
	}
}

// methodTopic is the catalog's description of a method.
func methodTopic(m catalog.Method) string {
	var s strings.Builder
	s.WriteString(methodHelp(m))
	s.WriteByte('\n')
	fmt.Fprintf(&s, "Links: %s.\n", linkUse(m))
	fmt.Fprintf(&s, "Source: %s.\n", strings.TrimSuffix(m.Paper, "."))
	return strings.TrimSpace(s.String())
}

// linkUse describes the constraints that a method learns from.
func linkUse(m catalog.Method) string {
	if m.UsesTargets {
		return "it learns from targets (--targets) and ignores must-links and cannot-links"
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
		use += "; each link alone, so links implied by others help ('mustlink links close')"
	}
	return use
}
