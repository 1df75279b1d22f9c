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
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// Metric is the metric of a model, or that of the raw points.
type Metric struct {
	*session.Session
	Eng    *engine.Engine
	Fitted *catalog.Fitted // nil for the raw points
	Before *catalog.Fitted // the columns of these and how they are prepared, without a model; or nil
}

// Open makes the engine and reads the model, if one is named.
func Open(ctx context.Context, s *session.Session, models ...string) (*Metric, error) {
	eng, err := s.Engine()
	if err != nil {
		return nil, err
	}
	m := &Metric{Session: s, Eng: eng}
	if len(models) > 0 {
		_, m.Fitted, err = Load(ctx, s, models[0])
	}
	return m, err
}

// Model returns the model itself, with the engine that it runs on.
func (m *Metric) Model() *mustlink.Model { return mustlink.NewModel(m.Fitted, m.Eng) }

// Name returns the method of the model, or "raw".
func (m *Metric) Name() string {
	if m.Fitted == nil {
		return "raw"
	}
	return m.Fitted.Model.Method()
}

// Flags returns d with what its file does not say and the model, or the preparation, knows: the
// number of features, and which columns are texts.
func (m *Metric) Flags(d *source.Data) *source.Data { return d.For(cmp.Or(m.Fitted, m.Before)) }

// Read reads the points that d describes.
func (m *Metric) Read(ctx context.Context, d *source.Data) (*dataset.Data, error) {
	return m.Flags(d).Read(ctx, m.Session)
}

// Points returns the points of d as the metric takes them.
func (m *Metric) Points(d *dataset.Data) (points.Points, error) {
	switch {
	case m.Fitted != nil:
		return m.Fitted.Prepare(d)
	case m.Before != nil:
		return m.Before.Prepare(d)
	}
	return d.Points, nil
}

// Coordinates returns the embedding of d, or its raw points without a model.
func (m *Metric) Coordinates(ctx context.Context, d *dataset.Data) (blas.Matrix, error) {
	x, err := m.Points(d)
	if err != nil {
		return blas.Matrix{}, err
	}
	if m.Fitted == nil {
		return Raw(m.Eng, d.Name, x)
	}
	y, err := m.Fitted.Model.Embed(ctx, m.Eng, x)
	return y, fault.InFile(err, d.Name)
}

// Raw returns points as a matrix, for the tools that work on coordinates.
func Raw(eng *engine.Engine, name string, p points.Points) (blas.Matrix, error) {
	switch x := p.(type) {
	case *points.Dense:
		return kernel.Matrix(x), nil
	case *points.CSR:
		what := fmt.Sprintf("%d x %d sparse points as a dense matrix", x.N, x.D)
		if err := eng.Check(what, engine.MatrixBytes(x.N, x.D), "fit a model and pass it, or raise the memory limit"); err != nil {
			return blas.Matrix{}, err
		}
		m := eng.NewMatrix(x.N, x.D)
		for i := range x.N {
			Spread(m.Row(i), x, i)
		}
		return m, nil
	case *points.Sequences:
		return blas.Matrix{}, fault.Data(name, "sequences have no coordinates: want a model, or -a kernel -k spectrum:k=3 to cluster with that kernel")
	}
	return blas.Matrix{}, fault.Data(name, "a Gram matrix has no coordinates: want a model, or -a kernel to cluster with the matrix itself")
}

// Spread writes a sparse row into zeros.
func Spread(to []float64, x *points.CSR, i int) {
	columns, values := x.Row(i)
	for k, c := range columns {
		to[c] = values[k]
	}
}

// Load reads the model at path, and also returns the content of its file.
func Load(ctx context.Context, s *session.Session, path string) (file *model.File, fitted *catalog.Fitted, err error) {
	if path == session.Stream {
		path = "standard input"
		file, err = session.Await(ctx, func() (*model.File, error) { return readModel(s) })
	} else {
		file, err = session.Await(ctx, func() (*model.File, error) { return model.ReadFileWithin(path, int64(s.MemoryLimit)) })
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
		text += " in " + session.Plural(iterations, "iteration")
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
			if at := slices.IndexFunc(chosen, func(s algorithms.Statistic) bool { return s.Name == name }); at >= 0 {
				value = fmt.Sprintf("%v (%s)", chosen[at].Value, value)
			}
		}
		parts = append(parts, name+"="+value)
	}
	return cmp.Or(strings.Join(parts, " "), "none")
}
