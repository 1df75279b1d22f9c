//go:build linux && !netlib

package filestest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestShrinks: a mapped file that shrinks while a command uses it ends the command with one line
// and exit code 1, whatever it was doing, and the earlier output stays.
func TestShrinks(t *testing.T) {
	dir := commandtest.WithModel(t)
	path := filepath.Join(dir, "big.npy")
	commandtest.WriteNPY(t, path, 800_000, 3)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for _, line := range []string{
		"fit -m krca -k rbf:sigma=median -i big.npy -c links.csv -o old",
		"fit -m rca -i big.npy -c links.csv -o old",
		"cluster -i big.npy -n 3 --restarts 1 -o old.csv",
	} {
		for _, pause := range []time.Duration{0, 10, 30, 100} {
			pause *= time.Millisecond
			t.Run(fmt.Sprint(line, " ", pause), func(t *testing.T) {
				if err := os.WriteFile(path, content, 0o644); err != nil {
					t.Fatal(err)
				}
				ended += shrinks(t, dir, path, line, pause)
			})
		}
	}
	t.Logf("%d commands ended by a file that shrank", ended)
	if ended == 0 {
		t.Error("every command had ended before its file shrank")
	}
}

// shrinks runs a command, cuts the file a pause after the command has mapped it, and returns 1 if
// that ended the command, 0 if the command was done before.
func shrinks(t *testing.T, dir, path, line string, pause time.Duration) int {
	t.Helper()
	args := strings.Fields(line)
	output := args[len(args)-1]
	clitest.Write(t, dir, output, "old")
	before := clitest.Names(t, dir)
	cmd := commandtest.Command(dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	untilMapped(cmd.Process.Pid, path)
	time.Sleep(pause)
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the state has the code
	code, said := cmd.ProcessState.ExitCode(), clitest.Lines(stderr.String())
	if code == usage.ExitOK {
		return 0
	}
	const want = "mustlink: big.npy: the file changed while it was in use"
	if code != usage.ExitFailed || !strings.HasPrefix(said[len(said)-1], want) ||
		strings.Contains(stderr.String(), "goroutine ") {
		t.Errorf("exit code %d, %.2000s", code, stderr.String())
	}
	if got := clitest.Read(t, dir, output); got != "old" {
		t.Errorf("the earlier output is now %.100q", got)
	}
	if after := clitest.Names(t, dir); len(after) != len(before) {
		t.Errorf("files are %q: want %q", after, before)
	}
	return 1
}

// untilMapped waits until a process has mapped the file, has ended, or takes too long.
func untilMapped(pid int, path string) {
	for range 20_000 {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil || len(maps) == 0 || bytes.Contains(maps, []byte(path)) {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}
