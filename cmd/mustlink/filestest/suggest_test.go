package filestest

import (
	"bufio"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// askWith runs an interactive session with the lines of stdin.
func askWith(t *testing.T, dir, stdin, line string) clitest.Outcome {
	t.Helper()
	cmd := commandtest.Command(dir, strings.Fields("suggest --interactive "+line)...)
	cmd.Stdin = strings.NewReader(stdin)
	return clitest.Finish(t, cmd)
}

// TestSuggestCommand: pairs of a batch are unanswered queries about different rows, the same for
// any number of workers, by ids if links use ids; with a model the distances are those of the
// model.
func TestSuggestCommand(t *testing.T) {
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "ids.csv", clitest.Blobs(20, 3, true))
	for _, line := range []string{"suggest -i data.csv", "suggest model.mlk -i data.csv -c links.csv"} {
		text := commandtest.RunOK(t, dir, line+" -n 5 -q -o - --workers 1").Stdout
		if again := commandtest.RunOK(t, dir, line+" -n 5 -q -o - --workers 3").Stdout; again != text {
			t.Errorf("%s: not the same from three workers", line)
		}
		asked := commandtest.Column(t, text, "i")
		if len(asked) != 5 || len(slices.Compact(slices.Sorted(slices.Values(asked)))) != 5 {
			t.Errorf("%s asks about %v", line, asked)
		}
		for k, i := range asked {
			// the first classes are those of the links: 0, 2 and 1, 3 or 4, 6 and 5, 7
			linked := []string{"0", "2", "1", "3"}
			if j := commandtest.Column(t, text, "j")[k]; strings.Contains(line, "links") &&
				slices.Contains(linked, i) && slices.Contains(linked, j) {
				t.Errorf("%s asks about %s and %s, which links imply", line, i, j)
			}
		}
	}
	commandtest.RunOK(t, dir, "suggest -i ids.csv --standardize --links-by id -n 3 -q -o pairs.csv")
	if names := commandtest.Column(t, clitest.Read(t, dir, "pairs.csv"), "i"); len(names) != 3 ||
		names[0][0] != 'p' {
		t.Errorf("ids %v", names)
	}
	commandtest.RunOK(t, dir, "distance model.mlk -i ids.csv --pairs pairs.csv --links-by id -q -o -")
}

// TestSuggestInteractive: correct answers assign all rows to classes. Every answer is a line of the
// file, which a resumed session does not ask again. The other replies (skip, a pair, quit) work as
// described.
func TestSuggestInteractive(t *testing.T) {
	dir := commandtest.Workspace(t)
	const line = "-i data.csv -c new.csv --classes 2"
	o := askWith(t, dir, "y\nperhaps\ns\n\n0 0 y\n0 2\nq\n", line+" --seed 4")
	if o.Code != usage.ExitOK || !strings.Contains(o.Stdout, "difference") ||
		!strings.Contains(o.Stdout, `"perhaps" is not an answer`) ||
		!strings.Contains(o.Stdout, "0 and 0 are not two rows") ||
		!strings.Contains(o.Stdout, "1 answer, 1 skipped") {
		t.Fatalf("exit code %d: %s%s", o.Code, o.Stdout, o.Stderr)
	}
	if got := clitest.Lines(clitest.Read(t, dir, "new.csv")); len(got) != 2 || got[0] != "i,j,link" ||
		!strings.HasSuffix(got[1], ",must") {
		t.Fatalf("the file contains %q", got)
	}
	if err := os.Remove(filepath.Join(dir, "new.csv")); err != nil {
		t.Fatal(err)
	}
	if n := answerAll(t, dir, line); n > 25 {
		t.Errorf("%d answers place 20 rows", n)
	}
	closed := commandtest.RunOK(t, dir, "links close -i data.csv -c new.csv -o closed.csv --json").Stdout
	if r := clitest.Parse(t, closed); r["must_links"].(float64)+r["cannot_links"].(float64) != 190 {
		t.Errorf("not every pair of 20 rows is known: %s", closed)
	}
	if o := askWith(t, dir, "", line); o.Code != usage.ExitOK ||
		!strings.Contains(o.Stdout, "No query is left") {
		t.Errorf("exit code %d: %s%s", o.Code, o.Stdout, o.Stderr)
	}
}

