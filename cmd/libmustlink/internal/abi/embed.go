package abi

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/export"
)

// Embed implements mustlink_embed.
func Embed(e *engine.Engine, m *mustlink.Model, p *Points, c *Control, out *Array) error {
	d, err := p.unchecked(false)
	if err != nil {
		return err
	}
	if x, ok := d.Points.(*points.Dense); ok && p.Kind == Dense { // before anything is written
		if d.Points, err = checked(x, finite(e, x), fills(m), nil); err != nil {
			return err
		}
	}
	if err := out.checkShape(d.Points.Len(), m.Dim()); err != nil {
		return err
	}
	return c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		return on(e, m).CoordinateBlocks(ctx, mustlink.FromData(d), func(first int, y blas.Matrix) error {
			return out.write(ctx, e, first, y)
		})
	})
}

// on returns the model as it works on the engine of a call.
func on(e *engine.Engine, m *mustlink.Model) *mustlink.Model { return mustlink.NewModel(m.Record(), e) }

// finite validates dense points on all workers. Other kinds were validated when they were read.
func finite(e *engine.Engine, x *points.Dense) error {
	return e.For(context.Background(), x.N, copied/max(1, x.D)+1, func(lo, hi int) error {
		return fault.InRows(points.Slice(x, lo, hi).Validate(), lo)
	})
}

// Remarks implements mustlink_remarks.
func Remarks(m *mustlink.Model, p *Points) (any, error) {
	t, err := p.table(false, fills(m), nil)
	if err != nil {
		return nil, err
	}
	return append([]string{}, m.Remarks(t)...), nil
}

// Export implements mustlink_export. An empty precision is double.
func Export(e *engine.Engine, m *mustlink.Model, path, precision string) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if !slices.Contains(export.Formats(), format) {
		return &fault.ParamError{Param: "path", Value: path, Want: "a name that ends in .onnx, .json or .sql"}
	}
	o := export.ONNXOptions{Precision: export.Precision(precision),
		Limits: export.Limits{Memory: e.MemoryLimit()}}
	return dataset.Atomic(path, func(w io.Writer) error {
		_, err := export.Write(context.Background(), w, m, format, export.Options{ONNXOptions: o})
		return err
	})
}
