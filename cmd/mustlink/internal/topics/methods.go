package topics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/internal/usage"
)

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
