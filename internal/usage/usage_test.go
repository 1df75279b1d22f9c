package usage

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/fault"
)

func TestExitCode(t *testing.T) {
	live := context.Background()
	done, cancel := context.WithCancelCause(live)
	cancel(&Interruption{syscall.SIGHUP})
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{live, nil, ExitOK},
		{live, errors.New("disk full"), ExitFailed},
		{live, Errorf("wrong"), ExitInput},
		{done, context.Canceled, 129},
		{done, context.Cause(done), 129},
		{live, context.Canceled, ExitFailed},
		{done, Errorf("wrong"), ExitInput},
	} {
		if got := ExitCode(c.ctx, c.err); got != c.want {
			t.Errorf("%v: %d: want %d", c.err, got, c.want)
		}
	}
}

// Arguments that are missing, or too many, are named with their command.
func TestPositional(t *testing.T) {
	cmd := &cobra.Command{Use: "apply"}
	(&cobra.Command{Use: "program"}).AddCommand(cmd)
	for _, c := range []struct {
		least, most int
		args, parts []string
	}{
		{0, 0, []string{"x"}, []string{"program apply: ", `"x" is one argument too many`, "want flags only"}},
		{1, 2, nil, []string{"program apply: ", "an argument is missing", "want MODEL"}},
		{1, 2, []string{"a", "b", "c"},
			[]string{"program apply: ", `"c" is one argument too many`, "want MODEL"}},
		{1, 2, []string{"a"}, nil},
		{1, 2, []string{"a", "b"}, nil},
		{0, 0, nil, nil},
	} {
		err := Positional(c.least, c.most, "MODEL")(cmd, c.args)
		if (err == nil) != (c.parts == nil) {
			t.Errorf("%d to %d, %q: error %v", c.least, c.most, c.args, err)
			continue
		}
		for _, part := range c.parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%d to %d, %q: error %v, want %q in it", c.least, c.most, c.args, err, part)
			}
		}
	}
}

// Words that a shell would change are quoted, and no others.
func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"": "''", "a-b.csv": "a-b.csv", "a b": "'a b'",
		"it's": `'it'\''s'`, "x*": "'x*'", "5%": "5%"} {
		if got := Quoted(word); got != want {
			t.Errorf("%q is quoted as %s: want %s", word, got, want)
		}
	}
}

// RenameParams names the flag in an error about its parameter, and leaves other errors and the
// given one as they are.
func TestRenameParams(t *testing.T) {
	names := []string{"rank", "--dim", "tol", "--tolerance"}
	for param, want := range map[string]string{"rank": "--dim", "tol": "--tolerance", "seed": "seed"} {
		given := &fault.ParamError{Param: param, Value: 1, Want: "2"}
		err := RenameParams(given, names...)
		pe, ok := errors.AsType[*fault.ParamError](err)
		if !ok || pe.Param != want || pe.Value != 1 || pe.Want != "2" || given.Param != param {
			t.Errorf("%s: %v, and the given error is now %v", param, err, given)
		}
	}
	if other := errors.New("rank"); RenameParams(other, names...) != other {
		t.Error("an error without a parameter has changed")
	}
}
