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

// Prepare checks that d has the features that the model was fitted on, by number and, when
// both have names, by name and order, and returns its points scaled as the training points
// were.
//
// A wrong number of features is a *fault.ShapeError, a wrong name a *fault.DataError; both
// name the difference.
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

// checkAlphabet demands sequences, over the right alphabet, exactly of models that were fitted
// on some.
func (f *Fitted) checkAlphabet(d *dataset.Data) error {
	want := ""
	if m, ok := f.Model.(interface{ Alphabet() string }); ok {
		want = m.Alphabet()
	}
	x, ok := d.Points.(*points.Sequences)
	switch {
	case ok && want == "":
		return fault.Data(d.Name, "it has sequences: want vectors or inner products, as the model was fitted on")
	case !ok && want != "":
		return fault.Data(d.Name, "it has no sequences: want sequences over the alphabet %s, as the model was fitted on", want)
	case ok && x.Alphabet != want:
		return fault.Data(d.Name, "the alphabet is %s: want %s, as the model was fitted on", x.Alphabet, want)
	}
	return nil
}

// wrongCount says how many features there are, and which are missing or unknown when that
// can be told.
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

// checkNames compares the names place by place.
func (f *Fitted) checkNames(d *dataset.Data) error {
	for j, want := range f.Features {
		got := d.Features[j]
		if got == want {
			continue
		}
		err := fmt.Errorf("column %d is not the model's: want %s", j, strconv.Quote(want))
		if at := slices.Index(d.Features, want); at >= 0 {
			err = fmt.Errorf("column %d is not the model's: want %s, which is column %d here: put the columns in the model's order", j, strconv.Quote(want), at)
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

// A block of rows takes at most about so many bytes, as points or as coordinates, and has at most
// so many rows. Of the memory limit it takes a small share, since a stream has several blocks in
// memory at a time.
const (
	blockBytes = 16 << 20
	blockShare = 32
	blockRows  = 1 << 14
)

// BlockRows returns the number of rows of the given width to work on at a time, within a memory
// limit in bytes, 0 for none. Everything that embeds many rows takes them in these blocks, so that
// all have the same bits in every build: with OpenBLAS the bits of a row depend on the size of its
// block.
func BlockRows(width int, limit int64) int {
	bytes := int64(blockBytes)
	if limit > 0 {
		bytes = min(bytes, limit/blockShare)
	}
	return int(min(max(1, bytes/8/int64(max(1, width))), blockRows))
}

// BlockRows returns the number of rows that the model embeds at a time, within a memory limit in
// bytes, 0 for none.
func (f *Fitted) BlockRows(limit int64) int {
	return BlockRows(max(f.Model.Dim(), f.InputDim()), limit)
}

// EmbedBlocks embeds the rows of d block by block and hands every block of coordinates to use, with
// the number of its first row. Rows in errors are those of d; data without rows are one block, so
// that their features are checked too. Errors are those of [Fitted.Prepare], of Model.Embed, and of
// use.
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
