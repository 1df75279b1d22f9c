//go:build unix

package filestest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// writers are all commands that write a file, with "%" for the folder of a test; the name of the
// file follows.
var writers = [][2]string{
	{"fit -m krca -i data.csv -c links.csv -o %", "m.mlk"},
	{"update model.mlk -i data.csv -c links.csv -o %", "m.mlk"},
	{"select -i data.csv -c many.csv --methods rca,dca --folds 2 -o %", "m.mlk"},
	{"select -i data.csv -c many.csv --methods rca,dca --folds 2 -o /dev/null --report %", "trials.json"},
	{"embed model.mlk -i data.csv -o %", "e.csv"},
	{"embed model.mlk -i data.csv -o %", "e.npy"},
	{"embed model.mlk -i data.csv -o %", "e.csv.gz"},
	{"gram model.mlk -i data.csv -o %", "k.csv"},
	{"distance model.mlk -i data.csv --pairs pairs.csv -o %", "d.csv"},
	{"cluster model.mlk -i data.csv -n 2 -o %", "c.csv"},
	{"cluster -i data.csv -n 2 --stream -o %", "c.csv"},
	{"cluster -i data.csv -n 2 -a minibatch --save-centers %", "c.npy"},
	{"cluster -i data.csv --centers centers.csv -o %", "c.csv"},
	{"classify model.mlk --train data.csv -i data.csv -o %", "c.csv"},
	{"pairs model.mlk -i data.csv --threshold 1 -o %", "p.csv"},
	{"calibrate model.mlk -i data.csv -c many.csv -o %", "m.mlk"},
	{"plot model.mlk -i data.csv -o %", "p.png"},
	{"plot model.mlk -i data.csv -o %", "p.svg"},
	{"plot model.mlk -i data.csv -o %", "p.pdf"},
	{"plot spectral.mlk --spectrum -o %", "p.svg"},
	{"plot model.mlk -i data.csv --curve roc -o %", "p.svg"},
	{"report model.mlk -i data.csv -c links.csv -o %", "r.html"},
	{"links make -i data.csv --pairs 5 -o %", "l.csv"},
	{"links close -c links.csv -n 20 -o %", "l.csv"},
}

// appenders are the commands that resume from a file of finished work, with the beginning and the
// end of a line of that file.
var appenders = []struct{ line, begin, end string }{
	{"select -i data.csv -c many.csv --methods rca,dca --folds 2 -o /dev/null --state %", `{"run":"another`,
		`","candidate":"rca","fold":0,"score":0}`},
}

// crowded returns a folder with the input of the writers.
func crowded(t *testing.T) string {
	t.Helper()
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n5,7\n")
	clitest.Write(t, dir, "centers.csv", "a,b,c\n0,0,0\n6,0,0\n")
	commandtest.RunOK(t, dir, "links make -q -i data.csv --pairs 15 -o many.csv")
	commandtest.RunOK(t, dir, "fit -q -m kbeta -i data.csv -c links.csv -p neighbors=2 -o spectral.mlk")
	return dir
}

// wantFailure requires an exit code, a message with all the words and without a temporary name, and
// in the folder only the old file of that name, or no file if the name is "".
func wantFailure(t *testing.T, o clitest.Outcome, code int, folder, name, old string, words ...string) {
	t.Helper()
	if o.Code != code {
		t.Errorf("exit code %d: want %d", o.Code, code)
	}
	for _, w := range words {
		if !strings.Contains(o.Stderr, w) {
			t.Errorf("message does not contain %q: %s", w, o.Stderr)
		}
	}
	last := clitest.Lines(o.Stderr)[len(clitest.Lines(o.Stderr))-1]
	if !strings.HasPrefix(last, "mustlink: ") || strings.Contains(o.Stderr, "goroutine ") ||
		strings.Contains(o.Stderr, ".tmp-") {
		t.Errorf("the last line is not the message, or it contains a stack trace or a temporary name: %s",
			o.Stderr)
	}
	if o.Stdout != "" {
		t.Errorf("standard output is %q", o.Stdout)
	}
	want := []string{}
	if old != "" {
		want = []string{name}
		if got := clitest.Read(t, folder, name); got != old {
			t.Errorf("the old file has changed: %d bytes, had %d", len(got), len(old))
		}
	}
	got := slices.DeleteFunc(clitest.Names(t, folder), func(name string) bool {
		return name == clitest.Filler
	})
	if !slices.Equal(got, want) {
		t.Errorf("in the folder are %v: want %v", got, want)
	}
}

// oldFile is the content of a file before a command that fails to replace it.
const oldFile = "what was there\n"

// TestNoRoom: a command that cannot write a byte fails with code 1 and leaves the old file. A limit
// on the size of files simulates a full disk, because it requires no privilege.
func TestNoRoom(t *testing.T) {
	dir, count := crowded(t), 0
	for _, w := range writers {
		t.Run(w[0], func(t *testing.T) {
			path, words := emptied(t, dir, w[1], oldFile), []string{syscall.EFBIG.Error()}
			o := clitest.Finish(t, withoutRoom(dir, strings.ReplaceAll(w[0], "%", path)))
			if strings.HasSuffix(path, ".pdf") { // which requires another file first
				words = append(words, "folder for temporary files")
			} else {
				words = append(words, path)
			}
			wantFailure(t, o, usage.ExitFailed, filepath.Join(dir, "out"), w[1], oldFile, words...)
			count++
		})
	}
	t.Logf("writes refused by a limit on the size of files: %d, all with code %d, a message and the old "+
		"file whole", count, usage.ExitFailed)
}

