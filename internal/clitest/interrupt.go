package clitest

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/mustlink/mustlink/internal/usage"
)

// Interrupt runs cmd, interrupts it after some time, and requires the exit code of an interrupted
// program. It returns how long the program took to end. On Windows, which has no interrupts between
// processes, it skips the test.
func Interrupt(t testing.TB, cmd *exec.Cmd, after time.Duration) time.Duration {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts between processes")
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); err == nil || code != usage.ExitInterrupted {
		t.Errorf("%v: exit code %d: want %d", cmd.Args, code, usage.ExitInterrupted)
	}
	return time.Since(begin)
}
