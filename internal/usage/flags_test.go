package usage_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/usage"
)

// flagged returns a command whose flags have every kind of rule.
func flagged() *cobra.Command {
	var text string
	var list []string
	var count int
	var share float64
	var yes bool
	var seed uint64
	cmd := &cobra.Command{Use: "do"}
	f := usage.FlagsOf(cmd)
	f.String(&text, "output,o", "", "the `FILE` to write")
	f.Int(&count, "count,n", 0, "how many", usage.Range(">= 1"))
	f.Float(&share, "share", 0, "a share", usage.Range("> 0, < 1"))
	f.Float(&share, "near", 0, "a distance", usage.Range("> 0", "a distance > 0"),
		usage.Excludes("share", "count"))
	f.String(&text, "mode", "a", "the mode", usage.OneOf("a", "b"))
	f.Strings(&list, "names", "names", usage.Needs("yes"))
	f.Repeated(&list, "param,p", "parameters", usage.Excludes("not-there"))
	f.Bool(&yes, "yes", false, "agree")
	f.Seed(&seed, usage.Needs("count"))
	f.Required("output")
	return cmd
}

func TestCheckFlags(t *testing.T) {
	for line, want := range map[string]string{
		"-o x":                        "",
		"-o x -n 1 --share .5 -p a=1": "",
		"-o x --names a,b --yes":      "",
		"-o x --seed 2 -n 2":          "",
		"":                            "-o, --output is missing: want the FILE to write (see do --help)",
		"--output=":                   "-o, --output is missing: want the FILE to write (see do --help)",
		"-o x -n 0":                   "-n, --count is 0: want a number >= 1",
		"-o x --share 1":              "--share is 1: want a number > 0 and < 1",
		"-o x --share NaN":            "--share is NaN: want a number > 0 and < 1",
		"-o x --near -2":              "--near is -2: want a distance > 0",
		"-o x --near 1 --share .5":    "--near and --share cannot be given together: want one of them (see do --help)",
		"-o x --share .5 -n 1 --near 1": "--near and --share and -n, --count cannot be given together: " +
			"want one of them (see do --help)",
		"-o x --mode c":      "--mode is \"c\": want one of a, b; did you mean \"a\"?",
		"-o x --names a":     "--names is given without --yes: want both, or neither",
		"-o x --seed 2":      "--seed is given without --count: want both, or neither",
		"--near 1 --share 2": "-o, --output is missing: want the FILE to write (see do --help)",
	} {
		cmd := flagged()
		if err := cmd.ParseFlags(strings.Fields(line)); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		got := ""
		if err := usage.CheckFlags(cmd); err != nil {
			if got = err.Error(); !fault.IsInput(err) {
				t.Errorf("%q: %v is no error of the input", line, err)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestDefaults checks that a default, which no user gave, is not judged, and that flags keep
// their order, their defaults and their letters.
func TestDefaults(t *testing.T) {
	cmd := flagged()
	f := cmd.Flags().Lookup("mode")
	if f.DefValue != "a" || cmd.Flags().ShorthandLookup("n").Name != "count" {
		t.Errorf("--mode has the default %q, -n is %v", f.DefValue, cmd.Flags().ShorthandLookup("n"))
	}
	words, there := cmd.GetFlagCompletionFunc("mode")
	if !there {
		t.Fatal("the words of --mode are not offered")
	}
	if list, _ := words(cmd, nil, ""); len(list) != 2 || list[0] != "a" || list[1] != "b" {
		t.Errorf("the words of --mode are %q", list)
	}
}
