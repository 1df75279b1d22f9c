// Package usage provides what the command-line programs of this project share: messages about
// mistakes on a command line, exit codes, and the end of an interrupted program.
package usage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/engine/fault"
)

// Error reports a wrong command line. It counts as bad input.
type Error struct{ message string }

func (e *Error) Error() string { return e.message }

// InputFault marks the error as caused by the caller's input.
func (e *Error) InputFault() {}

// Errorf returns an [Error].
func Errorf(format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...)}
}

// HelpHint returns the end of messages to which the help is the answer.
func HelpHint(cmd *cobra.Command) string {
	return fmt.Sprintf("(see %s --help)", cmd.CommandPath())
}

// FlagError rewords the errors of the flag parser: what was given and what was expected.
func FlagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if words := cmd.Flags().Args(); len(words) > 0 && cmd.HasSubCommands() { // it has no flags of its own
			return UnknownCommand(cmd, words)
		}
		return unknownFlag(cmd, e)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return Errorf("%s has no value: want %s %s", FlagName(e.GetFlag()), FlagUsage(e.GetFlag()),
			HelpHint(cmd))
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return &fault.ParamError{Param: FlagName(e.GetFlag()), Value: e.GetValue(),
			Want: valueKind(e.GetFlag(), e.Unwrap())}
	}
	return Errorf("%v %s", err, HelpHint(cmd))
}

// unknownFlag names the nearest flag, if one is near; a message is too short for the list of all
// flags.
func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	if e.GetSpecifiedShortnames() != "" {
		return Errorf("unknown flag %q %s", "-"+e.GetSpecifiedName(), HelpHint(cmd))
	}
	var names []string
	collect := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.Flags().VisitAll(collect)
	cmd.InheritedFlags().VisitAll(collect)
	name := e.GetSpecifiedName()
	return Errorf("unknown flag %q%s %s", "--"+name, fault.DidYouMean("--", name, names), HelpHint(cmd))
}

// FlagName returns a flag as users type it, with its short form.
func FlagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand + ", --" + f.Name
	}
	return "--" + f.Name
}

// FlagUsage returns a flag's description without the quotes around the name of its value.
func FlagUsage(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	return usage
}

// valueKind describes the values of a flag of this type.
func valueKind(f *pflag.Flag, cause error) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "intSlice":
		return "whole numbers, separated by commas"
	case "uint64":
		return "a whole number from 0 to 18446744073709551615"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	}
	// The types of this project describe their values in the error.
	if cause != nil {
		return cause.Error()
	}
	return "a " + f.Value.Type()
}

// UnknownCommand is the RunE of commands that only group others.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, args[0]) { // what other programs call it
			return Errorf("unknown command %q; did you mean %q? %s", args[0], c.Name(), HelpHint(cmd))
		}
		if c.IsAvailableCommand() && c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	return Errorf("unknown command %q%s %s", args[0], fault.DidYouMean("", args[0], names), HelpHint(cmd))
}

// Positional checks the number of arguments that are not flags and names those that are missing or
// superfluous. want describes them: "MODEL".
func Positional(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Errorf("%s: an argument is missing: want %s %s", cmd.CommandPath(), want, HelpHint(cmd))
		case len(args) > most && most == 0:
			return Errorf("%s: %q is one argument too many: want flags only %s", cmd.CommandPath(), args[0],
				HelpHint(cmd))
		case len(args) > most:
			return Errorf("%s: %q is one argument too many: want %s %s", cmd.CommandPath(), args[most], want,
				HelpHint(cmd))
		}
		return nil
	}
}

// RenameParams renames the parameters in an error to the flags that set them. names are pairs of
// old and new names.
func RenameParams(err error, names ...string) error {
	pe, ok := errors.AsType[*fault.ParamError](err)
	if !ok {
		return err
	}
	for i := 0; i+1 < len(names); i += 2 {
		if pe.Param == names[i] {
			renamed := *pe
			renamed.Param = names[i+1]
			return &renamed
		}
	}
	return err
}

