package mustlink_test

import (
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
