package fitting

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

// TestLabel: links that name the column that they were made from are refused if it is a feature.
func TestLabel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.csv")
	if err := os.WriteFile(path, []byte("# label: kind\ni,j,link\n0,1,must\n1,2,cannot\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	task := Task{Method: "krca", Links: path, Rows: 4, Features: []string{"a", "b"}}
	if _, err := task.read(); err != nil {
		t.Errorf("without the column: %v", err)
	}
	task.Features = append(task.Features, "kind")
	if _, err := task.read(); !fault.IsInput(err) || !strings.Contains(err.Error(), `column "kind"`) {
		t.Errorf("with the column: error %v", err)
	}
}
