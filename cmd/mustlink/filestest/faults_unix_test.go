//go:build unix

package filestest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/engine/enginetest"
	container "github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/drawstest"
)

// faultsVariable sets the number of processes that TestKill kills.
const faultsVariable = "MUSTLINK_FAULTS"

// numberOfFaults is small in the ordinary suite, three of each command, and larger among all draws;
// the documentation reports results of 200.
func numberOfFaults(t *testing.T) int {
	t.Helper()
	text := os.Getenv(faultsVariable)
	if text == "" {
		return drawstest.Count(21, 40)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: want a number >= 1", faultsVariable, text)
	}
	return n
}

// victim is a command that is killed while it rewrites the file out/target.
type victim struct {
	name, line string
	target     string
	// fresh, if not "", is a file in out from which the command resumes; a command that completes
	// removes it.
	fresh    string
	old, new string // content of out/target before and after a complete run
	// took is the duration of a complete run, writing the part of it with content in the temporary
	// file.
	took, writing time.Duration
}

// victims are all kinds of commands that write, in a folder with their input. Most spend a large
// part of their time writing.
func victims() []*victim {
	return []*victim{
		{name: "fit", line: "fit -q -m krca -i wide.csv -c links.csv -o out/m.mlk", target: "m.mlk"},
		{name: "update", line: "update -q wide.mlk -i wide.csv -c links.csv -o out/m.mlk", target: "m.mlk"},
		{name: "embed .csv", line: "embed -q model.mlk -i long.csv -o out/e.csv", target: "e.csv"},
		{name: "embed .npy", line: "embed -q model.mlk -i long.csv -o out/e.npy", target: "e.npy"},
		{name: "embed .csv.gz", line: "embed -q model.mlk -i tall.csv -o out/e.csv.gz", target: "e.csv.gz"},
		{name: "gram", line: "gram -q model.mlk -i middle.csv -o out/k.csv", target: "k.csv"},
		{name: "select", line: "select -q -i data.csv -c many.csv --methods rca,dca,krca --folds 2 --state " +
			"out/s.jsonl -o out/m.mlk",
			target: "m.mlk", fresh: "s.jsonl"},
	}
}

// killed counts the results of the processes.
type killed struct{ before, during, after, ended, cleaned int }

func (k *killed) add(o killed) {
	k.before += o.before
	k.during += o.during
	k.after += o.after
	k.ended += o.ended
	k.cleaned += o.cleaned
}

func (k killed) String() string {
	return fmt.Sprintf("%d before the file had content, %d during the writing, %d after it, %d had ended; "+
		"%d temporary files left and removed by the next command",
		k.before, k.during, k.after, k.ended, k.cleaned)
}

// TestKill kills commands at random moments while they replace a good file. After each, the file is
// the complete old one or the complete new one; the next command that writes there removes a
// temporary file.
func TestKill(t *testing.T) {
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "wide.csv", clitest.Blobs(400, 300, false))
	clitest.Write(t, dir, "middle.csv", clitest.Blobs(300, 3, false))
	clitest.Write(t, dir, "tall.csv", clitest.Blobs(5000, 3, false))
	clitest.Write(t, dir, "long.csv", clitest.Blobs(20000, 3, false))
	commandtest.RunOK(t, dir, "links make -q -i data.csv --pairs 15 -o many.csv")
	commandtest.RunOK(t, dir, "fit -q -m krca -i wide.csv -c links.csv -o wide.mlk")
	rng := rand.New(rand.NewPCG(14, 3))
	list, total := victims(), killed{}
	for i, v := range list {
		n := (numberOfFaults(t) + i) / len(list)
		t.Run(v.name, func(t *testing.T) {
			v.prepare(t, dir)
			var sum killed
			for k := range n {
				// Half of the moments are of the whole run, the others are during the writing.
				sum.add(v.kill(t, dir, rng.Float64(), k%2 == 1))
			}
			commandtest.RunOK(t, dir, v.line)
			v.wantWhole(t, dir)
			t.Logf("kill -9 of %s (a run takes %v, of which %v writing): %v", v.name,
				v.took.Round(time.Millisecond), v.writing.Round(10*time.Microsecond), sum)
			total.add(sum)
		})
	}
	t.Logf("kill -9 at %d moments: %v; every file was the old one or the new one, whole",
		total.before+total.during+total.after+total.ended, total)
	if total.during == 0 {
		t.Error("no process was killed during the writing")
	}
}

