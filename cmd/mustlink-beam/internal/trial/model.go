package trial

import (
	"path/filepath"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Labels returns labels that approximate the nearest centers of [Blobs]: the sign of the first
// value relative to its mean over all rows.
func Labels(x *points.Dense) []string {
	mean := 0.0
	for i := range x.N {
		mean += x.Data[i*x.D] / float64(x.N)
	}
	labels := make([]string, x.N)
	for i := range labels {
		labels[i] = "low"
		if x.Data[i*x.D] > mean {
			labels[i] = "high"
		}
	}
	return labels
}

// Model fits a method to the standardized rows, and returns the path of the model.
func Model(t *testing.T, method string, x *points.Dense, params map[string]string) string {
	t.Helper()
	set, err := links.SampleByCount(Labels(x), 20, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	options := []mustlink.Option{mustlink.Method(method), mustlink.Standardize(), mustlink.Engine(Engine(t))}
	for name, value := range params {
		options = append(options, mustlink.Param(name, value))
	}
	fitted, err := mustlink.Fit(t.Context(), mustlink.FromData(&dataset.Data{Points: x}), set, options...)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.mlk")
	if err := fitted.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}
