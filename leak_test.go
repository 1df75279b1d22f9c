package mustlink_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
)

// TestLabelIsNoFeature: a fit with the label among its features has a notice that names it, which
// the file keeps, and links of a file that names the label are refused. Without the column there is
// neither, and no measured column has a notice.
func TestLabelIsNoFeature(t *testing.T) {
	ctx, dir, rng := t.Context(), t.TempDir(), rand.New(rand.NewPCG(3, 4))
	text := strings.Builder{}
	text.WriteString("a,b,churn\n")
	for range 120 {
		fmt.Fprintf(&text, "%.3f,%.3f,%d\n", rng.NormFloat64(), rng.NormFloat64(), rng.IntN(2))
	}
	path := filepath.Join(dir, "t.csv")
	try(path, os.WriteFile(path, []byte(text.String()), 0o600))
	labeled := try(mustlink.ReadTable(path, mustlink.ReadColumns(mustlink.Columns{Label: "churn"})))
	pairs := try(labeled.SampleLinks(40, 40, 1))
	var rows strings.Builder
	rows.WriteString("i,j,link\n")
	for _, l := range slices.Concat(pairs.Must(), pairs.Cannot()) {
		fmt.Fprintf(&rows, "%d,%d,%s\n", l.I, l.J, l.Sign)
	}
	named := filepath.Join(dir, "l.csv")
	try(named, os.WriteFile(named, []byte("# label: churn\n"+rows.String()), 0o600))

	all := try(mustlink.ReadTable(path))
	leaks := func(m *mustlink.Model) (found []string) {
		for _, notice := range m.Describe().Notices {
			if strings.Contains(notice, "is it the label?") {
				found = append(found, notice)
			}
		}
		return found
	}
	for _, method := range []string{"krca", "itml", "gml", "npkl", "blend", "rca"} {
		m := try(mustlink.Fit(ctx, all, pairs, mustlink.Method(method)))
		var file bytes.Buffer
		try(m.WriteTo(&file))
		for _, m := range []*mustlink.Model{m, try(mustlink.LoadFrom(bytes.NewReader(file.Bytes()),
			int64(file.Len())))} {
			if found := leaks(m); len(found) != 1 ||
				!strings.HasPrefix(found[0], `column "churn" agrees on all must-links`) {
				t.Errorf("%s: %q", method, found)
			}
		}
	}
	if found := leaks(try(mustlink.Fit(ctx, labeled, pairs))); found != nil {
		t.Errorf("without the label: %q", found)
	}
	known := try(all.ReadLinks(named))
	if known.Label() != "churn" || known.Len() != pairs.Len() {
		t.Errorf("label %q, %d links", known.Label(), known.Len())
	}
	if _, err := mustlink.Fit(ctx, all, known); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), `column "churn"`) {
		t.Errorf("links of a feature: error %v", err)
	}
	drop := mustlink.Preparing{Kinds: map[string]mustlink.ColumnKind{"churn": "drop"}}
	if _, err := mustlink.Fit(ctx, all, known, mustlink.Prepare(drop)); err != nil {
		t.Errorf("a label that is dropped: %v", err)
	}
	if _, err := mustlink.Fit(ctx, labeled, known); err != nil {
		t.Errorf("a label that is none of the features: %v", err)
	}
}
