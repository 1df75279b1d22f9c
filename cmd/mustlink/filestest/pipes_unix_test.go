//go:build unix

package filestest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestClosedPipe: a command whose reader has gone ends as system tools do, by SIGPIPE or after it
// has written everything, without a message.
func TestClosedPipe(t *testing.T) {
	dir := crowded(t)
	clitest.Write(t, dir, "long.csv", clitest.Blobs(20000, 3, false))
	lines := []string{
		"fit -q -m krca -i data.csv -c links.csv -o -", "embed model.mlk -i data.csv -o -",
		"gram model.mlk -i data.csv -o -",
		"distance model.mlk -i data.csv --pairs pairs.csv -o -", "cluster model.mlk -i data.csv -n 2 -o -",
		"links make -i data.csv --pairs 5 -o -",
		"plot model.mlk -i data.csv -o - --format svg", "report model.mlk -i data.csv -o -",
		"inspect model.mlk", "info --json", "demo rings --points 60 --links 20 --repetitions 1",
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close() // before anything is written
			wantBrokenPipe(t, dir, line, w, func() {})
		})
	}
	t.Run("after the first line", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		wantBrokenPipe(t, dir, "embed model.mlk -i long.csv -o -", w, func() {
			if first, err := bufio.NewReaderSize(r, 16).ReadString('\n'); err != nil ||
				!strings.HasPrefix(first, "0,1") {
				t.Errorf("the first line is %q, error %v", first, err)
			}
			r.Close()
		})
	})
	t.Logf("closed pipes: %d, none with a message or a stack trace", len(lines)+1)
}

// wantBrokenPipe runs the command with w as standard output, and read at the other end.
func wantBrokenPipe(t *testing.T, dir, line string, w *os.File, read func()) {
	t.Helper()
	cmd := commandtest.Command(dir, strings.Fields(line)...)
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	read()
	err := cmd.Wait()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGPIPE {
		t.Errorf("the command ended with %v: want the signal %v", err, syscall.SIGPIPE)
	}
	for said := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(said, "mustlink: warning: ") {
			t.Errorf("the command said %q", said)
		}
	}
}

// streams are the files of crowded as standard input: the file, the command, and whether every
// truncated file is an error.
var streams = []struct {
	file, line string
	strict     bool
}{
	{"data.csv", "embed model.mlk -i - -o -", false},
	{"data.csv.gz", "embed model.mlk -i - --format csv.gz -o -", true},
	{"data.npy", "cluster -i - --format npy -n 2 -o -", true},
	{"model.mlk", "embed - -i data.csv -o -", true},
	{"links.csv", "links close -c - -n 20 -o -", false},
}

// withStreams returns crowded with those files.
func withStreams(t *testing.T) string {
	t.Helper()
	dir := crowded(t)
	clitest.Write(t, dir, "data.csv.gz", clitest.Read(t, dir, "data.csv"))
	commandtest.RunOK(t, dir, "embed model.mlk -q -i data.csv -o data.npy")
	return dir
}

// TestSlowInput: input in pieces, with pauses between them, gives the same result as a file.
func TestSlowInput(t *testing.T) {
	dir := withStreams(t)
	for _, s := range streams {
		t.Run(s.file, func(t *testing.T) {
			content := clitest.Read(t, dir, s.file)
			want := commandtest.RunWith(t, dir, content, s.line)
			cmd := commandtest.Command(dir, strings.Fields(s.line)...)
			const most = 100 // pieces, of an odd length
			cmd.Stdin = &trickle{rest: content, most: len(content)/most | 1}
			got := clitest.Finish(t, cmd)
			if got.Code != usage.ExitOK || got.Stdout != want.Stdout {
				t.Errorf("code %d, %d bytes: want %d bytes\n%s", got.Code, len(got.Stdout), len(want.Stdout),
					got.Stderr)
			}
		})
	}
}

// trickle is a reader that returns a few bytes in each call.
type trickle struct {
	rest string
	most int
}

func (s *trickle) Read(p []byte) (int, error) {
	if s.rest == "" {
		return 0, io.EOF
	}
	time.Sleep(time.Millisecond)
	n := copy(p, s.rest[:min(s.most, len(s.rest))])
	s.rest = s.rest[n:]
	return n, nil
}

// TestTruncatedInput: truncated input is an error of the input that names the stream and leaves no
// output; or, for lines of text, it is shorter input without errors.
func TestTruncatedInput(t *testing.T) {
	dir, cuts, good := withStreams(t), 0, 0
	before := clitest.Names(t, dir)
	for _, s := range streams {
		t.Run(s.file, func(t *testing.T) {
			content := clitest.Read(t, dir, s.file)
			const parts = 8
			for k := range parts {
				cmd := commandtest.Command(dir, strings.Fields(s.line)...)
				cmd.Stdin = strings.NewReader(content[:len(content)*k/parts])
				o := clitest.Finish(t, cmd)
				cuts++
				if o.Code == usage.ExitOK && !s.strict && k > 0 {
					good++
					continue
				}
				commandtest.WantInputError(t, dir, o, before, "standard input")
			}
		})
	}
	t.Logf("inputs cut off: %d, of which %d were whole lines; all others with code %d and a message", cuts,
		good, usage.ExitInput)
}

// TestClosedInput: a closed standard input is an empty one.
func TestClosedInput(t *testing.T) {
	dir := withStreams(t)
	before := clitest.Names(t, dir)
	for _, s := range streams {
		t.Run(s.file, func(t *testing.T) {
			cmd := exec.Command("sh",
				append([]string{"-c", `exec "$0" "$@" <&-`, commandtest.Command(dir).Path},
					strings.Fields(s.line)...)...)
			cmd.Dir = dir
			commandtest.WantInputError(t, dir, clitest.Finish(t, cmd), before, "standard input", "want")
		})
	}
}

// TestBrokenInput: an error while a stream is read is a failure, not the end of the stream.
func TestBrokenInput(t *testing.T) {
	dir := withStreams(t)
	for _, s := range streams {
		t.Run(s.file, func(t *testing.T) {
			folder, err := os.Open(dir) // its content cannot be read as that of a file
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			cmd := commandtest.Command(dir, strings.Fields(s.line)...)
			cmd.Stdin = folder
			o := clitest.Finish(t, cmd)
			if o.Code == usage.ExitOK || !strings.Contains(o.Stderr, syscall.EISDIR.Error()) ||
				strings.Contains(o.Stderr, "goroutine ") {
				t.Errorf("code %d, message %q", o.Code, o.Stderr)
			}
		})
	}
}

// TestNamedPipes: a named pipe is refused where a file is opened by its name; nothing
// waits for a writer that may never come.
func TestNamedPipes(t *testing.T) {
	dir := crowded(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.mlk"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := clitest.Names(t, dir)
	for _, line := range []string{
		"inspect pipe.mlk", "embed pipe.mlk -i data.csv -o out.csv",
		"update pipe.mlk -i data.csv -c links.csv -o out.mlk",
	} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before,
			"pipe.mlk: it is a folder, a pipe or a device: want a ")
	}
}
