package filestest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/clitest"
)

// writeMixed writes a table of customers with gaps in two groups, as mixed.csv, and the numbers
// that a preparation makes of it, as plain.csv.
func writeMixed(t *testing.T, dir string, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, uint64(n)))
	var s strings.Builder
	s.WriteString("id,plan,since,pay,age,paid,label\n")
	for i := range n {
		group := i % 2
		plan := []string{"free", "pro", "team", ""}[min(3, rng.IntN(3)+group)]
		pay := fmt.Sprintf("%.3f", 20+15*float64(group)+5*rng.NormFloat64())
		if rng.IntN(7) == 0 {
			pay = ""
		}
		fmt.Fprintf(&s, "c%d,%s,%d-%02d-%02d,%s,%d,%s,%c\n", i, plan, 2019+rng.IntN(3)+group, 1+rng.IntN(12),
			1+rng.IntN(28),
			pay, 30+rng.IntN(40), []string{"yes", "no"}[rng.IntN(2)], 'x'+group)
	}
	clitest.Write(t, dir, "mixed.csv", s.String())
	table, err := mustlink.ReadTable(filepath.Join(dir, "mixed.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if table, err = table.Prepare(mustlink.Preparing{}); err != nil {
		t.Fatal(err)
	}
	if err := dataset.WriteData(filepath.Join(dir, "plain.csv"), table.Data(),
		dataset.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestMixedTables: every command does with a table of texts and gaps what it does with the numbers
// that the preparation makes of it.
func TestMixedTables(t *testing.T) {
	dir := t.TempDir()
	writeMixed(t, dir, 90)
	commandtest.RunOK(t, dir, "links make -q -i mixed.csv --pairs 40 -o links.csv")
	commandtest.RunOK(t, dir, "links make -q -i mixed.csv --pairs 10 --seed 2 -o more.csv")
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n5,17\n44,3\n")
	for _, command := range []string{
		// commands with models: the model prepares the table
		"fit -m krca -i DATA PREPARE -c links.csv -o MODEL",
		"embed MODEL -i DATA -o OUT.csv",
		"embed MODEL -i DATA --precision single -o OUT.npy",
		"gram MODEL -i DATA -j DATA -o OUT.csv",
		"distance MODEL -i DATA --pairs pairs.csv -o OUT.csv",
		"cluster MODEL -i DATA -n 2 -o OUT.csv",
		"cluster MODEL -i DATA -n 2 -a constrained -c links.csv -o OUT.csv",
		"cluster MODEL -i DATA -n 2 -a minibatch -o OUT.csv",
		"classify MODEL --train DATA -i DATA -o OUT.csv",
		"plot MODEL -i DATA -c links.csv --title x -o OUT.svg",
		"plot MODEL -i DATA --before --title x -o OUT.svg",
		"suggest MODEL -i DATA -c links.csv -n 5 -o OUT.csv",
		"update MODEL -i DATA -c more.csv -o larger-MODEL",
		"embed larger-MODEL -i DATA -o OUT.csv",
		// commands without: flags prepare the table
		"cluster -i DATA PREPARE -n 2 -o OUT.csv",
		"cluster -i DATA PREPARE -n 2 -a minibatch -o OUT.csv",
		"cluster -i DATA PREPARE -n 2 --stream -o OUT.csv",
		"cluster -i DATA PREPARE -n 2 -a kernel -o OUT.csv",
		"cluster -i DATA PREPARE -n 2 -a pck -c links.csv -o OUT.csv",
		"classify --train DATA -i DATA PREPARE -o OUT.csv",
		"plot -i DATA PREPARE --title x -o OUT.svg",
		"suggest -i DATA PREPARE -n 5 -o OUT.csv",
		"select -i DATA PREPARE -c links.csv --methods rca,krca -n 2 -o MODEL",
		"embed MODEL -i DATA -o OUT.csv",
		"fit -i DATA PREPARE -c links.csv -o MODEL",
		"embed MODEL -i DATA -o OUT.csv",
	} {
		t.Run(command, func(t *testing.T) {
			got := runFor(t, dir, command, "mixed.csv", "--prepare auto")
			want := runFor(t, dir, command, "plain.csv", "--prepare none")
			if got != want {
				t.Errorf("output of the table:\n%.600s\nof its numbers:\n%.600s", got, want)
			}
		})
	}
}

// TestRowNumbers: a column of row numbers, which the preparation leaves out, changes nothing for
// the commands that work without a model, whether they hold the rows in memory or not.
func TestRowNumbers(t *testing.T) {
	dir := commandtest.Workspace(t)
	var text strings.Builder
	text.WriteString("row,a,b,label\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%d,%d.5,%d,%d\n", i, 7*(i%2)+i%3, i%5, i%2)
	}
	clitest.Write(t, dir, "numbered.csv", text.String())
	clitest.Write(t, dir, "again.csv", text.String()) // rows of one file would vote for themselves
	for _, command := range []string{
		"cluster -i numbered.csv -n 2 -o OUT", "cluster -i numbered.csv -n 2 --stream -o OUT",
		"cluster -i numbered.csv -n 2 -a minibatch -o OUT",
		"classify --train numbered.csv -i again.csv -o OUT",
	} {
		run := func(out, flags string) string {
			o := commandtest.RunOK(t, dir, strings.ReplaceAll(command, "OUT", out)+" -q "+flags)
			if o.Stderr != "" {
				t.Errorf("%s: %s", command, o.Stderr)
			}
			return clitest.Read(t, dir, out)
		}
		if with, without := run("with.csv", ""), run("without.csv", "--drop row"); with != without {
			t.Errorf("%s: labels\n%s\nwithout the column\n%s", command, with, without)
		}
	}
}

// runFor runs a command on a file, and returns what it wrote.
func runFor(t *testing.T, dir, command, file, prepare string) string {
	t.Helper()
	name := strings.TrimSuffix(file, ".csv")
	line := strings.NewReplacer("DATA", file, "PREPARE", prepare, "MODEL", name+".mlk", "OUT",
		name+"-out").Replace(command)
	commandtest.RunOK(t, dir, line+" -q")
	output := line[strings.LastIndex(line, " ")+1:]
	if strings.HasSuffix(output, ".mlk") {
		return ""
	}
	return clitest.Read(t, dir, output)
}
