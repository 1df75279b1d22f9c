package usage_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/usage"
)

// A shell splits the line into words that set the same flags to the same values.
func TestAgain(t *testing.T) {
	make := func(seen *[]string) *cobra.Command {
		root := &cobra.Command{Use: "mustlink", SilenceErrors: true, SilenceUsage: true}
		root.PersistentFlags().Bool("quiet", false, "")
		cmd := &cobra.Command{Use: "report", Run: func(cmd *cobra.Command, args []string) {
			f := cmd.Flags()
			input, _ := f.GetString("input")
			kinds, _ := f.GetStringArray("type")
			drop, _ := f.GetStringSlice("drop")
			robust, _ := f.GetBool("robust")
			after, _ := f.GetBool("after")
			*seen = slices.Concat(args, []string{input}, kinds, drop,
				[]string{map[bool]string{true: "robust"}[robust], map[bool]string{true: "after"}[after]})
			*seen = append(*seen, usage.Again(cmd, args))
		}}
		f := cmd.Flags()
		f.StringP("input", "i", "", "")
		f.StringArray("type", nil, "")
		f.StringSlice("drop", nil, "")
		f.Bool("robust", false, "")
		f.Bool("after", true, "")
		f.Int("levels", 50, "")
		root.AddCommand(cmd)
		return root
	}
	run := func(args []string) (seen []string) {
		root := make(&seen)
		root.SetArgs(args)
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		return seen
	}
	given := []string{"report", "a b.mlk", "it's.mlk", "-i", "x$y.csv", "--type", "a=number", "--type",
		"p*=category", "--drop", `u,v w,"x,""y"`, "--robust", "--after=false", "--quiet"}
	first := run(given)
	line := first[len(first)-1]
	out, err := exec.Command("sh", "-c", "printf '%s\\n' "+line).Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if strings.Contains(line, "levels") || strings.Contains(line, "quiet") {
		t.Errorf("%s: want only the flags of the command that were given", line)
	}
	if again := run(words[1:]); !slices.Equal(first, again) {
		t.Errorf("%q runs as\n%q, want\n%q", line, again, first)
	}
}
