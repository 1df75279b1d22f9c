package abi

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/export"
)

// Export implements mustlink_export. An empty precision is double.
func Export(e *engine.Engine, m *mustlink.Model, path, precision string) error {
	limits := export.Limits{Memory: e.MemoryLimit()}
	write := func(w io.Writer) error {
		_, err := export.ONNX(context.Background(), w, m, export.ONNXOptions{Precision: export.Precision(precision), Limits: limits})
		return err
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".onnx":
	case ".json":
		write = func(w io.Writer) error { return export.JSON(w, m, limits) }
	case ".sql":
		write = func(w io.Writer) error { return export.SQL(w, m, export.Postgres, limits) }
	default:
		return &fault.ParamError{Param: "path", Value: path, Want: "a name that ends in .onnx, .json or .sql"}
	}
	return dataset.Atomic(path, write)
}