// CompleteWith offers fixed words as completions of a flag's value.
func CompleteWith(cmd *cobra.Command, flag string, words ...string) {
	// The error would be about an unknown flag, which the tests would show.
	_ = cmd.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// SeedFlag defines --seed.
func SeedFlag(f *pflag.FlagSet, seed *uint64) {
	f.Uint64Var(seed, "seed", 1, "seed of all random choices")
}

// Again returns the command line that runs cmd again: its name, the arguments, and the command's
// own flags that were given, quoted for a shell.
func Again(cmd *cobra.Command, args []string) string {
	return WithFlags(append(strings.Fields(cmd.CommandPath()), args...), cmd)
}

// WithFlags returns a command line: words, and the flags that cmd was given and that are its own,
// except some, quoted for a shell.
func WithFlags(words []string, cmd *cobra.Command, except ...string) string {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(except, f.Name) {
			words = append(words, given(f)...)
		}
	})
	for i, w := range words {
		words[i] = Quoted(w)
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

// Quoted quotes a word for a shell, if it must be.
func Quoted(word string) string {
	if word == "" || strings.ContainsAny(word, " \t\n\"'\\$&|;<>(){}[]*?!#~`") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// Run runs a program's command line and returns the exit code. A first signal stops it after the
// current step, a second one at once. An error is one line on standard error, after the name of the
// program.
func Run(root *cobra.Command) int {
	ctx, stop := untilSignal()
	defer stop()
	context.AfterFunc(ctx, func() {
		if IsTerminal(os.Stderr) {
			time.AfterFunc(time.Second, func() {
				fmt.Fprintf(os.Stderr,
					"\n%s: stopping after the current step; press Ctrl-C again to end at once\n", root.Name())
			})
		}
	})
	out := &helpOutput{w: root.OutOrStdout()}
	root.SetOut(out)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err
	}
	code := ExitCode(ctx, err)
	if err != nil {
		message := err.Error()
		if code > exitSignal {
			message = context.Cause(ctx).Error()
		}
		fmt.Fprintln(os.Stderr, root.Name()+": "+message)
	}
	return code
}

// helpOutput keeps the first error of writing help, which its writers ignore.
type helpOutput struct {
	w   io.Writer
	err error
}

func (o *helpOutput) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// IsTerminal reports whether w is a terminal. It counts every character device as one except the
// null device, which people use to discard output, and the full one.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !is(info, os.DevNull) &&
		!is(info, "/dev/full")
}

func is(info os.FileInfo, device string) bool {
	other, err := os.Stat(device)
	return err == nil && os.SameFile(info, other)
}

// IsClosed reports whether w is an output that was closed when the program started. Go opens the
// null device for it, for reading too, and a shell's >/dev/null for writing alone. Other programs,
// such as Python, discard output with a null device for both.
func IsClosed(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || !is(info, os.DevNull) {
		return err != nil
	}
	_, err = f.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// ending are the signals that ask a program to end: Ctrl-C, kill, a closed terminal, Ctrl-\.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// Interruption is the cause of a context that a signal has canceled.
type Interruption struct{ Signal syscall.Signal }

func (i *Interruption) Error() string {
	if i.Signal == syscall.SIGINT {
		return "interrupted"
	}
	return "interrupted by the signal " + i.Signal.String()
}

// Is says that an interruption cancels.
func (*Interruption) Is(err error) bool { return err == context.Canceled }

// untilSignal returns a context that the first signal cancels; a second one ends the process at
// once, as it does in programs without a handler. Signals that the parent lets the process ignore,
// as nohup does, remain ignored.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	arrived := make(chan os.Signal, 1)
	for _, s := range ending {
		if !signal.Ignored(s) {
			signal.Notify(arrived, s)
		}
	}
	go func() {
		select {
		case s := <-arrived:
			signal.Stop(arrived)
			number, _ := s.(syscall.Signal)
			cancel(&Interruption{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(arrived)
		cancel(nil)
	}
}

// Exit codes, on which calling programs rely. After a signal the code is 128 and the number of the
// signal, as shells have it: 143 after kill.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitInput       = 2
	ExitInterrupted = exitSignal + int(syscall.SIGINT) // after Ctrl-C
	exitSignal      = 128
)

// ExitCode distinguishes the caller's mistakes, interruptions and other errors.
func ExitCode(ctx context.Context, err error) int {
	var by *Interruption
	switch {
	case err == nil:
		return ExitOK
	case errors.As(context.Cause(ctx), &by) && errors.Is(err, context.Canceled):
		return exitSignal + int(by.Signal)
	case fault.IsInput(err):
		return ExitInput
	}
	return ExitFailed
}
