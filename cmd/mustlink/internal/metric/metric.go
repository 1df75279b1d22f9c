// Package metric provides the metric that a command works in: that of a model, or that of the raw
// points.
package metric

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// Metric is the metric of a model, or that of the rows as they are.
type Metric struct {
	*session.Session
	*mustlink.Model
	Eng *engine.Engine
}

// Of returns the metric of a model, or without one that of the rows as they are.
func Of(s *session.Session, eng *engine.Engine, fitted *catalog.Fitted) *Metric {
	if fitted == nil {
		return &Metric{s, mustlink.Unlearned(eng, nil, nil), eng}
	}
	return &Metric{s, mustlink.NewModel(fitted, eng), eng}
}

// Open makes the engine and reads the model, if one is named.
func Open(ctx context.Context, s *session.Session, models ...string) (*Metric, error) {
	eng, err := s.Engine()
	if err != nil || len(models) == 0 {
		return Of(s, eng, nil), err
	}
	_, fitted, err := Load(ctx, s, models[0])
	return Of(s, eng, fitted), err
}

// Name returns the method of the model, or "raw".
func (m *Metric) Name() string { return m.Record().Model.Method() }

// Preparing makes the metric prepare rows with these columns by a transform if there is no model,
// which has its own.
func (m *Metric) Preparing(features []string, by dataset.Transform) {
	if !m.Learned() {
		m.Model = mustlink.Unlearned(m.Eng, features, by)
	}
}

// NeedModel makes the metric that of a model of method raw if no model was named: of the rows of d
// as they are after this preparation.
func (m *Metric) NeedModel(ctx context.Context, preparing *source.Preparing, d *dataset.Data) error {
	if m.Learned() {
		return nil
	}
	table, err := preparing.Apply(ctx, m.Session, d)
	if err != nil {
		return err
	}
	model, err := mustlink.Fit(ctx, table, nil, mustlink.Method(baseline.RawMethod), mustlink.Unprepared(),
		mustlink.Engine(m.Eng))
	if err == nil {
		m.Model = model
	}
	return err
}

// Flags returns d with what its file does not say and the model, or the preparation, knows: the
// number of features, and which columns are texts.
func (m *Metric) Flags(d *source.Data) *source.Data {
	if f := m.Record(); m.Learned() || f.Features != nil || f.Scaling != nil {
		return d.For(f)
	}
	return d
}

// Read reads the points that d describes.
func (m *Metric) Read(ctx context.Context, d *source.Data) (*dataset.Data, error) {
	return m.Flags(d).Read(ctx, m.Session)
}

// Coordinates returns the coordinates of the rows of d in the metric.
func (m *Metric) Coordinates(ctx context.Context, d *dataset.Data) (blas.Matrix, error) {
	if m.Learned() {
		return m.Model.Coordinates(ctx, d)
	}
	x, err := m.Prepared(d)
	if err == nil {
		err = haveCoordinates(d.Name, x)
	}
	if err != nil {
		return blas.Matrix{}, err
	}
	y, err := m.Record().Model.Embed(ctx, m.Eng, x)
	return y, fault.InFile(err, d.Name)
}

// Raw returns points as a matrix, for the tools that work on coordinates.
func Raw(ctx context.Context, eng *engine.Engine, name string, p points.Points) (blas.Matrix, error) {
	return Of(nil, eng, nil).Coordinates(ctx, &dataset.Data{Name: name, Points: p})
}

// haveCoordinates refuses points without coordinates of their own, and names the flags of a command
// that does not need any.
func haveCoordinates(name string, p points.Points) error {
	switch p.(type) {
	case *points.Dense, *points.CSR:
		return nil
	case *points.Sequences:
		return fault.Data(name,
			"sequences have no coordinates: want a model, or -a kernel -k spectrum:k=3 to "+
				"cluster with that kernel")
	}
	return fault.Data(name,
		"a Gram matrix has no coordinates: want a model, or -a kernel to cluster with the "+
			"matrix itself")
}

// Load reads the model at path, and also returns the content of its file.
func Load(ctx context.Context, s *session.Session,
	path string) (file *model.File, fitted *catalog.Fitted, err error) {
	if path == session.Stream {
		path = "standard input"
		file, err = session.Await(ctx, func() (*model.File, error) { return readModel(s) })
	} else {
		file, err = session.Await(ctx, func() (*model.File, error) {
			return model.ReadFileWithin(path, int64(s.MemoryLimit))
		})
	}
	if err == nil {
		fitted, err = catalog.Decode(file)
	}
	return file, fitted, fault.InFile(err, path)
}

// readModel reads a model file from standard input. It keeps the whole file in memory, because
// tensors are found by their offsets.
func readModel(s *session.Session) (*model.File, error) {
	b, err := s.ReadWithin("the model", s.Stdin)
	if err != nil {
		return nil, err
	}
	return model.Read(bytes.NewReader(b), int64(len(b)))
}

// Save writes a model file, unless ctx has ended.
func Save(ctx context.Context, s *session.Session, path string, m *mustlink.Model) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.WriteFile(path, func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
}

