package catalog

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Prepare returns the points of d, prepared like the training points. If the model and d both name
// their columns, the model takes its own in its order, and no others; see [Fitted.Unused].
// Otherwise d must have as many columns as the training points.
//
// A wrong number of features is a *fault.ShapeError, a missing column a *fault.DataError; both
// describe the difference.
func (f *Fitted) Prepare(d *dataset.Data) (points.Points, error) {
	if err := f.checkAlphabet(d); err != nil {
		return nil, err
	}
	x, err := f.ownColumns(d)
	if err != nil {
		return nil, err
	}
	if x, err = f.numbers(x); err != nil || f.Scaling == nil {
		return x, err
	}
	x, err = f.Scaling.Apply(x)
	return x, fault.InFile(err, d.Name)
}

// numbers returns the columns of a table as vectors, unless a preparation takes them as they are.
func (f *Fitted) numbers(x points.Points) (points.Points, error) {
	table, mixed := x.(*points.Mixed)
	if !mixed || prepare.ByColumn(f.Scaling) != nil {
		return x, nil
	}
	return table.Dense()
}

// ownColumns returns the points of d with the columns of the training points, in their order.
func (f *Fitted) ownColumns(d *dataset.Data) (points.Points, error) {
	if f.Features == nil || d.Features == nil || slices.Equal(f.Features, d.Features) {
		if want := f.InputDim(); want >= 0 && d.Points.Dim() != want {
			return nil, f.wrongCount(d, want)
		}
		return d.Points, nil
	}
	if missing := without(f.Features, d.Features); missing != "" {
		return nil, f.missing(d, missing)
	}
	return columns(d, f.Features)
}

// missing returns the error for columns that d lacks.
func (f *Fitted) missing(d *dataset.Data, names string) error {
	others := ""
	if unused := f.Unused(d.Features); unused != "" {
		others = " (not in the model: " + unused + ")"
	}
	return fault.Data(d.Name, "it lacks %s%s: want the columns that the model was fitted on", names, others)
}

// Unused lists the columns that the model does not take and the fit did not leave out, "" for none.
// It is "" too if the model or the columns have no names.
func (f *Fitted) Unused(features []string) string {
	if f.Features == nil || features == nil {
		return ""
	}
	return without(features, slices.Concat(f.Features, f.LeftOut))
}

// FingerprintOf returns dataset.Fingerprint of the columns of d that the model takes, in its order:
// other columns do not change it. Points that the model cannot take have their own.
func (f *Fitted) FingerprintOf(d *dataset.Data) string {
	x, err := f.ownColumns(d)
	if err != nil {
		return dataset.Fingerprint(d.Points)
	}
	if table, mixed := x.(*points.Mixed); mixed { // perhaps by a column that the model does not take
		if dense, err := table.Dense(); err == nil {
			x = dense
		}
	}
	return dataset.Fingerprint(x)
}

// Trained reports whether the rows of d are the training rows, by the columns that the model takes.
func (f *Fitted) Trained(d *dataset.Data) bool {
	return f.Fingerprint != "" && (f.Fingerprint == f.FingerprintOf(d) ||
		f.Fingerprint == dataset.Fingerprint(d.Points))
}

// columns returns the points of some columns of d, which has them. Cost: O(values) for dense
// points.
func columns(d *dataset.Data, names []string) (points.Points, error) {
	at := make([]int, len(names))
	for j, name := range names {
		at[j] = slices.Index(d.Features, name)
	}
	switch x := d.Points.(type) {
	case *points.Mixed:
		out := &points.Mixed{N: x.N, Columns: make([]points.Column, len(at))}
		for j, from := range at {
			out.Columns[j] = x.Columns[from]
		}
		return out, nil
	case *points.Dense:
		data := make([]float64, 0, x.N*len(at))
		for i := range x.N {
			row := x.Row(i)
			for _, from := range at {
				data = append(data, row[from])
			}
		}
		return &points.Dense{N: x.N, D: len(at), Data: data}, nil
	}
	return nil, fault.Data(d.Name,
		"its columns are not in the order of the model: want the same order for points of type %T", d.Points)
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
		return fault.Data(d.Name,
			"got no sequences: want sequences over the alphabet %s, as the model was fitted on", want)
	case ok && x.Alphabet != want:
		return fault.Data(d.Name, "the alphabet is %s: want %s, as the model was fitted on", x.Alphabet, want)
	}
	return nil
}

// wrongCount returns the error of a wrong number of features.
func (f *Fitted) wrongCount(d *dataset.Data, want int) error {
	what := "number of features"
	if _, ok := d.Points.(*points.Gram); ok {
		what = "number of reference objects"
	}
	if d.Name != "" {
		what += " in " + d.Name
	}
	return fault.Shape(what, d.Points.Dim(), "%d, as the model was fitted on", want)
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

// BlockRows returns the number of rows that the model embeds at a time, or that are prepared at a
// time without a model, for a memory limit in bytes, 0 for none.
func (f *Fitted) BlockRows(limit int64) int {
	width := max(f.InputDim(), f.preparedDim())
	if f.Model != nil {
		width = max(width, f.Model.Dim())
	}
	return BlockRows(width, limit)
}

// EmbedBlocks embeds the rows of d block by block. It calls use for every block of coordinates,
// with the number of its first row. Rows in errors count the rows of d. Data without rows are one
// block, so that their features are checked too. Errors are those of [Fitted.Prepare], of
// Model.Embed, and of use.
func (f *Fitted) EmbedBlocks(ctx context.Context, eng *engine.Engine, d *dataset.Data,
	use func(first int, y blas.Matrix) error) error {
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

// ShareRows is the largest number of rows that [Fitted.Share] looks at.
const ShareRows = learner.ShareRows

// Share returns the share of the learned distance that the embedding of prepared rows x holds: the
// sum of |z - z'|^2 over pairs of rows divided by the sum of their squared learned distances, at
// most 1000 pairs of 200 rows drawn from a fixed seed. It is 1 for a model whose embedding is
// exact, and 0 if it is unknown: if no two rows differ, and for rows of a Gram matrix that are not
// its reference objects. It costs the distances and the embedding of these rows.
func (f *Fitted) Share(ctx context.Context, eng *engine.Engine, x points.Points) (float64, error) {
	return learner.Share(ctx, eng, f.Model, x)
}

// Embed prepares and embeds the rows of d as one block.
func (f *Fitted) Embed(ctx context.Context, eng *engine.Engine, d *dataset.Data) (blas.Matrix, error) {
	x, err := f.Prepare(d)
	if err != nil {
		return blas.Matrix{}, err
	}
	return f.Model.Embed(ctx, eng, x)
}
