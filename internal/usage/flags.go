package usage

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/param"
)

// Flags is the table of a command's flags. One call defines a flag: where its value goes, its name
// with its letter ("clusters,n"), its default, its help, and its rules, which [CheckFlags] checks
// before the command does anything.
type Flags struct {
	*pflag.FlagSet
	cmd *cobra.Command
}

// FlagsOf returns the table of a command's flags.
func FlagsOf(cmd *cobra.Command) Flags { return Flags{cmd.Flags(), cmd} }

// Rule says which values of a flag, or which other flags, a command accepts.
type Rule func(cmd *cobra.Command, f *pflag.Flag)

// String defines a flag whose value is a text.
func (f Flags) String(p *string, name, value, help string, rules ...Rule) {
	name, letter, _ := strings.Cut(name, ",")
	f.StringVarP(p, name, letter, value, help)
	f.obey(name, rules)
}

// Strings defines a flag whose value is a list of texts, separated by commas.
func (f Flags) Strings(p *[]string, name, help string, rules ...Rule) {
	f.StringSliceVar(p, name, nil, help)
	f.obey(name, rules)
}

// Repeated defines a flag that can be given several times, each time with a text.
func (f Flags) Repeated(p *[]string, name, help string, rules ...Rule) {
	name, letter, _ := strings.Cut(name, ",")
	f.StringArrayVarP(p, name, letter, nil, help)
	f.obey(name, rules)
}

// Int defines a flag whose value is a whole number.
func (f Flags) Int(p *int, name string, value int, help string, rules ...Rule) {
	name, letter, _ := strings.Cut(name, ",")
	f.IntVarP(p, name, letter, value, help)
	f.obey(name, rules)
}

// Float defines a flag whose value is a number.
func (f Flags) Float(p *float64, name string, value float64, help string, rules ...Rule) {
	f.Float64Var(p, name, value, help)
	f.obey(name, rules)
}

// Bool defines a flag that is given or not.
func (f Flags) Bool(p *bool, name string, value bool, help string, rules ...Rule) {
	f.BoolVar(p, name, value, help)
	f.obey(name, rules)
}

// Seed defines --seed.
func (f Flags) Seed(p *uint64, rules ...Rule) {
	SeedFlag(f.FlagSet, p)
	f.obey("seed", rules)
}

func (f Flags) obey(name string, rules []Rule) {
	for _, rule := range rules {
		rule(f.cmd, f.Lookup(name))
	}
}

// The keys of the rules that [CheckFlags] finds in the annotations of a flag.
const (
	ruleRequired = "mustlink required"
	ruleRange    = "mustlink range" // the range, and perhaps what to want
	ruleOneOf    = "mustlink one of"
	ruleNeeds    = "mustlink needs"
	ruleExcludes = "mustlink excludes"
)

func annotate(f *pflag.Flag, key string, values ...string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = append(f.Annotations[key], values...)
}

// Required refuses a command line without the flags of these names.
func (f Flags) Required(names ...string) {
	for _, name := range names {
		annotate(f.Lookup(name), ruleRequired, "")
	}
}

// Range refuses a number outside of a range such as "> 0, <= 1", as the tags of package param write
// it. The message says what to want: "a number > 0 and <= 1", or the words that follow here.
func Range(bounds string, want ...string) Rule {
	if want == nil {
		want = []string{"a number " + strings.ReplaceAll(bounds, ", ", " and ")}
	}
	return func(_ *cobra.Command, f *pflag.Flag) { annotate(f, ruleRange, bounds, want[0]) }
}

// OneOf refuses a word that is not one of these, and offers them as completions.
func OneOf(words ...string) Rule {
	return func(cmd *cobra.Command, f *pflag.Flag) {
		annotate(f, ruleOneOf, words...)
		CompleteWith(cmd, f.Name, words...)
	}
}

// Complete offers words as completions of a value that may be another one.
func Complete(words ...string) Rule {
	return func(cmd *cobra.Command, f *pflag.Flag) { CompleteWith(cmd, f.Name, words...) }
}

// Needs refuses the flag without another one.
func Needs(other string) Rule {
	return func(_ *cobra.Command, f *pflag.Flag) { annotate(f, ruleNeeds, other) }
}

// Excludes refuses the flag together with any of others, as far as the command has them.
func Excludes(others ...string) Rule {
	return func(_ *cobra.Command, f *pflag.Flag) {
		annotate(f, ruleExcludes, strings.Join(others, ","))
	}
}

// CheckFlags returns the first mistake in the flags of a command line by their rules: a required
// flag that is missing, then, in the order of the flags, those that do not go together and values
// that are out of range.
func CheckFlags(cmd *cobra.Command) (err error) {
	for _, check := range []func(*cobra.Command, *pflag.Flag) error{checkGiven, checkOthers, checkValue} {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if err == nil && f.Annotations != nil {
				err = check(cmd, f)
			}
		})
	}
	return err
}

func checkGiven(cmd *cobra.Command, f *pflag.Flag) error {
	if f.Annotations[ruleRequired] == nil {
		return nil
	}
	return MissingFlag(cmd, f)
}

// MissingFlag returns the error for a required flag without a value, nil if it has one. The message
// quotes the flag's description of its value.
func MissingFlag(cmd *cobra.Command, f *pflag.Flag) error {
	if f.Changed && f.Value.String() != "" {
		return nil
	}
	return Errorf("%s is missing: want %s %s", FlagName(f), FlagUsage(f), HelpHint(cmd))
}

func checkOthers(cmd *cobra.Command, f *pflag.Flag) error {
	if !f.Changed {
		return nil
	}
	for _, list := range f.Annotations[ruleExcludes] {
		given := []string{FlagName(f)}
		for name := range strings.SplitSeq(list, ",") {
			if other := cmd.Flags().Lookup(name); other != nil && other.Changed {
				given = append(given, FlagName(other))
			}
		}
		if len(given) > 1 {
			return Errorf("%s cannot be given together: want one of them %s", strings.Join(given, " and "),
				HelpHint(cmd))
		}
	}
	for _, other := range f.Annotations[ruleNeeds] {
		if !cmd.Flags().Changed(other) {
			return Errorf("--%s is given without --%s: want both, or neither", f.Name, other)
		}
	}
	return nil
}

func checkValue(_ *cobra.Command, f *pflag.Flag) error {
	if !f.Changed {
		return nil
	}
	if words := f.Annotations[ruleOneOf]; words != nil && !slices.Contains(words, f.Value.String()) {
		return fault.Unknown(FlagName(f), f.Value.String(), words)
	}
	if rule := f.Annotations[ruleRange]; rule != nil && !param.InRange(f.Value.String(), rule[0]) {
		return Errorf("%s is %s: want %s", FlagName(f), f.Value, rule[1])
	}
	return nil
}
