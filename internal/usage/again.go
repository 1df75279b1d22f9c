package usage

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Again returns the command line that runs cmd again: its name, the arguments, and the command's
// own flags that were given, quoted for a shell.
func Again(cmd *cobra.Command, args []string) string {
	words := append(strings.Fields(cmd.CommandPath()), args...)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			words = append(words, given(f)...)
		}
	})
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// given returns the words that set a flag.
func given(f *pflag.Flag) []string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		var words []string
		for _, value := range list.GetSlice() {
			if f.Value.Type() == "stringSlice" && strings.ContainsAny(value, ",\"") { // it is a line of CSV
				value = `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
			}
			words = append(words, name, value)
		}
		return words
	}
	switch {
	case f.NoOptDefVal == "":
		return []string{name, f.Value.String()}
	case f.Value.String() == f.NoOptDefVal:
		return []string{name}
	}
	return []string{"--" + f.Name + "=" + f.Value.String()}
}

// quoted quotes a word for a shell, if it must be.
func quoted(word string) string {
	if word == "" || strings.ContainsAny(word, " \t\n\"'\\$&|;<>(){}[]*?!#~`") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
