package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/engine/fault"
)

// usageError reports a command line that cannot be understood. It counts as bad input.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

// InputFault marks the error as caused by the caller's input.
func (e *usageError) InputFault() {}

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// helpHint ends the messages that a look at the help answers.
func helpHint(cmd *cobra.Command) string { return fmt.Sprintf("(see %s --help)", cmd.CommandPath()) }

// flagError words the errors of the flag parser: what was given and what was expected.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		collect := func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		}
		cmd.Flags().VisitAll(collect)
		cmd.InheritedFlags().VisitAll(collect)
		if near := fault.Nearest(e.GetSpecifiedName(), names); near != "" {
			return usagef("unknown flag --%s: did you mean --%s? %s", e.GetSpecifiedName(), near, helpHint(cmd))
		}
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		want := e.GetFlag().Value.Type()
		if e.Unwrap() != nil {
			want = e.Unwrap().Error()
		}
		return &fault.ParamError{Param: "--" + e.GetFlag().Name, Value: e.GetValue(), Want: want}
	}
	return usagef("%v %s", err, helpHint(cmd))
}

// required returns an error that names the first of the flags that was not given.
func required(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		if f.Changed && f.Value.String() != "" {
			continue
		}
		_, usage := pflag.UnquoteUsage(f)
		return usagef("--%s is missing: want %s %s", f.Name, usage, helpHint(cmd))
	}
	return nil
}

// bound is the least number that a flag may have.
type bound struct {
	flag         string
	value, least int
}

// checkBounds returns an error that names the first flag with a number below its bound.
func checkBounds(bounds ...bound) error {
	for _, b := range bounds {
		if b.value < b.least {
			return usagef("%s is %d: want a number >= %d", b.flag, b.value, b.least)
		}
	}
	return nil
}

// positional checks the number of arguments that are not flags. want describes them: "MODEL".
func positional(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s: an argument is missing: want %s %s", cmd.CommandPath(), want, helpHint(cmd))
		case len(args) > most && most == 0:
			return usagef("%s: %q is one argument too many: want flags only %s", cmd.CommandPath(), args[0], helpHint(cmd))
		case len(args) > most:
			return usagef("%s: %q is one argument too many: want %s %s", cmd.CommandPath(), args[most], want, helpHint(cmd))
		}
		return nil
	}
}

// unknownCommand is what the root does with words that are no command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	return fault.Unknown("command of "+cmd.CommandPath(), args[0], names)
}

// matches says whether a pattern names a path.
func matches(pattern, path string) bool {
	ok, err := filepath.Match(filepath.Clean(pattern), filepath.Clean(path))
	return err == nil && ok
}
