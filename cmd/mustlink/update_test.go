package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestUpdate: an updated model is the fit of all chunklets with fixed_s, and removing the updates
// gives the first model's results, byte for byte.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	// The rows of data.csv are 0 to 39; those of new.csv are its second half.
	all := clitest.Lines(clitest.Blobs(40, 3, false))
	clitest.Write(t, dir, "all.csv", strings.Join(all, "\n")+"\n")
	clitest.Write(t, dir, "data.csv", strings.Join(all[:21], "\n")+"\n")
	clitest.Write(t, dir, "new.csv", strings.Join(append(all[:1:1], all[21:]...), "\n")+"\n")
	clitest.Write(t, dir, "first.csv", "i,chunklet\n0,a\n2,a\n1,b\n3,b\n5,b\n")
	clitest.Write(t, dir, "second.csv", "i,chunklet\n0,x\n2,x\n4,x\n7,y\n")
	clitest.Write(t, dir, "third.csv", "i,chunklet\n6,0\n8,0\n9,1\n10,fresh\n12,fresh\n8,2\n")
	clitest.Write(t, dir, "batch.csv",
		"i,chunklet\n0,a\n2,a\n26,a\n28,a\n20,a\n22,a\n24,a\n1,b\n3,b\n5,b\n29,b\n27,y\n30,f\n32,f\n")
	const fitting = " -k rbf:sigma=2 -p fixed_s=0.5 -p dims=0 -q "
	commandtest.RunOK(t, dir, "fit -m krca -i data.csv -c first.csv -o one.mlk"+fitting)
	o := commandtest.RunOK(t, dir, "update one.mlk -i new.csv -c second.csv -k rbf:sigma=2 -o two.mlk")
	for _, w := range []string{"added", "4 points", "updates", "memory"} {
		if !strings.Contains(o.Stdout, w) {
			t.Errorf("summary without %q:\n%s", w, o.Stdout)
		}
	}
	o = commandtest.RunOK(t, dir, "update two.mlk -i new.csv -c third.csv --extend --json -o three.mlk")
	var r struct {
		Added    int      `json:"points_added"`
		Dropped  int      `json:"updates_dropped"`
		Warnings []string `json:"warnings"`
	}
	if err := json.Unmarshal([]byte(o.Stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Added != 5 || r.Dropped != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "row 8") ||
		!strings.Contains(o.Stderr, "merged") {
		t.Errorf("report %+v and %q, want 5 points and a warning that row 8 merges", r, o.Stderr)
	}
	commandtest.RunOK(t, dir, "fit -m krca -i all.csv -c batch.csv -o batch.mlk"+fitting)
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n5,30\n26,20\n7,27\n39,2\n")
	for _, m := range []string{"one", "three", "batch"} {
		commandtest.RunOK(t, dir, "distance "+m+".mlk -i all.csv --pairs pairs.csv -q -o "+m+".csv")
	}
	got, want := columnOf(t, clitest.Read(t, dir, "three.csv")),
		columnOf(t, clitest.Read(t, dir, "batch.csv"))
	for i, v := range want {
		if d := got[i] - v; !(d*d <= 1e-20*v*v) {
			t.Errorf("pair %d: distance %v, want %v", i, got[i], v)
		}
	}
	commandtest.RunOK(t, dir, "update three.mlk --drop-last 2 -q -o back.mlk")
	commandtest.RunOK(t, dir, "distance back.mlk -i all.csv --pairs pairs.csv -q -o back.csv")
	if clitest.Read(t, dir, "back.csv") != clitest.Read(t, dir, "one.csv") {
		t.Error("dropping both updates does not restore the distances")
	}
	o = commandtest.RunOK(t, dir, "inspect --all three.mlk")
	for _, w := range []string{"update.history", "updates", "memory"} {
		if !strings.Contains(o.Stdout, w) {
			t.Errorf("inspect without %q", w)
		}
	}
	// The same through pipes.
	cmd := commandtest.Command(dir, "update", "-", "-i", "new.csv", "-c", "second.csv", "-o", "-")
	in, err := os.Open(dir + "/one.mlk")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd.Stdin = in
	if o := clitest.Finish(t, cmd); o.Code != usage.ExitOK || len(o.Stdout) == 0 {
		t.Errorf("through pipes: exit code %d, %d bytes: %s", o.Code, len(o.Stdout), o.Stderr)
	}
}