// withoutRoom returns the command for a process that may not write to files.
func withoutRoom(dir, line string) *exec.Cmd {
	cmd := exec.Command("sh",
		append([]string{"-c", `ulimit -f 0; exec "$0" "$@"`, commandtest.Command(dir).Path},
			strings.Fields(line)...)...)
	cmd.Dir = dir
	return cmd
}

// emptied recreates the folder out, with an old file of that name, and returns the file's path in
// dir.
func emptied(t *testing.T, dir, name, old string) string {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("out", name)
	put(t, filepath.Join(dir, path), old)
	return path
}

// put creates a file with that content, for any name.
func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk: on a full file system a command fails with code 1 and leaves no file; a file of
// finished work keeps its content.
func TestFullDisk(t *testing.T) {
	dir := crowded(t)
	disk := clitest.SmallDisk(t, dir)
	const page = 4096
	for _, w := range writers {
		t.Run(w[0], func(t *testing.T) {
			clean(t, disk)
			clitest.Fill(t, disk)
			path := filepath.Join("disk", w[1])
			o := commandtest.Run(t, dir, strings.ReplaceAll(w[0], "%", path))
			wantFailure(t, o, usage.ExitFailed, disk, w[1], "", path, syscall.ENOSPC.Error())
		})
	}
	for _, w := range appenders {
		t.Run(w.line, func(t *testing.T) {
			clean(t, disk)
			// The last page of the file is full too.
			old := w.begin + strings.Repeat("x", page-len(w.begin)-len(w.end)-1) + w.end + "\n"
			put(t, filepath.Join(disk, "state"), old)
			clitest.Fill(t, disk)
			o := commandtest.Run(t, dir, strings.ReplaceAll(w.line, "%", filepath.Join("disk", "state")))
			wantFailure(t, o, usage.ExitFailed, disk, "state", old, "state file", syscall.ENOSPC.Error())
		})
	}
	t.Logf("writes to a full disk: %d, all with code %d, a message, nothing left and old lines whole",
		len(writers)+len(appenders), usage.ExitFailed)
}

// clean removes all files of a folder.
func clean(t *testing.T, folder string) {
	t.Helper()
	for _, name := range clitest.Names(t, folder) {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDevice: a device that accepts no bytes, as standard output and as file.
func TestFullDevice(t *testing.T) {
	const device = "/dev/full"
	full, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system")
	}
	defer full.Close()
	dir := crowded(t)
	before := clitest.Names(t, dir)
	all := []string{
		"update model.mlk -q -i data.csv -c links.csv -o -", "export model.mlk --format onnx -o -",
		"embed model.mlk -i data.csv --format csv -o /dev/full", "embed model.mlk -i data.csv -o -",
		"gram model.mlk -i data.csv -o -",
		"links make -i data.csv --pairs 5 -o -", "cluster model.mlk -i data.csv -n 2 -o -",
		"distance model.mlk -i data.csv --pairs pairs.csv -o -",
		"classify model.mlk --train data.csv -i data.csv -o -",
		"plot model.mlk -i data.csv -o - --format svg", "report model.mlk -i data.csv -o -",
		"inspect model.mlk",
		"check -i data.csv", "score --truth data.csv --predicted data.csv", "info", "version", "help",
		"help formats", "fit --help", "",
		"inspect model.mlk --json",
		"demo rings --points 60 --links 20 --repetitions 1", "--version",
	}
	for _, line := range all {
		t.Run(line, func(t *testing.T) {
			cmd := commandtest.Command(dir, strings.Fields(line)...)
			var stderr strings.Builder
			cmd.Stdout, cmd.Stderr = full, &stderr
			err := cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != usage.ExitFailed {
				t.Errorf("exit code %d, error %v: want %d", code, err, usage.ExitFailed)
			}
			if got := stderr.String(); !strings.Contains(got, "mustlink: ") ||
				!strings.Contains(got, syscall.ENOSPC.Error()) || strings.Contains(got, "goroutine ") {
				t.Errorf("the message is %q: want the cause", got)
			}
			if after := clitest.Names(t, dir); !slices.Equal(before, after) {
				t.Errorf("files before: %v, after: %v", before, after)
			}
		})
	}
	t.Logf("outputs to a full device: %d, all with code %d and a message", len(all), usage.ExitFailed)
}

// TestClosedOutput: data for a standard output that is closed are an error before the work.
func TestClosedOutput(t *testing.T) {
	dir := crowded(t)
	for _, line := range []string{
		"embed model.mlk -i data.csv -o -", "cluster model.mlk -i data.csv -n 2 -o -",
		"export model.mlk --format onnx -o -", "report model.mlk -i data.csv -o -",
	} {
		for to, code := range map[string]int{">&-": usage.ExitFailed, ">/dev/null": usage.ExitOK} {
			cmd := exec.Command("sh", append([]string{"-c", `exec "$0" "$@" ` + to,
				commandtest.Command(dir).Path}, strings.Fields(line)...)...)
			cmd.Dir = dir
			o := clitest.Finish(t, cmd)
			if o.Code != code || code != 0 && !strings.Contains(o.Stderr, "standard output is closed") {
				t.Errorf("%s %s: exit code %d, %q: want %d", line, to, o.Code, o.Stderr, code)
			}
		}
	}
}
