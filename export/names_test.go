package export

import (
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/kernel"
)

// TestMissingTexts compares the texts of graphs for missing cells with those of tables.
func TestMissingTexts(t *testing.T) {
	for _, text := range missingTexts {
		if !dataset.IsMissing(text) {
			t.Errorf("%q is missing in graphs and not in tables", text)
		}
	}
}

// TestKernels finds kernels that graphs do not have.
func TestKernels(t *testing.T) {
	for _, name := range kernel.Names() {
		if name != "linear" && name != "spectrum" && !slices.Contains(kernels, name) {
			t.Errorf("graphs have no nodes for the kernel %s", name)
		}
	}
}
