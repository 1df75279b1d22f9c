package export

import (
	"context"
	"io"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
)

// Formats returns the formats of [Write], which are the extensions of their files.
func Formats() []string { return []string{"onnx", "json", "sql"} }

// Options are for [Write]: the precision of an ONNX graph, and the dialect of SQL.
type Options struct {
	ONNXOptions
	Dialect Dialect // "" for Postgres
}

// Write writes a model in one of the formats, as [ONNX], [JSON] or [SQL] does, and returns the
// precision in which a graph computes.
func Write(ctx context.Context, w io.Writer, m *mustlink.Model, format string, o Options) (inside Precision, err error) {
	switch format {
	case "onnx":
		return ONNX(ctx, w, m, o.ONNXOptions)
	case "json":
		return "", JSON(w, m, o.Limits)
	case "sql":
		if o.Dialect == "" {
			o.Dialect = Postgres
		}
		return "", SQL(w, m, o.Dialect, o.Limits)
	}
	return "", fault.Unknown("format", format, Formats())
}
