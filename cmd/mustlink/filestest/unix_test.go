//go:build unix

package filestest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// peakMemory returns the largest resident set of an ended process in bytes, on systems that count
// it in kilobytes.
func peakMemory(s *os.ProcessState) (int64, bool) {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok || runtime.GOOS != "linux" {
		return 0, false
	}
	return usage.Maxrss << 10, true
}

// forgetPeak resets the peak memory of this process, because the processes that it starts inherit
// it.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // without this file, no peak is measured
}

// TestReadOnlyFolder runs as an ordinary user, because permissions do not bind the superuser.
func TestReadOnlyFolder(t *testing.T) {
	dir := crowded(t)
	sub := filepath.Join(dir, "locked")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	const old = "old" // write-protected only by its folder
	for _, w := range writers {
		put(t, filepath.Join(sub, w[1]), old)
	}
	before := clitest.Names(t, sub)
	if err := os.Chmod(sub, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(sub, 0o755) }) // so that the folder can be removed
	openUp(t, dir)
	for _, w := range writers {
		t.Run(w[0], func(t *testing.T) {
			for _, name := range []string{w[1], "new-" + w[1]} {
				line := strings.ReplaceAll(w[0], "%", filepath.Join("locked", name))
				cmd := commandtest.Command(dir, strings.Fields(line)...)
				if os.Getuid() == 0 {
					const nobody = 65534
					cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody,
						Gid: nobody}}
				}
				commandtest.WantInputError(t, sub, clitest.Finish(t, cmd), before,
					filepath.Join("locked", name), "not writable")
			}
			if got := clitest.Read(t, sub, w[1]); got != old {
				t.Errorf("the old file contains %q", got)
			}
		})
	}
	t.Logf("writes to a read-only folder: %d, all with code %d and a message", 2*len(writers),
		usage.ExitInput)
}

// openUp makes dir accessible to other users, because t.TempDir restricts it to its owner.
func openUp(t *testing.T, dir string) {
	t.Helper()
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// interrupt starts the command with an open standard input, passes that to feed, waits until the
// command reads and for the pause, a part of its work, sends the signal, and returns how it ended.
func interrupt(t *testing.T, dir, line string, signal os.Signal, pause time.Duration,
	feed func(io.WriteCloser)) clitest.Outcome {
	t.Helper()
	cmd := commandtest.Command(dir, strings.Fields(line)...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	feed(stdin)
	awaitReading(t, stdin)
	time.Sleep(pause)
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatalf("the command ended before the signal: %v\n%s", err, stderr.String())
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the command succeeded in spite of the signal")
	} else if _, ok := err.(*exec.ExitError); !ok {
		t.Fatal(err)
	}
	return clitest.Outcome{Code: cmd.ProcessState.ExitCode(), Stderr: stderr.String()}
}

func wantInterrupted(t *testing.T, dir string, o clitest.Outcome, before []string) {
	t.Helper()
	wantEnded(t, dir, o, before, usage.ExitInterrupted, "mustlink: interrupted\n")
}

// wantEnded checks how a command ended after a signal, and that it left nothing behind.
func wantEnded(t *testing.T, dir string, o clitest.Outcome, before []string, code int, stderr string) {
	t.Helper()
	if o.Code != code {
		t.Errorf("exit code %d: want %d", o.Code, code)
	}
	if o.Stderr != stderr {
		t.Errorf("standard error is %q, want %q", o.Stderr, stderr)
	}
	if after := clitest.Names(t, dir); !slices.Equal(before, after) {
		t.Errorf("files before: %v, after: %v", before, after)
	}
}

// TestInterruptFit interrupts the computation itself: all data are read, and the median of 4096^2/2
// distances and the steps after it take longer than the pause.
func TestInterruptFit(t *testing.T) {
	dir := commandtest.Workspace(t)
	data := clitest.Blobs(6000, 10, false)
	before := clitest.Names(t, dir)
	o := interrupt(t, dir,
		"fit -m krca -i - --links-from-labels 2500 -k rbf:sigma=median -p landmarks=500 -o out.mlk",
		os.Interrupt, 300*time.Millisecond, func(w io.WriteCloser) {
			if _, err := io.WriteString(w, data); err != nil {
				t.Fatal(err)
			}
			w.Close()
		})
	wantInterrupted(t, dir, o, before)
}

// TestSignals ends a command that waits for its input by each signal that ends programs.
func TestSignals(t *testing.T) {
	for signal, want := range map[syscall.Signal]clitest.Outcome{
		syscall.SIGINT:  {Code: 130, Stderr: "mustlink: interrupted\n"},
		syscall.SIGTERM: {Code: 143, Stderr: "mustlink: interrupted by the signal terminated\n"},
		syscall.SIGHUP:  {Code: 129, Stderr: "mustlink: interrupted by the signal hangup\n"},
		syscall.SIGQUIT: {Code: 131, Stderr: "mustlink: interrupted by the signal quit\n"},
	} {
		dir := commandtest.Workspace(t)
		before := clitest.Names(t, dir)
		o := interrupt(t, dir, "fit -m krca -i - -c links.csv -o out.mlk", signal, 0,
			func(w io.WriteCloser) {
				if _, err := io.WriteString(w, "a,b\n1,2\n"); err != nil {
					t.Fatal(err)
				}
			})
		wantEnded(t, dir, o, before, want.Code, want.Stderr)
	}
}

// TestIgnoredSignal runs a command as nohup does: a closed terminal does not end it.
func TestIgnoredSignal(t *testing.T) {
	dir := commandtest.Workspace(t)
	cmd := commandtest.Command(dir, "fit", "-q", "-m", "krca", "-i", "-", "-c", "links.csv", "-o", "out.mlk")
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"},
		append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path = "/bin/sh"
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	header, rows, _ := strings.Cut(clitest.Read(t, dir, "data.csv"), "\n")
	if _, err := io.WriteString(stdin, header+"\n"); err != nil {
		t.Fatal(err)
	}
	awaitReading(t, stdin)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, rows); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	clitest.Read(t, dir, "out.mlk")
}

