package mustlink_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
)

// TestReadOptions: each option changes how a file is read as documented.
func TestReadOptions(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		try(path, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	odd := file("rows.data", "a,b,label\n1,2,x\n3,4,y\n5,6,x\n")
	if _, err := mustlink.ReadTable(odd); !fault.IsInput(err) {
		t.Errorf("a file without a known ending: error %v", err)
	}
	table := try(mustlink.ReadTable(odd, mustlink.FileFormat("csv"), nil))
	if table.Rows() != 3 || table.Columns() != 2 || !slices.Equal(table.Names(), []string{"a", "b"}) ||
		!slices.Equal(table.Labels(), []string{"x", "y", "x"}) {
		t.Errorf("%d x %d, names %q, labels %q", table.Rows(), table.Columns(), table.Names(), table.Labels())
	}
	labels := file("labels.csv", "label\np\nq\np\n")
	if got := try(mustlink.ReadTable(odd, mustlink.FileFormat("csv"),
		mustlink.LabelsFile(labels))).Labels(); !slices.Equal(got, []string{"p", "q", "p"}) {
		t.Errorf("labels of a file of their own: %q", got)
	}
	genes := file("genes.fasta", ">one first\nACGT\n>two second\nGGCA\n")
	read := try(mustlink.ReadTable(genes, mustlink.HeaderLabels(), mustlink.Alphabet("dna")))
	if read.Rows() != 2 || !slices.Equal(read.Labels(), []string{"first", "second"}) ||
		!slices.Equal(read.IDs(), []string{"one", "two"}) {
		t.Errorf("%d sequences, labels %q, ids %q", read.Rows(), read.Labels(), read.IDs())
	}
	if _, err := mustlink.ReadTable(genes, mustlink.Alphabet("A-")); !fault.IsInput(err) {
		t.Errorf("an alphabet that is none: error %v", err)
	}
	square := file("gram.csv", "a,b\n2,1\n1,2\n")
	model := try(mustlink.Fit(t.Context(), try(mustlink.ReadTable(square, mustlink.GramFile(""))),
		try(mustlink.NewLinks(2, [][2]int{{0, 1}}, nil)), mustlink.Method("krca")))
	fresh := try(mustlink.ReadTable(file("new.csv", "a,b\n2,0.5\n"),
		mustlink.GramFile(file("diagonal.csv", "k\n3\n"))))
	if y := try(model.Embed(t.Context(), fresh)); y.RawMatrix().Rows != 1 {
		t.Errorf("%d rows of one new object", y.RawMatrix().Rows)
	}
	_, err := mustlink.ReadTable(file("long.csv", "a\n"+strings.Repeat("1\n", 1000)),
		mustlink.ReadLimit(1000))
	if _, is := err.(*fault.MemoryError); !is && !strings.Contains(err.Error(), "limit") {
		t.Errorf("a file beyond the limit: error %v", err)
	}
}

// TestUnlabeledRows: rows with an empty label are in no link, do not vote, and count in no score.
func TestUnlabeledRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	text := "x,y,label\n"
	var rows []int
	for i := range 40 {
		label := string(rune('a' + i%2))
		if i%5 < 2 {
			label = ""
		} else {
			rows = append(rows, i)
		}
		text += fmt.Sprintf("%d,%d,%s\n", i%2*9+i%3, i*i%7, label)
	}
	try(path, os.WriteFile(path, []byte(text), 0o600))
	table := try(mustlink.ReadTable(path))
	links := try(table.SampleLinks(20, 20, 1))
	for _, l := range append(links.Must(), links.Cannot()...) {
		if table.Labels()[l.I] == "" || table.Labels()[l.J] == "" {
			t.Errorf("a link between rows %d and %d: want labeled ones", l.I, l.J)
		}
	}
	m := try(mustlink.Fit(t.Context(), table, links, mustlink.Method("rca")))
	some := try(table.Select(rows))
	found := try(m.Classify(t.Context(), table, table, 3))
	if want := try(m.Classify(t.Context(), some, table, 3)); !slices.Equal(found, want) {
		t.Errorf("labels %q: want %q, those that the labeled rows alone give", found, want)
	}
	r := try(mustlink.Score(table, found))
	if r.N != len(rows) || r.Unlabeled != 40-len(rows) {
		t.Errorf("%d rows scored, %d without a label: want %d and %d", r.N, r.Unlabeled, len(rows), 40-len(rows))
	}
	none := try(table.WithLabels(make([]string, 40)))
	if _, err := none.SampleLinks(1, 0, 1); !fault.IsInput(err) || !strings.Contains(err.Error(), "40 rows") {
		t.Errorf("no labels: error %v", err)
	}
	if _, err := m.Classify(t.Context(), none, table, 1); !fault.IsInput(err) {
		t.Errorf("no labels: error %v", err)
	}
}