// prepare runs the command twice, which must give the same bytes, and measures its time.
func (v *victim) prepare(t *testing.T, dir string) {
	t.Helper()
	os.RemoveAll(filepath.Join(dir, "out"))
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	for run := range 2 {
		cmd := commandtest.Command(dir, strings.Fields(v.line)...)
		begin := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		v.waitForContent(dir, "", ended)
		first := time.Now()
		for v.temporary(dir, 1) != "" {
			time.Sleep(pollEvery)
		}
		v.writing = time.Since(first)
		if err := <-ended; err != nil {
			t.Fatalf("mustlink %s: %v", v.line, err)
		}
		v.took = time.Since(begin)
		content := v.content(t, dir)
		if run == 1 && content != v.new {
			t.Fatal("two runs write different files")
		}
		v.new = content
		v.restart(t, dir)
	}
	v.old = "what was there before, and is whole\n"
}

// content returns the content of the target; for a model, which must load, without the duration of
// the fit.
func (v *victim) content(t *testing.T, dir string) string {
	t.Helper()
	content := clitest.Read(t, dir, v.path())
	if filepath.Ext(v.target) != ".mlk" || content == v.old {
		return content
	}
	file, err := container.ReadFile(filepath.Join(dir, v.path()))
	if err == nil {
		_, err = catalog.Decode(file)
	}
	if err != nil {
		t.Errorf("the model cannot be read: %v", err)
		return content
	}
	timeless, err := enginetest.Timeless(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(timeless)
}

const pollEvery = 100 * time.Microsecond

func (v *victim) path() string { return filepath.Join("out", v.target) }

// temporary returns the name of a temporary file in the target's folder with at least this number
// of bytes, "" if there is none.
func (v *victim) temporary(dir string, bytes int64) string {
	found, _ := filepath.Glob(filepath.Join(dir, "out", "."+v.target+".tmp-*"))
	for _, name := range found {
		if info, err := os.Stat(name); err == nil && info.Size() >= bytes {
			return name
		}
	}
	return ""
}

// waitForContent returns when there is a temporary file with content, other than the one left by an
// earlier command, or when the command has ended.
func (v *victim) waitForContent(dir, left string, ended chan error) {
	for now := ""; now == "" || now == left; now = v.temporary(dir, 1) {
		select {
		case err := <-ended:
			ended <- err // for the next reader
			return
		case <-time.After(pollEvery):
		}
	}
}

// restart removes the file from which the command would resume.
func (v *victim) restart(t *testing.T, dir string) {
	t.Helper()
	if v.fresh != "" {
		if err := os.Remove(filepath.Join(dir, "out", v.fresh)); err != nil {
			t.Fatal(err)
		}
	}
}

// kill restores the old file, starts the command, kills it after a part of its time, or of its
// writing, and checks what is left.
func (v *victim) kill(t *testing.T, dir string, part float64, inWriting bool) (k killed) {
	t.Helper()
	left := v.temporary(dir, 0)
	if err := os.WriteFile(filepath.Join(dir, v.path()), []byte(v.old), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := commandtest.Command(dir, strings.Fields(v.line)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	span := v.took
	if inWriting {
		v.waitForContent(dir, left, ended)
		span = v.writing
	}
	time.Sleep(time.Duration(part * float64(span)))
	_ = cmd.Process.Kill() // it may have ended
	err := <-ended
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "mustlink: warning: ") {
			t.Errorf("the command said: %s", line)
		}
	}
	now := v.temporary(dir, 0)
	switch content := v.content(t, dir); {
	case content == v.new:
		if now != "" {
			t.Errorf("the new file exists, and so does %s", filepath.Base(now))
		}
		if err == nil {
			k.ended++
		} else {
			k.after++
		}
		v.restart(t, dir)
	case content != v.old:
		t.Errorf("killed at %.3f of its time: the file is neither the old nor the new one: %d bytes, old "+
			"%d, new %d", part, len(content), len(v.old), len(v.new))
	case err == nil:
		t.Error("the command succeeded, but the file is the old one")
	case v.temporary(dir, 1) != "" && now != left:
		k.during++
	default:
		k.before++
	}
	if left != "" && now != left {
		k.cleaned++
	}
	v.wantOneTemporary(t, dir)
	return k
}

// wantOneTemporary requires that a killed process has removed the temporary file of an earlier one
// before it left its own.
func (v *victim) wantOneTemporary(t *testing.T, dir string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "out", ".*"))
	if err != nil || len(found) > 1 {
		t.Errorf("left in the folder: %v, error %v", found, err)
	}
}

// wantWhole requires the new file and no other.
func (v *victim) wantWhole(t *testing.T, dir string) {
	t.Helper()
	if v.content(t, dir) != v.new {
		t.Error("a complete run after the killed ones writes a different file")
	}
	want := []string{v.target}
	if v.fresh != "" {
		want = append(want, v.fresh)
	}
	if got := clitest.Names(t, filepath.Join(dir, "out")); len(got) != len(want) {
		t.Errorf("in the folder are %v: want %v", got, want)
	}
}
