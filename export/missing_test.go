package export

import (
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
)

// TestMissingTexts compares the texts of graphs for missing cells with those of tables.
func TestMissingTexts(t *testing.T) {
	for _, text := range missingTexts {
		if !dataset.IsMissing(text) {
			t.Errorf("%q is missing in graphs and not in tables", text)
		}
	}
}
