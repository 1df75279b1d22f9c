package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// loadModel reads the model at path.
func (a *app) loadModel(ctx context.Context, path string) (*catalog.Fitted, error) {
	_, fitted, err := a.loadModelFile(ctx, path)
	return fitted, err
}

// loadModelFile also returns the file itself.
func (a *app) loadModelFile(ctx context.Context, path string) (file *model.File, fitted *catalog.Fitted, err error) {
	if path == stream {
		path = "standard input"
		file, err = await(ctx, a.readModel)
	} else {
		file, err = await(ctx, func() (*model.File, error) { return model.ReadFileWithin(path, int64(a.memoryLimit)) })
	}
	if err == nil {
		fitted, err = catalog.Decode(file)
	}
	if err != nil {
		return nil, nil, inFile(path, err)
	}
	return file, fitted, nil
}

// readModel reads a model file from standard input. Its tensors are found by their places,
// so all of it is held.
func (a *app) readModel() (*model.File, error) {
	b, err := a.readWithin("the model", a.stdin)
	if err != nil {
		return nil, err
	}
	return model.Read(bytes.NewReader(b), int64(len(b)))
}

// readWithin reads all of in, up to the memory limit.
func (a *app) readWithin(what string, in io.Reader) ([]byte, error) {
	limit := int64(a.memoryLimit)
	if limit > 0 {
		in = io.LimitReader(in, limit+1)
	}
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if n := int64(len(b)); limit > 0 && n > limit {
		return nil, &fault.MemoryError{What: "reading " + what, Need: n, Limit: limit, Hint: "raise the limit if what sends it is to be trusted"}
	}
	return b, nil
}

// readPipe reads all of what is no regular file, up to the memory limit.
func (a *app) readPipe(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return a.readWithin(path, f)
}

// saveModel writes a model file.
func (a *app) saveModel(path string, fitted *catalog.Fitted) error {
	if path != stream {
		return catalog.Save(path, fitted)
	}
	file, err := catalog.Encode(fitted)
	if err != nil {
		return err
	}
	_, err = file.WriteTo(a.stdout)
	return err
}

// useModel notes that the model at path is read.
func (a *app) useModel(path string) error { return a.useInput("MODEL", path) }

// readFor reads the points that d describes and makes them ready for the model.
func (a *app) readFor(ctx context.Context, fitted *catalog.Fitted, d *dataFlags) (*dataset.Data, points.Points, error) {
	data, err := a.readData(ctx, d.forModel(fitted))
	if err != nil {
		return nil, nil, err
	}
	x, err := fitted.Prepare(data)
	return data, x, err
}

// applied is a model together with the data that a command applies it to.
type applied struct {
	eng    *engine.Engine
	fitted *catalog.Fitted
	data   *dataset.Data
	x      points.Points // data's points as the model takes them
}

// open makes the engine to run on, and reads the model at path.
func (a *app) open(ctx context.Context, path string) (*engine.Engine, *catalog.Fitted, error) {
	eng, err := a.engine()
	if err != nil {
		return nil, nil, err
	}
	fitted, err := a.loadModel(ctx, path)
	return eng, fitted, err
}

// apply reads the model at path and the data, and makes the engine to run on.
func (a *app) apply(ctx context.Context, path string, d *dataFlags) (*applied, error) {
	eng, fitted, err := a.open(ctx, path)
	if err != nil {
		return nil, err
	}
	data, x, err := a.readFor(ctx, fitted, d)
	if err != nil {
		return nil, err
	}
	return &applied{eng, fitted, data, x}, nil
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
