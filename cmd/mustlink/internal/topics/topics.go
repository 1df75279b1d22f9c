// Package topics provides the help topics that are not commands, and lists of methods and kernels
// for the help and the completion of commands.
package topics

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/internal/usage"
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

// MethodNames returns the names of all methods.
func MethodNames() []string { return MethodsThat(func(catalog.Method) bool { return true }) }

// MethodsThat returns the names of the methods for which is returns true.
func MethodsThat(is func(catalog.Method) bool) []string {
	var names []string
	for _, m := range catalog.Methods() {
		if is(m) {
			names = append(names, m.Name)
		}
	}
	return names
}

// parameters lists the methods with their parameters.
func parameters() string {
	var s strings.Builder
	s.WriteString("Methods (-m) and their parameters (-p):\n")
	for _, m := range catalog.Methods() {
		for line := range strings.Lines(methodHelp(m)) {
			s.WriteString("  " + line)
		}
	}
	return s.String()
}

// methodHelp is a line about a method, and one for each parameter.
func methodHelp(m catalog.Method) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s\n", m.Name, m.Summary)
	if m.DefaultKernel != "" {
		fmt.Fprintf(&s, "  %-11s default %s\n", "kernel", m.DefaultKernel)
	}
	for _, p := range m.Parameters {
		fmt.Fprintf(&s, "  %-11s %s", p.Name, p.Help)
		if p.Default != "" {
			fmt.Fprintf(&s, " (default %s)", p.Default)
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// methodCompletions returns the names and descriptions of all methods, for the shell.
func methodCompletions() []string {
	var out []string
	for _, m := range catalog.Methods() {
		out = append(out, cobra.CompletionWithDesc(m.Name, m.Summary))
	}
	return out
}

// CompleteMethod completes methods, kernels and the parameters of the given method.
func CompleteMethod(cmd *cobra.Command) {
	usage.CompleteWith(cmd, "method", methodCompletions()...)
	CompleteKernels(cmd)
	_ = cmd.RegisterFlagCompletionFunc("param",
		func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			var params []string
			name, _ := cmd.Flags().GetString("method")
			for _, m := range catalog.Methods() {
				if name != "" && m.Name != name {
					continue
				}
				params = append(params, completeParameters(m, toComplete)...)
			}
			return params, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		})
}

// completeParameters returns the parameters of a method or, after the name of one, its values.
func completeParameters(m catalog.Method, toComplete string) []string {
	var out []string
	name, _, named := strings.Cut(toComplete, "=")
	for _, p := range m.Parameters {
		switch {
		case !named:
			out = append(out, cobra.CompletionWithDesc(p.Name+"=", p.Help))
		case p.Name == name:
			values := slices.Concat(p.Choices, p.Words)
			if p.Type == param.Bool {
				values = []param.Choice{{Name: "true"}, {Name: "false"}}
			}
			for _, v := range values {
				out = append(out, cobra.CompletionWithDesc(name+"="+v.Name, v.Help))
			}
		}
	}
	return out
}

// CompleteKernels completes kernels and, for those with a bandwidth, its rules.
func CompleteKernels(cmd *cobra.Command) {
	kernels := kernel.Names()
	for _, rule := range kernel.RuleNames() {
		kernels = append(kernels, "rbf:sigma="+rule, "exp:width="+rule)
	}
	usage.CompleteWith(cmd, "kernel", kernels...)
}

// MethodList lists the methods, one in each line.
func MethodList() string {
	var s strings.Builder
	s.WriteString("Methods (-m); 'mustlink help parameters METHOD' shows the parameters of one (-p):\n")
	for _, m := range catalog.Methods() {
		fmt.Fprintf(&s, "  %-12s %s\n", m.Name, m.Summary)
	}
	return s.String()
}
