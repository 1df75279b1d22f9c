package export_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/export"
)

// TestGolden exports the models of format version 1, or refuses them.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../algorithms/catalog/testdata/v1/*.safetensors")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d models, error %v: want at least 30", len(files), err)
	}
	exported := 0
	for _, file := range files {
		m, err := mustlink.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		var graph, single, linear bytes.Buffer
		_, first := export.ONNX(context.Background(), &graph, m, export.ONNXOptions{})
		_, second := export.ONNX(context.Background(), &single, m,
			export.ONNXOptions{Precision: export.Single})
		third := export.JSON(&linear, m, export.Limits{})
		for _, err := range []error{first, second, third} {
			if err != nil && !fault.IsInput(err) {
				t.Errorf("%s: %v: want a graph or a refusal", file, err)
			}
		}
		if (first != nil) != (graph.Len() == 0) || (second != nil) != (single.Len() == 0) ||
			(third != nil) != (linear.Len() == 0) {
			t.Errorf("%s: bytes of a refused export, or none of another", file)
		}
		if first == nil {
			exported++
		}
	}
	if exported < 20 {
		t.Errorf("%d models are exported: want at least 20", exported)
	}
}
