package catalog

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Prepare returns the points of d, scaled like the training points. It checks that d has the
// features of the model: their number and, if both have names, their names and order.
//
// A wrong number of features is a *fault.ShapeError, a wrong name a *fault.DataError; both describe
// the difference.
func (f *Fitted) Prepare(d *dataset.Data) (points.Points, error) {
	if err := f.checkAlphabet(d); err != nil {
		return nil, err
	}
	if want := f.InputDim(); want >= 0 && d.Points.Dim() != want {
		return nil, f.wrongCount(d, want)
	}
	if f.Features != nil && d.Features != nil {
		if err := f.checkNames(d); err != nil {
			return nil, err
		}
	}
	if f.Scaling == nil {
		return d.Points, nil
	}
	return f.Scaling.Apply(d.Points)
}

// checkAlphabet returns an error unless d has sequences over the model's alphabet, if the model was
// fitted on sequences, or points of another kind otherwise.
func (f *Fitted) checkAlphabet(d *dataset.Data) error {
	want := ""
	if m, ok := f.Model.(interface{ Alphabet() string }); ok {
		want = m.Alphabet()
	}
	x, ok := d.Points.(*points.Sequences)
	switch {
	case ok && want == "":
		return fault.Data(d.Name, "got sequences: want vectors or inner products, as the model was fitted on")
	case !ok && want != "":
		return fault.Data(d.Name, "got no sequences: want sequences over the alphabet %s, as the model was fitted on", want)
	case ok && x.Alphabet != want:
		return fault.Data(d.Name, "the alphabet is %s: want %s, as the model was fitted on", x.Alphabet, want)
	}
	return nil
}

// wrongCount returns the error of a wrong number of features. If both have names, it lists the
// missing and the unknown ones.
func (f *Fitted) wrongCount(d *dataset.Data, want int) error {
	what := "number of features"
	if _, ok := d.Points.(*points.Gram); ok {
		what = "number of reference objects"
	}
	if d.Name != "" {
		what += " in " + d.Name
	}
	text := fmt.Sprintf("%d, as the model was fitted on", want)
	if f.Features != nil && d.Features != nil {
		var parts []string
		if missing := without(f.Features, d.Features); missing != "" {
			parts = append(parts, "missing: "+missing)
		}
		if extra := without(d.Features, f.Features); extra != "" {
			parts = append(parts, "not in the model: "+extra)
		}
		if len(parts) > 0 {
			text += " (" + strings.Join(parts, "; ") + ")"
		}
	}
	return &fault.ShapeError{What: what, Got: d.Points.Dim(), Want: text}
}

// checkNames compares the names in their order.
func (f *Fitted) checkNames(d *dataset.Data) error {
	for j, want := range f.Features {
		got := d.Features[j]
		if got == want {
			continue
		}
		err := fmt.Errorf("column %d is not the model's: want %s", j, strconv.Quote(want))
		if at := slices.Index(d.Features, want); at >= 0 {
			err = fmt.Errorf("column %d is not the model's: want %s, which is column %d here; put the columns in the model's order", j, strconv.Quote(want), at)
		}
		return &fault.DataError{File: d.Name, Row: -1, Column: got, Err: err}
	}
	return nil
}

// without lists up to five of the names that are not among others.
func without(names, others []string) string {
	known := make(map[string]bool, len(others))
	for _, name := range others {
		known[name] = true
	}
	var out []string
	for _, name := range names {
		if known[name] {
			continue
		}
		if len(out) == 5 {
			return strings.Join(out, ", ") + ", …"
		}
		out = append(out, strconv.Quote(name))
	}
	return strings.Join(out, ", ")
}

// Limits of a block of rows: its bytes as points or as coordinates, the divisor of the memory
// limit, and its number of rows. Its share of the limit is small, since a stream has several blocks
// in memory at a time.
const (
	blockBytes = 16 << 20
	blockShare = 32
	blockRows  = 1 << 14
)

// BlockRows returns the number of rows of the given width in a block, for a memory limit in bytes,
// 0 for none. All functions that embed many rows use these blocks, so that their results are
// bit-identical in every build: with OpenBLAS the bits of a row depend on the size of its block.
func BlockRows(width int, limit int64) int {
	bytes := int64(blockBytes)
	if limit > 0 {
		bytes = min(bytes, limit/blockShare)
	}
	return int(min(max(1, bytes/8/int64(max(1, width))), blockRows))
}

// BlockRows returns the number of rows that the model embeds at a time, for a memory limit in
// bytes, 0 for none.
func (f *Fitted) BlockRows(limit int64) int {
	return BlockRows(max(f.Model.Dim(), f.InputDim()), limit)
}

// EmbedBlocks embeds the rows of d block by block. It calls use for every block of coordinates,
// with the number of its first row. Rows in errors count the rows of d. Data without rows are one
// block, so that their features are checked too. Errors are those of [Fitted.Prepare], of
// Model.Embed, and of use.
func (f *Fitted) EmbedBlocks(ctx context.Context, eng *engine.Engine, d *dataset.Data, use func(first int, y blas.Matrix) error) error {
	n, rows := d.Points.Len(), f.BlockRows(0)
	for lo := 0; lo == 0 || lo < n; lo += rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := *d
		part.Points = points.Slice(d.Points, lo, min(lo+rows, n))
		y, err := f.Embed(ctx, eng, &part)
		if err != nil {
			return fault.InRows(err, lo)
		}
		if err := use(lo, y); err != nil {
			return err
		}
	}
	return nil
}

// Embed prepares and embeds the rows of d as one block.
func (f *Fitted) Embed(ctx context.Context, eng *engine.Engine, d *dataset.Data) (blas.Matrix, error) {
	x, err := f.Prepare(d)
	if err != nil {
		return blas.Matrix{}, err
	}
	return f.Model.Embed(ctx, eng, x)
}
