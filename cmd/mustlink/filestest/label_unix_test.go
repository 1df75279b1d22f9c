//go:build unix

package filestest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// labeler is a running `mustlink label`.
type labeler struct {
	cmd     *exec.Cmd
	address string // of the page, with its key
	out     *bufio.Reader
	errors  *clitest.Buffer
}

// labeling starts the command and reads the address that it prints.
func labeling(t *testing.T, cmd *exec.Cmd) *labeler {
	t.Helper()
	l := &labeler{cmd: cmd, errors: &clitest.Buffer{}}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr, l.out = l.errors, bufio.NewReader(pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if l.address, err = l.out.ReadString('\n'); err != nil {
		t.Fatalf("no address: %v, %s", err, l.errors.String())
	}
	l.address = strings.TrimSpace(l.address)
	return l
}

// labelState is what the tests read of an answer.
type labelState struct {
	Error    string
	Must     int
	Cannot   int
	Question *struct{ A, B struct{ Row int } }
}

// send sends a request, with a body if it is not "".
func (l *labeler) send(t *testing.T, path, body string) (s labelState) {
	t.Helper()
	var r *http.Response
	var err error
	if body == "" {
		r, err = http.Get(l.address + path)
	} else {
		r, err = http.Post(l.address+path, "application/json", strings.NewReader(body))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// answer answers a question by the classes of blobs, the parity of rows.
func (l *labeler) answer(t *testing.T, s labelState) labelState {
	t.Helper()
	i, j, word := s.Question.A.Row, s.Question.B.Row, "cannot"
	if i%2 == j%2 {
		word = "must"
	}
	return l.send(t, "answer", fmt.Sprintf(`{"i":%d,"j":%d,"answer":%q}`, i, j, word))
}

// end waits for the command, and returns its exit code and what it printed last.
func (l *labeler) end() (code int, out string) {
	rest, _ := io.ReadAll(l.out)
	_ = l.cmd.Wait()
	return l.cmd.ProcessState.ExitCode(), string(rest)
}

// labelLine is the command of the tests.
var labelLine = []string{"label", "-i", "data.csv", "-o", "answers.csv", "--no-browser"}

// TestLabelKill: a process that is killed has every answer that the page had a reply to, and the
// next one resumes.
func TestLabelKill(t *testing.T) {
	dir := commandtest.Workspace(t)
	clitest.Write(t, dir, "data.csv", clitest.Blobs(200, 3, false))
	rng := rand.New(rand.NewPCG(1, 1))
	answers := 0
	for range 5 {
		l := labeling(t, commandtest.Command(dir, labelLine...))
		s := l.send(t, "state", "")
		if s.Must+s.Cannot != answers {
			t.Fatalf("%d answers after a kill: want %d", s.Must+s.Cannot, answers)
		}
		for range 5 + rng.IntN(10) {
			s = l.answer(t, s)
			answers++
			if s.Must+s.Cannot != answers {
				t.Fatalf("%d answers: want %d", s.Must+s.Cannot, answers)
			}
		}
		if err := l.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		l.end()
		if got := len(clitest.Lines(clitest.Read(t, dir, "answers.csv"))); got != answers+1 {
			t.Errorf("%d lines: want %d", got, answers+1)
		}
	}
	// other commands read the file
	commandtest.RunOK(t, dir, "links close -i data.csv -c answers.csv -o closed.csv")
}

// TestLabelEnds: Ctrl-C and the button of the page end the command; it prints what the file has and
// leaves no other file.
func TestLabelEnds(t *testing.T) {
	dir := commandtest.Workspace(t)
	for _, end := range []string{"signal", "page"} {
		l := labeling(t, commandtest.Command(dir, labelLine...))
		l.answer(t, l.send(t, "state", ""))
		want := usage.ExitOK
		if end == "page" {
			l.send(t, "finish", "{}")
		} else {
			want = usage.ExitInterrupted
			if err := l.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
		if code, out := l.end(); code != want || !strings.HasPrefix(out, "answers.csv: ") ||
			strings.Count(l.errors.String(), "\n") > 1 {
			t.Errorf("%s: exit code %d, %q, %q: want code %d", end, code, out, l.errors.String(), want)
		}
	}
	if got := strings.Join(clitest.Names(t, dir), " "); got != "answers.csv data.csv links.csv" {
		t.Errorf("files: %s", got)
	}
}

// TestLabelPort: a port that is taken is one line.
func TestLabelPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := commandtest.Workspace(t)
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for _, flags := range []string{"--port " + port, "--share 127.0.0.1:" + port + " --people ann"} {
		o := commandtest.Run(t, dir, strings.Join(labelLine, " ")+" "+flags)
		commandtest.WantInputError(t, dir, o, []string{"data.csv", "links.csv"}, port,
			syscall.EADDRINUSE.Error(), "free port")
	}
}

// TestLabelNoRoom: an answer that a full disk does not take is one line on the page, and the file
// is as before; with room again the session goes on.
func TestLabelNoRoom(t *testing.T) {
	dir := commandtest.Workspace(t)
	l := labeling(t, withoutRoom(dir, strings.Join(labelLine, " ")))
	s := l.send(t, "state", "")
	if r := l.answer(t, s); !strings.Contains(r.Error, "answers.csv") ||
		!strings.Contains(r.Error, syscall.EFBIG.Error()) || strings.Contains(r.Error, "\n") {
		t.Errorf("the error is %q", r.Error)
	}
	if _, err := os.Stat(filepath.Join(dir, "answers.csv")); err == nil {
		t.Error("there is a file without answers")
	}
	disk := clitest.SmallDisk(t, dir)
	line := strings.ReplaceAll(strings.Join(labelLine, " "), "answers.csv",
		filepath.Join("disk", "answers.csv"))
	l = labeling(t, commandtest.Command(dir, strings.Fields(line)...))
	s = l.answer(t, l.send(t, "state", ""))
	before := clitest.Read(t, disk, "answers.csv")
	put(t, filepath.Join(disk, "answers.csv"),
		before+strings.Repeat(strings.SplitAfter(before, "\n")[1],
			(4096-len(before))/len(strings.SplitAfter(before, "\n")[1])))
	whole := clitest.Read(t, disk, "answers.csv")
	clitest.Fill(t, disk)
	full := false
	for range 10 {
		if r := l.answer(t, s); r.Error != "" {
			if full = strings.Contains(r.Error, syscall.ENOSPC.Error()); !full {
				t.Errorf("the error is %q", r.Error)
			}
			break
		} else {
			s, whole = r, clitest.Read(t, disk, "answers.csv")
		}
	}
	if got := clitest.Read(t, disk, "answers.csv"); !full || got != whole {
		t.Errorf("full: %v; the file has %d bytes, had %d", full, len(got), len(whole))
	}
	if err := os.Remove(filepath.Join(disk, clitest.Filler)); err != nil {
		t.Fatal(err)
	}
	if r := l.answer(t, s); r.Error != "" {
		t.Errorf("with room again: %s", r.Error)
	}
}

// TestLabelPeople: every person has an address; wrong keys and other hosts are refused.
func TestLabelPeople(t *testing.T) {
	dir := commandtest.Workspace(t)
	l := labeling(t, commandtest.Command(dir, append(labelLine, "--people", "ann,ben")...))
	second, err := l.out.ReadString('\n')
	if err != nil || !strings.HasPrefix(l.address, "ann: http://127.0.0.1:") ||
		!strings.HasPrefix(second, "ben: ") {
		t.Fatalf("%q, %q, %v", l.address, second, err)
	}
	ann, ben := strings.TrimPrefix(l.address, "ann: "), strings.TrimSpace(strings.TrimPrefix(second, "ben: "))
	for k, address := range []string{ann, ben} {
		l.address = address
		l.answer(t, l.send(t, "state", ""))
		time.Sleep(time.Millisecond)
		if got := clitest.Lines(clitest.Read(t, dir, "answers.csv"))[k+1]; !strings.Contains(got,
			","+[]string{"ann", "ben"}[k]+",20") {
			t.Errorf("the line %q does not say who", got)
		}
	}
	r, err := http.NewRequest(http.MethodGet, ann+"state", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "attacker.example"
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another host: status %d", answer.StatusCode)
	}
}

// TestLabelFirst: mustlink entities writes doubtful pairs, label asks about these in their order,
// and entities keeps the answers.
func TestLabelFirst(t *testing.T) {
	dir := commandtest.Workspace(t)
	var data strings.Builder
	data.WriteString("id,x,y,label\n")
	for i := range 60 {
		fmt.Fprintf(&data, "r%d,%d.%d,%d,c%d\n", i, 20*(i/3%5)+i%3, i%7, 20*(i/15), i/3)
	}
	clitest.Write(t, dir, "data.csv", data.String())
	commandtest.RunOK(t, dir, "links make -i data.csv --must 50 --cannot 500 -o some.csv")
	commandtest.RunOK(t, dir, "calibrate -q -i data.csv --prepare none -c some.csv -o c.mlk")
	entities := "entities c.mlk -i data.csv --neighbors 4 --links-by id -o e.csv"
	commandtest.RunOK(t, dir, entities+" --doubtful doubtful.csv --doubts 5")
	doubtful := clitest.Lines(clitest.Read(t, dir, "doubtful.csv"))[1:]
	line := slices.Concat(labelLine, []string{"--first", "doubtful.csv"})
	l := labeling(t, commandtest.Command(dir, line...))
	s := l.send(t, "state", "")
	var asked []string
	for _, line := range doubtful {
		i, j := s.Question.A.Row, s.Question.B.Row
		if ids := strings.Split(line, ","); ids[0] != fmt.Sprint("r", i) || ids[1] != fmt.Sprint("r", j) {
			t.Fatalf("the question is r%d, r%d: want %s", i, j, line)
		}
		asked = append(asked, fmt.Sprintf("r%d,r%d,cannot", i, j))
		s = l.send(t, "answer", fmt.Sprintf(`{"i":%d,"j":%d,"answer":"cannot"}`, i, j))
	}
	l.send(t, "finish", "{}")
	l.end()
	answers := clitest.Read(t, dir, "answers.csv")
	for _, line := range asked {
		if !strings.Contains(answers, line) {
			t.Errorf("the answers %s lack %s", answers, line)
		}
	}
	commandtest.RunOK(t, dir, entities+" --decided answers.csv")
}

// TestLabelText: of a table of sentences, label and the command that it ends with learn from words;
// without them there is nothing to learn from, and the message says how.
func TestLabelText(t *testing.T) {
	dir := commandtest.Workspace(t)
	var data strings.Builder
	data.WriteString("id,text\n")
	for i := range 40 {
		topic := []string{"my card was lost in town", "the parcel came too late"}[i%2]
		fmt.Fprintf(&data, "r%d,%s on day number%d and at hour%d\n", i, topic, i/2, i*i)
	}
	clitest.Write(t, dir, "data.csv", data.String())
	without := commandtest.Run(t, dir, strings.Join(labelLine, " "))
	commandtest.WantInputError(t, dir, without, clitest.Names(t, dir), "text", "--text words")
	shown := strings.Join(labelLine, " ") + " --text text --type text=drop" // then fits learn from others
	commandtest.WantInputError(t, dir, commandtest.Run(t, dir, shown), clitest.Names(t, dir), "as asked")
	l := labeling(t, commandtest.Command(dir, slices.Concat(labelLine, []string{"--text", "text"})...))
	s := l.send(t, "state", "")
	for range 12 {
		s = l.answer(t, s)
	}
	l.send(t, "finish", "{}")
	_, out := l.end()
	_, next, _ := strings.Cut(out, "next: mustlink ")
	got := commandtest.RunOK(t, dir, strings.TrimSpace(next))
	if !strings.Contains(got.Stdout+got.Stderr, "tf-idf of words") {
		t.Errorf("%s does not learn from words: %s%s", next, got.Stdout, got.Stderr)
	}
}
