package printed

import (
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mustlink/mustlink/engine/fault"
)

const header = "table,dataset,condition,method,measure,value,sd,uncertain\n"

// folder returns a folder with a header in every file, and other text in some.
func folder(text map[string]string) fs.FS {
	out := fstest.MapFS{}
	for _, table := range Tables() {
		out[table+".csv"] = &fstest.MapFile{Data: []byte(header)}
	}
	for name, s := range text {
		out[name] = &fstest.MapFile{Data: []byte(s)}
	}
	return out
}

// TestBuiltin: the files of the program are those of Tables, and a few numbers are where the papers
// print them.
func TestBuiltin(t *testing.T) {
	names, err := fs.Glob(files, "*.csv")
	if err != nil || len(names) != len(Tables()) {
		t.Errorf("%d files for %d tables, %v", len(names), len(Tables()), err)
	}
	n := Builtin()
	if len(n.All()) < 740 {
		t.Errorf("%d numbers: want at least 740", len(n.All()))
	}
	wine, ok := n.Find(Key{"hu-3", "wine", "much", "ITML", "pair_accuracy_x100"})
	if !ok || wine.Value != 71.9 || wine.SD != 0.02 {
		t.Errorf("ITML on wine: %+v, %v", wine, ok)
	}
	if xor, ok := n.Find(Key{"tsang-1", "XOR", "Gaussian kernel", "KRCA", "rand_index"}); !ok ||
		xor.Value != 1 || !math.IsNaN(xor.SD) {
		t.Errorf("kernel RCA on XOR: %+v, %v", xor, ok)
	}
	if _, ok := n.Find(Key{Table: "tsang-1"}); ok {
		t.Error("found a number that no paper prints")
	}
}

// TestReadRefuses: every error is about the input and names its file and what was expected.
func TestReadRefuses(t *testing.T) {
	row := func(s string) map[string]string { return map[string]string{"hu-4.csv": header + s + "\n"} }
	missing := folder(nil).(fstest.MapFS)
	delete(missing, "hu-4.csv")
	for name, c := range map[string]struct {
		files fs.FS
		words string
	}{
		"missing": {missing, "no such file"},
		"other column": {folder(map[string]string{"hu-4.csv": strings.Replace(header, "sd", "deviation",
			1)}), "deviation"},
		"empty":          {folder(map[string]string{"hu-4.csv": ""}), "no header"},
		"other table":    {folder(row("hu-3,a,b,c,m,1,,0")), "line 2: table"},
		"no measure":     {folder(row("hu-4,a,b,c,,1,,0")), "measure"},
		"no number":      {folder(row("hu-4,a,b,c,m,one,,0")), "value is \"one\""},
		"infinite":       {folder(row("hu-4,a,b,c,m,Inf,,0")), "finite"},
		"negative sd":    {folder(row("hu-4,a,b,c,m,1,-1,0")), ">= 0"},
		"uncertain is 2": {folder(row("hu-4,a,b,c,m,1,,2")), "0 or 1"},
		"twice":          {folder(row("hu-4,a,b,c,m,1,,0\nhu-4,a,b,c,m,2,,0")), "line 3"},
		"a field more":   {folder(row("hu-4,a,b,c,m,1,,0,9")), "fields"},
	} {
		_, err := Read(c.files)
		if err == nil || !fault.IsInput(err) || !strings.Contains(err.Error(), "hu-4.csv") ||
			!strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v: want an input error about hu-4.csv with %q", name, err, c.words)
		}
	}
}

// FuzzRead: no text makes Read panic, and what it accepts are finite numbers that are found again.
func FuzzRead(f *testing.F) {
	f.Add(header + "hu-4,a,b,c,m,1,0.5,0\n")
	f.Add(header + "hu-4,\"a\nb\",b,c,m,1,,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Read(folder(map[string]string{"hu-4.csv": text}))
		if err != nil {
			if !fault.IsInput(err) {
				t.Errorf("%v is not an input error", err)
			}
			return
		}
		for _, number := range n.All() {
			again, ok := n.Find(number.Key)
			if !ok || again.Value != number.Value || math.IsInf(number.Value, 0) || math.IsNaN(number.Value) {
				t.Errorf("%+v is found as %+v, %v", number, again, ok)
			}
		}
	})
}
