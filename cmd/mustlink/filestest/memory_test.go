package filestest

import (
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestMemoryLimitOfCommands: every command that requests memory refuses more than --memory-limit
// with code 2, a message with the number and a way out, and no output.
func TestMemoryLimitOfCommands(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", clitest.Blobs(300, 3, false))
	clitest.Write(t, dir, "links.csv", commandtest.FewLinks)
	commandtest.RunOK(t, dir, "links make -q -i data.csv --pairs 40 -o many.csv")
	commandtest.RunOK(t, dir, "fit -q -m krca -i data.csv -c links.csv -o model.mlk")
	clitest.Write(t, dir, "pairs.csv", "i,j\n0,1\n5,7\n")
	lines := []string{
		"distance model.mlk -i data.csv --pairs pairs.csv -o out.csv",
		"links make -i data.csv --pairs 5 -o out.csv", "check -i data.csv",
		"inspect model.mlk -i data.csv -c links.csv",
	}
	work := []string{
		"update model.mlk -i data.csv -c links.csv -o out.mlk", "embed model.mlk -i data.csv -o out.csv",
		"gram model.mlk -i data.csv -o out.csv",
		"cluster model.mlk -i data.csv -n 2 -o out.csv",
		"neighbors model.mlk --train data.csv -i data.csv --approximate recall=.9 -o out.csv",
		"classify model.mlk --train data.csv -i data.csv -o out.csv",
		"plot model.mlk -i data.csv -o out.svg", "report model.mlk -i data.csv -o out.html",
		"select -i data.csv -c many.csv --methods krca,kbeta -o out.mlk",
	}
	for _, m := range catalog.Methods() {
		if !slices.Contains([]string{"npk", "sdplr", "simplenpkl"}, m.Name) { // which use few points
			work = append(work, "fit -m "+m.Name+" -i data.csv "+commandtest.Lesson(t, dir, m, "many.csv",
				300)+" -o out.mlk")
		}
	}
	before, refused := clitest.Names(t, dir), 0
	refuse := func(line, limit string) {
		t.Run(line+" "+limit, func(t *testing.T) {
			o := commandtest.Run(t, dir, line+" --memory-limit "+limit)
			o.Stderr = commandtest.WithoutWarnings(o.Stderr)
			commandtest.WantInputError(t, dir, o, before, "limit", "iB", ": ")
			refused++
		})
	}
	for _, line := range append(lines, work...) {
		refuse(line, "1KiB") // less than the points take
	}
	for _, line := range work {
		refuse(line, "8KiB") // enough for the points, but not for the work
	}
	t.Logf("commands refused by --memory-limit: %d, all with code %d", refused, usage.ExitInput)
}