// answerAll answers by the classes of blobs, the parity of rows, in one process. After every answer
// it finds the file complete before the next query appears.
func answerAll(t *testing.T, dir, line string) (answers int) {
	t.Helper()
	cmd := commandtest.Command(dir, strings.Fields("suggest --interactive "+line)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for r := bufio.NewReader(out); ; {
		text, err := r.ReadString('?')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(text[strings.LastIndex(text, "Do "):])
		i, j := words[1], words[3]
		if asked[i+" "+j] || asked[j+" "+i] {
			t.Errorf("the query %s, %s is repeated", i, j)
		}
		asked[i+" "+j] = true
		file := clitest.Read(t, dir, "new.csv")
		if n := strings.Count(file, "\n") - 1; n < answers || !strings.HasSuffix(file, "\n") {
			t.Errorf("%d links are in the file after %d answers", n, answers)
		}
		answer := "n\n"
		if math.Mod(commandtest.Number(t, i)-commandtest.Number(t, j), 2) == 0 {
			answer = "y\n"
		}
		if _, err := io.WriteString(in, answer); err != nil {
			t.Fatal(err)
		}
		answers++
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return answers
}

// TestSuggestContradiction: an answer that contradicts links is refused with their lines, not kept,
// and queried again.
func TestSuggestContradiction(t *testing.T) {
	dir := commandtest.Workspace(t)
	clitest.Write(t, dir, "some.csv", "i,j,weight,link\n0,2,,must\n2,4,,must\n4,1,2,cannot") // no end of line
	o := askWith(t, dir, "0 4 n\n1 0 y\n4 0 y\nq\n", "-i data.csv -c some.csv")
	for _, w := range []string{
		"0 and 2 belong together (line 2), 2 and 4 belong together (line 3).",
		"1 and 4 do not belong together (line 4), 4 and 2 belong together (line 3), 2 and 0 belong " +
			"together (line 2).",
		"known already", "0 answers",
	} {
		if !strings.Contains(o.Stdout, w) {
			t.Errorf("no %q in %s", w, o.Stdout)
		}
	}
	if n := strings.Count(o.Stdout, "[y/n/s/q]"); o.Code != usage.ExitOK || n != 4 {
		t.Errorf("exit code %d, %d questions: want 0 and 4\n%s", o.Code, n, o.Stderr)
	}
	if o := askWith(t, dir, "0 3 n\n", "-i data.csv -c some.csv"); o.Code != usage.ExitOK {
		t.Error(o.Stderr)
	}
	if want := "i,j,weight,link\n0,2,,must\n2,4,,must\n4,1,2,cannot\n0,3,,cannot\n"; clitest.Read(t, dir,
		"some.csv") != want {
		t.Errorf("the file contains %q", clitest.Read(t, dir, "some.csv"))
	}
}

// TestSuggestInterrupted: an interrupt between answers ends the session at once; the answers so far
// are kept.
func TestSuggestInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts between processes")
	}
	dir := commandtest.Workspace(t)
	cmd := commandtest.Command(dir, strings.Fields("suggest --interactive -i data.csv -c new.csv")...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	for range 3 {
		if _, err := r.ReadString('?'); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, "y\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.ReadString('?'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != usage.ExitInterrupted ||
		time.Since(begin) > 10*time.Second {
		t.Errorf("exit code %d after %v: want %d soon", cmd.ProcessState.ExitCode(), time.Since(begin),
			usage.ExitInterrupted)
	}
	if got := clitest.Lines(clitest.Read(t, dir, "new.csv")); len(got) != 4 {
		t.Errorf("the file contains %q: want three answers", got)
	}
}

// TestSuggestShows: sequences, sparse rows and many features are shown for a person to compare.
func TestSuggestShows(t *testing.T) {
	dir := t.TempDir()
	var wide strings.Builder
	for j := range 30 {
		wide.WriteString("f" + strconv.Itoa(j) + ",")
	}
	text := strings.TrimSuffix(wide.String(), ",") + "\n"
	for i := range 6 {
		var row []string
		for j := range 30 {
			row = append(row, strconv.Itoa(i*j%7))
		}
		text += strings.Join(row, ",") + "\n"
	}
	clitest.Write(t, dir, "wide.csv", text)
	clitest.Write(t, dir, "sparse.svm", "1 1:2 3:4\n2 2:5\n1 1:2\n")
	clitest.Write(t, dir, "s.fasta", ">a\nACDE\n>b\nACDF\n>c\nWYWY\n>d\nWYWW\n")
	clitest.Write(t, dir, "slinks.csv", "i,j,link\n0,1,must\n0,2,cannot\n")
	commandtest.RunOK(t, dir, "fit -q -m krca -k spectrum:k=2 -i s.fasta -c slinks.csv -o s.mlk")
	for line, words := range map[string][]string{
		"-i wide.csv -c a.csv":                {"and 10 features with smaller differences"},
		"-i sparse.svm -c b.csv":              {"difference"},
		"s.mlk -i s.fasta -c slinks.csv":      {"letters", "WYW", "id"},
		"s.mlk -i s.fasta -c x --links-by id": {"Do "},
	} {
		o := askWith(t, dir, "q\n", line)
		for _, w := range words {
			if o.Code != usage.ExitOK || !strings.Contains(o.Stdout, w) {
				t.Errorf("%s: exit code %d, no %q in %s%s", line, o.Code, w, o.Stdout, o.Stderr)
			}
		}
	}
}

func TestSuggestBadInput(t *testing.T) {
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "odd.csv", "i,j,link\n0,2,must\n2,4,must\n0,4,cannot\n")
	clitest.Write(t, dir, "groups.csv", "i,chunklet\n0,a\n2,a\n")
	before := clitest.Names(t, dir)
	for line, words := range map[string][]string{
		"suggest -i data.csv":                      {"-o, --output"},
		"suggest -o x":                             {"-i, --input"},
		"suggest -i data.csv -n 0 -o x":            {"-n, --count", ">= 1"},
		"suggest -i data.csv --classes 1 -o x":     {"--classes", ">= 2"},
		"suggest -i data.csv -o x --links-by name": {"--links-by"},
		"suggest -i data.csv -c odd.csv -o x": {"odd.csv",
			"0-2 (line 2), 2-4 (line 3)"},
		"suggest model.mlk -i data.csv --standardize -o x":             {"--standardize"},
		"suggest -i data.csv --interactive":                            {"-c, --links"},
		"suggest -i data.csv --interactive -c -":                       {"-c, --links", "want a file"},
		"suggest -i data.csv --interactive -c links.csv -o x":          {"--interactive", "--output"},
		"suggest -i - --interactive -c links.csv":                      {"standard input"},
		"suggest -i data.csv --interactive -c x.csv.gz":                {"not compressed"},
		"suggest -i data.csv --interactive -c data.csv":                {"also read"},
		"suggest -i data.csv --interactive -c groups.csv":              {"groups.csv", "i, j, link"},
		"suggest -i data.csv --interactive -c no/such.csv":             {"no/such.csv", "no such folder"},
		"suggest -i data.csv --interactive -c odd.csv":                 {"odd.csv", "cannot-link 0-4"},
		"suggest -i data.csv --interactive -c links.csv --links-by id": {"ids"},
	} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before, words...)
	}
}