// columnOf returns the last column of a CSV with a header.
func columnOf(t *testing.T, text string) []float64 {
	t.Helper()
	var out []float64
	for _, line := range clitest.Lines(text)[1:] {
		var v float64
		if err := json.Unmarshal([]byte(line[strings.LastIndex(line, ",")+1:]), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// TestBadUpdate: mistakes leave no file; the message has the value and what was expected.
func TestBadUpdate(t *testing.T) {
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "c.csv", "i,chunklet\n0,a\n1,a\n")
	clitest.Write(t, dir, "narrow.csv", "f0,f1\n1,2\n3,4\n")
	clitest.Write(t, dir, "nine.csv", "i,chunklet\n0,9\n1,9\n")
	clitest.Write(t, dir, "far.csv", "i,chunklet\n0,a\n20,a\n")
	clitest.Write(t, dir, "cannot.csv", "i,j,link\n0,1,cannot\n")
	clitest.Write(t, dir, "header.csv", "i,j,link\n0,1,must\n")
	commandtest.RunOK(t, dir, "gram model.mlk -i data.csv -q -o gram.csv")
	for _, line := range []string{
		"fit -m krca -i data.csv -c links.csv -k linear -p form=spectral -o spectral.mlk",
		"fit -m krca -i gram.csv --gram -c links.csv -p form=cholesky -o gram.mlk"} {
		if text := commandtest.RunOK(t, dir, line).Stdout; !strings.Contains(text, "need a new fit") {
			t.Errorf("%s: the model refuses updates, but fit says\n%s", line, text)
		}
	}
	before := clitest.Names(t, dir)
	for _, c := range []struct {
		line  string
		words []string
	}{
		{"update -i data.csv -c c.csv -o out.mlk", []string{"MODEL"}},
		{"update model.mlk -i data.csv -c c.csv", []string{"-o, --output"}},
		{"update model.mlk -o out.mlk", []string{"-i, --input"}},
		{"update model.mlk -i data.csv -o out.mlk", []string{"-c, --links"}},
		{"update model.mlk --drop-last 1 -i data.csv -o out.mlk",
			[]string{"--drop-last", "-i, --input", "together"}},
		{"update model.mlk --drop-last 1 --extend -o out.mlk",
			[]string{"--drop-last", "--extend", "together"}},
		{"update model.mlk --drop-last 0 -o out.mlk", []string{"--drop-last is 0"}},
		{"update model.mlk --drop-last -3 -o out.mlk", []string{"--drop-last is -3"}},
		{"update model.mlk --drop-last two -o out.mlk", []string{"--drop-last", "two"}},
		{"update model.mlk --drop-last 1 -o out.mlk",
			[]string{"model.mlk", "--drop-last is 1", "no updates"}},
		{"update model.mlk -i narrow.csv -c c.csv -o out.mlk", []string{"narrow.csv", `"f2"`}},
		{"update model.mlk -i data.csv -c far.csv -o out.mlk", []string{"far.csv", "line 3", "row 20"}},
		{"update model.mlk -i data.csv -c nine.csv --extend -o out.mlk",
			[]string{"nine.csv", "chunklet 9", "0 to 3"}},
		{"update model.mlk -i data.csv -c header.csv --extend -o out.mlk",
			[]string{"header.csv", "i,chunklet"}},
		{"update model.mlk -i data.csv -c c.csv -k rbf:sigma=77 -o out.mlk",
			[]string{"-k, --kernel", "77", "cannot change"}},
		{"update model.mlk -i data.csv -c c.csv -k rbg -o out.mlk", []string{"rbg"}},
		{"update model.mlk -i data.csv -c c.csv -o model.mlk", []string{"model.mlk", "also read"}},
		{"update nosuch.mlk -i data.csv -c c.csv -o out.mlk", []string{"nosuch.mlk"}},
		{"update data.csv -i data.csv -c c.csv -o out.mlk", []string{"data.csv"}},
		{"update spectral.mlk -i data.csv -c c.csv -o out.mlk", []string{"spectral.mlk", "form", "cholesky"}},
		{"update gram.mlk -i gram.csv --gram -c c.csv -o out.mlk", []string{"gram.mlk", "Gram", "vectors"}},
		{"update model.mlk -i data.csv -c c.csv --memory-limit 1KiB -o out.mlk", []string{"limit"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			o := commandtest.Run(t, dir, c.line)
			commandtest.WantInputError(t, dir, o, before, c.words...)
		})
	}
	o := commandtest.Run(t, dir, "update model.mlk -i data.csv -c cannot.csv -o out.mlk")
	if o.Code != usage.ExitInput || !strings.Contains(o.Stderr, "no chunklets") ||
		!strings.Contains(o.Stderr, "1 cannot-link not used") {
		t.Errorf("cannot-links only: exit code %d, %s", o.Code, o.Stderr)
	}
}

// TestUpdateLinks: models learn more links between their training rows, and report it.
func TestUpdateLinks(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(60, 1, false))
	clitest.Write(t, dir, "fewer.csv", clitest.Blobs(30, 1, false))
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,3,must\n0,1,cannot\n1,4,must\n2,5,must\n")
	clitest.Write(t, dir, "more.csv", "i,j,link\n6,9,must\n1,2,cannot\n")
	clitest.Write(t, dir, "against.csv", "i,j,link\n0,3,cannot\n")
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n5,30\n26,20\n7,27\n39,2\n")
	for _, method := range []string{"npkl", "kbeta", "gml", "gml -p prior=spectral", "itml",
		"itml -k rbf:sigma=2 --standardize", "blend"} {
		commandtest.RunOK(t, dir, "fit -m "+method+" -i data.csv -c links.csv -o model.mlk")
		o := commandtest.RunOK(t, dir, "update model.mlk -i data.csv -c more.csv -o larger.mlk")
		if !strings.Contains(o.Stdout, "2 links") {
			t.Errorf("%s: the summary does not say what was added:\n%s", method, o.Stdout)
		}
		if strings.Contains(o.Stderr, "not the points") {
			t.Errorf("%s: the points of the fit are not recognized:\n%s", method, o.Stderr)
		}
		for _, m := range []string{"model", "larger"} {
			commandtest.RunOK(t, dir, "distance "+m+".mlk -i data.csv --pairs pairs.csv -q -o "+m+".csv")
		}
		if clitest.Read(t, dir, "model.csv") == clitest.Read(t, dir, "larger.csv") {
			t.Errorf("%s: nothing was learned", method)
		}
		if method != "itml" { // whose model has no rows
			commandtest.RunOK(t, dir, "update model.mlk -c more.csv -q -o without.mlk")
			commandtest.RunOK(t, dir, "distance without.mlk -i data.csv --pairs pairs.csv -q -o without.csv")
			if clitest.Read(t, dir, "without.csv") != clitest.Read(t, dir, "larger.csv") {
				t.Errorf("%s: without the data, another model", method)
			}
		}
		before, name := clitest.Names(t, dir), strings.Fields(method)[0]
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "update model.mlk -i data.csv -c against.csv -o bad.mlk"), before,
			"against.csv", "must", "cannot")
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "update model.mlk -i fewer.csv -c links.csv -o bad.mlk"), before,
			"fewer.csv", "30", "60")
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "update model.mlk --drop-last 1 -o bad.mlk"), before, name, "--drop-last")
		commandtest.WantInputError(t, dir,
			commandtest.Run(t, dir, "update model.mlk -i data.csv -c more.csv --extend -o bad.mlk"), before,
			name, "--extend")
	}
}

// TestUpdatable: the methods in the error message are those whose models can be updated.
func TestUpdatable(t *testing.T) {
	x, _, set := enginetest.Bands(t, 24, 3, 6, 1)
	eng := enginetest.New(t, 1)
	offered := strings.FieldsFunc(strings.ReplaceAll(catalog.Updatable, " or ", ", "), func(r rune) bool {
		return r == ',' || r == ' '
	})
	for _, m := range catalogtest.Methods() {
		learner, err := m.New(catalog.Config{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		fitted, err := learner.Fit(context.Background(), eng, x, set)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		_, links := fitted.(algorithms.Linker)
		_, chunklets := fitted.(algorithms.Updater)
		if can := links || chunklets; can != slices.Contains(offered, m.Name) {
			t.Errorf("%s: can be updated %v, but the message offers %q", m.Name, can, offered)
		}
	}
}