// Status reports how a fit ended; it omits iterations that are 0.
func Status(converged bool, iterations int, message string) string {
	text := "converged"
	if !converged {
		text = "not converged"
	}
	if iterations > 0 {
		text += " in " + fault.Count(iterations, "iteration")
	}
	if message != "" {
		text += "; " + message
	}
	return text
}

// WriteVerdict writes the verdict of a fit, what it rests on, and the likely reasons if the metric
// is not better. It writes nothing for a fit that was not judged.
func WriteVerdict(w io.Writer, v *mustlink.Verdict) {
	if v == nil {
		return
	}
	fmt.Fprintf(w, "held-out links: %s\n", v)
	for _, reason := range slices.Concat(v.Details(), v.Reasons) {
		fmt.Fprintf(w, "- %s\n", reason)
	}
}

// Params writes the parameters of a model file on one line. A number that stands for a rule is
// written as what the rule chose, if that is among the statistics of the model, or as its name.
func Params(method string, raw json.RawMessage, chosen []algorithms.Statistic) string {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	rules := map[string]string{}
	if m, err := catalog.Lookup(method); err == nil {
		for _, p := range m.Parameters {
			if len(p.Words) > 0 {
				rules[p.Name] = p.Words[0].Name
			}
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		value := fmt.Sprint(v[name])
		if number, ok := v[name].(float64); ok && number < 0 && rules[name] != "" {
			value = rules[name]
			if at := slices.IndexFunc(chosen, func(s algorithms.Statistic) bool {
				return s.Name == name
			}); at >= 0 {
				value = fmt.Sprintf("%v (%s)", chosen[at].Value, value)
			}
		}
		parts = append(parts, name+"="+value)
	}
	return cmp.Or(strings.Join(parts, " "), "none")
}

// Rows returns the coordinates of rows in blocks. stage names the work on the bar, which ends with
// the reading; "" shows none.
func (m *Metric) Rows(open source.Opener, stage string) *mustlink.Rows {
	rows := &mustlink.Rows{Model: m.Model, Place: m.Coordinates, Stage: stage}
	rows.Open = func(ctx context.Context) (*mustlink.RowSource, error) {
		src, err := open(ctx)
		if err != nil {
			return nil, err
		}
		if rows.Stage == "" {
			return src, nil
		}
		bar := m.Progress()
		rows.Progress = bar.Report
		end := func() { src.Close(); bar.Done() }
		return &mustlink.RowSource{Rows: src.Rows, Next: src.Next, Close: end}, nil
	}
	return rows
}

// Once returns the opener of rows that are read once.
func Once(src *mustlink.RowSource) source.Opener {
	return func(context.Context) (*mustlink.RowSource, error) { return src, nil }
}

// WriteLabels calls label for each block and writes the labels that it returns. It writes one block
// while label works on the next.
func WriteLabels(ctx context.Context, path string, rows *mustlink.Rows, options dataset.WriteOptions,
	label func(context.Context, mustlink.Block) ([]string, error)) error {
	next, stop, err := mustlink.EachBlock(ctx, rows,
		func(ctx context.Context, block mustlink.Block) (dataset.LabelRows, error) {
			labels, err := label(ctx, block)
			return dataset.LabelRows{Labels: labels, IDs: block.Data.IDs}, err
		})
	if err != nil {
		return err
	}
	defer stop()
	return dataset.WriteLabelRows(path, next, options)
}

// WriteCoordinates writes the coordinates block by block and returns the number of rows. dim is the
// number of columns. count is the number of rows, negative when it is not known.
func WriteCoordinates(ctx context.Context, path string, rows *mustlink.Rows, count, dim int,
	options dataset.WriteOptions) (int, error) {
	next, stop, err := rows.Blocks(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	written := 0
	err = dataset.WriteRows(path, count, dim, func() (dataset.Rows, error) {
		block, err := next()
		if err != nil {
			return dataset.Rows{}, err
		}
		x := block.Coordinates
		written += x.Rows
		if x.Stride != dim {
			x = x.Clone()
		}
		return dataset.Rows{Data: x.Data[:x.Rows*dim], IDs: block.Data.IDs}, nil
	}, options)
	return written, err
}

// WriteCalibration writes the summary of a calibration for people.
func WriteCalibration(w io.Writer, c *calibration.Summary) {
	of := "pairs"
	if c.Near {
		of = "near pairs"
	}
	fmt.Fprintf(w, "calibration\t%s, %s; a share of %.4g of %s matches\n",
		fault.Count(c.Must, "must-link"),
		fault.Count(c.Cannot, "cannot-link"), c.Share, of)
	if c.Most != "" {
		fmt.Fprintf(w, "by precision\t%s\n", c.Most)
	}
	for _, t := range c.Precisions {
		fmt.Fprintf(w, "by precision\t%v\n", t)
	}
	for _, t := range c.Recalls {
		fmt.Fprintf(w, "by recall\t%v\n", t)
	}
}
