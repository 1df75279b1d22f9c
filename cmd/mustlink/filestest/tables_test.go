package filestest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/tabletest"
)

var adjustedRand = regexp.MustCompile(`adjusted_rand (-?[0-9.]+)`)

// TestTables: every table goes from its file to clusters in two commands, which find most of the
// hidden groups; the first rows alone have the coordinates that they have among all.
func TestTables(t *testing.T) {
	for _, m := range tabletest.Tables(3) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			clitest.Write(t, dir, m.Name, string(m.Content))
			commandtest.RunOK(t, dir,
				fmt.Sprintf("links make -q -i %s --label segment --pairs 60 -o links.csv", m.Name))
			fit := fmt.Sprintf("fit -q -i %s --label segment %s -c links.csv -o model.mlk", m.Name,
				strings.Join(m.Flags, " "))
			commandtest.RunOK(t, dir, strings.Join(strings.Fields(fit), " "))
			out := commandtest.RunOK(t, dir,
				fmt.Sprintf("cluster model.mlk -i %s --label segment -n 3 -o clusters.csv", m.Name)).Stdout
			found := adjustedRand.FindStringSubmatch(out)
			if found == nil {
				t.Fatalf("no score in %q", out)
			}
			if ari, err := strconv.ParseFloat(found[1], 64); err != nil || ari < 0.3 {
				t.Errorf("adjusted Rand index %s of the clusters: want at least 0.3", found[1])
			}
			commandtest.RunOK(t, dir, fmt.Sprintf("embed -q model.mlk -i %s -o all.csv", m.Name))
			if m.Name == "codes.csv" {
				return // UTF-16 has no lines to cut
			}
			clitest.Write(t, dir, "first"+filepath.Ext(m.Name),
				strings.Join(strings.SplitAfterN(string(m.Content), "\n", 12)[:11], ""))
			commandtest.RunOK(t, dir, "embed -q model.mlk -i first"+filepath.Ext(m.Name)+" -o first-out.csv")
			whole, part := read(t, dir, "all.csv"), read(t, dir, "first-out.csv")
			if len(part) != 11 || strings.Join(whole[:11], "\n") != strings.Join(part, "\n") {
				t.Errorf("the first rows have other coordinates alone")
			}
		})
	}
}

// read returns the lines of a file.
func read(t *testing.T, dir, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return clitest.Lines(string(b))
}
