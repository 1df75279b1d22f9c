//go:build unix

package usage

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// TestRunEndsBySignal: the message of a program that a signal has ended names the signal, and not
// the error of the step that noticed it.
func TestRunEndsBySignal(t *testing.T) {
	const child = "MUSTLINK_TEST_RUN"
	if os.Getenv(child) != "" {
		cmd := &cobra.Command{Use: "program", SilenceErrors: true, SilenceUsage: true,
			RunE: func(cmd *cobra.Command, _ []string) error {
				if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
					return err
				}
				<-cmd.Context().Done()
				return cmd.Context().Err()
			}}
		cmd.SetArgs(nil)
		os.Exit(Run(cmd))
	}
	run := exec.Command(os.Args[0], "-test.run=^TestRunEndsBySignal$")
	run.Env = append(os.Environ(), child+"=1")
	var message bytes.Buffer
	run.Stderr = &message
	err := run.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("ended with %v: want the code %d", err, 128+int(syscall.SIGTERM))
	}
	if want := "program: interrupted by the signal terminated\n"; message.String() != want {
		t.Errorf("message %q: want %q", message.String(), want)
	}
}

// TestIsClosed: an output is closed if it is the null device that Go opens for reading and writing,
// or a file that has been closed.
func TestIsClosed(t *testing.T) {
	open := func(name string, flag int) *os.File {
		f, err := os.OpenFile(name, flag, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	gone := open(os.DevNull, os.O_RDWR)
	gone.Close()
	for name, c := range map[string]struct {
		w    any
		want bool
	}{
		"no file": {&bytes.Buffer{}, false}, "a closed file": {gone, true},
		"null device for both": {open(os.DevNull, os.O_RDWR), true},
		"null device":          {open(os.DevNull, os.O_WRONLY), false},
		"an empty file":        {open(t.TempDir()+"/empty", os.O_RDWR|os.O_CREATE), false},
	} {
		if got := IsClosed(c.w); got != c.want {
			t.Errorf("%s: closed is %t", name, got)
		}
		if IsTerminal(c.w) {
			t.Errorf("%s is a terminal", name)
		}
	}
}