// TestInterruptStreams interrupts commands that wait for more input, and one that reads a file
// repeatedly. Their input is larger than the buffer of a pipe, so that they are at work.
func TestInterruptStreams(t *testing.T) {
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n5,7\n")
	clitest.Write(t, dir, "centers.csv", "a,b,c\n0,0,0\n6,0,0\n")
	clitest.Write(t, dir, "wide.csv", clitest.Blobs(400, 100, false))
	commandtest.RunOK(t, dir, "links make -q -i wide.csv --must 300 -o many.csv")
	commandtest.RunOK(t, dir, "fit -q -m rca -i wide.csv -c many.csv -o wide.mlk")
	commandtest.WriteNPY(t, filepath.Join(dir, "big.npy"), 20000, 100)
	before, rows, model := clitest.Names(t, dir), clitest.Blobs(8000, 3, false),
		clitest.Read(t, dir, "wide.mlk")
	for line, input := range map[string]string{
		"classify --train data.csv -i - -o out.csv":                rows,
		"cluster -i - -n 2 -a minibatch --save-centers out.npy":    rows,
		"cluster -i - --centers centers.csv -o out.csv":            rows,
		"distance model.mlk -i - --pairs pairs.csv -o out.csv":     rows,
		"score --truth - --predicted data.csv":                     rows,
		"pairs - -i big.npy --threshold 5 -o out.csv":              model,
		"cluster - -i big.npy -n 300 --stream -o out.csv":          model,
		"cluster - -i big.npy -n 300 -a minibatch -o out.csv":      model,
		"cluster - -i big.npy -n 300 --memory-limit 8MiB -o o.csv": model,
	} {
		t.Run(line, func(t *testing.T) {
			if len(input) < 80<<10 {
				t.Fatalf("only %d bytes are written", len(input))
			}
			o := interrupt(t, dir, line, os.Interrupt, 300*time.Millisecond, func(w io.WriteCloser) {
				if _, err := io.WriteString(w, input); err != nil {
					t.Fatal(err)
				}
				if input == model {
					w.Close()
				}
			})
			o.Stderr = commandtest.WithoutWarnings(o.Stderr)
			wantInterrupted(t, dir, o, before)
		})
	}
}
