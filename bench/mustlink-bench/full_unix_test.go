//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// wantFailure requires exit code 1 and one line with the cause and without a temporary name.
func wantFailure(t *testing.T, o clitest.Outcome, words ...string) {
	t.Helper()
	if o.Code != usage.ExitFailed || strings.Count(o.Stderr, "\n") != 1 ||
		!strings.HasPrefix(o.Stderr, "mustlink-bench: ") || strings.Contains(o.Stderr, ".tmp-") {
		t.Errorf("exit code %d, standard error %q: want %d and one line", o.Code, o.Stderr, usage.ExitFailed)
	}
	for _, w := range words {
		if !strings.Contains(o.Stderr, w) {
			t.Errorf("message does not contain %q: %s", w, o.Stderr)
		}
	}
}

// TestNoRoom: a command that cannot write a byte fails and leaves the old file. A limit on the size
// of files replaces a full disk, since it needs no privilege.
func TestNoRoom(t *testing.T) {
	const old = "what was there\n"
	for line, name := range map[string]string{
		"paper tsang-1 --repetitions 1 -o ":    "t.json",
		"paper tsang-1 --repetitions 1 -q -o ": "t.md",
		"paper tsang-fig2 -o ":                 "f.svg",
	} {
		dir := t.TempDir()
		clitest.Write(t, dir, name, old)
		cmd := exec.Command("sh",
			append([]string{"-c", `ulimit -f 0; exec "$0" "$@"`, bench.Path},
				strings.Fields(line+name)...)...)
		cmd.Dir = dir
		wantFailure(t, clitest.Finish(t, cmd), name, syscall.EFBIG.Error())
		if left := clitest.Names(t, dir); len(left) != 1 || clitest.Read(t, dir, name) != old {
			t.Errorf("%s: in the folder are %v: want only the old file", line, left)
		}
	}
}

// TestFullDevice: a command fails if standard output is a device that is full.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system")
	}
	defer full.Close()
	for _, line := range []string{
		"micro --case gemm --sizes 8 --threads 1 --rounds 1 --json", "paper tsang-1 --repetitions 1",
		"paper --list", "paper tsang-fig2",
	} {
		cmd := bench.Command(t.TempDir(), strings.Fields(line)...)
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run() // the exit code is checked below
		wantFailure(t, clitest.Outcome{Code: cmd.ProcessState.ExitCode(), Stderr: stderr.String()},
			syscall.ENOSPC.Error())
	}
}

// TestFullDisk: on a full file system, a state file keeps its trials, and an output file is not
// left behind.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	disk := clitest.SmallDisk(t, dir)
	const page, begin, end = 4096, `{"run":"another`, `","trial":0,"seconds":1,"values":[[1]]}`
	// The last page of the file is full, too.
	old := begin + strings.Repeat("x", page-len(begin)-len(end)-1) + end + "\n"
	clitest.Write(t, disk, "state", old)
	clitest.Fill(t, disk)
	wantFailure(t, bench.Run(t, dir, "paper tsang-1 --repetitions 2 --state disk/state"), "state file",
		syscall.ENOSPC.Error())
	wantFailure(t, bench.Run(t, dir, "paper tsang-1 --repetitions 1 -o disk/t.json"),
		filepath.Join("disk", "t.json"), syscall.ENOSPC.Error())
	wantFailure(t, bench.Run(t, dir, "paper tsang-fig2 -o disk/f.svg"), filepath.Join("disk", "f.svg"),
		syscall.ENOSPC.Error())
	if left := clitest.Names(t, disk); len(left) != 2 || clitest.Read(t, disk, "state") != old {
		t.Errorf("on the disk are %v: want the state as it was, and the filler", left)
	}
}