// TestSuggestShowsMixedTables: the cells of texts, numbers and gaps are shown, and a session that
// ends before its first answer can go on.
func TestSuggestShowsMixedTables(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "mix.csv",
		"a,town,day\n1.5,Rome,2024-01-05\n2.5,Écija,2024-02-01\n,\"x\x1by\",2024-02-02\n4.5,Rome,2024-03-02\n")
	const line = "-i mix.csv -c new.csv"
	for range 2 {
		o := askWith(t, dir, "", line)
		if o.Code != usage.ExitOK || !strings.Contains(o.Stdout, "0 answers") {
			t.Fatalf("exit code %d: %s%s", o.Code, o.Stdout, o.Stderr)
		}
		if got := clitest.Read(t, dir, "new.csv"); got != "i,j,link\n" {
			t.Fatalf("the file contains %q", got)
		}
	}
	o := askWith(t, dir, "s\ns\ns\ns\ns\ns\ns\n", line)
	for _, want := range []string{"1.5", "Rome", "Écija", "2024-02-01", "other text", "(missing)",
		`"x\x1by"`} {
		if !strings.Contains(o.Stdout, want) {
			t.Errorf("%q is not shown: %s", want, o.Stdout)
		}
	}
	fit := clitest.Finish(t,
		commandtest.Command(dir, strings.Fields("fit -i mix.csv -c new.csv -o m.mlk")...))
	if fit.Code != usage.ExitInput ||
		!strings.Contains(fit.Stderr,
			"new.csv: it has the header of links, and no link yet: want at least one") {
		t.Errorf("exit code %d: %s", fit.Code, fit.Stderr)
	}
	if o := askWith(t, dir, "y\nq\n", line); !strings.Contains(o.Stdout, "1 answer") {
		t.Errorf("exit code %d: %s%s", o.Code, o.Stdout, o.Stderr)
	}
}
