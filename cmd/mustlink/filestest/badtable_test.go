package filestest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// badInput is one entry of ../testdata/bad.txt.
type badInput struct {
	file, content string // "" for no file in addition to those of the folder
	line          string
	message       string
}

func (b badInput) String() string { return strings.TrimSpace(b.line + " " + b.content) }

// readBadInputs parses the table.
func readBadInputs(t *testing.T) []badInput {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "bad.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []badInput
	var b badInput
	for _, line := range clitest.Lines(string(text)) {
		name, quoted, isFile := strings.Cut(line, ` "`)
		message, isMessage := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case isMessage:
			b.message = message
			list = append(list, b)
			b = badInput{}
		case isFile && !strings.Contains(name, " "):
			if b.content, err = strconv.Unquote(`"` + quoted); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			b.file = name
		default:
			b.line = line
		}
	}
	return list
}

// matches reports whether a command printed a message, of which "..." leaves out a part: a list of
// names, which grows.
func matches(message, printed string) bool {
	message = "mustlink: " + message + "\n"
	start, end, cut := strings.Cut(message, "...")
	if cut && end == "\n" {
		return strings.HasPrefix(printed, start)
	}
	return printed == message || cut && len(printed) >= len(start)+len(end) &&
		strings.HasPrefix(printed, start) && strings.HasSuffix(printed, end)
}

// TestBadInputs: every entry of the table ends with exit code 2, a one-line message, and no file.
// The table has at least 150 different entries, and a bad value of every parameter of every method.
func TestBadInputs(t *testing.T) {
	dir := commandtest.WithModel(t)
	data := clitest.Lines(clitest.Blobs(20, 3, false))
	clitest.Write(t, dir, "ids.csv", clitest.Blobs(20, 3, true))
	clitest.Write(t, dir, "wide.csv", clitest.Blobs(20, 4, false))
	clitest.Write(t, dir, "narrow.csv", clitest.Blobs(20, 2, false))
	var unlabeled, gram strings.Builder
	for i, row := range data {
		unlabeled.WriteString(row[:strings.LastIndex(row, ",")] + "\n")
		if i == 0 {
			gram.WriteString(strings.Join(strings.Split("abcdefghijklmnopqrst", ""), ",") + "\n")
			continue
		}
		unit := strings.Split(strings.Repeat("0", len(data)-1), "")
		unit[i-1] = "1"
		gram.WriteString(strings.Join(unit, ",") + "\n")
	}
	clitest.Write(t, dir, "nolabel.csv", unlabeled.String())
	clitest.Write(t, dir, "gram.csv", gram.String())
	commandtest.RunOK(t, dir, "fit -q -m rca -i data.csv -c links.csv -o rca.mlk")

	var mixed strings.Builder
	mixed.WriteString("plan,since,pay,label\n")
	for i := range 20 {
		fmt.Fprintf(&mixed, "%s,%d-%02d-%02d,%d,%c\n", []string{"free", "pro", "team"}[i%3], 2020+i%4, 1+i%12,
			1+i, i*i, 'x'+i%2)
	}
	clitest.Write(t, dir, "mixed.csv", mixed.String())
	clitest.Write(t, dir, "pair.csv", "i,j,link\n0,1,must\n")
	commandtest.RunOK(t, dir, "fit -q -m rca -i mixed.csv -c links.csv -o mixed.mlk")
	far := "a,b\n"
	for i := range 20 {
		far += fmt.Sprintf("%d,%d\n", 1000000+i%5, 2000000+i%3)
	}
	clitest.Write(t, dir, "far.csv", far)
	commandtest.RunOK(t, dir, "fit -q -m kpca -k cosine --prepare none -i far.csv -c links.csv -o far.mlk")

	commandtest.RunOK(t, dir,
		"neighbors -q model.mlk --train data.csv -i data.csv -k 3 --approximate recall=.9 --index "+
			"data.index -o found.csv")

	table := readBadInputs(t)
	seen := map[badInput]bool{}
	for _, b := range table {
		t.Run(b.String(), func(t *testing.T) {
			key := badInput{b.file, b.content, b.line, ""}
			if seen[key] {
				t.Error("the table has it twice")
			}
			seen[key] = true
			if b.file != "" {
				clitest.Write(t, dir, b.file, b.content)
				defer os.Remove(filepath.Join(dir, b.file))
			}
			before := clitest.Names(t, dir)
			o := commandtest.Run(t, dir, b.line)
			if !matches(b.message, o.Stderr) {
				t.Errorf("got  %swant %s", o.Stderr, "mustlink: "+b.message)
			}
			commandtest.WantInputError(t, dir, o, before)
		})
	}
	for _, m := range catalog.Methods() {
		for _, p := range m.Parameters {
			if !slices.ContainsFunc(table, func(b badInput) bool {
				return strings.HasPrefix(b.line, "fit -m "+m.Name+" ") &&
					strings.Contains(b.line, " -p "+p.Name+"=")
			}) {
				t.Errorf("the table has no bad value of %s of %s", p.Name, m.Name)
			}
		}
	}
	t.Logf("%d distinct bad inputs", len(seen))
	if len(seen) < 150 {
		t.Error("want at least 150")
	}
}
