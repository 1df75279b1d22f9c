package abi

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/export"
)

// Export implements mustlink_export. An empty precision is double.
func Export(e *engine.Engine, m *mustlink.Model, path, precision string) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if !slices.Contains(export.Formats(), format) {
		return &fault.ParamError{Param: "path", Value: path, Want: "a name that ends in .onnx, .json or .sql"}
	}
	o := export.ONNXOptions{Precision: export.Precision(precision), Limits: export.Limits{Memory: e.MemoryLimit()}}
	return dataset.Atomic(path, func(w io.Writer) error {
		_, err := export.Write(context.Background(), w, m, format, export.Options{ONNXOptions: o})
		return err
	})
}
