package main

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// metric is that of a model, or that of the points as they are.
type metric struct {
	*app
	eng    *engine.Engine
	fitted *catalog.Fitted   // nil for the points as they are
	scale  dataset.Transform // what is done to these before, or nil
}

// metric makes the engine to run on, and reads the model, if one is named.
func (a *app) metric(ctx context.Context, models ...string) (*metric, error) {
	eng, err := a.Engine()
	if err != nil {
		return nil, err
	}
	m := &metric{app: a, eng: eng}
	if len(models) > 0 {
		_, m.fitted, err = a.loadModel(ctx, models[0])
	}
	return m, err
}

// model returns the model itself, with the engine that it runs on.
func (m *metric) model() *mustlink.Model { return mustlink.NewModel(m.fitted, m.eng) }

// name returns the method of the model, or "raw".
func (m *metric) name() string {
	if m.fitted == nil {
		return "raw"
	}
	return m.fitted.Model.Method()
}

// flags returns d with the number of features that the model takes, where the file does not tell
// it.
func (m *metric) flags(d *dataFlags) *dataFlags {
	if m.fitted == nil {
		return d
	}
	return d.withFeatures(max(0, m.fitted.InputDim()))
}

// read reads the points that d describes.
func (m *metric) read(ctx context.Context, d *dataFlags) (*dataset.Data, error) {
	return m.readData(ctx, m.flags(d))
}

// points returns the points of d as the metric takes them.
func (m *metric) points(d *dataset.Data) (points.Points, error) {
	switch {
	case m.fitted != nil:
		return m.fitted.Prepare(d)
	case m.scale != nil:
		return m.scale.Apply(d.Points)
	}
	return d.Points, nil
}

// coordinates returns the embedding of d, or its raw points without a model.
func (m *metric) coordinates(ctx context.Context, d *dataset.Data) (blas.Matrix, error) {
	x, err := m.points(d)
	if err != nil {
		return blas.Matrix{}, err
	}
	if m.fitted == nil {
		return rawMatrix(m.eng, d.Name, x)
	}
	y, err := m.fitted.Model.Embed(ctx, m.eng, x)
	return y, fault.InFile(err, d.Name)
}

// rawMatrix returns points as a matrix, for the tools that work on coordinates.
func rawMatrix(eng *engine.Engine, name string, p points.Points) (blas.Matrix, error) {
	switch x := p.(type) {
	case *points.Dense:
		return blas.Matrix{Rows: x.N, Cols: x.D, Stride: max(1, x.D), Data: x.Data}, nil
	case *points.CSR:
		what := fmt.Sprintf("%d x %d sparse points as a dense matrix", x.N, x.D)
		if err := eng.Check(what, engine.MatrixBytes(x.N, x.D), "fit a model and pass it, or raise the memory limit"); err != nil {
			return blas.Matrix{}, err
		}
		m := eng.NewMatrix(x.N, x.D)
		for i := range x.N {
			spread(m.Row(i), x, i)
		}
		return m, nil
	case *points.Sequences:
		return blas.Matrix{}, fault.Data(name, "sequences have no coordinates: want a model, or -a kernel -k spectrum:k=3 to cluster with that kernel")
	}
	return blas.Matrix{}, fault.Data(name, "a Gram matrix has no coordinates: want a model, or -a kernel to cluster with the matrix itself")
}

// spread writes a sparse row into zeros.
func spread(to []float64, x *points.CSR, i int) {
	columns, values := x.Row(i)
	for k, c := range columns {
		to[c] = values[k]
	}
}

// loadModel reads the model at path, and returns what its file holds too.
func (a *app) loadModel(ctx context.Context, path string) (file *model.File, fitted *catalog.Fitted, err error) {
	if path == session.Stream {
		path = "standard input"
		file, err = session.Await(ctx, a.readModel)
	} else {
		file, err = session.Await(ctx, func() (*model.File, error) { return model.ReadFileWithin(path, int64(a.MemoryLimit)) })
	}
	if err == nil {
		fitted, err = catalog.Decode(file)
	}
	return file, fitted, fault.InFile(err, path)
}

// readModel reads a model file from standard input. Its tensors are found by their places,
// so all of it is held.
func (a *app) readModel() (*model.File, error) {
	b, err := a.ReadWithin("the model", a.Stdin)
	if err != nil {
		return nil, err
	}
	return model.Read(bytes.NewReader(b), int64(len(b)))
}

// saveModel writes a model file, unless ctx has ended.
func (a *app) saveModel(ctx context.Context, path string, m *mustlink.Model) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if path != session.Stream {
		return m.Save(path)
	}
	_, err := m.WriteTo(a.Stdout)
	return err
}

// matrixReport is what commands print that write a matrix.
type matrixReport struct {
	Method   string   `json:"method"`
	Rows     int      `json:"rows"`
	Cols     int      `json:"cols"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r matrixReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %d x %d (%s)\n", r.Output, r.Rows, r.Cols, r.Method)
}
